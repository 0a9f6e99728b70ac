// SPDX-License-Identifier: Apache-2.0
// Networks whose branches are joined along the channels, for bench_subgraphs. Float32, weights of one value.
#pragma once

#include <tenon/Tenon.hpp>

namespace tenon::bench
{

/// Two modules of SqueezeNet, one after the other: a 1x1 convolution to `squeezed` channels, then a 1x1 and a 3x3
/// convolution to `expanded` channels each (Iandola et al., 2016).
INetworkPtr MakeFires(unsigned int size, unsigned int channels, unsigned int squeezed, unsigned int expanded);

/// The first module of GoogLeNet at an image size of 28x28 or 14x14: convolutions of 1x1, 3x3 and 5x5, and one after a
/// maximum pool (Szegedy et al., 2015, table 1).
INetworkPtr MakeInception(unsigned int size);

} // namespace tenon::bench
