// SPDX-License-Identifier: Apache-2.0
// PlanBuilder: makes the plan of a program for given shapes of its inputs:
//
//   1. shape the steps, as far as shapes are known before the run
//   2. run the fusions (fusions/FusionList.cpp)
//   3. place values and scratch memory (MemoryLayout.hpp)
#pragma once

#include "runtime/PlanDraft.hpp"

#include <tenon/Limits.hpp>

#include <memory>
#include <vector>

namespace tenon
{

/// `inputShapes` are by index of program.Inputs(). Throws LayerValidationException if shapes do not fit, and
/// MemoryValidationException if a limit is exceeded, both before anything is allocated.
std::shared_ptr<const Plan> BuildPlan(const Program& program, const std::vector<TensorShape>& inputShapes,
                                      const Limits& limits, const PlanOptions& options);

} // namespace tenon
