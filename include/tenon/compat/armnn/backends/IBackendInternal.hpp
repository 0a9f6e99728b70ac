// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: the interface that a backend implements.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/BackendOptions.hpp>
#include <armnn/Deprecated.hpp>
#include <armnn/IRuntime.hpp>
#include <armnn/Optional.hpp>
#include <armnn/Types.hpp>
#include <armnn/backends/IBackend.hpp>
#include <armnn/backends/IBackendContext.hpp>
#include <armnn/backends/ICustomAllocator.hpp>
#include <armnn/backends/ILayerSupport.hpp>
#include <armnn/backends/IMemoryManager.hpp>
#include <armnn/backends/ITensorHandleFactory.hpp>
#include <armnn/backends/IWorkload.hpp>
#include <armnn/backends/OptimizationViews.hpp>
#include <armnn/backends/SubgraphView.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace arm
{
namespace pipe
{
class IBackendProfiling;
class IBackendProfilingContext;
} // namespace pipe
} // namespace arm

namespace tenon
{

class IWorkloadFactory;
class TensorHandleFactoryRegistry;

/// The version of the interface that a backend was compiled for.
struct BackendVersion
{
    constexpr BackendVersion() = default;
    constexpr BackendVersion(uint32_t major, uint32_t minor) : m_Major(major), m_Minor(minor) {}

    bool operator==(const BackendVersion& other) const { return m_Major == other.m_Major && m_Minor == other.m_Minor; }
    bool operator<=(const BackendVersion& other) const
    {
        return m_Major < other.m_Major || (m_Major == other.m_Major && m_Minor <= other.m_Minor);
    }
    bool operator>=(const BackendVersion& other) const { return other <= *this; }

    uint32_t m_Major = 0;
    uint32_t m_Minor = 0;
};

/// "[1.0]"
inline std::ostream& operator<<(std::ostream& os, const BackendVersion& version)
{
    return os << "[" << version.m_Major << "." << version.m_Minor << "]";
}

/// A backend written for Arm NN, registered at BackendRegistryInstance(). docs/backends.md says how Tenon runs it.
class TENON_API IBackendInternal : public IBackend
{
protected:
    IBackendInternal() = default;

public:
    ~IBackendInternal() override;

    using IWorkloadFactoryPtr = std::unique_ptr<IWorkloadFactory>;
    using IBackendContextPtr = std::unique_ptr<IBackendContext>;
    using IBackendProfilingContextPtr = std::shared_ptr<arm::pipe::IBackendProfilingContext>;
    using IBackendProfilingPtr = std::unique_ptr<arm::pipe::IBackendProfiling>;
    using ILayerSupportSharedPtr = std::shared_ptr<ILayerSupport>;
    using IBackendSpecificModelContextPtr = std::shared_ptr<IBackendModelContext>;
    using IMemoryManagerUniquePtr = std::unique_ptr<IMemoryManager>;
    using IMemoryManagerSharedPtr = std::shared_ptr<IMemoryManager>;

    /// The memory manager of a backend without GetHandleFactoryPreferences; null by default.
    virtual IMemoryManagerUniquePtr CreateMemoryManager() const;

