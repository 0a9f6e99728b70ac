// SPDX-License-Identifier: Apache-2.0
// What ExecuteNetwork asks of the operating system for itself.
#pragma once

#include <cstdint>

namespace tenon::cli
{

/// Bounds the process's memory by what the machine (or its container) has to give, so that a model which asks for more
/// ends in std::bad_alloc and a message. Without it Linux hands out memory that it has not, and kills when it is used.
void LimitMemory();

/// Writing to a closed pipe or past a limit on file sizes becomes an ordinary error.
void IgnoreWriteSignals();

/// The most memory that was resident at once; 0 if the system does not say.
uint64_t GetPeakRssBytes();

} // namespace tenon::cli
