// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the .tflite parser.
#pragma once

#include <tenon/parsers/ITfLiteParser.hpp>

#include <armnn/INetwork.hpp>
#include <armnn/Optional.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>

// A macro, as armnn is: programs may open the namespace.
#ifndef armnnTfLiteParser
#define armnnTfLiteParser tenon
#endif
