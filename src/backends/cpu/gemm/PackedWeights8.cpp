// SPDX-License-Identifier: Apache-2.0
// Packing of the weights of products of bytes.
//
// With stored values a and w, zero points za and zw: sum((a - za) * (w - zw)) is
//   sum(a * w') - z' * sum(a) - za * sum(w - zw), with w' = w or w +- 128 and z' = zw moved likewise. Weights that are
// split are w' = w - zw, z' = 0.
// The last term is one number for each output channel and goes into its bias, the middle one is one for each row. Where
// int8 data are read as uint8, a and za are 128 more than what is stored.
#include "backends/cpu/gemm/PackedWeights8.hpp"

#include "backends/cpu/Parts.hpp"
#include "backends/cpu/gemm/ColumnSums8.hpp"
#include "backends/reference/kernels/Requantizer.hpp"
#include "backends/reference/kernels/UnpackedWeights.hpp"

#include <tenon/Exceptions.hpp>

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

/// TFLite takes uint8 weights beside float data for int8 bit patterns without a zero point.
WeightBytes8 DescribeWeights(const LayerView& layer, size_t columns, size_t depth, bool isTransposed, bool isHybrid)
{
    const TensorInfo& info = layer.GetInput(1);
    const bool isCentred = isHybrid || info.HasMultipleQuantizationScales();
    return {columns, depth, isTransposed, isHybrid || IsSigned(info.GetDataType()),
            isCentred ? 0 : info.GetQuantizationOffset()};
}

const TileSet8& ChooseSplitTiles(const Engine8& engine, const LayerView& layer)
{
    return IsSigned(layer.GetInput(0).GetDataType()) ? engine.m_SplitSigned : engine.m_SplitUnsigned;
}

const TileSet8& ChooseTiles(const Engine8& engine, const LayerView& layer, bool isTransposed, bool isHybrid,
                            size_t rows, const SplitCounts8& splits, const ShuffledWeights8& shuffles)
{
    const TensorInfo& weights = layer.GetInput(1);
    if (splits.AreFew())
    {
        return ChooseSplitTiles(engine, layer);
    }
    if (shuffles.AreWorthwhile())
    {
        return engine.m_Shuffles;
    }
    if (weights.GetDataType() == DataType::QSymmS4 && engine.m_Nibbles.m_Vectors != 0 && !isTransposed &&
        rows <= engine.m_NibbleRows)
    {
        return engine.m_Nibbles;
    }
    const bool isCentred = weights.HasMultipleQuantizationScales() || weights.GetQuantizationOffset() == 0;
    if (engine.m_Narrow.m_Vectors != 0 && !isTransposed && (isHybrid || (IsSigned(weights.GetDataType()) && isCentred)))
    {
        return engine.m_Narrow;
    }
    return IsSigned(layer.GetInput(0).GetDataType()) ? engine.m_Signed : engine.m_Unsigned;
}

/// The weights as bytes of their own. Only what is not in the store already has to look at them.
class Weights8
{
public:
    Weights8(const LayerView& layer, size_t columns, size_t depth, bool isTransposed)
        : m_Bytes(static_cast<const uint8_t*>(layer.m_ConstantData[1])), m_Count(columns * depth), m_Depth(depth),
          m_IsTransposed(isTransposed), m_ArePairs(layer.GetInput(1).GetDataType() == DataType::QSymmS4)
    {
    }

    /// `count` columns, one behind the other; all of the weights where these are transposed. Until the next call.
    const uint8_t* GetColumns(size_t first, size_t count)
    {
        const size_t begin = m_IsTransposed ? 0 : first * m_Depth;
        if (!m_ArePairs)
        {
            return m_Bytes + begin;
        }
        const size_t odd = begin % 2; // a column may begin in the middle of a byte
        m_Unpacked.resize(odd + (m_IsTransposed ? m_Count : count * m_Depth));
        ref::Unpack(reinterpret_cast<const int8_t*>(m_Bytes) + begin / 2, m_Unpacked.size(), m_Unpacked.data());
        return reinterpret_cast<const uint8_t*>(m_Unpacked.data()) + odd;
    }

private:
    const uint8_t* m_Bytes;
    size_t m_Count;
    size_t m_Depth;
    bool m_IsTransposed;
    bool m_ArePairs;
    std::vector<int8_t> m_Unpacked;
};

