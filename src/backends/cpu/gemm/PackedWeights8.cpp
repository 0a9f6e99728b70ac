// SPDX-License-Identifier: Apache-2.0
// Packing of the weights of products of bytes.
//
// With stored values a and w, zero points za and zw: sum((a - za) * (w - zw)) is
//   sum(a * w') - z' * sum(a) - za * sum(w - zw), with w' = w or w +- 128 and z' = zw moved likewise.
// The last term is one number for each output channel and goes into its bias, the middle one is one for each row. Where
// int8 data are read as uint8, a and za are 128 more than what is stored.
#include "backends/cpu/gemm/PackedWeights8.hpp"

#include "backends/cpu/gemm/ColumnSums8.hpp"
#include "backends/reference/kernels/Requantizer.hpp"
#include "backends/reference/kernels/UnpackedWeights.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::cpu
{

namespace
{

bool IsSigned(DataType type)
{
    return type != DataType::QAsymmU8;
}

/// What a dot product takes as unsigned.
bool TakesUnsignedWeights(Signs8 signs)
{
    return signs == Signs8::DataSigned || signs == Signs8::BothUnsigned;
}

/// Groups of four bytes in the depth, with what fills up the last unit.
size_t GetNumGroups(const Engine8& engine, size_t depth)
{
    const size_t groupDepth = engine.m_Layout == Layout8::Dots ? 4 : 2;
    const size_t groups = (depth + groupDepth - 1) / groupDepth;
    return (groups + engine.m_GroupUnit - 1) / engine.m_GroupUnit * engine.m_GroupUnit;
}

/// The weights as bytes of their own. Only what is not in the store already has to look at them.
class Weights8
{
public:
    Weights8(const LayerView& layer, size_t count)
        : m_Bytes(static_cast<const uint8_t*>(layer.m_ConstantData[1])), m_Count(count),
          m_ArePairs(layer.GetInput(1).GetDataType() == DataType::QSymmS4)
    {
    }

    const uint8_t* Get()
    {
        if (m_ArePairs && m_Unpacked.empty())
        {
            m_Unpacked.resize(m_Count);
            ref::Unpack(reinterpret_cast<const int8_t*>(m_Bytes), m_Count, m_Unpacked.data());
        }
        return m_ArePairs ? reinterpret_cast<const uint8_t*>(m_Unpacked.data()) : m_Bytes;
    }

private:
    const uint8_t* m_Bytes;
    size_t m_Count;
    bool m_ArePairs;
    std::vector<int8_t> m_Unpacked;
};

} // namespace

PackedWeights8::PackedWeights8(const LayerView& layer, size_t columns, size_t depth, bool isTransposed,
                               Rounding8 rounding, backends::PackedStore& store)
    : m_Engine(&GetEngine8()), m_NumColumns(columns), m_Depth(depth),
      m_IsDataSigned(IsSigned(layer.GetInput(0).GetDataType())),
      m_DataZeroPoint(rounding == Rounding8::None ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_Arrays(MakePanels(), rounding, rounding == Rounding8::None ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    const TensorInfo& info = layer.GetInput(1);
    Weights8 weights(layer, columns * depth);
    // TFLite takes uint8 weights beside float data for int8 bit patterns without a zero point.
    const bool isHybrid = rounding == Rounding8::None;
    const bool isSigned = isHybrid || IsSigned(info.GetDataType());
    const int32_t zeroPoint = isHybrid || info.HasMultipleQuantizationScales() ? 0 : info.GetQuantizationOffset();
    if (m_Engine->m_Layout == Layout8::Dots)
    {
        const Signs8 signs = m_IsDataSigned ? m_Engine->m_SignedData : m_Engine->m_UnsignedData;
        m_DataShift = m_IsDataSigned && m_Engine->m_FlipsSignedData ? 128 : 0;
        int32_t storedZero = zeroPoint;
        if (TakesUnsignedWeights(signs) == isSigned)
        {
            m_Flip = 0x80;
            storedZero += isSigned ? 128 : -128;
        }
        m_RowFactor = -storedZero;
    }
    const WeightBytes8 bytes = {columns, depth, isTransposed, isSigned, zeroPoint};
    const ColumnSums8 sums([&weights] { return weights.Get(); }, bytes, *m_Engine, store);
    isHybrid ? SetUpFloatColumns(layer, sums) : SetUpColumns(layer, sums, zeroPoint, rounding);
    if (!IsExact())
    {
        return;
    }
    m_Data =
        store.GetBlock(m_PanelBytes,
                       [&](std::byte* to)
                       {
                           for (const Panel8& panel : m_Panels)
                           {
                               PackPanel(panel, weights.Get(), isTransposed, isSigned, zeroPoint, to + panel.m_Offset);
                           }
                       });
}

uint64_t PackedWeights8::GetPackedBytes(size_t columns, size_t depth)
{
    const Engine8& engine = GetEngine8();
    const uint64_t padded = (uint64_t{columns} + engine.m_Lanes - 1) / engine.m_Lanes * engine.m_Lanes;
    constexpr uint64_t ColumnBytes = 4 * sizeof(int32_t) + 2 * sizeof(float); // of RequantizeArrays and of scales
    return padded * (GetNumGroups(engine, depth) * 4 + ColumnBytes);
}

size_t PackedWeights8::MakePanels()
{
    m_Groups = GetNumGroups(*m_Engine, m_Depth);
    const size_t lanes = m_Engine->m_Lanes;
    const size_t vectors = (m_NumColumns + lanes - 1) / lanes;
    size_t offset = 0;
    size_t column = 0;
    for (size_t left = vectors; left > 0;)
    {
        size_t width = std::min(left, m_Engine->m_Vectors);
        if (left == m_Engine->m_Vectors + 1 && left >= 5 && m_Engine->m_RowUnit == 1)
        {
            width = left - 2; // a lone vector at the end would make a slow panel
        }
        m_Panels.push_back({column, std::min(width * lanes, m_NumColumns - column), width, offset});
        offset += width * lanes * m_Groups * 4;
        column += width * lanes;
        left -= width;
    }
    m_PanelBytes = offset;
    return column;
}

void PackedWeights8::PackPanel(const Panel8& panel, const uint8_t* weights, bool isTransposed, bool isSigned,
                               int32_t zeroPoint, std::byte* packed) const
{
    const size_t width = panel.m_Vectors * m_Engine->m_Lanes;
    if (m_Groups * 4 != m_Depth || panel.m_Columns != width)
    {
        // Padding is 0 in any form: data beside it may be anything.
        std::memset(packed, 0, width * m_Groups * 4);
    }
    if (m_Engine->m_Layout == Layout8::Dots && !isTransposed)
    {
        const uint8_t* const from = weights + panel.m_Column * m_Depth;
        m_Engine->m_ColumnGroups == 2 ? PackRuns<uint64_t>(from, panel.m_Columns, width, packed)
                                      : PackRuns<uint32_t>(from, panel.m_Columns, width, packed);
        return;
    }
    const size_t runBytes = m_Engine->m_ColumnGroups * 4; // of a column beside each other
    const size_t columnStep = isTransposed ? 1 : m_Depth;
    const size_t depthStep = isTransposed ? m_NumColumns : 1;
    const bool areDots = m_Engine->m_Layout == Layout8::Dots;
    for (size_t c = 0; c < panel.m_Columns; ++c)
    {
        const uint8_t* from = weights + (panel.m_Column + c) * columnStep;
        for (size_t k = 0; k < m_Depth; ++k)
        {
            const uint8_t byte = from[k * depthStep];
            if (areDots)
            {
                packed[(k / runBytes * width + c) * runBytes + k % runBytes] = static_cast<std::byte>(byte ^ m_Flip);
            }
            else
            {
                const auto centred = static_cast<int16_t>(GetValue8(byte, isSigned) - zeroPoint);
                std::memcpy(packed + (k / 2 * width + c) * 4 + k % 2 * 2, &centred, sizeof(centred));
            }
        }
    }
}

template <typename Run>
void PackedWeights8::PackRuns(const uint8_t* weights, size_t columns, size_t width, std::byte* packed) const
{
    constexpr size_t RunBytes = sizeof(Run);
    constexpr size_t ChunkRuns = 256 / RunBytes; // of all columns they fit the first-level cache
    const Run flip = m_Flip * static_cast<Run>(0x0101010101010101U);
    const size_t whole = m_Depth / RunBytes;
    for (size_t begin = 0; begin < whole; begin += ChunkRuns)
    {
        const size_t end = std::min(begin + ChunkRuns, whole);
        for (size_t c = 0; c < columns; ++c)
        {
            const uint8_t* from = weights + c * m_Depth;
            for (size_t i = begin; i < end; ++i)
            {
                Run run;
                std::memcpy(&run, from + RunBytes * i, RunBytes);
                run ^= flip;
                std::memcpy(packed + (i * width + c) * RunBytes, &run, RunBytes);
            }
        }
    }
    for (size_t c = 0; c < columns; ++c)
    {
        for (size_t k = whole * RunBytes; k < m_Depth; ++k)
        {
            packed[(whole * width + c) * RunBytes + k % RunBytes] =
                static_cast<std::byte>(weights[c * m_Depth + k] ^ m_Flip);
        }
    }
}

void PackedWeights8::SetUpColumns(const LayerView& layer, const ColumnSums8& sums, int32_t zeroPoint,
                                  Rounding8 rounding)
{
    const std::vector<double> scales =
        ref::GetSumScales(layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0), rounding == Rounding8::FixedPoint);
    if (scales.size() != 1 && scales.size() != m_NumColumns)
    {
        m_IsExact = false; // the reference kernel says what is wrong
        return;
    }
    const auto* bias = layer.HasInput(2) ? static_cast<const int32_t*>(layer.m_ConstantData[2]) : nullptr;
    for (size_t c = 0; c < m_NumColumns; ++c)
    {
        const int64_t own = bias != nullptr ? bias[c] : 0;
        const int64_t sum = sums.GetSum(c) - int64_t{zeroPoint} * static_cast<int64_t>(m_Depth);
        const int64_t correction = m_Engine->m_Layout == Layout8::Dots
                                       ? -(m_DataZeroPoint + m_DataShift) * sum +
                                             int64_t{m_RowFactor} * m_DataShift * static_cast<int64_t>(m_Depth)
                                       : 0;
        // Data less their zero point are at most 255.
        m_Arrays.Set(c, sums.GetMagnitudes(c) * 255 + std::abs(own), own + correction,
                     scales[scales.size() == 1 ? 0 : c]);
    }
}

void PackedWeights8::SetUpFloatColumns(const LayerView& layer, const ColumnSums8& sums)
{
    const std::vector<float> scales = layer.GetInput(1).GetQuantizationScales();
    if (scales.size() != 1 && scales.size() != m_NumColumns)
    {
        m_IsExact = false; // the reference kernel says what is wrong
        return;
    }
    const auto* bias = layer.HasInput(2) ? static_cast<const float*>(layer.m_ConstantData[2]) : nullptr;
    const size_t places = m_Panels.back().m_Column + m_Panels.back().m_Vectors * m_Engine->m_Lanes;
    m_Floats = AlignedMemory(2 * places * sizeof(float));
    auto* floats = reinterpret_cast<float*>(m_Floats.Data());
    std::fill_n(floats, 2 * places, 0.0f);
    for (size_t c = 0; c < m_NumColumns; ++c)
    {
        m_Arrays.Set(c, sums.GetMagnitudes(c) * 255, sums.GetSum(c), 0.0);
        floats[c] = scales[scales.size() == 1 ? 0 : c];
        floats[places + c] = bias != nullptr ? bias[c] : 0.0f;
    }
}

FloatColumns PackedWeights8::GetFloatColumns(const Panel8& panel) const
{
    FloatColumns columns;
    const auto* floats = reinterpret_cast<const float*>(m_Floats.Data());
    columns.m_WeightSums = m_Arrays.GetBias(panel.m_Column);
    columns.m_Scales = floats + panel.m_Column;
    columns.m_Bias = floats + m_Floats.Bytes() / sizeof(float) / 2 + panel.m_Column;
    return columns;
}

} // namespace tenon::cpu
