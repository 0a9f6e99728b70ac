// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the network builder, Optimize and the optimized network.
#pragma once

#include <tenon/INetwork.hpp>

#include <armnn/Namespace.hpp>
