// SPDX-License-Identifier: Apache-2.0
// What activations of floats and of halves share.
#pragma once

#include "backends/cpu/elementwise/UnaryF32.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <cstddef>
#include <optional>

namespace tenon::cpu
{

FloatFunction ToFunction(const ActivationDescriptor& descriptor);
/// Empty for what has no loop.
std::optional<FloatFunction> ToFunction(UnaryOperation operation);

} // namespace tenon::cpu
