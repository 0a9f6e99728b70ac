// SPDX-License-Identifier: Apache-2.0
// PlanCache: see PlanCache.hpp.
#include "runtime/PlanCache.hpp"

#include "common/Profiler.hpp"
#include "runtime/PlanBuilder.hpp"

#include <algorithm>

namespace tenon
{

namespace
{

/// The maximum number of plans, kept for input shapes that recur. A plan holds reshaped workloads, but no weights.
constexpr size_t MaxPlans = 8;

} // namespace

std::shared_ptr<const Plan> PlanCache::Find(const std::vector<TensorShape>& shapes, unsigned int threads)
{
    const auto found =
        std::find_if(m_Plans.begin(), m_Plans.end(), [&](const auto& plan) { return plan->InputShapes() == shapes; });
    if (found == m_Plans.end())
    {
        return nullptr;
    }
    if ((*found)->GetMaxThreads() < threads)
    {
        m_Plans.erase(found);
        return nullptr;
    }
    std::rotate(m_Plans.begin(), found, found + 1);
    return m_Plans.front();
}

std::shared_ptr<const Plan> PlanCache::Get(const Program& program, const std::vector<TensorShape>& shapes,
                                           unsigned int threads, const Limits& limits, Profiler& profiler)
{
    {
        const std::lock_guard lock(m_Mutex);
        if (auto plan = Find(shapes, threads))
        {
            return plan;
        }
    }
    // The plan is made without the lock, so that runs with other shapes continue meanwhile.
    std::shared_ptr<const Plan> made;
    {
        const auto event = profiler.Scope(ProfilingCategory::Load, "Plan");
        PlanOptions options;
        options.m_MaxThreads = threads;
        options.m_DisabledFusions = m_DisabledFusions;
        made = BuildPlan(program, shapes, limits, options);
    }
    const std::lock_guard lock(m_Mutex);
    if (auto plan = Find(shapes, threads))
    {
        return plan; // another thread was faster
    }
    m_Plans.insert(m_Plans.begin(), made);
    if (m_Plans.size() > MaxPlans)
    {
        m_Plans.pop_back();
    }
    return made;
}

std::shared_ptr<const Plan> PlanCache::Latest() const
{
    const std::lock_guard lock(m_Mutex);
    return m_Plans.empty() ? nullptr : m_Plans.front();
}

} // namespace tenon