/// How many more terms than groups are worth while, in percent: what these tiles are faster than pairs of int16, by
/// 1.35 with six rows; int8 data take an instruction more.
size_t GetWorthwhilePercent(const TileSet8& tiles)
{
    return tiles.m_FlipsData ? 10 : 25;
}

/// The way from memory is all that counts for few rows, and it is no shorter than that of int8 with either form.
bool AreFew(size_t rows)
{
    return rows <= 4;
}

SplitCounts8 CountSplits(const LayerView& layer, const WeightBytes8& bytes, size_t rows, const Engine8& engine,
                         backends::PackedStore& store)
{
    const TileSet8& tiles = ChooseSplitTiles(engine, layer);
    const bool gainsNothing = AreFew(rows) && bytes.m_IsSigned && bytes.m_ZeroPoint == 0;
    if (tiles.m_Vectors == 0 || gainsNothing || bytes.m_IsTransposed ||
        layer.GetInput(1).GetDataType() == DataType::QSymmS4)
    {
        return {};
    }
    Weights8 weights(layer, bytes.m_Columns, bytes.m_Depth, false);
    return {[&weights](size_t first, size_t count) { return weights.GetColumns(first, count); },
            bytes,
            tiles,
            GetWorthwhilePercent(tiles),
            engine,
            store};
}

/// Shuffling takes as long as a few inferences of few rows gain, but where their steps are many.
bool ArePaidBack(size_t rows, size_t depth)
{
    constexpr size_t ManyRows = 64;
    constexpr size_t LargeDepth = 1024;
    return !AreFew(rows) && (rows >= ManyRows || depth >= LargeDepth);
}

ShuffledWeights8 ShuffleWeights(const LayerView& layer, const WeightBytes8& bytes, size_t rows,
                                const SplitCounts8& splits, const Engine8& engine, backends::PackedStore& store)
{
    if (engine.m_Shuffles.m_Vectors == 0 || splits.AreFew() || !ArePaidBack(rows, bytes.m_Depth) ||
        bytes.m_IsTransposed || !bytes.m_IsSigned || bytes.m_ZeroPoint != 0 ||
        layer.GetInput(0).GetDataType() == DataType::QAsymmU8 || layer.GetInput(1).GetDataType() == DataType::QSymmS4)
    {
        return {};
    }
    Weights8 weights(layer, bytes.m_Columns, bytes.m_Depth, false);
    return {[&weights](size_t first, size_t count) { return weights.GetColumns(first, count); }, bytes,
            engine.m_Shuffles, engine, store};
}

} // namespace

