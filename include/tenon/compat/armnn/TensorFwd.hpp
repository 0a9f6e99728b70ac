// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: tensors, their shapes and types.
#pragma once

#include <tenon/Tensor.hpp>

#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/Types.hpp>
