// SPDX-License-Identifier: Apache-2.0
// Numbers in a text file as an input, separated by blanks, line ends or commas.
#pragma once

#include "cli/Buffer.hpp"

#include <tenon/Tensor.hpp>

#include <string_view>

namespace tenon::cli
{

/// Whether `content` can be text: no control characters but blanks and line ends.
bool IsText(std::string_view content);

/// As many stored values (quantized ones are not converted) as `info`, whose shape must be known, has elements.
/// Throws InputError naming the line of what is no number of the type.
Buffer ParseTextTensor(std::string_view content, const TensorInfo& info);

} // namespace tenon::cli
