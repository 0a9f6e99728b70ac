// SPDX-License-Identifier: Apache-2.0
// What rows do about the quantization of operators that move stored values, or compare them, without rescaling: TFLite
// refuses to have another one behind some of these, and copies bytes in others.
#pragma once

#include "parsers/common/OperatorView.hpp"

namespace tenon::tflite
{

using parsers::OperatorView;

/// Throws ParseException unless an input and an output have the same scale and zero point, if one of them is quantized.
void CheckSameQuantization(const OperatorView& op, size_t input, size_t output);

/// The same of all inputs and all outputs.
void CheckSameQuantization(const OperatorView& op);

} // namespace tenon::tflite
