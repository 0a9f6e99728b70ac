// SPDX-License-Identifier: Apache-2.0
// RegisteredBackends: see RegisteredBackends.hpp.
#include "armnn/RegisteredBackends.hpp"

#include "armnn/BackendAdapter.hpp"
#include "armnn/BuiltinBackend.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Logging.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <armnn/BackendRegistry.hpp>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace tenon
{

namespace
{

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

std::unique_ptr<IBackendInternal> MakeBackend(const BackendId& id)
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

/// The backends that GetBackendForQuestions made. Thread-safe.
class MadeBackends
{
public:
    std::shared_ptr<const backend::IBackend> Get(const BackendId& id)
    {
        uint64_t numDrops = 0;
        {
            const std::lock_guard lock(m_Mutex);
            const auto found = m_Backends.find(id);
            if (found != m_Backends.end())
            {
                return found->second;
            }
            numDrops = m_NumDrops;
        }
        std::shared_ptr<const backend::IBackend> made = std::make_shared<BackendAdapter>(MakeBackend(id));
        const std::lock_guard lock(m_Mutex);
        // Where backends were dropped meanwhile, this one may be of a factory that is registered no more.
        return numDrops == m_NumDrops ? m_Backends.emplace(id, std::move(made)).first->second : made;
    }

    void Drop()
    {
        Backends dropped; // destroyed without the lock
        const std::lock_guard lock(m_Mutex);
        dropped.swap(m_Backends);
        ++m_NumDrops;
    }

private:
    using Backends = std::unordered_map<BackendId, std::shared_ptr<const backend::IBackend>>;

    std::mutex m_Mutex;
    Backends m_Backends;
    uint64_t m_NumDrops = 0;
};

MadeBackends& GetMadeBackends()
{
    static MadeBackends& made = *std::make_unique<MadeBackends>().release(); // destructors of static variables may ask
    return made;
}

void WarnThatItIsAbsent(const BackendId& id, const BackendUnavailableException& e)
{
    LogMessage(LogSeverity::Warning, "backend " + id.Get() + " is not available: " + e.what());
}

BackendLookup LookupBefore = nullptr;

std::shared_ptr<const backend::IBackend> LookUpRegisteredBackend(const BackendId& id)
{
    if (!BackendRegistryInstance().IsBackendRegistered(id))
    {
        return LookupBefore != nullptr ? LookupBefore(id) : nullptr;
    }
    try
    {
        return GetBackendForQuestions(id);
    }
    catch (const BackendUnavailableException& e)
    {
        WarnThatItIsAbsent(id, e);
        return nullptr;
    }
}

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
        DynamicRegistration registration = HoldDynamicBackend(id);
        // The backend of a shared object goes with the last runtime that uses it, which may be ending on another
        // thread.
        if (GetBuiltinBackends().IsBackendRegistered(id) || !registry.IsBackendRegistered(id))
        {
            continue;
        }
        try
        {
            options.m_Backends.push_back(MakeBackendForRuntime(id, options, std::move(registration)));
        }
        catch (const BackendUnavailableException& e)
        {
            WarnThatItIsAbsent(id, e);
        }
    }
    HookBefore != nullptr ? HookBefore(options, use) : use(options);
}

} // namespace

void ConnectRegistry()
{
    HookBefore = SetCreationOptionsHook(AddRegisteredBackends);
    LookupBefore = SetBackendLookup(LookUpRegisteredBackend);
}

std::shared_ptr<const backend::IBackend> MakeBackendForRuntime(const BackendId& id, IRuntime::CreationOptions& options,
                                                               DynamicRegistration registration)
{
    std::unique_ptr<IBackendInternal> made = MakeBackend(id);
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
    return std::make_shared<BackendAdapter>(std::move(made), std::move(context), std::move(registration));
}

std::shared_ptr<const backend::IBackend> GetBackendForQuestions(const BackendId& id)
{
    return GetMadeBackends().Get(id);
}

void DropBackendsForQuestions()
{
    GetMadeBackends().Drop();
}

} // namespace tenon
