// SPDX-License-Identifier: Apache-2.0
// DynamicBackend: see armnn/backends/DynamicBackend.hpp.
#include <tenon/Exceptions.hpp>

#include <armnn/backends/DynamicBackend.hpp>
#include <dlfcn.h>
#include <sstream>
#include <string>

namespace tenon
{

DynamicBackend::DynamicBackend(const void* sharedObjectHandle)
    : m_Handle(const_cast<void*>(sharedObjectHandle), // dlclose takes it so
               [](const void* handle) { dlclose(const_cast<void*>(handle)); })
{
    if (sharedObjectHandle == nullptr)
    {
        throw InvalidArgumentException("the shared object of a dynamic backend is null");
    }
    m_GetId = reinterpret_cast<decltype(m_GetId)>(FindFunction("GetBackendId"));
    m_GetVersion = reinterpret_cast<decltype(m_GetVersion)>(FindFunction("GetVersion"));
    m_MakeBackend = reinterpret_cast<decltype(m_MakeBackend)>(FindFunction("BackendFactory"));
}

DynamicBackend::~DynamicBackend() = default;

void* DynamicBackend::FindFunction(const char* name) const
{
    void* const function = dlsym(m_Handle.get(), name);
    if (function == nullptr)
    {
        throw RuntimeException(std::string("the shared object of a dynamic backend exports no function ") + name);
    }
    return function;
}

BackendId DynamicBackend::GetBackendId()
{
    const char* const id = m_GetId();
    if (id == nullptr || *id == '\0')
    {
        throw RuntimeException("a dynamic backend says no id");
    }
    return BackendId(id);
}

BackendVersion DynamicBackend::GetBackendVersion()
{
    BackendVersion version;
    m_GetVersion(&version.m_Major, &version.m_Minor);
    return version;
}

IBackendInternalUniquePtr DynamicBackend::GetBackend()
{
    const BackendVersion version = GetBackendVersion();
    constexpr BackendVersion api = IBackendInternal::GetApiVersion();
    if (version.m_Major != api.m_Major || version.m_Minor > api.m_Minor)
    {
        std::ostringstream text;
        text << "backend " << GetBackendId() << " is for version " << version << " of the interface, here it is "
             << api;
        throw RuntimeException(text.str());
    }
    auto* const made = static_cast<IBackendInternal*>(m_MakeBackend());
    if (made == nullptr)
    {
        throw RuntimeException("dynamic backend " + GetBackendId().Get() + " makes no backend");
    }
    return IBackendInternalUniquePtr(made);
}

BackendRegistry::FactoryFunction DynamicBackend::GetFactoryFunction()
{
    return [this] { return GetBackend(); };
}

} // namespace tenon
