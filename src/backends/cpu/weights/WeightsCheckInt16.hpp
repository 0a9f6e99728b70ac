// SPDX-License-Identifier: Apache-2.0
// Requirements of the kernels of int16 data by constant weights of 8 or 4 bits. The reference kernel runs layers that
// fail them.
#pragma once

#include "backends/cpu/weights/WeightsCheckInt8.hpp"

namespace tenon::cpu
{

/// data, weights, bias -> output
constexpr backends::TypeRow Int16Types[] = {
    backends::Types({DataType::QSymmS16, SignedWeights, {DataType::Signed32, DataType::Signed64}}, DataType::QSymmS16),
};

} // namespace tenon::cpu
