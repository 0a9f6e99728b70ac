// SPDX-License-Identifier: Apache-2.0
// HostCalls: loops over threads and memory of late outputs, as C code gets them during an execution. For workloads of
// plugins and for custom operators of the C interface.
#pragma once

#include <tenon/backend/IWorkload.hpp>
#include <tenon/backend/plugin.h>

#include <exception>

namespace tenon::plugin
{

/// The functions that the host gives to C code while it executes. An exception of theirs does not cross into C: it is
/// kept, and thrown once the C code has returned.
class HostCalls
{
public:
    explicit HostCalls(const ExecuteArgs& args);
    HostCalls(const HostCalls&) = delete;
    HostCalls& operator=(const HostCalls&) = delete;

    const tenon_parallel* Parallel() const { return &m_Parallel; }
    const tenon_late_outputs* LateOutputs() const { return m_Args.m_LateOutputs == nullptr ? nullptr : &m_LateOutputs; }
    void RethrowKept() const;

private:
    static void RunLoop(void* self, size_t count, size_t grain, tenon_loop_body body, void* bodyData);
    static tenon_status Allocate(void* self, size_t output, uint32_t rank, const int64_t* dims, void** memory,
                                 tenon_text* error);
    static tenon_status AllocateOnDevice(void* self, size_t output, uint32_t rank, const int64_t* dims,
                                         tenon_device_tensor* memory, tenon_text* error);

    template <typename F>
    tenon_status Keeping(tenon_text* error, F f);

    const ExecuteArgs& m_Args;
    tenon_parallel m_Parallel{};
    tenon_late_outputs m_LateOutputs{};
    std::exception_ptr m_Kept;
};

/// The C form of a tensor in the memory of a plugin's device.
tenon_device_tensor ToDeviceTensor(const DeviceTensor& tensor);

} // namespace tenon::plugin
