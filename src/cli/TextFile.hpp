// SPDX-License-Identifier: Apache-2.0
// Text files that users give: how they are encoded, and numbers in them as an input, separated by blanks, line ends,
// commas or colons; and the text of an output, which can be read so.
#pragma once

#include "cli/Buffer.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli
{

/// `content` without the byte order mark that editors put in front of UTF-8. Throws InputError for text in UTF-16 or
/// UTF-32, as its own mark shows.
std::string_view SkipByteOrderMark(std::string_view content);

/// The lines of a text in UTF-8, whatever ends them (LF, CR LF, CR), without blanks around them. Empty ones at the end
/// do not count. Throws InputError for another encoding and for bytes of zero.
std::vector<std::string> ReadLines(std::string_view content);

/// Whether a file that starts so can be text: UTF-8 without control characters but blanks and line ends. The last
/// character may be cut.
bool IsText(std::string_view start);

/// As many stored values (quantized ones are not converted) as `info`, whose shape must be known, has elements. The
/// start "name, Type : " of WriteTextTensor() is passed over. Throws InputError where it names another type; for the
/// first word that is no number of the type, with its line and column; and for another count of numbers.
Buffer ParseTextTensor(std::string_view content, const TensorInfo& info);

/// Writes a tensor of fully known shape as one line in the form of Arm NN's ExecuteNetwork: "name, Float32 : 0.5 1 ",
/// with a blank behind each value, and 0 and 1 for Booleans. Each value reads back as the same number. Throws RunError.
void WriteTextTensor(const std::string& path, const std::string& name, const TensorInfo& info, const std::byte* data);

} // namespace tenon::cli
