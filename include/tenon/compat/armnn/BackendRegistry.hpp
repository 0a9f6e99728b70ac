// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the backends of the process.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/BackendId.hpp>
#include <armnn/Optional.hpp>
#include <armnn/backends/OwnNames.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace tenon
{

class IBackendInternal;
class ICustomAllocator;
class IMemoryOptimizerStrategy;

using IBackendInternalUniquePtr = std::unique_ptr<IBackendInternal>;
using MemoryOptimizerStrategiesMapRef = std::unordered_map<BackendId, std::shared_ptr<IMemoryOptimizerStrategy>>;

/// Makers of backends, by id. The registry of the process is BackendRegistryInstance(). Thread-safe.
class TENON_API BackendRegistry
{
public:
    using PointerType = IBackendInternalUniquePtr;
    using FactoryFunction = std::function<PointerType()>;

    /// Empty.
    BackendRegistry();
    virtual ~BackendRegistry();
    BackendRegistry(const BackendRegistry&) = delete;
    BackendRegistry& operator=(const BackendRegistry&) = delete;

    /// Throws InvalidArgumentException for an id that is there already.
    void Register(const BackendId& id, FactoryFunction factory);
    bool IsBackendRegistered(const BackendId& id) const;
    /// Throws InvalidArgumentException for an id that is not registered; the text names the registered ones.
    FactoryFunction GetFactory(const BackendId& id) const;
    size_t Size() const;
    BackendIdSet GetBackendIds() const;
    /// "CpuRef, CpuAcc", in any order.
    std::string GetBackendIdsAsString() const;
    /// Removes a backend; an id that is not there has no effect. Throws InvalidArgumentException for a built-in
    /// backend.
    void Deregister(const BackendId& id);

    /// Sets the allocator of the backend with that id in runtimes that are made from now on, unless
    /// IRuntime::CreationOptions gives another one. Throws InvalidArgumentException where there is one already.
    void RegisterAllocator(const BackendId& id, std::shared_ptr<ICustomAllocator> alloc);
    std::unordered_map<BackendId, std::shared_ptr<ICustomAllocator>> GetAllocators();
    void DeregisterAllocator(const BackendId& id);
    /// The same for memory strategies.
    void RegisterMemoryOptimizerStrategy(const BackendId& id, std::shared_ptr<IMemoryOptimizerStrategy> strategy);
    MemoryOptimizerStrategiesMapRef GetMemoryOptimizerStrategies();
    void DeregisterMemoryOptimizerStrategy(const BackendId& id);

    /// Registers a backend where a static variable of this type is defined.
    struct StaticRegistryInitializer
    {
        StaticRegistryInitializer(BackendRegistry& instance, const BackendId& id, FactoryFunction factory)
        {
            instance.Register(id, std::move(factory));
        }
    };

protected:
    using FactoryStorage = std::unordered_map<BackendId, FactoryFunction>;
    /// For tests.
    static void Swap(BackendRegistry& instance, FactoryStorage& other);

private:
    mutable std::mutex m_Mutex;
    FactoryStorage m_Factories;
    std::unordered_map<BackendId, std::shared_ptr<ICustomAllocator>> m_Allocators;
    MemoryOptimizerStrategiesMapRef m_Strategies;
};

/// The registry of the process. An IRuntime gets the backends that are registered when it is created, and the built-in
/// ones, which are always registered.
TENON_API BackendRegistry& BackendRegistryInstance();

} // namespace tenon
