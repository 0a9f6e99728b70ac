// SPDX-License-Identifier: Apache-2.0
// What a layer takes, and what it could take at best, measured in turn.
#pragma once

#include "LoadedLayer.hpp"

#include <optional>
#include <string>

namespace tenon::bench
{

/// Median seconds of a run.
struct LayerTimes
{
    std::string m_Backend;
    double m_Layer = 0.0;
    double m_Call = 0.0;   ///< of a network that adds one number to another
    double m_Memcpy = 0.0; ///< of half as many bytes as the layer reads and writes, which reads and writes them
    std::optional<double> m_Vectors; ///< the layer's multiply-accumulates at the peak of vectors
    std::optional<double> m_Tiles;   ///< the same of tiles
    /// What the layer cannot be faster than: its multiply-accumulates or the movement of its bytes, whichever takes
    /// longer. Of depthwise convolutions DepthwiseLimit.hpp says what these are.
    double m_Limit = 0.0;
};

/// Takes about `seconds`; at least a few turns, or, with none, a single one. Throws tenon::Exception where the layer is
/// refused.
LayerTimes MeasureLayer(const LayerNetwork& layer, const Settings& settings, double seconds);

/// See LayerTimes::m_Call.
double MeasureCall(const Settings& settings);

} // namespace tenon::bench
