// SPDX-License-Identifier: Apache-2.0
// The time of a layer, and a lower bound of it, measured in an interleaved way.
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
    double m_Call = 0.0;   ///< time of a network that adds one number to another
    double m_Memcpy = 0.0; ///< time of a memcpy of half as many bytes as the layer reads and writes, so that it moves
                           ///< the same total
    std::optional<double> m_Vectors; ///< time of the layer's multiply-accumulates at the peak rate of vectors
    std::optional<double> m_Tiles;   ///< the same for AMX tiles
    /// The lower bound of the layer's time: its multiply-accumulates or the movement of its bytes, whichever takes
    /// longer. For depthwise convolutions see DepthwiseLimit.hpp.
    double m_Limit = 0.0;
};

/// Measures for about `seconds`: at least a few rounds, or a single one for 0 seconds. Throws tenon::Exception if the
/// layer is refused.
LayerTimes MeasureLayer(const LayerNetwork& layer, const Settings& settings, double seconds);

/// See LayerTimes::m_Call.
double MeasureCall(const Settings& settings);

} // namespace tenon::bench
