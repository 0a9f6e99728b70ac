// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: memory of the application's own.
#pragma once

#include <tenon/backend/ICustomAllocator.hpp>

#include <armnn/Exceptions.hpp>
#include <armnn/MemorySources.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <memory>
