// SPDX-License-Identifier: Apache-2.0
// ChannelQuantization: the scales and zero points of a tensor with one of each per slice of a dimension, or one for
// all. Used by Quantize and Dequantize.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::ref
{

/// The stored values of a quantized type, 4-bit ones included.
inline backends::QuantizedRange GetStoredRange(DataType type)
{
    return type == DataType::QSymmS4 ? backends::QuantizedRange{-8, 7} : backends::GetTypeRange(type);
}

class ChannelQuantization
{
public:
    /// Throws InvalidArgumentException unless there is a scale for each slice or one for all, all positive and finite,
    /// and zero points that the type can store. `what` names the tensor in a message.
    ChannelQuantization(const TensorInfo& info, const char* what)
        : m_Scales(info.GetQuantizationScales()), m_ZeroPoints(info.GetQuantizationOffsets())
    {
        const auto fail = [&](const std::string& why)
        { throw InvalidArgumentException(std::string(what) + " (" + info.ToString() + ") " + why); };
        if (m_Scales.empty())
        {
            fail("needs a quantization scale");
        }
        m_ZeroPoints.resize(m_Scales.size(), m_ZeroPoints.size() == 1 ? m_ZeroPoints[0] : 0);
        const backends::QuantizedRange range = GetStoredRange(info.GetDataType());
        for (size_t i = 0; i < m_Scales.size(); ++i)
        {
            if (!(m_Scales[i] > 0.0f) || !std::isfinite(m_Scales[i]))
            {
                fail("needs quantization scales that are positive and finite");
            }
            if (m_ZeroPoints[i] < range.m_Min || m_ZeroPoints[i] > range.m_Max)
            {
                fail("has a zero point outside the values of its type");
            }
        }
        const TensorShape& shape = info.GetShape();
        if (m_Scales.size() == 1)
        {
            m_Inner = info.GetNumElements();
            return;
        }
        const Optional<unsigned int> dimension = info.GetQuantizationDim();
        if (!dimension.has_value() || dimension.value() >= shape.GetNumDimensions() ||
            shape[dimension.value()] != m_Scales.size())
        {
            fail("has " + std::to_string(m_Scales.size()) + " scales, but no quantization dimension of that size");
        }
        for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
        {
            if (i != dimension.value())
            {
                (i < dimension.value() ? m_Outer : m_Inner) *= shape[i];
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
