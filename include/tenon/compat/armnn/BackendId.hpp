// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: backends' names.
#pragma once

#include <tenon/BackendId.hpp>

#include <armnn/Namespace.hpp>
