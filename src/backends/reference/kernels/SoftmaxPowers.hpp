// SPDX-License-Identifier: Apache-2.0
// The powers of softmaxes of 8-bit tensors. Used by Softmax, and by that of CpuAcc.
#pragma once

#include "backends/common/FixedPoint.hpp"

#include <array>

namespace tenon::ref
{

/// exp(beta * scale * -difference) for all differences that two 8-bit values can have.
std::array<backends::Fixed<0>, 256> MakeSoftmaxPowers(float beta, float scale);

} // namespace tenon::ref
