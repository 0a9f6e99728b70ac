// SPDX-License-Identifier: Apache-2.0
// What is wrong with paths of the command line, seen before anything runs.
#pragma once

#include "cli/Options.hpp"

#include <string>

namespace tenon::cli
{

/// Throws UsageError where a file would be written twice, over one that is read, or into a folder that is not there,
/// where standard input or output is given to two, where a pipe is read twice or both read and written, and where
/// --cached-network-filepath names no regular file. Throws InputError where a file of --compare-output is not there.
void CheckFiles(const Options& options);

/// Whether a file to write is standard output, which then has nothing else.
bool WritesToStandardOutput(const Options& options);

/// The folder of --print-intermediate-layers-to-file.
std::string GetLayersFolder(const Options& options);

/// Makes the folder of --print-intermediate-layers-to-file. Throws RunError where files cannot be written into it.
void MakeLayersFolder(const Options& options);

/// Throws UsageError where --dynamic-backends-path can be neither read as a folder nor is a file.
void CheckDynamicBackendsPath(const Options& options);

} // namespace tenon::cli
