// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: how the tensors of a run are packed.
#pragma once

#include <tenon/backend/IMemoryOptimizerStrategy.hpp>

#include <armnn/Namespace.hpp>
#include <armnn/Types.hpp>
