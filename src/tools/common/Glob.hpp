// SPDX-License-Identifier: Apache-2.0
// Patterns of paths, as shells have them, and the order in which people expect numbered files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools
{

/// Whether the text has one of the signs of a pattern: *, ? or [.
bool IsGlob(std::string_view text);

/// Whether a name, without slashes, is one of a pattern's: * stands for any text, ? for any byte, [a-z] for a byte of a
/// set, [!a-z] for any other. A [ without its end stands for itself.
bool MatchesGlob(std::string_view name, std::string_view pattern);

/// The regular files of a pattern whose parts between slashes are patterns; ** stands for folders in any depth, but not
/// for those of links. Names that begin with a dot are matched by patterns that begin so alone. Natural order; empty if
/// there is none. Throws InputError for a folder that cannot be read.
std::vector<std::string> ExpandGlob(const std::string& pattern);

/// The regular files of a folder, without those of the folders within and without hidden ones, in natural order. Throws
/// InputError if the folder cannot be read.
std::vector<std::string> ListFolder(const std::string& folder);

/// The natural order: numbers within names count by their value, so that "img2" is before "img10".
bool IsNaturallyLess(std::string_view a, std::string_view b);

} // namespace tenon::tools
