// SPDX-License-Identifier: Apache-2.0
// BackendRegistry: see armnn/BackendRegistry.hpp. Its backends reach runtimes through the creation options.
#include "armnn/BackendAdapter.hpp"
#include "armnn/BuiltinBackend.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Logging.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <armnn/BackendRegistry.hpp>
#include <utility>
#include <vector>

namespace tenon
{

namespace
{

void WarnThatItIsAbsent(const BackendId& id, const BackendUnavailableException& e)
{
    LogMessage(LogSeverity::Warning, "backend " + id.Get() + " is not available: " + e.what());
}

/// With a context for the runtime. Null, with a warning in the log, where the backend says that it is not there.
std::shared_ptr<const backend::IBackend> MakeAdapter(const BackendId& id, IRuntime::CreationOptions& options)
{
    try
    {
        std::unique_ptr<IBackendInternal> made = MakeRegisteredBackend(id);
        const auto allocator = options.m_CustomAllocatorMap.find(id);
        const bool hasAllocator = allocator != options.m_CustomAllocatorMap.end();
        if (hasAllocator && allocator->second == nullptr)
        {
            throw InvalidArgumentException("the custom allocator of backend " + id.Get() +
                                           " is null; leave the backend out of CreationOptions::m_CustomAllocatorMap "
                                           "and of BackendRegistry::RegisterAllocator, or give it an allocator");
        }
        std::string reason;
        if (hasAllocator && !made->UseCustomMemoryAllocator(allocator->second, Optional<std::string&>(reason)))
        {
            throw InvalidArgumentException("backend " + id.Get() + " does not use its custom allocator: " + reason);
        }
        std::unique_ptr<IBackendContext> context = made->CreateBackendContext(options);
        if (hasAllocator)
        {
            options.m_CustomAllocatorMap.erase(allocator); // the tensors of the backend are its own
        }
        return std::make_shared<BackendAdapter>(std::move(made), std::move(context));
    }
    catch (const BackendUnavailableException& e)
    {
        WarnThatItIsAbsent(id, e);
        return nullptr;
    }
}

BackendLookup LookupBefore = nullptr;

/// Without a context, which is a runtime's.
std::shared_ptr<const backend::IBackend> FindRegisteredBackend(const BackendId& id)
{
    if (!BackendRegistryInstance().IsBackendRegistered(id))
    {
        return LookupBefore != nullptr ? LookupBefore(id) : nullptr;
    }
    try
    {
        return std::make_shared<BackendAdapter>(MakeRegisteredBackend(id), nullptr);
    }
    catch (const BackendUnavailableException& e)
    {
        WarnThatItIsAbsent(id, e);
        return nullptr;
    }
}

/// The backend that a factory makes on this thread, as long as it lives.
class BeingMade
{
public:
    /// Throws InvalidArgumentException where the same backend is being made on this thread.
    explicit BeingMade(const BackendId& id) : m_Id(id), m_Outer(Innermost)
    {
        for (const BeingMade* made = m_Outer; made != nullptr; made = made->m_Outer)
        {
            if (made->m_Id == id)
            {
                throw InvalidArgumentException("backend " + id.Get() +
                                               " is asked about while its factory makes it, which has no end; have "
                                               "the factory and the constructor of the backend not ask about it");
            }
        }
        Innermost = this;
    }
    ~BeingMade() { Innermost = m_Outer; }
    BeingMade(const BeingMade&) = delete;
    BeingMade& operator=(const BeingMade&) = delete;

private:
    static thread_local const BeingMade* Innermost;
    const BackendId& m_Id;
    const BeingMade* m_Outer;
};

thread_local const BeingMade* BeingMade::Innermost = nullptr;

CreationOptionsHook HookBefore = nullptr;

void AddRegisteredBackends(const IRuntime::CreationOptions& given, const CreationOptionsUse& use)
{
    IRuntime::CreationOptions options = given;
    BackendRegistry& registry = BackendRegistryInstance();
    for (const auto& [id, allocator] : registry.GetAllocators())
    {
        options.m_CustomAllocatorMap.emplace(id, allocator);
    }
    for (const auto& [id, strategy] : registry.GetMemoryOptimizerStrategies())
    {
        options.m_MemoryOptimizerStrategyMap.emplace(id, strategy);
    }
    for (const BackendId& id : registry.GetBackendIds())
    {
        if (!GetBuiltinBackends().IsBackendRegistered(id))
        {
            if (auto adapter = MakeAdapter(id, options))
            {
                options.m_Backends.push_back(std::move(adapter));
            }
        }
    }
    HookBefore != nullptr ? HookBefore(options, use) : use(options);
}

} // namespace

std::unique_ptr<IBackendInternal> MakeRegisteredBackend(const BackendId& id)
{
    const BeingMade beingMade(id);
    std::unique_ptr<IBackendInternal> made = BackendRegistryInstance().GetFactory(id)();
    if (made == nullptr)
    {
        throw InvalidArgumentException("the factory that is registered for backend " + id.Get() +
                                       " returns null; have it return a backend, or deregister it");
    }
    if (made->GetId() != id)
    {
        throw InvalidArgumentException("the factory that is registered for backend " + id.Get() +
                                       " returns a backend with the id " + made->GetId().Get() +
                                       "; register it for that id");
    }
    return made;
}

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
    const std::lock_guard lock(m_Mutex);
    m_Factories.erase(id);
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
    const std::lock_guard lock(instance.m_Mutex);
    instance.m_Factories.swap(other);
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
        HookBefore = SetCreationOptionsHook(AddRegisteredBackends);
        LookupBefore = SetBackendLookup(FindRegisteredBackend);
        return made.release();
    }();
    return registry;
}

} // namespace tenon
