// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: weights of the LSTM layers.
#pragma once

#include <tenon/LstmParams.hpp>

#include <armnn/Namespace.hpp>
