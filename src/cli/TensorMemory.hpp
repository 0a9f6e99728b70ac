// SPDX-License-Identifier: Apache-2.0
// What inputs and outputs take of memory: bounds on each and on all of them together, and words for memory that is not
// there.
#pragma once

#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::cli
{

/// Throws InputError where one tensor is above the limit.
void CheckTensorBytes(const TensorInfo& info, const Limits& limits);

/// Throws InputError where they are more than the limit. `what` is "the 3 inputs", say.
void CheckTotalBytes(std::string_view what, uint64_t bytes, const Limits& limits);

/// "not enough memory for Float32 [2,3], which takes 24 bytes".
std::string DescribeLackOfMemory(const TensorInfo& info);

} // namespace tenon::cli
