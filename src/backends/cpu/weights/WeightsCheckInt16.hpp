// SPDX-License-Identifier: Apache-2.0
// What the kernels of sums of products of 16-bit data ask of their layers. What they refuse the reference kernel runs.
#pragma once

#include "backends/cpu/weights/WeightsCheckInt8.hpp"

namespace tenon::cpu
{

/// data, weights, bias -> output
constexpr backends::TypeRow ShortsTypes[] = {
    backends::Types({DataType::QSymmS16, SignedWeights, {DataType::Signed32, DataType::Signed64}}, DataType::QSymmS16),
};

} // namespace tenon::cpu
