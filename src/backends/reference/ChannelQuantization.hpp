// SPDX-License-Identifier: Apache-2.0
// ChannelQuantization: the scales and zero points of a tensor: one per slice of a dimension, one per block, or one for
// the whole tensor. Used by Quantize, Dequantize and QuantizedAsFloat.cpp.
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
    /// Precondition: the layer's support has checked the quantization of the tensor (Scales::PerSlice, Scales::AnyZero
    /// or Scales::Blocks). Throws LayerValidationException when the shape, perhaps unknown until now, does not have a
    /// slice, or a block, for each scale.
    explicit ChannelQuantization(const TensorInfo& info)
        : m_Scales(info.GetQuantizationScales()), m_ZeroPoints(info.GetQuantizationOffsets())
    {
        if (m_Scales.size() == 1 && !info.HasBlockwiseQuantization())
        {
            m_Inner = info.GetNumElements();
            return;
        }
        const TensorShape& shape = info.GetShape();
        const unsigned int dimension = info.GetQuantizationDim().value();
        const unsigned int rank = shape.GetNumDimensions();
        for (unsigned int i = 0; i < rank; ++i)
        {
            if (i != dimension)
            {
                (i < dimension ? m_Outer : m_Inner) *= shape[i];
            }
        }
        const size_t size = dimension < rank ? shape[dimension] : 0;
        m_BlockSize = info.GetQuantizationBlockSize();
        const bool fits = m_BlockSize == 0
                              ? size == m_Scales.size()
                              : size % m_BlockSize == 0 && m_Outer * m_Inner * (size / m_BlockSize) == m_Scales.size();
        if (dimension >= rank || !fits)
        {
            throw LayerValidationException(
                "a tensor of shape " + shape.ToString() + " has " + std::to_string(m_Scales.size()) +
                " scales along dimension " + std::to_string(dimension) + "; it must have as many " +
                (m_BlockSize == 0 ? "slices there" : "blocks there, of " + std::to_string(m_BlockSize)));
        }
    }

    /// Calls f(first element, count, scale, zero point) for each run of elements that share a scale, in order.
    template <typename F>
    void ForEachRun(const F& f) const
    {
        if (m_BlockSize != 0)
        {
            ForEachRunOfBlocks(f);
            return;
        }
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
    /// A block of the last dimension is a run; the elements of a block of another dimension are m_Inner apart.
    template <typename F>
    void ForEachRunOfBlocks(const F& f) const
    {
        size_t first = 0;
        for (size_t block = 0; block < m_Scales.size(); block += m_Inner)
        {
            if (m_Inner == 1)
            {
                f(first, m_BlockSize, m_Scales[block], m_ZeroPoints[block]);
                first += m_BlockSize;
                continue;
            }
            for (size_t i = 0; i < m_BlockSize; ++i)
            {
                for (size_t inner = 0; inner < m_Inner; ++inner)
                {
                    f(first++, 1, m_Scales[block + inner], m_ZeroPoints[block + inner]);
                }
            }
        }
    }

    std::vector<float> m_Scales;
    std::vector<int32_t> m_ZeroPoints; ///< as many as scales
    size_t m_Outer = 1;
    size_t m_Inner = 1;     ///< elements in a run
    size_t m_BlockSize = 0; ///< 0: not blockwise
};

} // namespace tenon::ref
