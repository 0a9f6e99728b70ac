// SPDX-License-Identifier: Apache-2.0
// LoadedNetwork: a program, its plans, its pool of contexts and its sessions. Immutable but for those caches; any
// number of threads may run it at once.
#pragma once

#include "common/Profiler.hpp"
#include "common/ThreadPool.hpp"
#include "optimizer/OptimizedNetwork.hpp"
#include "runtime/ExecutionContext.hpp"

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
    /// A run, from before it looks at what the caller gave until after it wrote there for the last time.
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

    LoadedNetwork(OptimizedNetwork& network, const BackendRegistry& registry, ThreadPool& pool, const Limits& limits,
                  const INetworkProperties& properties);
    ~LoadedNetwork();
    LoadedNetwork(const LoadedNetwork&) = delete;
    LoadedNetwork& operator=(const LoadedNetwork&) = delete;

    TensorInfo GetInputInfo(LayerBindingId id) const;
    TensorInfo GetOutputInfo(LayerBindingId id) const;

    /// See IRuntime::EnqueueWorkload. Imported tensors are merged with the given ones by the caller.
    void Enqueue(SessionId session, const InputTensors& inputs, const OutputTensors& outputs);
    void Enqueue(SessionId session, const InputTensors& inputs, const OutputAllocator& allocator);

    /// See IRuntime.
    SessionId CreateSession();
    void DestroySession(SessionId id);
    void ResetStates(SessionId id);

    /// Throw MemoryImportException unless the tensor can be bound to that input or output.
    void CheckImport(LayerBindingId id, const ConstTensor& tensor) const;
    void CheckImport(LayerBindingId id, const Tensor& tensor) const;

    NetworkStatistics GetStatistics() const;
    const std::shared_ptr<Profiler>& GetProfiler() const { return m_Profiler; }
    void RegisterDebugCallback(const DebugCallbackFunction& function);
    void SetNumberOfThreads(unsigned int threads) { m_NumberOfThreads = threads; }

    /// Returns when no run is under way. No further one may begin meanwhile.
    void WaitUntilIdle();

private:
    class ContextLease;

    void BeginRun();
    void EndRun();
    void Run(const ContextLease& lease, const InputTensors& inputs, RunArgs::GetOutput getOutput);
    /// Precondition: m_Mutex is held.
    const std::shared_ptr<Session>& FindSession(SessionId id) const;
    void BindInputs(const InputTensors& inputs, CallBuffers& buffers) const;
    void BindOutputs(const OutputTensors& outputs, CallBuffers& buffers) const;

    std::shared_ptr<Profiler> m_Profiler;
    ThreadPool& m_Pool;
    const Limits m_Limits;
    const bool m_DebugEnabled;
    std::atomic<unsigned int> m_NumberOfThreads;
    std::unique_ptr<Program> m_Program;
    PlanCache m_Plans;

    mutable std::mutex m_Mutex;
    std::condition_variable m_Idle;
    std::map<SessionId, std::shared_ptr<Session>> m_Sessions;
    uint32_t m_NextSession = 1;
    std::vector<std::unique_ptr<ExecutionContext>> m_FreeContexts;
    size_t m_NumContexts = 0;
    size_t m_RunsUnderWay = 0;
    std::shared_ptr<const DebugCallbackFunction> m_DebugCallback;
};

} // namespace tenon
