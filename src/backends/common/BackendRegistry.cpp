// SPDX-License-Identifier: Apache-2.0
// BackendRegistry: see BackendRegistry.hpp.
#include <tenon/backend/BackendRegistry.hpp>

#include <fmt/format.h>

namespace tenon
{

void BackendRegistry::Register(std::shared_ptr<const IBackend> backend)
{
    if (backend == nullptr || backend->GetId().IsEmpty() || backend->GetId().IsUndefined())
    {
        throw InvalidArgumentException("a backend to register must not be null and must have an id");
    }
    if (backend->GetId() == BackendId("Runtime"))
    {
        throw InvalidArgumentException("no backend may be called 'Runtime': that is what layers show which the runtime "
                                       "runs itself");
    }
    if (IsBackendRegistered(backend->GetId()))
    {
        throw InvalidArgumentException(
            fmt::format("a backend '{}' is registered already; ids must differ", backend->GetId().Get()));
    }
    m_Backends.push_back(std::move(backend));
}

std::shared_ptr<const IBackend> BackendRegistry::Find(const BackendId& id) const
{
    for (const auto& backend : m_Backends)
    {
        if (backend->GetId() == id)
        {
            return backend;
        }
    }
    return nullptr;
}

const IBackend& BackendRegistry::Get(const BackendId& id) const
{
    const auto backend = Find(id);
    if (backend == nullptr)
    {
        throw BackendUnavailableException(
            fmt::format("backend '{}' is not there; there are {}", id.Get(), GetBackendIdsAsString()));
    }
    return *backend;
}

BackendIdSet BackendRegistry::GetBackendIds() const
{
    BackendIdSet ids;
    for (const auto& backend : m_Backends)
    {
        ids.insert(backend->GetId());
    }
    return ids;
}

std::string BackendRegistry::GetBackendIdsAsString() const
{
    std::string names;
    for (const auto& backend : m_Backends)
    {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", backend->GetId().Get());
    }
    return names;
}

} // namespace tenon
