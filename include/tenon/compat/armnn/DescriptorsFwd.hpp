// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: parameters of the layers.
#pragma once

#include <tenon/Descriptors.hpp>

#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/Types.hpp>
