// SPDX-License-Identifier: Apache-2.0
// The loop function of an activation or unary operation, for Float32 and for 16-bit floats.
#pragma once

#include "backends/cpu/elementwise/UnaryF32.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <cstddef>
#include <optional>

namespace tenon::cpu
{

FloatFunction ToFunction(const ActivationDescriptor& descriptor);
/// Empty for operations without a vector loop.
std::optional<FloatFunction> ToFunction(UnaryOperation operation);

} // namespace tenon::cpu
