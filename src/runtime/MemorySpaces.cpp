// SPDX-License-Identifier: Apache-2.0
// MemorySpaces: see MemorySpaces.hpp.
#include "runtime/MemorySpaces.hpp"

#include "common/Log.hpp"
#include "runtime/MemoryPlanner.hpp"

#include <tenon/backend/MemoryOptimizerStrategies.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

/// The maximum alignment of tensors, in bytes. No device needs more, and more would waste most of an arena.
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

/// An unknown backend is no error, as in Arm NN: programs have settings for all backends that a machine may have.
bool IsThere(const BackendRegistry& registry, const BackendId& backend, const char* given)
{
    const bool isThere = registry.IsBackendRegistered(backend);
    if (!isThere)
    {
        LogWarning("{} for backend '{}' has no effect, as that is not there; there are {}", given, backend.Get(),
                   registry.GetBackendIdsAsString());
    }
    return isThere;
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
        if (!IsThere(registry, id, "a custom allocator"))
        {
            continue;
        }
        MemorySpace& space = m_Spaces[Of(id)];
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
        if (!IsThere(registry, id, "a memory strategy"))
        {
            continue;
        }
        MemorySpace& space = m_Spaces[Of(id)];
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
    TakeNamedStrategies(registry, options.m_BackendOptions);
}

void MemorySpaces::TakeNamedStrategies(const BackendRegistry& registry, const std::vector<BackendOptions>& options)
{
    for (const BackendOptions& group : options)
    {
        for (size_t i = 0; i < group.GetOptionCount() && registry.IsBackendRegistered(group.GetBackendId()); ++i)
        {
            MemorySpace& space = m_Spaces[Of(group.GetBackendId())];
            if (group.GetOption(i).GetName() != MemoryStrategyOption || space.m_Strategy != nullptr)
            {
                continue;
            }
            try
            {
                space.m_Strategy = MakeMemoryOptimizerStrategy(group.GetOption(i).GetValue().AsString());
            }
            catch (const InvalidArgumentException& error)
            {
                LogWarning("creation option '{}' of backend '{}' has no effect: {}", MemoryStrategyOption,
                           group.GetBackendId().Get(), error.what());
            }
        }
    }
}

MemoryId MemorySpaces::Of(const BackendId& backend) const
{
    const auto found = m_ByBackend.find(backend.Get());
    return found == m_ByBackend.end() ? HostMemory : found->second;
}

} // namespace tenon
