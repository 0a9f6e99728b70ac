// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: the interface of tensors in memory.
#pragma once

#include <tenon/Tensor.hpp>

#include <armnn/MemorySources.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
