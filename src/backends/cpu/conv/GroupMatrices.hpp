// SPDX-License-Identifier: Apache-2.0
// How the weights of a convolution in groups become matrices of products of packed bytes. Used by Convolution2d of
// bytes, of floats beside bytes, and of 16-bit data.
#pragma once

#include "backends/cpu/weights/LayerWithWeights.hpp"

#include <algorithm>
#include <vector>

namespace tenon::cpu
{

/// The matrices that the weights are packed as: one of all channels, or one of each group of them. Groups with fewer
/// outputs than a vector has lanes share a matrix, in which weights between them are zeros.
struct GroupMatrices
{
    size_t m_Count = 0;  ///< 0: the channels are not in groups of equal size, or not known
    size_t m_Merged = 1; ///< groups that share one
    size_t m_Depth = 0;

    /// `lanes`: columns of a vector.
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

    /// The layer with weights that are merged so: [outputs][points][channels of a group] become [outputs][points]
    /// [channels of the groups that share a matrix].
    LayerWithWeights Merge(const LayerView& layer) const
    {
        const StoredBytes stored(layer);
        const TensorShape& shape = layer.GetInput(1).GetShape();
        const size_t channels = shape[3];
        const size_t points = size_t{shape[1]} * shape[2];
        const size_t groupOutputs = shape[0] / (m_Count * m_Merged);
        std::vector<uint8_t> merged(shape[0] * m_Depth, StoredBytes::GetZero(layer));
        const uint8_t* from = stored.Get();
        for (size_t output = 0; output < shape[0]; ++output)
        {
            const size_t member = output / groupOutputs % m_Merged;
            uint8_t* to = merged.data() + output * m_Depth + member * channels;
            for (size_t point = 0; point < points; ++point, from += channels, to += channels * m_Merged)
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
