// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: enumerations and small value types.
#pragma once

#include <tenon/Types.hpp>

#include <armnn/Namespace.hpp>
#include <armnn/backends/IBackend.hpp>
