// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: logging.
#pragma once

#include <tenon/Logging.hpp>

#include <armnn/Namespace.hpp>

/// ARMNN_LOG(info) << "text";  severities: trace debug info warning error fatal
#define ARMNN_LOG(severity) TENON_LOG(severity)
