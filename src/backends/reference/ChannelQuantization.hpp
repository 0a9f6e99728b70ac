// SPDX-License-Identifier: Apache-2.0
// ChannelQuantization: the scales and zero points of a tensor: one per slice of a dimension, or one for the whole
// tensor. Used by Quantize, Dequantize and QuantizedAsFloat.cpp.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::ref
{

class ChannelQuantization
{
public:
    /// Precondition: the layer's support has checked the quantization of the tensor (Scales::PerSlice or
    /// Scales::AnyZero). Throws LayerValidationException when the shape, perhaps unknown until now, does not have a
    /// slice for each scale.
    explicit ChannelQuantization(const TensorInfo& info)
        : m_Scales(info.GetQuantizationScales()), m_ZeroPoints(info.GetQuantizationOffsets())
    {
        const TensorShape& shape = info.GetShape();
        if (m_Scales.size() == 1)
        {
            m_Inner = info.GetNumElements();
            return;
        }
        const unsigned int dimension = info.GetQuantizationDim().value();
        if (dimension >= shape.GetNumDimensions() || shape[dimension] != m_Scales.size())
        {
            throw LayerValidationException("a tensor of shape " + shape.ToString() + " has " +
                                           std::to_string(m_Scales.size()) + " scales along dimension " +
                                           std::to_string(dimension) + "; it must have as many slices there");
        }
        for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
        {
            if (i != dimension)
            {
                (i < dimension ? m_Outer : m_Inner) *= shape[i];
            }
        }
    }

    /// Calls f(first element, count, scale, zero point) for each run of elements that share a scale, in order.
    template <typename F>
    void ForEachRun(const F& f) const
    {
        size_t first = 0;
        for (size_t outer = 0; outer < m_Outer; ++outer)
        {
            for (size_t i = 0; i < m_Scales.size(); ++i, first += m_Inner)
            {
                f(first, m_Inner, m_Scales[i], m_ZeroPoints[i]);
            }
        }
    }

private:
    std::vector<float> m_Scales;
    std::vector<int32_t> m_ZeroPoints; ///< as many as scales
    size_t m_Outer = 1;
    size_t m_Inner = 1; ///< elements in a run
};

} // namespace tenon::ref
