// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the macros around conversions that compilers warn about.
#pragma once

#include <armnn/Namespace.hpp>

#define ARMNN_NO_CONVERSION_WARN_BEGIN                                                                                 \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wconversion\"")                                  \
        _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"")
#define ARMNN_NO_CONVERSION_WARN_END _Pragma("GCC diagnostic pop")
/// A statement, without those warnings. (The spelling is Arm NN's.)
#define ARMNN_SUPRESS_CONVERSION_WARNING(func)                                                                         \
    ARMNN_NO_CONVERSION_WARN_BEGIN                                                                                     \
    func;                                                                                                              \
    ARMNN_NO_CONVERSION_WARN_END
