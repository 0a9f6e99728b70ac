// SPDX-License-Identifier: Apache-2.0
// See PackedGroupsInt8.hpp.
#include "backends/cpu/conv/PackedGroupsInt8.hpp"

#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::cpu
{

namespace
{

constexpr int64_t MaxDataMagnitude = 255; // largest magnitude of a data element less its zero point

bool IsHybrid(const LayerView& layer)
{
    return layer.GetInput(0).GetDataType() == DataType::Float32;
}

/// Weights of a layer less their zero point. Hybrid layers read uint8 weights as int8 bit patterns without a zero
/// point.
class CentredWeights
{
public:
    explicit CentredWeights(const LayerView& layer)
        : m_Weights(layer), m_IsSigned(IsHybrid(layer) || layer.GetInput(1).GetDataType() != DataType::QAsymmU8),
          m_ZeroPoint(IsHybrid(layer) ? 0 : ref::GetWeightsZeroPoint(layer.GetInput(1)))
    {
    }

    /// Upper bound of |w - zw|.
    int64_t GetMaxMagnitude() const { return 255 + std::abs(int64_t{m_ZeroPoint}); }
    int32_t operator()(size_t index) const
    {
        const uint8_t byte = m_Weights.Get()[index];
        return (m_IsSigned ? static_cast<int8_t>(byte) : byte) - m_ZeroPoint;
    }

private:
    ConstantWeightsInt8 m_Weights;
    bool m_IsSigned;
    int32_t m_ZeroPoint;
};

} // namespace

PackedGroupsInt8::PackedGroupsInt8(const LayerView& layer, backends::PackedStore& store)
    : m_Microkernels(&GetMicrokernelsInt16()), m_Chunks(layer.GetInput(1).GetShape()[0]),
      m_GroupChannels(layer.GetInput(1).GetShape()[3]),
      m_Taps(size_t{layer.GetInput(1).GetShape()[1]} * layer.GetInput(1).GetShape()[2]),
      m_Arrays(m_Chunks.GetChunks() * m_Chunks.m_Width, IsHybrid(layer) ? RoundingInt8::None : RoundingInt8::FixedPoint,
               IsHybrid(layer) ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    const CentredWeights weights(layer);
    const size_t channels = m_Chunks.m_Channels;
    const size_t depth = m_Taps * m_GroupChannels;
    const backends::PackedBlock sums = store.GetBlock(channels * sizeof(int64_t),
                                                      [&](std::byte* to)
                                                      {
                                                          auto* const magnitudes = reinterpret_cast<int64_t*>(to);
                                                          std::fill_n(magnitudes, channels, int64_t{0});
                                                          for (size_t i = 0; i < channels * depth; ++i)
                                                          {
                                                              magnitudes[i / depth] += std::abs(weights(i));
                                                          }
                                                      });
    // Clamped: the sums may come from a file of packed weights and must not overflow below.
    const int64_t limit = static_cast<int64_t>(depth) * weights.GetMaxMagnitude();
    std::vector<int64_t> magnitudes(channels);
    std::transform(sums.As<int64_t>(), sums.As<int64_t>() + channels, magnitudes.begin(),
                   [limit](int64_t sum) { return std::clamp<int64_t>(sum, 0, limit); });
    SetUpChannels(layer, magnitudes.data());
    if (!m_IsExact)
    {
        return;
    }
    const size_t bytes = m_Chunks.GetChunks() * depth * m_Microkernels->m_Lanes * sizeof(int32_t);
    m_Data =
        store.GetBlock(bytes,
                       [&](std::byte* to)
                       {
                           std::memset(to, 0, bytes);
                           PackSmallGroups(m_Chunks, m_Taps, m_GroupChannels, weights, reinterpret_cast<int16_t*>(to));
                       });
    m_Zeros.resize(channels);
}

uint64_t PackedGroupsInt8::GetPackedBytes(const TensorShape& weights)
{
    const ChannelChunks chunks(weights[0]);
    const uint64_t places = uint64_t{chunks.GetChunks()} * chunks.m_Width;
    constexpr uint64_t PaddedColumnBytes = 7 * sizeof(int32_t); // bytes of a channel in the arrays of the epilogue
    return places * (uint64_t{weights[1]} * weights[2] * weights[3] * sizeof(int16_t) + PaddedColumnBytes);
}

void PackedGroupsInt8::SetUpChannels(const LayerView& layer, const int64_t* magnitudes)
{
    const bool isHybrid = IsHybrid(layer);
    const std::vector<float> weightScales = layer.GetInput(1).GetQuantizationScales();
    const std::vector<double> scales =
        isHybrid ? std::vector<double>(weightScales.begin(), weightScales.end())
                 : ref::GetSumScales(layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0), true);
    if (scales.size() != 1 && scales.size() != m_Chunks.m_Channels)
    {
        m_IsExact = false; // the reference kernel reports the error
        return;
    }
    const size_t places = m_Chunks.GetChunks() * m_Chunks.m_Width;
    m_Floats = AlignedMemory(isHybrid ? 3 * places * sizeof(float) : 0);
    if (isHybrid)
    {
        std::memset(m_Floats.Data(), 0, m_Floats.Bytes());
    }
    const void* const bias = layer.HasInput(2) ? layer.m_ConstantData[2] : nullptr;
    for (size_t chunk = 0; chunk < m_Chunks.GetChunks(); ++chunk)
    {
        for (size_t i = 0; i < m_Chunks.GetCount(); ++i)
        {
            const size_t channel = m_Chunks.GetFirst(chunk) + i;
            const size_t place = chunk * m_Chunks.m_Width + i;
            const double scale = scales[scales.size() == 1 ? 0 : channel];
            const int64_t most = magnitudes[channel] * MaxDataMagnitude;
            if (isHybrid)
            {
                m_IsExact = m_IsExact && RequantizeArraysInt8::IsExactFor(most);
                auto* const floats = reinterpret_cast<float*>(m_Floats.Data());
                floats[places + place] = static_cast<float>(scale);
                floats[2 * places + place] = bias != nullptr ? static_cast<const float*>(bias)[channel] : 0.0f;
                continue;
            }
            const int64_t own = bias != nullptr ? static_cast<const int32_t*>(bias)[channel] : 0;
            m_Arrays.Set(place, most + std::abs(own), own, scale);
        }
    }
    m_IsExact = m_IsExact && m_Arrays.IsExact();
}

DequantizeColumns PackedGroupsInt8::GetDequantization(size_t chunk) const
{
    const size_t places = m_Chunks.GetChunks() * m_Chunks.m_Width;
    const auto* const floats = reinterpret_cast<const float*>(m_Floats.Data()) + chunk * m_Chunks.m_Width;
    DequantizeColumns columns;
    columns.m_ColumnSums = reinterpret_cast<const int32_t*>(floats);
    columns.m_Scales = floats + places;
    columns.m_Bias = floats + 2 * places;
    return columns;
}

} // namespace tenon::cpu
