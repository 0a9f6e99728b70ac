// SPDX-License-Identifier: Apache-2.0
// Checks of the quantization of operators that move or compare stored values without rescaling: TFLite refuses a
// different quantization of the output for some of them, and copies bytes for others.
#pragma once

#include "parsers/common/OperatorView.hpp"

namespace tenon::tflite
{

using parsers::OperatorView;

/// Throws ParseException unless an input and an output have the same scale and zero point, if one of them is quantized.
void CheckSameQuantization(const OperatorView& op, size_t input, size_t output);

/// The same for all inputs and all outputs.
void CheckSameQuantization(const OperatorView& op);

} // namespace tenon::tflite
