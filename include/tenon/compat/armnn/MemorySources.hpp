// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: kinds of memory.
#pragma once

#include <tenon/Types.hpp>

#include <armnn/Namespace.hpp>
