// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the .tflite parser. BindingPointInfo and ITfLiteParserPtr have this namespace too.
#pragma once

#include <tenon/parsers/ITfLiteParser.hpp>

#include <armnn/INetwork.hpp>
#include <armnn/Optional.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>

namespace armnnTfLiteParser = tenon;
