// SPDX-License-Identifier: Apache-2.0
// The header of the .tflite schema includes this one: ARG_MAX is an operator in it, and a macro of macOS.
#pragma once

#include <climits>

#undef ARG_MAX
