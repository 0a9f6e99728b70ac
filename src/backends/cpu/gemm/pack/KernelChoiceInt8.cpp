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

/// The way from memory is most of what counts for few rows, and no other form is shorter than bytes.
constexpr size_t FewProductRows = 4;
/// What FormChoice8::FewColumnsOfDots is for the other instructions.
constexpr size_t FewColumnsOfSigns = 5;
/// Rows of so many bytes take up more of the caches, as windows, than adding lanes up takes of the time.
constexpr size_t DeepRows = 2048;
constexpr size_t FewColumnsOfDeepRows = 8;
constexpr size_t LeastDepthOfColumn = 32;
/// Larger weights come from behind the second-level cache, faster from huge pages than from those of a file.
constexpr size_t MostStoredBytes = size_t{512} << 10;
/// Permuting takes as long as some dozen inferences of fewer rows gain, but where their steps are many.
constexpr size_t ManyRows = 16;
constexpr size_t LargeDepth = 1024;
/// Windows of data take as long to make as a vector of columns of products by them does, unless they are made once for
/// all pixels that see them.
constexpr size_t NarrowVectors = 2;

bool IsSigned(DataType type)
{
    return type != DataType::QAsymmU8;
}

/// Whether WindowImage8 makes windows once for several rows of the product.
bool ShareWindows(const TensorShape& weights)
{
    return weights.GetNumDimensions() == 4 && weights[1] * weights[2] > 1 && weights[3] % PermuteLoops8::StepDepth == 0;
}

/// Up to how many columns weights may stay where they are, whatever the number of rows.
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

/// How many more terms than groups are worth while, in percent: what these tiles are faster than pairs of int16, by
/// 1.35 with six rows; int8 data take an instruction more.
size_t GetWorthwhilePercent(const TileSet8& tiles)
{
    return tiles.m_FlipsData ? 10 : 25;
}

/// How often the least byte is among eight weights of a column that begin at a multiple of eight, at most: -128, whose
/// sign cannot change, or what becomes of it.
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
            const bool haveSome = std::memchr(weights, least, count * bytes.m_Depth) != nullptr; // rarely
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
    const bool areSigned = areBytes && areCentred && m_IsDataSigned; // both
    const bool areFew = shape.m_Rows <= FewProductRows;
    Weights8 weights(layer, m_Bytes, shape.m_Pieces);
    const auto getColumns = [&weights](size_t first, size_t count) { return weights.GetColumns(first, count); };
    std::optional<size_t> knownLeast; // to be looked for once at most: it takes reading all weights
    const auto findMostLeast = [&]
    {
        knownLeast = knownLeast ? *knownLeast : FindMostLeast(weights.GetPieces(), m_Bytes, store);
        return *knownLeast;
    };

    const bool areAlike = m_IsDataSigned == m_Bytes.m_IsSigned; // data and weights
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
        return mayStay ? stored : fewRows; // neither takes the least byte
    }

    const bool arePaidBack = shape.m_Rows >= ManyRows || (!areFew && shape.m_Depth >= LargeDepth);
    const bool mayPermute = engine.m_Permuted.m_Vectors != 0 && areSigned && arePaidBack &&
                            shape.m_Depth >= PermutedWeights8::LeastDepth &&
                            shape.m_Depth <= PermutedWeights8::MostDepth;
    // Weights with a scale for each channel have too many terms, as a rule.
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
