// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: loading and running networks. It brings along what Arm NN's header of this name
// brings along.
#pragma once

#include <tenon/IRuntime.hpp>

#include <armnn/BackendOptions.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/IProfiler.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/TypesUtils.hpp>
