// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: options of backends and networks.
#pragma once

#include <tenon/BackendOptions.hpp>

#include <armnn/Namespace.hpp>
