// SPDX-License-Identifier: Apache-2.0
// Checks of paths on the command line before anything runs.
#pragma once

#include "tools/execute_network/Options.hpp"

#include <string>

namespace tenon::tools
{

/// Throws UsageError if a file would be written twice, over a file that is read, or into a missing folder; if two
/// options use standard input or output; if a pipe is read twice, or both read and written; if a network would be
/// written under a name that ends as files of other formats do; and if --cached-network-filepath names no regular file.
/// Throws InputError if a file of --compare-output is missing.
void CheckFiles(const Options& options);

/// Whether a file to write is standard output, which then has no other text.
bool WritesToStandardOutput(const Options& options);

/// The folder of --print-intermediate-layers-to-file.
std::string GetLayersFolder(const Options& options);

/// Makes the folder of --print-intermediate-layers-to-file. Throws RunError if files cannot be written into it.
void MakeLayersFolder(const Options& options);

} // namespace tenon::tools
