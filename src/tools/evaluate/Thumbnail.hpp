// SPDX-License-Identifier: Apache-2.0
// Small pictures for the page, as "data:" addresses.
#pragma once

#include "tools/evaluate/Mask.hpp"

#include <string>
#include <string_view>

namespace tenon::tools::evaluate
{

/// A picture of any size as a small JPEG, or as it is where it is small. Throws InputError.
std::string DrawPicture(std::string_view bytes);

/// A colour for each class, as the palette of Pascal VOC has it.
std::string DrawMask(const Mask& mask);

} // namespace tenon::tools::evaluate
