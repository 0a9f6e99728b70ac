// SPDX-License-Identifier: Apache-2.0
// The handling of constants' data in front ends: data is used in place in the file if kernels can read it there.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/common/OperatorView.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

namespace tenon::parsers
{

/// Copies the tensor's data if its alignment does not suit its type, and charges the budget for the copy.
void Align(TensorView& tensor, ReadBudget& budget);

/// Throws ParseException for a tensor whose shape is known and above Limits::m_MaxTensorBytes.
void CheckTensorBytes(const TensorInfo& info, const Limits& limits);

} // namespace tenon::parsers
