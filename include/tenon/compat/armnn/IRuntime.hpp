// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: loading and running networks.
#pragma once

#include <tenon/IRuntime.hpp>

#include <armnn/Namespace.hpp>
