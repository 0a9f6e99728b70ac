// SPDX-License-Identifier: Apache-2.0
// Defaults of the interfaces of armnn/backends/, LayerSupportBase and TensorHandleFactoryRegistry.
#include "armnn/CallWithoutThrowing.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <armnn/backends/IBackendInternal.hpp>
#include <armnn/backends/TensorHandleFactoryRegistry.hpp>
#include <armnn/backends/WorkloadFactory.hpp>
#include <backendsCommon/LayerSupportBase.hpp>
#include <exception>
#include <utility>

namespace tenon
{

const ITensorHandleFactory::FactoryId ITensorHandleFactory::LegacyFactoryId = "armnn_legacy_factory";
const ITensorHandleFactory::FactoryId ITensorHandleFactory::DeferredFactoryId = "armnn_deferred_factory";

ITensorHandleFactory::~ITensorHandleFactory() = default;

std::unique_ptr<ITensorHandle> ITensorHandleFactory::CreateTensorHandle(const TensorInfo& tensorInfo, const bool) const
{
    return CreateTensorHandle(tensorInfo);
}

std::unique_ptr<ITensorHandle> ITensorHandleFactory::CreateTensorHandle(const TensorInfo& tensorInfo,
                                                                        DataLayout dataLayout, const bool) const
{
    return CreateTensorHandle(tensorInfo, dataLayout);
}

std::vector<Capability> ITensorHandleFactory::GetCapabilities(const IConnectableLayer*, const IConnectableLayer*,
                                                              CapabilityClass)
{
    return {};
}

TensorHandleFactoryRegistry::TensorHandleFactoryRegistry() = default;
TensorHandleFactoryRegistry::~TensorHandleFactoryRegistry() = default;

void TensorHandleFactoryRegistry::RegisterFactory(std::unique_ptr<ITensorHandleFactory> factory)
{
    if (factory == nullptr)
    {
        throw NullPointerException("a tensor handle factory to register is null");
    }
    if (GetFactory(factory->GetId()) == nullptr)
    {
        m_Factories.push_back(std::move(factory));
    }
}

void TensorHandleFactoryRegistry::RegisterMemoryManager(std::shared_ptr<IMemoryManager> memoryManager)
{
    if (memoryManager == nullptr)
    {
        throw NullPointerException("a memory manager to register is null");
    }
    if (std::find(m_MemoryManagers.begin(), m_MemoryManagers.end(), memoryManager) == m_MemoryManagers.end())
    {
        m_MemoryManagers.push_back(std::move(memoryManager));
    }
}

ITensorHandleFactory* TensorHandleFactoryRegistry::GetFactory(ITensorHandleFactory::FactoryId id) const
{
    const auto found = std::find_if(m_Factories.begin(), m_Factories.end(),
                                    [&](const auto& factory) { return factory->GetId() == id; });
    return found != m_Factories.end() ? found->get() : nullptr;
}

ITensorHandleFactory* TensorHandleFactoryRegistry::GetFactory(ITensorHandleFactory::FactoryId id,
                                                              MemorySource memSource) const
{
    ITensorHandleFactory* const factory = GetFactory(std::move(id));
    const bool imports =
        factory != nullptr && (factory->GetImportFlags() & static_cast<MemorySourceFlags>(memSource)) != 0;
    return imports ? factory : nullptr;
}

void TensorHandleFactoryRegistry::RegisterCopyAndImportFactoryPair(ITensorHandleFactory::FactoryId copyFactoryId,
                                                                   ITensorHandleFactory::FactoryId importFactoryId)
{
    m_ImportFactories[std::move(copyFactoryId)] = std::move(importFactoryId);
}

ITensorHandleFactory::FactoryId
TensorHandleFactoryRegistry::GetMatchingImportFactoryId(ITensorHandleFactory::FactoryId copyFactoryId)
{
    const auto found = m_ImportFactories.find(copyFactoryId);
    return found != m_ImportFactories.end() ? found->second : ITensorHandleFactory::FactoryId();
}

void TensorHandleFactoryRegistry::AquireMemory()
{
    size_t numAcquired = 0;
    try
    {
        for (; numAcquired < m_MemoryManagers.size(); ++numAcquired)
        {
            m_MemoryManagers[numAcquired]->Acquire();
        }
    }
    catch (...)
    {
        while (numAcquired > 0)
        {
            --numAcquired;
            CallWithoutThrowing("Release of a memory manager", [&] { m_MemoryManagers[numAcquired]->Release(); });
        }
        throw;
    }
}

void TensorHandleFactoryRegistry::ReleaseMemory()
{
    std::exception_ptr thrown;
    for (const auto& manager : m_MemoryManagers)
    {
        try
        {
            manager->Release();
        }
        catch (...)
        {
            thrown = thrown != nullptr ? thrown : std::current_exception();
        }
    }
    if (thrown != nullptr)
    {
        std::rethrow_exception(thrown);
    }
}

namespace
{

bool SayNo(Optional<std::string&> reasonIfUnsupported, const std::string& reason)
{
    if (reasonIfUnsupported)
    {
        reasonIfUnsupported.value() = reason;
    }
    return false;
}

bool SayNoToType(Optional<std::string&> reasonIfUnsupported, LayerType type)
{
    return SayNo(reasonIfUnsupported, std::string("the backend has no layer ") + GetLayerTypeAsCString(type));
}

} // namespace

LayerSupportBase::LayerSupportBase() = default;
LayerSupportBase::~LayerSupportBase() = default;

bool LayerSupportBase::IsLayerSupported(const LayerType& type, const std::vector<TensorInfo>& infos,
                                        const BaseDescriptor& descriptor, const Optional<LstmInputParamsInfo>&,
                                        const Optional<QuantizedLstmInputParamsInfo>&,
                                        Optional<std::string&> reasonIfUnsupported) const
{
    if (type == LayerType::MemCopy || type == LayerType::MemImport)
    {
        return true;
    }
    if (type != LayerType::StandIn)
    {
        return SayNoToType(reasonIfUnsupported, type);
    }
    const auto* const standIn = dynamic_cast<const StandInDescriptor*>(&descriptor);
    if (standIn == nullptr || infos.size() != size_t{standIn->m_NumInputs} + standIn->m_NumOutputs)
    {
        throw InvalidArgumentException("a question about a StandIn layer has " + std::to_string(infos.size()) +
                                       " infos; it needs a StandInDescriptor, and an info for each input and output "
                                       "that this has");
    }
    return IsStandInSupported({}, {}, *standIn, reasonIfUnsupported);
}

bool LayerSupportBase::IsDetectionPostProcessSupported(const TensorInfo&, const TensorInfo&, const TensorInfo&,
                                                       const TensorInfo&, const TensorInfo&, const TensorInfo&,
                                                       const TensorInfo&, const DetectionPostProcessDescriptor&,
                                                       Optional<std::string&> reasonIfUnsupported) const
{
    return SayNoToType(reasonIfUnsupported, LayerType::DetectionPostProcess);
}

bool LayerSupportBase::IsMemCopySupported(const TensorInfo&, const TensorInfo&, Optional<std::string&>) const
{
    return true;
}

bool LayerSupportBase::IsMemImportSupported(const TensorInfo&, const TensorInfo&, Optional<std::string&>) const
{
    return true;
}

bool LayerSupportBase::IsMergeSupported(const TensorInfo&, const TensorInfo&, const TensorInfo&,
                                        Optional<std::string&> reasonIfUnsupported) const
{
    return SayNoToType(reasonIfUnsupported, LayerType::Merge);
}

bool LayerSupportBase::IsQuantizedLstmSupported(const TensorInfo&, const TensorInfo&, const TensorInfo&,
                                                const TensorInfo&, const TensorInfo&,
                                                const QuantizedLstmInputParamsInfo&,
                                                Optional<std::string&> reasonIfUnsupported) const
{
    return SayNoToType(reasonIfUnsupported, LayerType::QuantizedLstm);
}

bool LayerSupportBase::IsShapeSupported(const TensorInfo&, const TensorInfo&,
                                        Optional<std::string&> reasonIfUnsupported) const
{
    return SayNoToType(reasonIfUnsupported, LayerType::Shape);
}

bool LayerSupportBase::IsStandInSupported(const std::vector<const TensorInfo*>&, const std::vector<const TensorInfo*>&,
                                          const StandInDescriptor&, Optional<std::string&> reasonIfUnsupported) const
{
    return SayNo(reasonIfUnsupported, "a StandIn layer stands for one that no backend runs");
}

IWorkloadFactory::~IWorkloadFactory() = default;
IBackendInternal::~IBackendInternal() = default;

namespace
{

bool HasOptionsFor(const BackendId& backend, const ModelOptions& options)
{
    return std::any_of(options.begin(), options.end(),
                       [&](const BackendOptions& group) { return group.GetBackendId() == backend; });
}

} // namespace

IBackendInternal::IMemoryManagerUniquePtr IBackendInternal::CreateMemoryManager() const
{
    return nullptr;
}

IBackendInternal::IWorkloadFactoryPtr IBackendInternal::CreateWorkloadFactory(TensorHandleFactoryRegistry&) const
{
    return nullptr;
}

IBackendInternal::IWorkloadFactoryPtr
IBackendInternal::CreateWorkloadFactory(const IMemoryManagerSharedPtr& memoryManager,
                                        const ModelOptions& modelOptions) const
{
    return HasOptionsFor(GetId(), modelOptions) ? nullptr : CreateWorkloadFactory(memoryManager);
}

IBackendInternal::IWorkloadFactoryPtr
IBackendInternal::CreateWorkloadFactory(TensorHandleFactoryRegistry& tensorHandleFactoryRegistry,
                                        const ModelOptions& modelOptions) const
{
    return HasOptionsFor(GetId(), modelOptions) ? nullptr : CreateWorkloadFactory(tensorHandleFactoryRegistry);
}

IBackendInternal::IWorkloadFactoryPtr
IBackendInternal::CreateWorkloadFactory(TensorHandleFactoryRegistry& tensorHandleFactoryRegistry,
                                        const ModelOptions& modelOptions, MemorySourceFlags, MemorySourceFlags) const
{
    return CreateWorkloadFactory(tensorHandleFactoryRegistry, modelOptions);
}

IBackendInternal::IBackendContextPtr IBackendInternal::CreateBackendContext(const IRuntime::CreationOptions&) const
{
    return nullptr;
}

IBackendInternal::IBackendSpecificModelContextPtr
IBackendInternal::CreateBackendSpecificModelContext(const ModelOptions&) const
{
    return nullptr;
}

IBackendInternal::IBackendProfilingContextPtr
IBackendInternal::CreateBackendProfilingContext(const IRuntime::CreationOptions&, IBackendProfilingPtr&)
{
    return nullptr;
}

IBackendInternal::ILayerSupportSharedPtr IBackendInternal::GetLayerSupport(const ModelOptions& modelOptions) const
{
    return HasOptionsFor(GetId(), modelOptions) ? nullptr : GetLayerSupport();
}

OptimizationViews IBackendInternal::OptimizeSubgraphView(const SubgraphView& subgraph) const
{
    OptimizationViews views;
    views.AddUntouchedSubgraph(SubgraphView(subgraph));
    return views;
}

OptimizationViews IBackendInternal::OptimizeSubgraphView(const SubgraphView& subgraph, const ModelOptions&) const
{
    return OptimizeSubgraphView(subgraph);
}

bool IBackendInternal::SupportsTensorAllocatorAPI() const
{
    return !GetHandleFactoryPreferences().empty();
}

ITensorHandleFactory::FactoryId IBackendInternal::GetBackwardCompatibleFavoriteHandleFactory()
{
    const std::vector<ITensorHandleFactory::FactoryId> ids = GetHandleFactoryPreferences();
    return ids.empty() ? ITensorHandleFactory::LegacyFactoryId : ids.front();
}

std::vector<ITensorHandleFactory::FactoryId> IBackendInternal::GetHandleFactoryPreferences() const
{
    return {};
}

void IBackendInternal::RegisterTensorHandleFactories(TensorHandleFactoryRegistry&) {}

void IBackendInternal::RegisterTensorHandleFactories(TensorHandleFactoryRegistry& registry, MemorySourceFlags,
                                                     MemorySourceFlags)
{
    RegisterTensorHandleFactories(registry);
}

BackendCapabilities IBackendInternal::GetCapabilities() const
{
    return BackendCapabilities(GetId());
}

bool IBackendInternal::UseCustomMemoryAllocator(std::shared_ptr<ICustomAllocator>, Optional<std::string&> errMsg)
{
    if (errMsg)
    {
        errMsg.value() = "backend " + GetId().Get() +
                         " takes no custom allocator; leave it out of "
                         "CreationOptions::m_CustomAllocatorMap";
    }
    return false;
}

std::unique_ptr<ICustomAllocator> IBackendInternal::GetDefaultAllocator() const
{
    throw UnimplementedException("backend " + GetId().Get() + " gives no default allocator");
}

ExecutionData IBackendInternal::CreateExecutionData(WorkingMemDescriptor&) const
{
    throw UnimplementedException("backend " + GetId().Get() + " has no asynchronous execution");
}

void IBackendInternal::UpdateExecutionData(ExecutionData&, WorkingMemDescriptor&) const
{
    throw UnimplementedException("backend " + GetId().Get() + " has no asynchronous execution");
}

} // namespace tenon
