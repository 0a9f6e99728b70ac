// SPDX-License-Identifier: Apache-2.0
// The weight matrices of a grouped convolution. Each group is a matrix of its own; where a group has fewer outputs than
// a vector has lanes, m neighbouring groups share one block-diagonal matrix, whose other weights are zero points (they
// add nothing to the sums):
//
//   group 0:  | w w |      outputs of group 0:  | w  w  zw zw |
//   group 1:  | w w |  ->  outputs of group 1:  | zw zw w  w  |      [outputs][taps][m * channels of a group]
//
// Used by Convolution2dInt8.cpp and Convolution2dInt16.cpp when a kernel is chosen and when weights are packed.
#pragma once

#include "backends/cpu/weights/LayerWithWeights.hpp"

#include <algorithm>
#include <vector>

namespace tenon::cpu
{

/// Number and depth of the matrices: one for the whole layer, one for each group, or one for m_Merged groups.
struct GroupMatrices
{
    size_t m_Count = 0;  ///< 0: the channels are not in groups of equal size, or not known
    size_t m_Merged = 1; ///< groups that share a matrix
    size_t m_Depth = 0;

    /// `lanes`: columns of a vector. Groups are merged as long as their outputs fit one vector.
    GroupMatrices(const LayerView& layer, size_t lanes)
    {
        const TensorShape& data = layer.GetInput(0).GetShape();
        const TensorShape& weights = layer.GetInput(1).GetShape();
        if (data.GetDimensionality() != Dimensionality::Specified || data.GetNumDimensions() != 4 ||
            !data.GetDimensionSpecificity(3) || data[3] == 0 || data[3] % weights[3] != 0 ||
            weights[0] % (data[3] / weights[3]) != 0)
        {
            return;
        }
        const size_t groups = data[3] / weights[3];
        for (size_t merged = 2; merged <= groups && merged * (weights[0] / groups) <= lanes; ++merged)
        {
            m_Merged = groups % merged == 0 ? merged : m_Merged;
        }
        m_Count = groups / m_Merged;
        m_Depth = size_t{weights[1]} * weights[2] * weights[3] * m_Merged;
    }

    /// The layer with merged weights: [outputs][taps][channels of a group] become [outputs][taps][m_Merged * channels
    /// of a group].
    LayerWithWeights Merge(const LayerView& layer) const
    {
        const ConstantWeightsInt8 stored(layer);
        const TensorShape& shape = layer.GetInput(1).GetShape();
        const size_t channels = shape[3];
        const size_t taps = size_t{shape[1]} * shape[2];
        const size_t groupOutputs = shape[0] / (m_Count * m_Merged);
        std::vector<uint8_t> merged(shape[0] * m_Depth, ConstantWeightsInt8::GetZero(layer));
        const uint8_t* from = stored.Get();
        for (size_t output = 0; output < shape[0]; ++output)
        {
            const size_t member = output / groupOutputs % m_Merged;
            uint8_t* to = merged.data() + output * m_Depth + member * channels;
            for (size_t tap = 0; tap < taps; ++tap, from += channels, to += channels * m_Merged)
            {
                std::copy_n(from, channels, to);
            }
        }
        return LayerWithWeights(
            layer, TensorShape({shape[0], shape[1], shape[2], static_cast<unsigned int>(channels * m_Merged)}),
            std::move(merged));
    }
};

} // namespace tenon::cpu
