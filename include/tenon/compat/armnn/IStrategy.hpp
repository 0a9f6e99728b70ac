// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: visitors of a network's layers.
#pragma once

#include <tenon/Descriptors.hpp>
#include <tenon/IStrategy.hpp>

#include <armnn/Namespace.hpp>
