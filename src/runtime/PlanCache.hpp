// SPDX-License-Identifier: Apache-2.0
// PlanCache: the plans of one program by input shapes, most recently used first. Shared by all threads that run the
// program.
#pragma once

#include "runtime/Plan.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace tenon
{

class PlanCache
{
public:
    /// The plan for these shapes, by index of program.Inputs(), and for at least `threads` threads. A missing plan is
    /// made, and replaces a plan for fewer threads. Throws the exceptions of BuildPlan.
    std::shared_ptr<const Plan> Get(const Program& program, const std::vector<TensorShape>& shapes,
                                    unsigned int threads, const Limits& limits, Profiler& profiler);
    /// The plan used last, or null.
    std::shared_ptr<const Plan> Latest() const;

    /// Sets PlanOptions::m_DisabledFusions of plans that are made from now on. No other thread may use the cache
    /// meanwhile.
    void DisableFusions(uint32_t fusions) { m_DisabledFusions = fusions; }
    uint32_t GetDisabledFusions() const { return m_DisabledFusions; }

private:
    std::shared_ptr<const Plan> Find(const std::vector<TensorShape>& shapes, unsigned int threads);

    uint32_t m_DisabledFusions = 0;
    mutable std::mutex m_Mutex;
    std::vector<std::shared_ptr<const Plan>> m_Plans;
};

/// A network nested in a control flow layer.
struct NestedProgram
{
    std::unique_ptr<const Program> m_Program;
    mutable PlanCache m_Plans;
};

} // namespace tenon
