// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: a backend in a shared object that was opened.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/BackendId.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tenon
{

/// A shared object that exports GetBackendId, GetVersion and BackendFactory, compiled with these headers. The backends
/// that it makes must go before it. Runtimes load such objects from IRuntime::CreationOptions::m_DynamicBackendsPath.
class TENON_API DynamicBackend final
{
public:
    using HandleCloser = std::function<void(const void*)>;
    using HandlePtr = std::unique_ptr<void, HandleCloser>;

    /// Takes over a handle of dlopen, which the destructor closes. Throws InvalidArgumentException for null,
    /// RuntimeException where a function is missing, where the object is for another version than
    /// IBackendInternal::GetApiVersion(), and where it is linked with a real Arm NN.
    explicit DynamicBackend(const void* sharedObjectHandle);
    DynamicBackend(const DynamicBackend&) = delete;
    DynamicBackend& operator=(const DynamicBackend&) = delete;
    ~DynamicBackend();

    /// The id. Throws RuntimeException where it is null or empty. In all calls, exceptions of the object become a
    /// RuntimeException or a BackendUnavailableException.
    BackendId GetBackendId();
    BackendVersion GetBackendVersion();
    /// A new backend. Throws RuntimeException where the object makes none.
    IBackendInternalUniquePtr GetBackend();
    /// The factory for BackendRegistry::Register; this object must outlive it.
    BackendRegistry::FactoryFunction GetFactoryFunction();

private:
    void* FindFunction(const char* name) const;

    HandlePtr m_Handle;
    const char* (*m_GetId)() = nullptr;
    void (*m_GetVersion)(uint32_t* major, uint32_t* minor) = nullptr;
    void* (*m_MakeBackend)() = nullptr;
};

using DynamicBackendPtr = std::unique_ptr<DynamicBackend>;

} // namespace tenon
