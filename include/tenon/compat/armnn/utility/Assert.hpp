// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: assertions of the program's own. Tenon itself reports errors by exception.
#pragma once

#include <armnn/Namespace.hpp>
#include <cassert>

#define ARMNN_ASSERT(condition) assert(condition)
#define ARMNN_ASSERT_MSG(condition, message) assert((condition) && message)
