// SPDX-License-Identifier: Apache-2.0
// PlanReport: makes the plan that IRuntime::GetPlan returns.
#pragma once

#include "runtime/PlanCache.hpp"

#include <tenon/Limits.hpp>
#include <tenon/NetworkPlan.hpp>

namespace tenon
{

/// The latest plan in `plans`, with the fusions that were tried for it: it is built again to collect them. If there is
/// no plan yet, the report has no shapes of layers.
NetworkPlan ReportPlan(const Program& program, const PlanCache& plans, const Limits& limits);

} // namespace tenon
