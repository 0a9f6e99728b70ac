// SPDX-License-Identifier: Apache-2.0
// See KernelChoiceInt8.hpp.
#include "backends/cpu/gemm/pack/KernelChoiceInt8.hpp"

#include "backends/cpu/gemm/pack/WeightReaderInt8.hpp"
#include "backends/cpu/gemm/pack/ZeroPointCorrectionInt8.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::cpu
{

namespace
{

/// With so few rows most of the time is reading the weights from memory, and no layout is shorter than the bytes
/// themselves.
constexpr size_t FewProductRows = 4;
/// Counterpart of KernelChoiceInt8::FewColumnsOfDots for sign transfer.
constexpr size_t FewColumnsOfSigns = 5;
/// For rows of this many bytes, horizontal sums cost less than the cache space of complement blocks.
constexpr size_t DeepRows = 2048;
constexpr size_t FewColumnsOfDeepRows = 8;
constexpr size_t LeastDepthOfColumn = 32;
/// Larger weights come from beyond the second-level cache, faster from huge pages than from those of a file.
constexpr size_t MostStoredBytes = size_t{512} << 10;
/// Permuting weights takes as long as a few dozen inferences with fewer rows would gain, unless the depth is large.
constexpr size_t ManyRows = 16;
constexpr size_t LargeDepth = 1024;
/// Making complement blocks takes as long as multiplying one vector of columns by them, unless they are made once for
/// all pixels that read them.
constexpr size_t NarrowVectors = 2;

bool IsSigned(DataType type)
{
    return type != DataType::QAsymmU8;
}

/// Whether ComplementImageInt8 makes each block once for several rows of the GEMM.
bool ShareWindows(const TensorShape& weights)
{
    return weights.GetNumDimensions() == 4 && weights[1] * weights[2] > 1 && weights[3] % PermuteLoops8::StepDepth == 0;
}

/// Maximum number of columns for which weights may stay unpacked, whatever the number of rows.
size_t GetFewColumns(const TileSet8& stored, size_t depth, bool isSigned)
{
    if (stored.TakesLeastByte())
    {
        return FormChoice8::FewColumnsOfDots;
    }
    return isSigned && depth >= DeepRows ? FewColumnsOfDeepRows : FewColumnsOfSigns;
}

WeightBytes8 DescribeWeights(const LayerView& layer, const ProductShape8& shape)
{
    const TensorInfo& info = layer.GetInput(1);
    const bool isCentred = shape.AreWeightsPlain() || info.HasMultipleQuantizationScales();
    return {shape.m_Columns,
            shape.m_Depth,
            shape.m_IsTransposed,
            shape.AreWeightsPlain() || IsSigned(info.GetDataType()),
            isCentred ? 0 : info.GetQuantizationOffset(),
            shape.m_Matrices};
}

/// Extra terms, in percent of the groups, up to which split weights are faster than int16 pairs: they are 1.35 times as
/// fast with six rows; int8 data take one more instruction.
size_t GetWorthwhilePercent(const TileSet8& tiles)
{
    return tiles.m_FlipsData ? 10 : 25;
}

/// Maximum number of weights equal to -128 (int8) or 0 (uint8) in any aligned group of eight weights of a column. They
/// cannot be negated in int8.
size_t FindMostLeast(const ColumnPieces8& pieces, const WeightBytes8& bytes, backends::PackedStore& store)
{
    const auto fill = [&](std::byte* to)
    {
        const uint8_t least = bytes.m_IsSigned ? 0x80 : 0x00;
        uint32_t most = 0;
        const auto countIn = [&](const uint8_t* column)
        {
            for (size_t k = 0; k < bytes.m_Depth; k += PermuteLoops8::StepDepth)
            {
                const size_t end = std::min(k + PermuteLoops8::StepDepth, bytes.m_Depth);
                most = std::max(most, static_cast<uint32_t>(std::count(column + k, column + end, least)));
            }
        };
        const auto countInRun = [&](size_t, size_t count, const uint8_t* weights)
        {
            const bool haveSome = std::memchr(weights, least, count * bytes.m_Depth) != nullptr; // rarely true
            for (size_t c = 0; haveSome && c < count; ++c)
            {
                countIn(weights + c * bytes.m_Depth);
            }
        };
        pieces.ForEachRun(0, bytes.m_Columns, countInRun);
        std::memcpy(to, &most, sizeof(most));
    };
    return *store.GetBlock(sizeof(uint32_t), fill).As<uint32_t>();
}

} // namespace

FormChoice8::FormChoice8(const LayerView& layer, const ProductShape8& shape, const Engine8& engine,
                         backends::PackedStore& store)
    : m_Bytes(DescribeWeights(layer, shape)), m_IsDataSigned(IsSigned(layer.GetInput(0).GetDataType())),
      m_Tiles(&Choose(layer, shape, engine, store))
{
}

const TileSet8& FormChoice8::Choose(const LayerView& layer, const ProductShape8& shape, const Engine8& engine,
                                    backends::PackedStore& store)
{
    const bool areNibbles = layer.GetInput(1).GetDataType() == DataType::QSymmS4;
    const bool areBytes = !areNibbles && !shape.m_IsTransposed;
    const bool areCentred = m_Bytes.m_IsSigned && m_Bytes.m_ZeroPoint == 0;
    const bool areSigned = areBytes && areCentred && m_IsDataSigned; // data and weights
    const bool areFew = shape.m_Rows <= FewProductRows;
    Weights8 weights(layer, m_Bytes, shape.m_Pieces);
    const auto getColumns = [&weights](size_t first, size_t count) { return weights.GetColumns(first, count); };
    std::optional<size_t> knownLeast; // counted once at most: counting reads all weights
    const auto findMostLeast = [&]
    {
        knownLeast = knownLeast ? *knownLeast : FindMostLeast(weights.GetPieces(), m_Bytes, store);
        return *knownLeast;
    };

    const bool areAlike = m_IsDataSigned == m_Bytes.m_IsSigned; // data and weights have the same sign
    const TileSet8& stored = m_IsDataSigned ? engine.m_StoredSigned : engine.m_StoredUnsigned;
    const bool areFewColumns = shape.m_Columns <= GetFewColumns(stored, shape.m_Depth, m_IsDataSigned) &&
                               !shape.IsHybrid() && shape.m_Depth >= LeastDepthOfColumn * shape.m_Columns;
    const bool mayStay = stored.m_Vectors != 0 && shape.m_MayStay && areBytes && areAlike &&
                         (areFew || areFewColumns) && shape.m_Depth >= stored.m_LeastDepth && shape.m_Matrices == 1 &&
                         shape.m_Columns * shape.m_Depth <= MostStoredBytes;
    if (mayStay && stored.TakesLeastByte())
    {
        return stored;
    }
    const TileSet8& fewRows = m_IsDataSigned ? engine.m_FewRows : engine.m_FewRowsUnsigned;
    if (fewRows.m_Vectors != 0 && areBytes && (areFew || mayStay) && areAlike && findMostLeast() == 0)
    {
        return mayStay ? stored : fewRows; // neither takes -128
    }

    const bool arePaidBack = shape.m_Rows >= ManyRows || (!areFew && shape.m_Depth >= LargeDepth);
    const bool mayPermute = engine.m_Permuted.m_Vectors != 0 && areSigned && arePaidBack &&
                            shape.m_Depth >= PermutedWeights8::LeastDepth &&
                            shape.m_Depth <= PermutedWeights8::MostDepth;
    // Weights with a scale for each channel usually have too many terms.
    const bool haveFewTerms = !(mayPermute && layer.GetInput(1).HasMultipleQuantizationScales());
    const TileSet8& splits = m_IsDataSigned ? engine.m_SplitSigned : engine.m_SplitUnsigned;
    if (splits.m_Vectors != 0 && areBytes && haveFewTerms && !(areFew && areCentred))
    {
        m_Splits = SplitCounts8(getColumns, m_Bytes, splits, GetWorthwhilePercent(splits), engine, store);
        if (m_Splits.AreFew())
        {
            return splits;
        }
    }
    const size_t mostLeast = mayPermute ? findMostLeast() : 0;
    if (mayPermute && mostLeast == 0 && fewRows.m_Vectors != 0 &&
        shape.m_Columns <= NarrowVectors * engine.m_Lanes * shape.m_Matrices &&
        !ShareWindows(layer.GetInput(1).GetShape()))
    {
        return fewRows;
    }
    if (mayPermute && mostLeast <= PermuteLoops8::MostLeast)
    {
        m_Permuted = PermutedWeights8(shape.m_Depth, engine.m_Lanes);
        return engine.m_Permuted;
    }
    if (areNibbles && engine.m_Nibbles.m_Vectors != 0 && !shape.m_IsTransposed && shape.m_Rows <= engine.m_NibbleRows)
    {
        const bool isOne = shape.m_Rows == 1 && engine.m_OneRowNibbles.m_Vectors != 0;
        return isOne ? engine.m_OneRowNibbles : engine.m_Nibbles;
    }
    if (engine.m_Narrow.m_Vectors != 0 && !shape.m_IsTransposed && areCentred)
    {
        return engine.m_Narrow;
    }
    if (engine.m_OfFloats.m_Vectors != 0 && layer.GetInput(0).GetDataType() == DataType::Float32)
    {
        return engine.m_OfFloats;
    }
    return m_IsDataSigned ? engine.m_Signed : engine.m_Unsigned;
}

uint64_t FormChoice8::GetMostBytes(size_t columns, size_t depth, const Engine8& engine)
{
    constexpr size_t GroupBytes = 4;
    const size_t vectors = DivideUp(columns, engine.m_Lanes);
    uint64_t most = uint64_t{vectors} * engine.m_Lanes * GetNumGroups8(engine.m_Signed, depth) * GroupBytes;
    if (engine.m_SplitUnsigned.m_Vectors != 0)
    {
        const TileSet8& tiles = engine.m_SplitUnsigned;
        const uint64_t panels = DivideUp(vectors, tiles.m_Vectors);
        const uint64_t terms = panels * DivideUp(depth, GroupBytes) * (100 + GetWorthwhilePercent(tiles)) / 100;
        const uint64_t width = uint64_t{tiles.m_Vectors} * engine.m_Lanes;
        most = std::max(most, panels * (GetSplitHeaderBytes(0) + sizeof(SplitHeader)) +
                                  terms * (width * GroupBytes + sizeof(uint32_t)));
    }
    if (engine.m_Permuted.m_Vectors != 0)
    {
        const size_t steps = GetNumPermutedSteps(depth);
        most = std::max(most, uint64_t{vectors} * GetPermutedBytes(engine.m_Lanes, steps));
    }
    return most;
}

} // namespace tenon::cpu
