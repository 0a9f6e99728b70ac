// SPDX-License-Identifier: Apache-2.0
// BackendRegistry: see armnn/BackendRegistry.hpp.
#include "armnn/BuiltinBackend.hpp"
#include "armnn/RegisteredBackends.hpp"

#include <tenon/Exceptions.hpp>

#include <armnn/BackendRegistry.hpp>
#include <utility>

namespace tenon
{

BackendRegistry::BackendRegistry() = default;
BackendRegistry::~BackendRegistry() = default;

void BackendRegistry::Register(const BackendId& id, FactoryFunction factory)
{
    if (id.IsEmpty() || id.IsUndefined() || factory == nullptr)
    {
        throw InvalidArgumentException("a backend to register needs an id and a factory");
    }
    const std::lock_guard lock(m_Mutex);
    if (!m_Factories.emplace(id, std::move(factory)).second)
    {
        throw InvalidArgumentException("backend " + id.Get() + " is registered already; ids must differ");
    }
}

bool BackendRegistry::IsBackendRegistered(const BackendId& id) const
{
    const std::lock_guard lock(m_Mutex);
    return m_Factories.count(id) != 0;
}

BackendRegistry::FactoryFunction BackendRegistry::GetFactory(const BackendId& id) const
{
    {
        const std::lock_guard lock(m_Mutex);
        const auto found = m_Factories.find(id);
        if (found != m_Factories.end())
        {
            return found->second;
        }
    }
    throw InvalidArgumentException("backend " + id.Get() + " is not registered; there are " + GetBackendIdsAsString());
}

size_t BackendRegistry::Size() const
{
    const std::lock_guard lock(m_Mutex);
    return m_Factories.size();
}

BackendIdSet BackendRegistry::GetBackendIds() const
{
    const std::lock_guard lock(m_Mutex);
    BackendIdSet ids;
    for (const auto& entry : m_Factories)
    {
        ids.insert(entry.first);
    }
    return ids;
}

std::string BackendRegistry::GetBackendIdsAsString() const
{
    std::string names;
    for (const BackendId& id : GetBackendIds())
    {
        names += (names.empty() ? "" : ", ") + id.Get();
    }
    return names;
}

void BackendRegistry::Deregister(const BackendId& id)
{
    if (this == &BackendRegistryInstance() && GetBuiltinBackends().IsBackendRegistered(id))
    {
        throw InvalidArgumentException("backend " + id.Get() +
                                       " is built in; leave it out of the backends that "
                                       "Optimize() is given instead");
    }
    {
        const std::lock_guard lock(m_Mutex);
        m_Factories.erase(id);
    }
    DropBackendsForQuestions();
}

void BackendRegistry::RegisterAllocator(const BackendId& id, std::shared_ptr<ICustomAllocator> alloc)
{
    const std::lock_guard lock(m_Mutex);
    if (!m_Allocators.emplace(id, std::move(alloc)).second)
    {
        throw InvalidArgumentException("backend " + id.Get() + " has an allocator already; deregister it first");
    }
}

std::unordered_map<BackendId, std::shared_ptr<ICustomAllocator>> BackendRegistry::GetAllocators()
{
    const std::lock_guard lock(m_Mutex);
    return m_Allocators;
}

void BackendRegistry::DeregisterAllocator(const BackendId& id)
{
    const std::lock_guard lock(m_Mutex);
    m_Allocators.erase(id);
}

void BackendRegistry::RegisterMemoryOptimizerStrategy(const BackendId& id,
                                                      std::shared_ptr<IMemoryOptimizerStrategy> strategy)
{
    const std::lock_guard lock(m_Mutex);
    if (!m_Strategies.emplace(id, std::move(strategy)).second)
    {
        throw InvalidArgumentException("backend " + id.Get() + " has a memory strategy already; deregister it first");
    }
}

MemoryOptimizerStrategiesMapRef BackendRegistry::GetMemoryOptimizerStrategies()
{
    const std::lock_guard lock(m_Mutex);
    return m_Strategies;
}

void BackendRegistry::DeregisterMemoryOptimizerStrategy(const BackendId& id)
{
    const std::lock_guard lock(m_Mutex);
    m_Strategies.erase(id);
}

void BackendRegistry::Swap(BackendRegistry& instance, FactoryStorage& other)
{
    {
        const std::lock_guard lock(instance.m_Mutex);
        instance.m_Factories.swap(other);
    }
    DropBackendsForQuestions();
}

BackendRegistry& BackendRegistryInstance()
{
    // Never destroyed: runtimes in static variables may outlive it otherwise.
    static BackendRegistry& registry = *[]
    {
        auto made = std::make_unique<BackendRegistry>();
        for (const BackendId& id : GetBuiltinBackends().GetBackendIds())
        {
            made->Register(id, [id] { return MakeBuiltinBackend(GetBuiltinBackends().Find(id)); });
        }
        ConnectRegistry();
        return made.release();
    }();
    return registry;
}

} // namespace tenon
