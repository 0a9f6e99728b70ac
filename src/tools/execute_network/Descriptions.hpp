// SPDX-License-Identifier: Apache-2.0
// --describe and --can-run: models are described in place of being run. App.cpp calls it.
#pragma once

#include "tools/execute_network/Options.hpp"

namespace tenon::tools
{

/// Whether the options ask for a description in place of a run.
bool IsDescription(const Options& options);

/// Prints and writes the description, see Describe() and CanRun() of tools/describe. Throws UsageError for options that
/// are for a single model, where the path is a folder.
void DescribeModels(const Options& options);

} // namespace tenon::tools
