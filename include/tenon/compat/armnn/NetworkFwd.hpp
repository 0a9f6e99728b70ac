// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the network builder.
#pragma once

#include <tenon/INetwork.hpp>

#include <armnn/Namespace.hpp>
