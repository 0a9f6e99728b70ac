// SPDX-License-Identifier: Apache-2.0
// The known word that somebody may have meant by an unknown one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli
{

/// How many characters have to be put in, taken out, changed or swapped with their neighbour to make one of the other.
size_t EditDistance(std::string_view a, std::string_view b);

/// The word of `known`, which must not be empty, that is nearest to `word`: one that contains it, or else that with the
/// fewest edits. Of equally near ones the first.
const std::string& FindNearest(std::string_view word, const std::vector<std::string>& known);

} // namespace tenon::cli
