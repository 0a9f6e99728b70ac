// SPDX-License-Identifier: Apache-2.0
// See WorkloadFactories.hpp.
#include "runtime/WorkloadFactories.hpp"

#include "common/ErrorContext.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <vector>

namespace tenon
{

namespace
{

/// The bytes of constants that one thread packs faster than other threads start.
constexpr uint64_t MinBytes = uint64_t{256} << 10;

/// Operators of the application are not required to be thread-safe.
bool MayShare(const WorkloadJob& job)
{
    return job.m_Layer->GetType() != LayerType::Custom && job.m_Factory->IsThreadSafe();
}

} // namespace

const IWorkloadFactory& WorkloadFactories::Get(const BackendId& backend)
{
    auto& factory = m_Factories[backend.Get()];
    if (factory == nullptr)
    {
        factory = m_Registry.Get(backend).CreateWorkloadFactory(m_Options);
    }
    return *factory;
}

void WorkloadFactories::MakeOne(const WorkloadJob& job, LayerViewMaker& maker) const
{
    const Layer& layer = *job.m_Layer;
    try
    {
        const auto event = m_Profiler.Scope(ProfilingCategory::Load, "CreateWorkload", &layer);
        *job.m_Workload = job.m_Factory->CreateWorkload(maker.Make(layer));
    }
    catch (...)
    {
        RethrowWithContext(
            fmt::format("making the workload of {} on {}", layer.Describe(), layer.GetBackendId().Get()));
    }
}

bool WorkloadFactories::IsWorthThreads(std::span<const WorkloadJob> jobs) const
{
    if (m_Pool.Participants(m_Threads) < 2 || m_Profiler.IsProfilingEnabled())
    {
        return false;
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < jobs.size() && bytes < MinBytes; ++i)
    {
        bytes += MayShare(jobs[i]) ? jobs[i].m_Layer->CountConstantInputBytes() : 0;
    }
    return bytes >= MinBytes;
}

void WorkloadFactories::Make(std::span<const WorkloadJob> jobs) const
{
    LayerViewMaker maker;
    if (!IsWorthThreads(jobs))
    {
        for (const WorkloadJob& job : jobs)
        {
            MakeOne(job, maker);
        }
        return;
    }
    std::vector<std::exception_ptr> failures(jobs.size());
    const auto makeSome = [&](size_t begin, size_t end, bool isShared, LayerViewMaker& views)
    {
        for (size_t i = begin; i < end; ++i)
        {
            try
            {
                MayShare(jobs[i]) == isShared ? MakeOne(jobs[i], views) : void();
            }
            catch (...)
            {
                failures[i] = std::current_exception();
            }
        }
    };
    const auto makeShared = [&](size_t begin, size_t end, unsigned)
    {
        LayerViewMaker own;
        makeSome(begin, end, true, own);
    };
    m_Pool.ParallelFor(jobs.size(), m_Threads, makeShared);
    makeSome(0, jobs.size(), false, maker);
    const auto failed = std::find_if(failures.begin(), failures.end(), [](const auto& e) { return e != nullptr; });
    if (failed != failures.end())
    {
        std::rethrow_exception(*failed);
    }
}

void WorkloadFactories::Finish()
{
    for (const auto& [backend, factory] : m_Factories)
    {
        factory->AfterWorkloadsCreated();
    }
}

} // namespace tenon
