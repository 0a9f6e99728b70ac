// SPDX-License-Identifier: Apache-2.0
// --benchmark: runs a network again and again, alone or against another one, and prints how long it takes.
#pragma once

#include "tools/execute_network/Options.hpp"

namespace tenon::tools
{

/// Runs, prints and writes as the options say. Throws UsageError, InputError, RunError and UnimplementedException.
void RunBenchmark(const Options& options);

} // namespace tenon::tools
