// SPDX-License-Identifier: Apache-2.0
// One run of ExecuteNetwork after its command line is understood: from files to files.
#pragma once

#include "cli/Options.hpp"

namespace tenon::cli
{

/// Loads the model, runs it on its inputs, then prints and writes what was asked for.
/// Throws UsageError, InputError, UnimplementedException for what no chosen backend supports, and anything else for a
/// failure while running.
void Run(const Options& options);

} // namespace tenon::cli
