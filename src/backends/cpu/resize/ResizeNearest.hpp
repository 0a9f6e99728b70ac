// SPDX-License-Identifier: Apache-2.0
// Resizing by the nearest element: rows and columns of images are picked by index. Resize and Interpolate call it.
#pragma once

#include "backends/cpu/resize/ResizedImage.hpp"

#include <cstddef>
#include <vector>

namespace tenon::cpu
{

/// Prepares resizing of elements of any type. `rows` and `columns` are the input index of each output row and column,
/// `images` that of each output image; empty: images keep their order. Precondition: output rows have fewer than 2^32
/// elements.
backends::Prepared MakeResizeNearest(const ResizedImage& image, std::vector<size_t> rows,
                                     const std::vector<size_t>& columns, std::vector<size_t> images = {});

} // namespace tenon::cpu
