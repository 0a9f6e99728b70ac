// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: small services of the library.
#pragma once

#include <tenon/Utils.hpp>

#include <armnn/Namespace.hpp>

/// At the end of a case that goes on with the next one.
#define ARMNN_FALLTHROUGH __attribute__((fallthrough))
