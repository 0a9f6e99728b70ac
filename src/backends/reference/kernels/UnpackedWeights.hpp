// SPDX-License-Identifier: Apache-2.0
// 4-bit weights: the kernels of Convolution2d, DepthwiseConvolution2d and FullyConnected are written for 8-bit weights,
// and get 4-bit weights unpacked into scratch memory while running.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

/// Calls `prepare` for `args`. If input 1 has a 4-bit type, `prepare` sees the same weights as 8-bit, and unpacking
/// runs first.
backends::Prepared PrepareWithUnpackedWeights(const ReshapeArgs& args,
                                              backends::Prepared (*prepare)(const ReshapeArgs& args,
                                                                            const backends::PackedWeights* packed),
                                              const backends::PackedWeights* packed);

} // namespace tenon::ref
