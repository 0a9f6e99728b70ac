// SPDX-License-Identifier: Apache-2.0
// The memory of inputs and outputs: bounds on each of them and on their sum, and the text for exhausted memory.
#pragma once

#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::tools
{

/// Throws InputError if one tensor is above the limit.
void CheckTensorBytes(const TensorInfo& info, const Limits& limits);

/// Throws InputError if they exceed the limit. `what` is a text such as "the 3 inputs".
void CheckTotalBytes(std::string_view what, uint64_t bytes, const Limits& limits);

/// "not enough memory for Float32 [2,3], which takes 24 bytes".
std::string DescribeLackOfMemory(const TensorInfo& info);

} // namespace tenon::tools
