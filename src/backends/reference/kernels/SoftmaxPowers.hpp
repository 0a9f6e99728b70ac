// SPDX-License-Identifier: Apache-2.0
// The powers of softmaxes of 8-bit tensors. Used by Softmax, here and in CpuAcc.
#pragma once

#include "backends/common/FixedPoint.hpp"

#include <array>

namespace tenon::ref
{

/// exp(beta * scale * -difference) for all differences of two 8-bit values.
std::array<backends::Fixed<0>, 256> MakeSoftmaxPowers(float beta, float scale);

} // namespace tenon::ref
