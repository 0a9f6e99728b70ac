// SPDX-License-Identifier: Apache-2.0
// WorkloadFactories: makes the workloads of a network's layers, on several threads if there is much to pack.
#pragma once

#include "common/Profiler.hpp"
#include "common/ThreadPool.hpp"
#include "graph/MakeLayerView.hpp"

#include <tenon/backend/BackendRegistry.hpp>

#include <map>
#include <memory>
#include <span>
#include <string>

namespace tenon
{

/// The workload of one layer, to be made.
struct WorkloadJob
{
    const Layer* m_Layer = nullptr;
    const IWorkloadFactory* m_Factory = nullptr;
    std::unique_ptr<IWorkload>* m_Workload = nullptr; ///< destination of the workload
};

/// The factories of the backends that a network runs on, one per backend for all of its programs.
class WorkloadFactories
{
public:
    /// All arguments must outlive it. `threads`: the maximum number of threads of the pool while workloads are made; 0
    /// means every core.
    WorkloadFactories(const BackendRegistry& registry, const ModelOptions& options, ThreadPool& pool, unsigned threads,
                      Profiler& profiler)
        : m_Registry(registry), m_Options(options), m_Pool(pool), m_Threads(threads), m_Profiler(profiler)
    {
    }

    /// Throws BackendUnavailableException.
    const IWorkloadFactory& Get(const BackendId& backend);
    /// Makes all of these workloads. Throws the exception of the first layer whose factory fails. Profiling uses one
    /// thread: an event is then a layer's own time.
    void Make(std::span<const WorkloadJob> jobs) const;
    /// Must be called when all workloads are made.
    void Finish();

private:
    void MakeOne(const WorkloadJob& job, LayerViewMaker& maker) const;
    bool IsWorthThreads(std::span<const WorkloadJob> jobs) const;

    const BackendRegistry& m_Registry;
    const ModelOptions& m_Options;
    ThreadPool& m_Pool;
    const unsigned m_Threads;
    Profiler& m_Profiler;
    std::map<std::string, std::unique_ptr<IWorkloadFactory>> m_Factories;
};

} // namespace tenon
