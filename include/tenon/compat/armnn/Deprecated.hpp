// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the macros around uses of what is deprecated.
#pragma once

#include <armnn/Namespace.hpp>

#define ARMNN_NO_DEPRECATE_WARN_BEGIN                                                                                  \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
#define ARMNN_NO_DEPRECATE_WARN_END _Pragma("GCC diagnostic pop")
#define ARMNN_DEPRECATED [[deprecated]]
#define ARMNN_DEPRECATED_MSG(message) [[deprecated(message)]]
