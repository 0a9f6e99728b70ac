// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the profiler.
#pragma once

#include <tenon/IProfiler.hpp>

#include <armnn/Namespace.hpp>
