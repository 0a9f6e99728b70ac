// SPDX-License-Identifier: Apache-2.0
// How many threads run at once on this machine.
#pragma once

#include <algorithm>
#include <thread>

namespace tenon
{

/// Of the machine, at least 1. The system is asked once: each answer of its own takes as long as a small layer, as it
/// reads a file for it.
inline unsigned int CountCores()
{
    static const unsigned int cores = std::max(1U, std::thread::hardware_concurrency());
    return cores;
}

} // namespace tenon
