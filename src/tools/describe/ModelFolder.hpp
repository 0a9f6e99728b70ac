// SPDX-License-Identifier: Apache-2.0
// The files of a folder that may be models.
#pragma once

#include <string>
#include <vector>

namespace tenon::tools
{

/// Regular files in the folder and in those within, but for hidden ones and hidden folders, such as .git, in the order
/// of their names. `option` is for messages. Throws UsageError for a folder that is not there or cannot be read.
std::vector<std::string> ListFilesWithin(const std::string& folder, const char* option);

} // namespace tenon::tools
