// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the .tflite parser.
#pragma once

#include <tenon/parsers/ITfLiteParser.hpp>

#include <armnn/INetwork.hpp>
#include <armnn/Optional.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>

namespace armnnTfLiteParser
{

using tenon::BindingPointInfo;
using tenon::ITfLiteParser;
using tenon::ITfLiteParserPtr;

} // namespace armnnTfLiteParser
