// SPDX-License-Identifier: Apache-2.0
// Text files that users give: their encoding, and numbers in them as an input, separated by blanks, line ends, commas
// or colons; and the text of an output, which can be read in the same way.
#pragma once

#include "tools/common/Buffer.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools
{

/// `content` without the byte order mark that editors put in front of UTF-8. Throws InputError for text in UTF-16 or
/// UTF-32, which its byte order mark shows.
std::string_view SkipByteOrderMark(std::string_view content);

/// The lines of a text in UTF-8 with any line ends (LF, CR LF, CR), without blanks around them. Empty lines at the end
/// do not count. Throws InputError for another encoding and for bytes of zero.
std::vector<std::string> ReadLines(std::string_view content);

/// Whether a file that starts so can be text: UTF-8 whose only control characters are blanks and line ends. The last
/// character may be incomplete.
bool IsText(std::string_view start);

/// Reads the stored values of a tensor of `info`, whose shape must be known; real numbers are not quantized. The start
/// "name, Type : " of WriteTextTensor() is skipped. Throws InputError if it names another type; for the first word that
/// is no number of the type, with its line and column; and for another count of numbers.
Buffer ParseTextTensor(std::string_view content, const TensorInfo& info);

/// Writes a tensor of fully known shape as one line in the form of Arm NN's ExecuteNetwork: "name, Float32 : 0.5 1 ",
/// with a blank after each value, and 0 and 1 for Booleans. Each value reads back as the same number. Throws RunError.
void WriteTextTensor(const std::string& path, const std::string& name, const TensorInfo& info, const std::byte* data);

} // namespace tenon::tools
