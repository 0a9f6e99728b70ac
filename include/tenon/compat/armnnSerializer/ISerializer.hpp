// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the serializer. It writes .tenon files, not .armnn ones.
#pragma once

#include <tenon/serializer/ISerializer.hpp>

#include <armnn/INetwork.hpp>
#include <armnn/Types.hpp>

// A macro, as armnn is: programs may open the namespace.
#ifndef armnnSerializer
#define armnnSerializer tenon
#endif
