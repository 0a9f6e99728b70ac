// SPDX-License-Identifier: Apache-2.0
// Packing of the weights of products of bytes.
//
// With stored values a and w, zero points za and zw: sum((a - za) * (w - zw)) is
//   sum(a * w') - z' * sum(a) - za * sum(w - zw), with w' = w or w +- 128 and z' = zw moved likewise.
// The last term is one number for each output channel and goes into its bias, the middle one is one for each row.
#include "backends/cpu/gemm/PackedWeights8.hpp"

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
    return signs == Signs8::DataSigned;
}

int32_t Value(uint8_t byte, bool isSigned)
{
    return isSigned ? static_cast<int8_t>(byte) : int32_t{byte};
}

/// Sums of the stored weights of each column, and of their magnitudes less the zero point.
struct ColumnSums
{
    std::vector<int32_t> m_Sums;
    std::vector<int64_t> m_Magnitudes;
};

ColumnSums SumColumns(const uint8_t* weights, size_t columns, size_t depth, bool isTransposed, bool isSigned,
                      int32_t zeroPoint, const Engine8& engine)
{
    ColumnSums sums{std::vector<int32_t>(columns),
                    std::vector<int64_t>(columns, static_cast<int64_t>(depth) *
                                                      (128 + std::abs(zeroPoint - (isSigned ? 0 : 128))))};
    // Few layers are so deep that the most their weights might be matters.
    constexpr int64_t Enough = int64_t{1} << 21;
    const bool needsMagnitudes = sums.m_Magnitudes[0] >= Enough;
    if (!isTransposed)
    {
        engine.m_SumRows(weights, depth, columns, depth, isSigned, 1, sums.m_Sums.data());
    }
    if (!isTransposed && !needsMagnitudes)
    {
        return sums;
    }
    for (size_t c = 0; c < columns; ++c)
    {
        int64_t sum = 0;
        int64_t magnitudes = 0;
        for (size_t k = 0; k < depth; ++k)
        {
            const int32_t value = Value(weights[isTransposed ? k * columns + c : c * depth + k], isSigned);
            sum += value;
            magnitudes += std::abs(value - zeroPoint);
        }
        sums.m_Sums[c] = static_cast<int32_t>(sum);
        sums.m_Magnitudes[c] = magnitudes;
    }
    return sums;
}

/// Groups of four bytes in the depth, with what fills up the last unit.
size_t GetNumGroups(const Engine8& engine, size_t depth)
{
    const size_t groupDepth = engine.m_Layout == Layout8::Dots ? 4 : 2;
    const size_t groups = (depth + groupDepth - 1) / groupDepth;
    return (groups + engine.m_GroupUnit - 1) / engine.m_GroupUnit * engine.m_GroupUnit;
}

} // namespace

PackedWeights8::PackedWeights8(const LayerView& layer, size_t columns, size_t depth, bool isTransposed,
                               Rounding8 rounding)
    : m_Engine(&GetEngine8()), m_NumColumns(columns), m_Depth(depth),
      m_IsDataSigned(IsSigned(layer.GetInput(0).GetDataType())),
      m_DataZeroPoint(rounding == Rounding8::None ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_Arrays(MakePanels(), rounding, rounding == Rounding8::None ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    const TensorInfo& info = layer.GetInput(1);
    const auto* weights = static_cast<const uint8_t*>(layer.m_ConstantData[1]);
    std::vector<int8_t> unpacked;
    if (info.GetDataType() == DataType::QSymmS4)
    {
        unpacked.resize(columns * depth);
        ref::Unpack(static_cast<const int8_t*>(layer.m_ConstantData[1]), unpacked.size(), unpacked.data());
        weights = reinterpret_cast<const uint8_t*>(unpacked.data());
    }
    // TFLite takes uint8 weights beside float data for int8 bit patterns without a zero point.
    const bool isHybrid = rounding == Rounding8::None;
    const bool isSigned = isHybrid || IsSigned(info.GetDataType());
    const int32_t zeroPoint = isHybrid || info.HasMultipleQuantizationScales() ? 0 : info.GetQuantizationOffset();
    if (m_Engine->m_Layout == Layout8::Dots)
    {
        const Signs8 signs = m_IsDataSigned ? m_Engine->m_SignedData : m_Engine->m_UnsignedData;
        int32_t storedZero = zeroPoint;
        if (TakesUnsignedWeights(signs) == isSigned)
        {
            m_Flip = 0x80;
            storedZero += isSigned ? 128 : -128;
        }
        m_RowFactor = -storedZero;
    }
    isHybrid ? SetUpFloatColumns(layer, weights, isTransposed)
             : SetUpColumns(layer, weights, isTransposed, isSigned, zeroPoint, rounding);
    if (!IsExact())
    {
        return;
    }
    m_Data = AlignedMemory(m_PanelBytes);
    for (const Panel8& panel : m_Panels)
    {
        PackPanel(panel, weights, isTransposed, isSigned, zeroPoint);
    }
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
                               int32_t zeroPoint)
{
    const size_t width = panel.m_Vectors * m_Engine->m_Lanes;
    std::byte* const packed = m_Data.Data() + panel.m_Offset;
    if (m_Groups * 4 != m_Depth || panel.m_Columns != width)
    {
        // Padding is 0 in any form: data beside it may be anything.
        std::memset(packed, 0, width * m_Groups * 4);
    }
    if (m_Engine->m_Layout == Layout8::Dots && !isTransposed)
    {
        PackWholeGroups(weights + panel.m_Column * m_Depth, panel.m_Columns, width, packed);
        return;
    }
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
                packed[(k / 4 * width + c) * 4 + k % 4] = static_cast<std::byte>(byte ^ m_Flip);
            }
            else
            {
                const auto centred = static_cast<int16_t>(Value(byte, isSigned) - zeroPoint);
                std::memcpy(packed + (k / 2 * width + c) * 4 + k % 2 * 2, &centred, sizeof(centred));
            }
        }
    }
}

