// SPDX-License-Identifier: Apache-2.0
// Requests of ExecuteNetwork to the operating system about its own process.
#pragma once

#include <cstdint>

namespace tenon::tools
{

/// Bounds the process's memory by the memory of the machine (or its container), so that a model which asks for more
/// ends in std::bad_alloc and a message. Without the bound, Linux overcommits memory and kills the process when it uses
/// it.
void LimitMemory();

/// Writing to a closed pipe or past a limit on file sizes becomes an ordinary error.
void IgnoreWriteSignals();

/// The peak of resident memory; 0 if the system does not report it.
uint64_t GetPeakRssBytes();

} // namespace tenon::tools
