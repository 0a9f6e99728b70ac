// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: arm::pipe::ProfilingGuid, which armnn/Types.hpp defines.
#pragma once

#include <armnn/Types.hpp>