void PackedWeights8::PackWholeGroups(const uint8_t* weights, size_t columns, size_t width, std::byte* packed) const
{
    constexpr size_t ChunkGroups = 64; // of all columns they fit the first-level cache
    const uint32_t flip = m_Flip * 0x01010101U;
    const size_t whole = m_Depth / 4;
    for (size_t begin = 0; begin < whole; begin += ChunkGroups)
    {
        const size_t end = std::min(begin + ChunkGroups, whole);
        for (size_t c = 0; c < columns; ++c)
        {
            const uint8_t* from = weights + c * m_Depth;
            for (size_t g = begin; g < end; ++g)
            {
                uint32_t group;
                std::memcpy(&group, from + 4 * g, sizeof(group));
                group ^= flip;
                std::memcpy(packed + (g * width + c) * 4, &group, sizeof(group));
            }
        }
    }
    for (size_t c = 0; c < columns; ++c)
    {
        for (size_t k = whole * 4; k < m_Depth; ++k)
        {
            packed[(whole * width + c) * 4 + k % 4] = static_cast<std::byte>(weights[c * m_Depth + k] ^ m_Flip);
        }
    }
}

void PackedWeights8::SetUpColumns(const LayerView& layer, const uint8_t* weights, bool isTransposed, bool isSigned,
                                  int32_t zeroPoint, Rounding8 rounding)
{
    const std::vector<double> scales =
        ref::GetSumScales(layer.GetInput(0), layer.GetInput(1), layer.GetOutput(0), rounding == Rounding8::FixedPoint);
    if (scales.size() != 1 && scales.size() != m_NumColumns)
    {
        m_IsExact = false; // the reference kernel says what is wrong
        return;
    }
    const auto* bias = layer.HasInput(2) ? static_cast<const int32_t*>(layer.m_ConstantData[2]) : nullptr;
    const ColumnSums sums = SumColumns(weights, m_NumColumns, m_Depth, isTransposed, isSigned, zeroPoint, *m_Engine);
    for (size_t c = 0; c < m_NumColumns; ++c)
    {
        const int64_t own = bias != nullptr ? bias[c] : 0;
        const int64_t sum = sums.m_Sums[c] - int64_t{zeroPoint} * static_cast<int64_t>(m_Depth);
        const int64_t correction = m_Engine->m_Layout == Layout8::Dots ? -m_DataZeroPoint * sum : 0;
        // Data less their zero point are at most 255.
        m_Arrays.Set(c, sums.m_Magnitudes[c] * 255 + std::abs(own), own + correction,
                     scales[scales.size() == 1 ? 0 : c]);
    }
}

void PackedWeights8::SetUpFloatColumns(const LayerView& layer, const uint8_t* weights, bool isTransposed)
{
    const std::vector<float> scales = layer.GetInput(1).GetQuantizationScales();
    if (scales.size() != 1 && scales.size() != m_NumColumns)
    {
        m_IsExact = false; // the reference kernel says what is wrong
        return;
    }
    const ColumnSums sums = SumColumns(weights, m_NumColumns, m_Depth, isTransposed, true, 0, *m_Engine);
    const auto* bias = layer.HasInput(2) ? static_cast<const float*>(layer.m_ConstantData[2]) : nullptr;
    const size_t places = m_Panels.back().m_Column + m_Panels.back().m_Vectors * m_Engine->m_Lanes;
    m_Floats = AlignedMemory(2 * places * sizeof(float));
    auto* floats = reinterpret_cast<float*>(m_Floats.Data());
    std::fill_n(floats, 2 * places, 0.0f);
    for (size_t c = 0; c < m_NumColumns; ++c)
    {
        m_Arrays.Set(c, sums.m_Magnitudes[c] * 255, sums.m_Sums[c], 0.0);
        floats[c] = scales[scales.size() == 1 ? 0 : c];
        floats[places + c] = bias != nullptr ? bias[c] : 0.0f;
    }
}

FloatColumns PackedWeights8::GetFloatColumns(const Panel8& panel) const
{
    FloatColumns columns;
    const auto* floats = reinterpret_cast<const float*>(m_Floats.Data());
    columns.m_WeightSums = m_Arrays.From(panel.m_Column).m_Bias;
    columns.m_Scales = floats + panel.m_Column;
    columns.m_Bias = floats + m_Floats.Bytes() / sizeof(float) / 2 + panel.m_Column;
    return columns;
}

} // namespace tenon::cpu
