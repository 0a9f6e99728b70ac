// SPDX-License-Identifier: Apache-2.0
// MemorySpaces: see MemorySpaces.hpp.
#include "runtime/MemorySpaces.hpp"

#include "runtime/MemoryPlanner.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

/// Of tensors, bytes: what no device asks for. More would waste most of an arena.
constexpr size_t MaxAlignment = size_t{1} << 20U;

void CheckFactory(const ITensorHandleFactory& factory, const BackendId& backend)
{
    const char* id = factory.GetId();
    if (id == nullptr || *id == '\0' || std::string(id) == "Host")
    {
        throw InvalidArgumentException(
            fmt::format("the memory of backend {} is called '{}'; a device's memory needs a name other than 'Host'",
                        backend.Get(), id == nullptr ? "" : id));
    }
    const size_t alignment = factory.GetAlignment();
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > MaxAlignment)
    {
        throw InvalidArgumentException(fmt::format("memory '{}' of backend {} has alignment {}, which is no power of "
                                                   "two up to {}",
                                                   id, backend.Get(), alignment, MaxAlignment));
    }
}

void CheckAllocator(const MemorySpace& space, const BackendId& backend, ICustomAllocator& allocator)
{
    const MemorySource source = allocator.GetMemorySourceType();
    if (space.m_Factory == nullptr && source != MemorySource::Malloc)
    {
        throw InvalidArgumentException(
            fmt::format("the custom allocator for {} gives memory of source {}, but backends on the host need Malloc",
                        backend.Get(), GetMemorySourceName(source)));
    }
    if (space.m_Factory != nullptr && !Imports(*space.m_Factory, source))
    {
        throw InvalidArgumentException(fmt::format("the custom allocator for {} gives memory of source {}, which "
                                                   "memory '{}' does not import; leave it out",
                                                   backend.Get(), GetMemorySourceName(source), space.m_Name));
    }
}

} // namespace

const char* GetMemorySourceName(MemorySource source)
{
    switch (source)
    {
    case MemorySource::Undefined: return "Undefined";
    case MemorySource::Malloc: return "Malloc";
    case MemorySource::DmaBuf: return "DmaBuf";
    case MemorySource::DmaBufProtected: return "DmaBufProtected";
    case MemorySource::Gralloc: return "Gralloc";
    }
    return "of unknown kind";
}

MemorySpaces::MemorySpaces(const BackendRegistry& registry, const IRuntime::CreationOptions& options)

{
    MemorySpace host;
    host.m_Name = "Host";
    host.m_Alignment = ArenaAlignment;
    m_Spaces.push_back(std::move(host));
    for (const BackendId& id : registry.GetBackendIds())
    {
        const ITensorHandleFactory* factory = registry.Get(id).GetTensorHandleFactory();
        if (factory == nullptr)
        {
            continue;
        }
        CheckFactory(*factory, id);
        const auto found = std::find_if(m_Spaces.begin(), m_Spaces.end(),
                                        [&](const MemorySpace& space) { return space.m_Name == factory->GetId(); });
        m_ByBackend.emplace(id.Get(), static_cast<MemoryId>(found - m_Spaces.begin()));
        if (found == m_Spaces.end())
        {
            MemorySpace space;
            space.m_Name = factory->GetId();
            space.m_Factory = factory;
            space.m_Alignment = factory->GetAlignment();
            m_Spaces.push_back(std::move(space));
        }
    }
    for (const auto& [id, allocator] : options.m_CustomAllocatorMap)
    {
        MemorySpace& space = Find(registry, id, "a custom allocator");
        if (allocator == nullptr)
        {
            throw InvalidArgumentException(fmt::format("the custom allocator for {} is null", id.Get()));
        }
        if (space.m_Allocator != nullptr && space.m_Allocator != allocator)
        {
            throw InvalidArgumentException(fmt::format("{} shares memory '{}' with another backend that is given "
                                                       "another custom allocator; give both the same",
                                                       id.Get(), space.m_Name));
        }
        CheckAllocator(space, id, *allocator);
        space.m_Allocator = allocator;
    }
    for (const auto& [id, strategy] : options.m_MemoryOptimizerStrategyMap)
    {
        MemorySpace& space = Find(registry, id, "a memory strategy");
        if (strategy == nullptr)
        {
            throw InvalidArgumentException(fmt::format("the memory strategy for {} is null", id.Get()));
        }
        if (space.m_Strategy != nullptr && space.m_Strategy != strategy)
        {
            throw InvalidArgumentException(fmt::format("{} shares memory '{}' with another backend that is given "
                                                       "memory strategy {}; give both the same",
                                                       id.Get(), space.m_Name, space.m_Strategy->GetName()));
        }
        space.m_Strategy = strategy;
    }
}

MemorySpace& MemorySpaces::Find(const BackendRegistry& registry, const BackendId& backend, const char* what)
{
    if (!registry.IsBackendRegistered(backend))
    {
        throw InvalidArgumentException(fmt::format("{} is given for backend '{}', which is not there; there are {}",
                                                   what, backend.Get(), registry.GetBackendIdsAsString()));
    }
    return m_Spaces[Of(backend)];
}

MemoryId MemorySpaces::Of(const BackendId& backend) const
{
    const auto found = m_ByBackend.find(backend.Get());
    return found == m_ByBackend.end() ? HostMemory : found->second;
}

} // namespace tenon
