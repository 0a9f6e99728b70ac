// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing of NHWC images. Resize calls it.
#pragma once

#include "backends/cpu/resize/ResizedImage.hpp"

namespace tenon::cpu
{

/// Prepares bilinear resizing of Float32, BFloat16 and integers of 8 and 16 bits. Integers are exact: uint8 as TFLite's
/// reference kernel rounds floats, int8 and int16 in its fixed point. Precondition: output rows have fewer than 2^32
/// elements.
backends::Prepared MakeResizeBilinear(const ResizedImage& image, DataType type, unsigned int maxThreads);

} // namespace tenon::cpu
