// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: questions about backends.
#pragma once

#include <tenon/BackendHelper.hpp>

#include <armnn/Namespace.hpp>
