// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: comparison of floats with a tolerance.
#pragma once

#include <cmath>

namespace armnnUtils
{

/// Whether b is not further from a than that many percent of a. 1 is one percent.
inline bool within_percentage_tolerance(float a, float b, float tolerancePercent = 1.0f)
{
    return std::fabs(a - b) <= std::fabs(a * (tolerancePercent / 100.0f));
}

} // namespace armnnUtils