PackedWeights8::PackedWeights8(const LayerView& layer, size_t columns, size_t depth, bool isTransposed,
                               Rounding8 rounding, size_t rows, backends::PackedStore& store)
    : m_Engine(&GetEngine8()),
      m_Splits(CountSplits(layer, DescribeWeights(layer, columns, depth, isTransposed, rounding == Rounding8::None),
                           rows, *m_Engine, store)),
      m_Shuffles(ShuffleWeights(layer,
                                DescribeWeights(layer, columns, depth, isTransposed, rounding == Rounding8::None), rows,
                                m_Splits, *m_Engine, store)),
      m_Tiles(&ChooseTiles(*m_Engine, layer, isTransposed, rounding == Rounding8::None, rows, m_Splits, m_Shuffles)),
      m_NumColumns(columns), m_Depth(depth), m_IsDataSigned(IsSigned(layer.GetInput(0).GetDataType())),
      m_DataZeroPoint(rounding == Rounding8::None ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_Arrays(MakePanels(), rounding, rounding == Rounding8::None ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    Weights8 weights(layer, columns, depth, isTransposed);
    const bool isHybrid = rounding == Rounding8::None;
    const WeightBytes8 bytes = DescribeWeights(layer, columns, depth, isTransposed, isHybrid);
    m_Form = Form8(*m_Tiles, bytes.m_IsSigned, bytes.m_ZeroPoint);
    const ColumnSums8 sums([&weights](size_t first, size_t count) { return weights.GetColumns(first, count); }, bytes,
                           *m_Engine, store);
    isHybrid ? SetUpFloatColumns(layer, sums) : SetUpColumns(layer, sums, bytes.m_ZeroPoint, rounding);
    if (!IsExact())
    {
        return;
    }
    const auto pack = [&](std::byte* to)
    {
        for (const Panel8& panel : m_Panels)
        {
            PackPanel(panel, weights.GetColumns(panel.m_Column, panel.m_Columns), bytes, to + panel.m_Offset);
        }
    };
    m_Data = store.GetBlock(m_PanelBytes, pack);
    CheckPanels(layer);
}

uint64_t PackedWeights8::GetPackedBytes(size_t columns, size_t depth)
{
    const Engine8& engine = GetEngine8();
    const size_t vectors = DivideUp(columns, engine.m_Lanes);
    const uint64_t padded = uint64_t{vectors} * engine.m_Lanes;
    constexpr uint64_t ColumnBytes = 4 * sizeof(int32_t) + 2 * sizeof(float);      // of RequantizeArrays and of scales
    uint64_t packed = padded * GetNumGroups8(engine.m_Signed, depth) * GroupBytes; // other forms take less, but splits
    if (engine.m_SplitUnsigned.m_Vectors != 0)
    {
        const TileSet8& tiles = engine.m_SplitUnsigned;
        const uint64_t panels = DivideUp(vectors, tiles.m_Vectors);
        const uint64_t terms = panels * DivideUp(depth, GroupBytes) * (100 + GetWorthwhilePercent(tiles)) / 100;
        const uint64_t width = uint64_t{tiles.m_Vectors} * engine.m_Lanes;
        packed = std::max(packed, panels * (GetSplitHeaderBytes(0) + sizeof(SplitHeader)) +
                                      terms * (width * GroupBytes + sizeof(uint32_t)));
    }
    if (engine.m_Shuffles.m_Vectors != 0)
    {
        const size_t steps = GetNumShuffleSteps(DivideUp(depth, GroupBytes) * GroupBytes);
        packed = std::max(packed, uint64_t{vectors} * GetShuffledBytes(engine.m_Lanes, steps));
    }
    return packed + padded * ColumnBytes;
}

size_t PackedWeights8::MakePanels()
{
    m_Groups = GetNumGroups8(*m_Tiles, m_Depth);
    const size_t lanes = m_Engine->m_Lanes;
    m_Panels = CutColumns8(m_NumColumns, lanes, *m_Tiles);
    for (Panel8& panel : m_Panels)
    {
        const size_t width = panel.m_Vectors * lanes;
        panel.m_Offset = m_PanelBytes;
        switch (m_Tiles->m_Layout)
        {
        case Layout8::Splits:
            m_PanelBytes += GetSplitPanelBytes(width, m_Splits.Get(static_cast<size_t>(&panel - m_Panels.data())));
            break;
        case Layout8::Shuffles: m_PanelBytes += m_Shuffles.GetPanelBytes(panel); break;
        default: m_PanelBytes += width * m_Groups * m_Tiles->GetGroupBytes();
        }
    }
    return m_Panels.back().m_Column + m_Panels.back().m_Vectors * lanes;
}

/// What a file has for packed weights of a form that is not read as numbers alone may be anything.
void PackedWeights8::CheckPanels(const LayerView& layer) const
{
    for (size_t p = 0; p < m_Panels.size(); ++p)
    {
        const std::byte* const packed = m_Data.Data() + m_Panels[p].m_Offset;
        const bool isGood = m_Tiles->m_Layout == Layout8::Splits     ? IsSplitPanel(packed, m_Groups, m_Splits.Get(p))
                            : m_Tiles->m_Layout == Layout8::Shuffles ? m_Shuffles.IsPanel(m_Panels[p], packed)
                                                                     : true;
        if (!isGood)
        {
            throw ParseException("the packed weights of layer '" + layer.GetName() +
                                 "' name groups of data that there are not; have the file written again");
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
        const int64_t correction = m_Tiles->IsWide() ? 0 : m_Form.GetCorrection(sum, m_Depth, m_DataZeroPoint);
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
