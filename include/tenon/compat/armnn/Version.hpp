// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the version whose interface these headers have, 35.0.0, which is release 25.02.
// GetVersion() gives Tenon's own.
#pragma once

#include <armnn/Namespace.hpp>

/// The text of a macro's value, and of its argument as it stands.
#define STRINGIFY_VALUE(s) STRINGIFY_MACRO(s)
#define STRINGIFY_MACRO(s) #s

#define ARMNN_MAJOR_VERSION 35
#define ARMNN_MINOR_VERSION 0
#define ARMNN_PATCH_VERSION 0
#define ARMNN_VERSION "35.0.0"
