// SPDX-License-Identifier: Apache-2.0
// Values of options as people write them: lists and flags. ExecuteNetwork and the TensorFlow Lite delegate use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::text
{

/// The text without blanks at both ends.
std::string_view Trim(std::string_view text);

/// The parts between separators, without blanks around them. An empty text has no parts.
std::vector<std::string> Split(std::string_view text, char separator);

/// The value of a flag in the spellings that Arm NN has taken ("true", "1", "on", ...); nothing for any other text.
std::optional<bool> ParseFlag(std::string_view text);

} // namespace tenon::text
