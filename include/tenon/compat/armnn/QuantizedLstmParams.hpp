// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: weights of the quantized LSTM layer.
#pragma once

#include <tenon/LstmParams.hpp>

#include <armnn/Namespace.hpp>
