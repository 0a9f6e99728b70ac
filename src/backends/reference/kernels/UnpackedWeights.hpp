// SPDX-License-Identifier: Apache-2.0
// 4-bit weights: the kernels of Convolution2d, DepthwiseConvolution2d and FullyConnected are written for 8-bit ones,
// and get these unpacked into scratch memory while running.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

/// 4-bit elements, two a byte, the first in the low half, as signed numbers.
void Unpack(const int8_t* packed, size_t count, int8_t* unpacked);

/// What `prepare` gives for `args`; if input 1 is of a 4-bit type, for the same weights as 8-bit ones, with the
/// unpacking in front.
backends::Prepared PrepareWithUnpackedWeights(const ReshapeArgs& args,
                                              backends::Prepared (*prepare)(const ReshapeArgs& args,
                                                                            const backends::PackedWeights* packed),
                                              const backends::PackedWeights* packed);

} // namespace tenon::ref
