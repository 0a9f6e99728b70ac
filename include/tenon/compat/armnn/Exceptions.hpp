// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: exceptions, and the macro that says where one was thrown.
#pragma once

#include <tenon/Exceptions.hpp>

#include <armnn/Namespace.hpp>

#define CHECK_LOCATION() TENON_CHECK_LOCATION()
