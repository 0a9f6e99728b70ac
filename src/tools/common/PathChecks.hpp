// SPDX-License-Identifier: Apache-2.0
// Checks of the files that a command line names, before anything runs.
#pragma once

#include <string>
#include <vector>

namespace tenon::tools
{

/// Throws UsageError if a file would be written twice, over a file that is read, or into a missing folder; if standard
/// input or output is given twice; and if a pipe is read twice, or both read and written. Paths to read may be empty.
void CheckFilePaths(const std::vector<std::string>& read, const std::vector<std::string>& written);

} // namespace tenon::tools
