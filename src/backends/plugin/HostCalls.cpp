// SPDX-License-Identifier: Apache-2.0
// HostCalls: see HostCalls.hpp.
#include "backends/plugin/HostCalls.hpp"

#include "backends/plugin/CStructs.hpp"
#include "backends/plugin/PluginDevice.hpp"
#include "backends/plugin/Status.hpp"

namespace tenon::plugin
{

tenon_device_tensor ToDeviceTensor(const DeviceTensor& tensor)
{
    return {MemoryOf(tensor.m_Memory), tensor.m_Offset};
}

HostCalls::HostCalls(const ExecuteArgs& args) : m_Args(args)
{
    m_Parallel.struct_size = sizeof(m_Parallel);
    m_Parallel.self = this;
    m_Parallel.num_threads = args.m_Parallel->GetNumThreads();
    m_Parallel.run = &RunLoop;
    m_LateOutputs.struct_size = sizeof(m_LateOutputs);
    m_LateOutputs.self = this;
    m_LateOutputs.allocate = &Allocate;
    m_LateOutputs.allocate_on_device = &AllocateOnDevice;
}

void HostCalls::RethrowKept() const
{
    if (m_Kept != nullptr)
    {
        std::rethrow_exception(m_Kept);
    }
}

void HostCalls::RunLoop(void* self, size_t count, size_t grain, tenon_loop_body body, void* bodyData)
{
    auto& calls = *static_cast<HostCalls*>(self);
    try
    {
        calls.m_Args.m_Parallel->Run(count, grain,
                                     [body, bodyData](size_t begin, size_t end) { body(bodyData, begin, end); });
    }
    catch (...)
    {
        calls.m_Kept = std::current_exception();
    }
}

template <typename F>
tenon_status HostCalls::Keeping(tenon_text* error, F f)
{
    try
    {
        f(*m_Args.m_LateOutputs);
        return TENON_OK;
    }
    catch (...)
    {
        m_Kept = std::current_exception();
        return StatusOfException(error);
    }
}

tenon_status HostCalls::Allocate(void* self, size_t output, uint32_t rank, const int64_t* dims, void** memory,
                                 tenon_text* error)
{
    return static_cast<HostCalls*>(self)->Keeping(error, [&](ILateOutputs& late)
                                                  { *memory = late.Allocate(output, ToShape(rank, dims)); });
}

tenon_status HostCalls::AllocateOnDevice(void* self, size_t output, uint32_t rank, const int64_t* dims,
                                         tenon_device_tensor* memory, tenon_text* error)
{
    return static_cast<HostCalls*>(self)->Keeping(
        error,
        [&](ILateOutputs& late) { *memory = ToDeviceTensor(late.AllocateOnDevice(output, ToShape(rank, dims))); });
}

} // namespace tenon::plugin
