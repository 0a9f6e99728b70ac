// SPDX-License-Identifier: Apache-2.0
// PlanReport: a plan as IRuntime::GetPlan gives it.
#pragma once

#include "runtime/PlanCache.hpp"

#include <tenon/Limits.hpp>
#include <tenon/NetworkPlan.hpp>

namespace tenon
{

/// The latest plan in `plans`, with the fusions that were tried for it: it is made once more for that. Without layers'
/// shapes where there is no plan yet.
NetworkPlan ReportPlan(const Program& program, const PlanCache& plans, const Limits& limits);

} // namespace tenon
