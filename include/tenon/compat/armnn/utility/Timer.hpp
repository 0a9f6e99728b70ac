// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: a clock and the milliseconds since it was read.
#pragma once

#include <armnn/Namespace.hpp>
#include <chrono>

namespace tenon
{

inline std::chrono::high_resolution_clock::time_point GetTimeNow()
{
    return std::chrono::high_resolution_clock::now();
}

inline std::chrono::duration<double, std::milli>
GetTimeDuration(std::chrono::high_resolution_clock::time_point startTime)
{
    return std::chrono::duration<double, std::milli>(GetTimeNow() - startTime);
}

} // namespace tenon
