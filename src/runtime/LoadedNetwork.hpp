// SPDX-License-Identifier: Apache-2.0
// LoadedNetwork: a program, its plans, its pool of contexts and its sessions. It is immutable except for these caches;
// any number of threads may run it at once.
#pragma once

#include "common/Profiler.hpp"
#include "common/ThreadPool.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "runtime/DebugRun.hpp"
#include "runtime/ExecutionContext.hpp"
#include "runtime/ImportedTensors.hpp"
#include "runtime/NetworkHooks.hpp"
#include "runtime/PlanCache.hpp"
#include "runtime/Session.hpp"

#include <tenon/IRuntime.hpp>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

namespace tenon
{

class LoadedNetwork
{
public:
    /// The duration of a run: from before its first access to the caller's memory until after its last one.
    class RunGuard
    {
    public:
        explicit RunGuard(LoadedNetwork& network) : m_Network(network) { m_Network.BeginRun(); }
        ~RunGuard() { m_Network.EndRun(); }
        RunGuard(const RunGuard&) = delete;
        RunGuard& operator=(const RunGuard&) = delete;
        LoadedNetwork* operator->() const { return &m_Network; }

    private:
        LoadedNetwork& m_Network;
    };

    using InputImports = ImportTable<ConstTensor>;
    using OutputImports = ImportTable<Tensor>;

    /// The objects that the networks of one runtime share. It outlives the networks.
    struct Environment
    {
        const BackendRegistry& m_Registry;
        const MemorySpaces& m_Memories;
        const BackendContexts& m_Contexts;
        ThreadPool& m_Pool;
        const Limits& m_Limits;
    };

    LoadedNetwork(OptimizedNetwork& network, const Environment& environment, const INetworkProperties& properties,
                  NetworkId id);
    ~LoadedNetwork();
    LoadedNetwork(const LoadedNetwork&) = delete;
    LoadedNetwork& operator=(const LoadedNetwork&) = delete;

    TensorInfo GetInputInfo(LayerBindingId id) const;
    TensorInfo GetOutputInfo(LayerBindingId id) const;

    /// See IRuntime.
    std::vector<std::pair<LayerBindingId, TensorInfo>>
    PlanRun(const std::vector<std::pair<LayerBindingId, TensorInfo>>& inputInfos);
    void Run(const InputTensors& inputs, const OutputTensors& outputs, const RunOptions& options);
    void Run(const InputTensors& inputs, const OutputAllocator& allocator, const RunOptions& options);

    /// See IRuntime.
    SessionId CreateSession();
    void DestroySession(SessionId id);
    void ResetStates(SessionId id);

    /// See IRuntime.
    std::vector<ImportedInputId> ImportInputs(const InputTensors& tensors, MemorySource forced);
    std::vector<ImportedOutputId> ImportOutputs(const OutputTensors& tensors, MemorySource forced);
    void ClearImportedInputs(const std::vector<ImportedInputId>& ids);
    void ClearImportedOutputs(const std::vector<ImportedOutputId>& ids);

    NetworkStatistics GetStatistics() const;
    NetworkPlan GetPlan() const;
    const std::shared_ptr<Profiler>& GetProfiler() const { return m_Profiler; }
    void RegisterDebugCallback(const DebugCallbackFunction& function);
    void SetNumberOfThreads(unsigned int threads) { m_NumberOfThreads = threads; }

    /// Returns when no run is under way. No further run may begin meanwhile.
    void WaitUntilIdle();

private:
    class ContextLease;

    void BeginRun();
    void EndRun();
    /// Precondition: m_Mutex is held.
    const std::shared_ptr<Session>& FindSession(SessionId id) const;

    // NetworkRuns.cpp, with Run
    void RunWith(const ContextLease& lease, const InputTensors& inputs,
                 const std::vector<InputImports::Entry>& imported, RunArgs::GetOutput getOutput,
                 const std::atomic<bool>* isCancelled);
    /// The last tensors of each list are the imported ones.
    void BindInputs(const InputTensors& inputs, const std::vector<InputImports::Entry>& imported,
                    CallBuffers& buffers) const;
    void BindOutputs(const OutputTensors& outputs, const std::vector<OutputImports::Entry>& imported,
                     CallBuffers& buffers) const;

    // NetworkImports.cpp
    InputImports::Entry Import(LayerBindingId id, const ConstTensor& tensor, MemorySource forced) const;
    OutputImports::Entry Import(LayerBindingId id, const Tensor& tensor, MemorySource forced) const;
    /// Imports tensors; tensors that cannot be imported are left out, with a warning.
    template <typename Entry, typename Tensors>
    std::vector<Entry> ImportEach(const Tensors& tensors, MemorySource forced) const;
    ImportedMemory ImportForDevices(const void* memory, size_t bytes, const std::vector<MemoryId>& devices,
                                    MemorySource forced, const std::string& what) const;

    /// The last member, so that its hooks are called before any part of the network is destroyed. m_Hooks, the first
    /// member, calls the hooks that follow the destruction.
    struct BeforeUnload
    {
        ~BeforeUnload() { m_Hooks.BeforeUnload(); }
        const NetworkHooks& m_Hooks;
    };

    const DebugTarget m_DebugTarget; ///< before m_Hooks: its constructor may throw, which must happen before any hook
    const NetworkHooks m_Hooks;
    std::shared_ptr<Profiler> m_Profiler;
    ThreadPool& m_Pool;
    const Limits m_Limits;
    std::atomic<unsigned int> m_NumberOfThreads;
    std::unique_ptr<Program> m_Program;
    std::vector<TensorInfo> m_OutputInfos; ///< by index of Program::Outputs(), for the shapes at loading
    PlanCache m_Plans;

    mutable std::mutex m_Mutex;
    std::condition_variable m_Idle;
    std::map<SessionId, std::shared_ptr<Session>> m_Sessions;
    uint32_t m_NextSession = 1;
    std::vector<std::unique_ptr<ExecutionContext>> m_FreeContexts;
    size_t m_NumContexts = 0;
    size_t m_RunsUnderWay = 0;
    std::shared_ptr<const DebugCallbackFunction> m_DebugCallback;
    InputImports m_ImportedInputs;
    OutputImports m_ImportedOutputs;
    const BeforeUnload m_BeforeUnload{m_Hooks};
};

} // namespace tenon
