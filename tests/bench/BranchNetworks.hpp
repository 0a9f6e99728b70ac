// SPDX-License-Identifier: Apache-2.0
// Networks whose branches are joined along the channels, as bench_subgraphs runs them. Float32, weights of one value.
#pragma once

#include <tenon/Tenon.hpp>

namespace tenon::bench
{

/// Two modules of SqueezeNet, one after the other: a convolution of 1x1 to `squeezed` channels, and of 1x1 and 3x3 from
/// these to `expanded` each (Iandola et al., 2016).
INetworkPtr MakeFires(unsigned int size, unsigned int channels, unsigned int squeezed, unsigned int expanded);

/// A module of GoogLeNet at its image size, its first at 28x28 or at 14x14: convolutions of 1x1, 3x3 and 5x5 and one
/// behind a maximum pool (Szegedy et al., 2015, table 1).
INetworkPtr MakeInception(unsigned int size);

} // namespace tenon::bench
