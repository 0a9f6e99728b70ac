// SPDX-License-Identifier: Apache-2.0
// Weights of int8 depthwise convolutions less their zero point, w' = w - zw, and their int8 terms: a w' that does not
// fit int8 is a sum of int8 terms. Used by PackedDepthwiseInt8.cpp.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <tenon/backend/LayerView.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace tenon::cpu
{

/// Reads the weights of a layer less their zero point.
class CentredWeightsInt8
{
public:
    explicit CentredWeightsInt8(const LayerView& layer)
        : m_Weights(layer), m_NumChannels(layer.GetInput(1).GetShape()[3]),
          m_IsSigned(layer.GetInput(1).GetDataType() != DataType::QAsymmU8),
          m_ZeroPoint(ref::GetWeightsZeroPoint(layer.GetInput(1)))
    {
    }

    /// Upper bound of |w - zw|.
    static int64_t GetMaxMagnitude(const LayerView& layer)
    {
        return 255 + std::abs(int64_t{ref::GetWeightsZeroPoint(layer.GetInput(1))});
    }
    /// Writes w - zw of `count` channels of a tap.
    void Read(size_t tap, size_t channel, size_t count, int16_t* weights) const
    {
        GetMicrokernelsInt8().m_Widen(m_Weights.Get() + tap * m_NumChannels + channel, count, m_IsSigned, m_ZeroPoint,
                                      weights);
    }

private:
    ConstantWeightsInt8 m_Weights;
    size_t m_NumChannels;
    bool m_IsSigned;
    int32_t m_ZeroPoint;
};

inline int32_t ToInt8(int32_t value)
{
    return std::clamp<int32_t>(value, std::numeric_limits<int8_t>::min(), std::numeric_limits<int8_t>::max());
}

/// Term number `set` of a weight: the remainder after the earlier terms, clamped to int8.
inline int32_t GetTermInt8(int32_t weight, size_t set)
{
    for (; set > 0; --set)
    {
        weight -= ToInt8(weight);
    }
    return ToInt8(weight);
}

/// Number of int8 terms of a weight.
inline size_t CountTermsInt8(int32_t weight)
{
    size_t count = 1;
    for (; weight != ToInt8(weight); ++count)
    {
        weight -= ToInt8(weight);
    }
    return count;
}

/// Upper bound of the number of int8 terms of a weight.
inline int64_t GetMaxTerms(const LayerView& layer)
{
    return CentredWeightsInt8::GetMaxMagnitude(layer) / std::numeric_limits<int8_t>::max() + 1;
}

} // namespace tenon::cpu
