// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the macros around uses of deprecated names.
#pragma once

#include <armnn/Namespace.hpp>

#define ARMNN_NO_DEPRECATE_WARN_BEGIN                                                                                  \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
#define ARMNN_NO_DEPRECATE_WARN_END _Pragma("GCC diagnostic pop")
#define ARMNN_DEPRECATED [[deprecated]]
#define ARMNN_DEPRECATED_MSG(message) [[deprecated(message)]]
/// When the thing is to go, or to change, as a part of the message.
#define ARMNN_DEPRECATED_MSG_REMOVAL_DATE(message, removed_in_release)                                                 \
    [[deprecated("to be removed in release " #removed_in_release ": " message)]]
#define ARMNN_DEPRECATED_MSG_CHANGE_DATE(message, signature_changed_in_release)                                        \
    [[deprecated("to get another signature in release " #signature_changed_in_release ": " message)]]
/// The mark of a deprecated enumerator, for which [[deprecated]] needs C++17.
#define ARMNN_DEPRECATED_ENUM __attribute__((deprecated))
#define ARMNN_DEPRECATED_ENUM_MSG(message) __attribute__((deprecated(message)))
/// A statement, without warnings about deprecated things.
#define ARMNN_SUPPRESS_DEPRECATE_WARNING(func)                                                                         \
    ARMNN_NO_DEPRECATE_WARN_BEGIN                                                                                      \
    func;                                                                                                              \
    ARMNN_NO_DEPRECATE_WARN_END
