// SPDX-License-Identifier: Apache-2.0
// Networks of consecutive elementwise layers, for bench_subgraphs.
#pragma once

#include <tenon/Tenon.hpp>

namespace tenon::bench
{

/// Eight layers of Float32: sums, products and similar operations with one row, and negations between them.
INetworkPtr MakeElementwise(unsigned int images, unsigned int rows, unsigned int columns);

/// x * sigmoid(x) of Float32, [1, size, size, channels].
INetworkPtr MakeSwish(unsigned int size, unsigned int channels);

/// residual + scale * x of Float32, with a factor for each channel, as in ConvNeXt.
INetworkPtr MakeScaledResidual(unsigned int size, unsigned int channels);

/// a * b + c, three tensors of `type`.
INetworkPtr MakeProductSum(DataType type, unsigned int size, unsigned int channels);

} // namespace tenon::bench