    /// The runtime calls it for each workload, when its shapes are known: with a registry where
    /// GetHandleFactoryPreferences names a factory, else with the manager that CreateMemoryManager gave. The overloads
    /// with `modelOptions` call those without where no option is for this backend, and give null otherwise, which ends
    /// the load with an InvalidArgumentException.
    virtual IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr& memoryManager = nullptr) const = 0;
    virtual IWorkloadFactoryPtr
    CreateWorkloadFactory(class TensorHandleFactoryRegistry& tensorHandleFactoryRegistry) const;
    virtual IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr& memoryManager,
                                                      const ModelOptions& modelOptions) const;
    virtual IWorkloadFactoryPtr CreateWorkloadFactory(class TensorHandleFactoryRegistry& tensorHandleFactoryRegistry,
                                                      const ModelOptions& modelOptions) const;
    virtual IWorkloadFactoryPtr CreateWorkloadFactory(class TensorHandleFactoryRegistry& tensorHandleFactoryRegistry,
                                                      const ModelOptions& modelOptions, MemorySourceFlags inputFlags,
                                                      MemorySourceFlags outputFlags) const;

    /// A context for one runtime; null by default. A backend that throws BackendUnavailableException here is not there
    /// in that runtime; the log warns of it.
    virtual IBackendContextPtr CreateBackendContext(const IRuntime::CreationOptions& options) const;
    /// A context for one set of options; null by default. Tenon keeps none: options go to GetLayerSupport and
    /// CreateWorkloadFactory.
    virtual IBackendSpecificModelContextPtr CreateBackendSpecificModelContext(const ModelOptions& modelOptions) const;
    /// A context for profiling; null by default. Tenon does not call it, as it has no arm::pipe profiling.
    virtual IBackendProfilingContextPtr CreateBackendProfilingContext(const IRuntime::CreationOptions& creationOptions,
                                                                      IBackendProfilingPtr& backendProfiling);

    virtual ILayerSupportSharedPtr GetLayerSupport() const = 0;
    /// The answers for a network's options. By default it treats options as CreateWorkloadFactory does.
    virtual ILayerSupportSharedPtr GetLayerSupport(const ModelOptions& modelOptions) const;

    /// Optimize() calls it for each subgraph of layers of this backend, which is shown as a network of its own. Leaves
    /// all as it is by default. docs/backends.md describes the answer.
    virtual OptimizationViews OptimizeSubgraphView(const SubgraphView& subgraph) const;
    virtual OptimizationViews OptimizeSubgraphView(const SubgraphView& subgraph,
                                                   const ModelOptions& modelOptions) const;

    /// Whether GetHandleFactoryPreferences names a factory.
    bool SupportsTensorAllocatorAPI() const;
    /// The first of GetHandleFactoryPreferences, or ITensorHandleFactory::LegacyFactoryId.
    ITensorHandleFactory::FactoryId GetBackwardCompatibleFavoriteHandleFactory();
    /// The factories that make the handles, the best one first, which is used. None by default:
    /// IWorkloadFactory::CreateTensorHandle makes them.
    virtual std::vector<ITensorHandleFactory::FactoryId> GetHandleFactoryPreferences() const;
    /// Puts the factories and their memory managers into `registry`. Called where CreateWorkloadFactory did not
    /// register the preferred factory. Nothing by default.
    virtual void RegisterTensorHandleFactories(class TensorHandleFactoryRegistry& registry);
    virtual void RegisterTensorHandleFactories(class TensorHandleFactoryRegistry& registry,
                                               MemorySourceFlags inputFlags, MemorySourceFlags outputFlags);

    static constexpr BackendVersion GetApiVersion() { return BackendVersion(1, 0); }

    /// Named abilities; none by default.
    virtual BackendCapabilities GetCapabilities() const;

    /// Takes the allocator that CreationOptions::m_CustomAllocatorMap has for this backend. False, with a text, where
    /// it cannot, which is the default: IRuntime::Create then throws InvalidArgumentException.
    virtual bool UseCustomMemoryAllocator(std::shared_ptr<ICustomAllocator> allocator, Optional<std::string&> errMsg);
    /// The backend's own allocator. Throws UnimplementedException by default.
    virtual std::unique_ptr<ICustomAllocator> GetDefaultAllocator() const;
    /// How many files the backend caches compiled networks in; 0 by default.
    virtual unsigned int GetNumberOfCacheFiles() const { return 0; }

    /// Arm NN's asynchronous runs call these; Tenon does not. They throw UnimplementedException by default.
    virtual ExecutionData CreateExecutionData(WorkingMemDescriptor& workingMemDescriptor) const;
    virtual void UpdateExecutionData(ExecutionData& executionData, WorkingMemDescriptor& workingMemDescriptor) const;
};

using IBackendInternalUniquePtr = std::unique_ptr<IBackendInternal>;

} // namespace tenon
