// SPDX-License-Identifier: Apache-2.0
// Runtime: the implementation of IRuntime.
#pragma once

#include "common/ThreadPool.hpp"
#include "runtime/LoadedNetwork.hpp"

#include <tenon/IRuntime.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <map>
#include <memory>
#include <shared_mutex>

namespace tenon
{

class DeviceSpec final : public IDeviceSpec
{
public:
    const BackendIdSet& GetSupportedBackends() const override { return m_Ids; }
    const BackendRegistry& GetBackendRegistry() const override { return m_Registry; }

private:
    friend class Runtime;
    BackendRegistry m_Registry;
    BackendIdSet m_Ids;
};

class Runtime final : public IRuntime
{
public:
    explicit Runtime(const CreationOptions& options);

    Status LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network) override;
    Status LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network,
                       const INetworkProperties& networkProperties) override;
    Status LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network, std::string& errorMessage) override;
    Status LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network, std::string& errorMessage,
                       const INetworkProperties& networkProperties) override;
    TensorInfo GetInputTensorInfo(NetworkId networkId, LayerBindingId layerId) const override;
    TensorInfo GetOutputTensorInfo(NetworkId networkId, LayerBindingId layerId) const override;
    std::vector<std::pair<LayerBindingId, TensorInfo>>
    PlanRun(NetworkId networkId, const std::vector<std::pair<LayerBindingId, TensorInfo>>& inputInfos) override
    {
        return StartRun(networkId)->PlanRun(inputInfos);
    }
    std::vector<ImportedInputId> ImportInputs(NetworkId networkId, const InputTensors& inputTensors,
                                              MemorySource forceImportMemorySource) override;
    std::vector<ImportedOutputId> ImportOutputs(NetworkId networkId, const OutputTensors& outputTensors,
                                                MemorySource forceImportMemorySource) override;
    void ClearImportedInputs(NetworkId networkId, const std::vector<ImportedInputId>& inputIds) override;
    void ClearImportedOutputs(NetworkId networkId, const std::vector<ImportedOutputId>& outputIds) override;
    Status EnqueueWorkload(NetworkId networkId, const InputTensors& inputTensors, const OutputTensors& outputTensors,
                           std::vector<ImportedInputId> preImportedInputIds,
                           std::vector<ImportedOutputId> preImportedOutputIds) override;
    Status EnqueueWorkload(NetworkId networkId, const InputTensors& inputTensors,
                           const OutputAllocator& allocator) override;
    Status EnqueueWorkload(NetworkId networkId, SessionId sessionId, const InputTensors& inputTensors,
                           const OutputTensors& outputTensors) override;
    Status EnqueueWorkload(NetworkId networkId, SessionId sessionId, const InputTensors& inputTensors,
                           const OutputAllocator& allocator) override;
    void Run(NetworkId networkId, const InputTensors& inputTensors, const OutputTensors& outputTensors,
             const RunOptions& options) override
    {
        StartRun(networkId)->Run(inputTensors, outputTensors, options);
    }
    void Run(NetworkId networkId, const InputTensors& inputTensors, const OutputAllocator& allocator,
             const RunOptions& options) override
    {
        StartRun(networkId)->Run(inputTensors, allocator, options);
    }
    SessionId CreateSession(NetworkId networkId) override { return Share(networkId)->CreateSession(); }
    void DestroySession(NetworkId networkId, SessionId sessionId) override
    {
        Share(networkId)->DestroySession(sessionId);
    }
    void ResetStates(NetworkId networkId, SessionId sessionId) override { Share(networkId)->ResetStates(sessionId); }
    Status UnloadNetwork(NetworkId networkId) override;
    const IDeviceSpec& GetDeviceSpec() const override { return m_DeviceSpec; }
    const std::vector<DynamicBackendReport>& GetDynamicBackendReports() const override { return m_DynamicBackends; }
    const std::shared_ptr<IProfiler> GetProfiler(NetworkId networkId) const override;
    void RegisterDebugCallback(NetworkId networkId, const DebugCallbackFunction& func) override;
    NetworkStatistics GetStatistics(NetworkId networkId) const override;
    NetworkPlan GetPlan(NetworkId networkId) const override;
    void SetNumberOfThreads(NetworkId networkId, unsigned int numberOfThreads) override;

private:
    void RegisterBackends(const CreationOptions& given);
    NetworkId Load(IOptimizedNetworkPtr network, const INetworkProperties& properties);
    NetworkId NewId();
    std::shared_ptr<LoadedNetwork>& Find(NetworkId networkId);
    const std::shared_ptr<LoadedNetwork>& Find(NetworkId networkId) const
    {
        return const_cast<Runtime*>(this)->Find(networkId);
    }
    std::shared_ptr<LoadedNetwork> Share(NetworkId networkId) const;
    /// Begins a run; from here on UnloadNetwork waits for it.
    LoadedNetwork::RunGuard StartRun(NetworkId networkId) const;

    const Limits m_Limits;
    DeviceSpec m_DeviceSpec;
    std::unique_ptr<const MemorySpaces> m_Memories;
    BackendContexts m_Contexts;
    std::vector<DynamicBackendReport> m_DynamicBackends;
    ThreadPool m_Pool;
    mutable std::shared_mutex m_Mutex;
    std::map<NetworkId, std::shared_ptr<LoadedNetwork>> m_Networks;
    NetworkId m_NextId = 0;
};

} // namespace tenon
