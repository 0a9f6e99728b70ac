// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: values that may be absent.
#pragma once

#include <tenon/Optional.hpp>

#include <armnn/Namespace.hpp>

#define CONSTRUCT_IN_PLACE TENON_CONSTRUCT_IN_PLACE
