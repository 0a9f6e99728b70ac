// SPDX-License-Identifier: Apache-2.0
// One run of ExecuteNetwork with a parsed command line: from input files to output files.
#pragma once

#include "tools/execute_network/Options.hpp"

namespace tenon::tools
{

/// Loads the model, runs it on its inputs, then prints and writes the requested results. Throws UsageError, InputError,
/// UnimplementedException for features that no chosen backend supports, and other exceptions for a failure while
/// running.
void Run(const Options& options);

} // namespace tenon::tools
