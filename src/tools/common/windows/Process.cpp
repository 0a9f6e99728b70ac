// SPDX-License-Identifier: Apache-2.0
// See Process.hpp.
#include "tools/common/Process.hpp"

// clang-format off
#include <windows.h> // which the other one needs
#include <psapi.h>
// clang-format on

namespace tenon::tools
{

void LimitMemory()
{
    // The system hands out no memory that it has not.
}

void IgnoreWriteSignals()
{
    // There are none.
}

uint64_t GetPeakRssBytes()
{
    PROCESS_MEMORY_COUNTERS counters = {};
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters)) != 0 ? counters.PeakWorkingSetSize
                                                                                       : 0;
}

} // namespace tenon::tools
