// SPDX-License-Identifier: Apache-2.0
// Images made of rows and columns that are picked from others. Used by Resize and Interpolate.
#pragma once

#include "backends/cpu/resize/ResizedImage.hpp"

#include <cstddef>
#include <vector>

namespace tenon::cpu
{

/// Of elements of any type. `rows` and `columns` say where each of the output comes from, `images` the same of whole
/// images, of which each is itself where this is empty. Precondition: output rows have fewer than 2^32 elements.
backends::Prepared MakeResizeNearest(const ResizedImage& image, std::vector<size_t> rows,
                                     const std::vector<size_t>& columns, std::vector<size_t> images = {});

} // namespace tenon::cpu
