// SPDX-License-Identifier: Apache-2.0
// The known word that somebody may have meant by an unknown one. ExecuteNetwork and the TensorFlow Lite delegate use
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::text
{

/// How many characters have to be put in, taken out, changed or swapped with their neighbour to make one of the other.
size_t EditDistance(std::string_view a, std::string_view b);

/// The word of `known` that is nearest to `word`, or nothing where none is near. Near is a word that `word` becomes by
/// edits of at most a third of its characters, as a whole or as some of its parts between hyphens ("treads" is near to
/// "number-of-threads"), and one that contains `word`. Upper and lower case count only between equally near ones; of
/// these the first is taken.
std::optional<std::string> FindNearest(std::string_view word, const std::vector<std::string>& known);

} // namespace tenon::text
