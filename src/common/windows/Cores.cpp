// SPDX-License-Identifier: Apache-2.0
// See Cores.hpp.
#include "common/Cores.hpp"

#include <algorithm>
#include <thread>

namespace tenon
{

unsigned int CountCores()
{
    static const unsigned int cores = std::max(1U, std::thread::hardware_concurrency());
    return cores;
}

} // namespace tenon
