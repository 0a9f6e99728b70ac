// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN that use this internal header of it: arrays of one number per dimension.
#pragma once

#include <armnn/Types.hpp>
#include <array>
#include <common/include/ProfilingGuid.hpp>

namespace tenon
{

using Coordinates = std::array<unsigned int, MaxNumOfTensorDimensions>;
using Dimensions = std::array<unsigned int, MaxNumOfTensorDimensions>;

} // namespace tenon
