// SPDX-License-Identifier: Apache-2.0
// The number of threads that run at once on this machine.
#pragma once

#include <algorithm>
#include <thread>

namespace tenon
{

/// The number of cores of the machine, at least 1. The system is asked once: it reads a file for each answer, which
/// takes as long as a small layer.
inline unsigned int CountCores()
{
    static const unsigned int cores = std::max(1U, std::thread::hardware_concurrency());
    return cores;
}

} // namespace tenon
