// SPDX-License-Identifier: Apache-2.0
// FullyConnected of float data by weights with a scale per block of the depth. Rows are quantized to int8 while
// running: row scale s, zero point z.
//
//   out = s * (sum_b scale[n][b] * sum_block q w  -  z * sum_b scale[n][b] * sum_block w) + bias[n]
//
// Sums of a block are integers, sums over blocks floats in the order of the blocks. That is the arithmetic of LiteRT's
// own kernel, bit for bit.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

namespace tenon::ref
{

/// Whether stored values have a scale per block.
inline bool HasBlocks(const TensorInfo& info)
{
    return info.IsQuantized() && info.HasBlockwiseQuantization();
}

/// Checks a FullyConnected whose weights have blocks. Their types are checked already.
SupportResult CheckBlockwiseProduct(const LayerView& layer);

/// The weights have one byte each.
backends::Prepared PrepareBlockwiseProduct(const ReshapeArgs& args, const ConvolutionGeometry& g);

/// How much of a result a unit of the data's zero point takes away: sum_b scale[b] * sum_block w, of `depth` weights.
float GetZeroPointFactor(const int8_t* weights, const float* scales, size_t depth, size_t blockSize);

} // namespace tenon::ref
