// SPDX-License-Identifier: Apache-2.0
// FusedAttentionF32: the keys are the rows of the first product, the columns of the values those of the second. Both
// products have a panel of queries on the right.
#include "backends/cpu/attention/FusedAttentionF32.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/attention/ColumnSoftmaxF32.hpp"
#include "backends/cpu/gemm/kernels/f32/MaxSumDepth.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <bit>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Wider panels take less time on processors that start several products a cycle.
constexpr size_t MostVectors = 2;

bool Takes(const ref::MatMulGeometry& g)
{
    return g.m_NumBatches == 1 && !g.IsEmpty() && g.m_Depth != 0 && g.m_X.m_Column == 1 && g.m_Y.IsContiguous() &&
           g.m_Output.m_Column == 1;
}

/// Whether the padding of the last panel is small against the number of queries.
bool FillPanels(size_t queries, size_t width)
{
    constexpr size_t Little = 4; // at least this many queries for each padded one
    const size_t missing = DivideUp(queries, width) * width - queries;
    return missing <= queries / Little;
}

} // namespace

void TurnQueries(const float* from, size_t stride, size_t rows, size_t queries, float* to, size_t width)
{
    TransposeFloats(from, stride, rows, queries, to, width);
    for (size_t row = 0; row < rows && queries < width; ++row)
    {
        std::fill_n(to + row * width + queries, width - queries, 0.0f);
    }
}

/// Addresses of buffers. Keys and values serve all queries, the others one panel.
struct AttentionF32::Buffers
{
    const float* m_Keys = nullptr;   ///< [keys][depth]
    const float* m_Values = nullptr; ///< [columns][keys]
    size_t m_KeyStride = 0;
    size_t m_ValueStride = 0;
    float* m_Queries = nullptr; ///< [depth][width]
    float* m_Block = nullptr;   ///< [keys][width]
    float* m_Added = nullptr;   ///< [keys][width]
    float* m_Factors = nullptr; ///< [width]
    float* m_Out = nullptr;     ///< [columns][width]
};

AttentionF32::AttentionF32(const ref::MatMulGeometry& scores, const ref::MatMulGeometry& values,
                           const AttentionRest& rest, Added added)
    : m_Scores(scores), m_Values(values), m_Beta(rest.m_Beta),
      m_Halvings(static_cast<int>(std::bit_width(scores.m_Columns))), m_Added(added), m_Engine(&GetEngineF32()),
      m_Vectors(std::min(m_Engine->m_Vectors, MostVectors)), m_Width(m_Vectors * m_Engine->m_Lanes), m_Parts(1)
{
    if (rest.m_IsShared)
    {
        const double multiplications = static_cast<double>(scores.m_Rows) * static_cast<double>(scores.m_Columns) *
                                       static_cast<double>(scores.m_Depth + values.m_Columns);
        m_Parts = std::min({GetMaxParts(rest.m_Product.m_MaxThreads), DivideUp(scores.m_Rows, m_Width),
                            GetWorthwhileParts(multiplications)});
    }
    const size_t keys = scores.m_Columns;
    Scratch part;
    part.Add<float>(scores.m_Depth, m_Width);
    m_BlockOffset = part.Add<float>(keys, m_Width);
    m_AddedOffset = part.Add<float>(added == Added::All ? keys : 0, m_Width);
    m_FactorsOffset = part.Add<float>(m_Width);
    m_OutOffset = part.Add<float>(values.m_Columns, m_Width);
    m_PartBytes = part.GetBytes();
    Scratch scratch;
    m_KeysOffset = scratch.Add<float>(scores.m_Y.m_Row == 1 ? 0 : keys, scores.m_Depth);
    m_ValuesOffset = scratch.Add<float>(values.m_Y.m_Row == 1 ? 0 : keys, values.m_Columns);
    m_PartsOffset = scratch.AddParts(part, m_Parts);
    m_ScratchBytes = scratch.GetBytes();
}

std::optional<AttentionF32> AttentionF32::Make(const ref::MatMulGeometry& scores, const AttentionRest& rest)
{
    const ref::MatMulGeometry values(rest.m_Product);
    if (!Takes(scores) || !Takes(values) || values.m_Rows != scores.m_Rows || values.m_Depth != scores.m_Columns ||
        !(rest.m_Beta > 0.0f))
    {
        return std::nullopt;
    }
    Added added = Added::Nothing;
    if (rest.m_Added != nullptr)
    {
        const TensorShape& shape = rest.m_Added->GetShape();
        const unsigned int rank = shape.GetNumDimensions();
        const size_t rows = rank > 1 ? shape[rank - 2] : 1;
        added = rows == 1 ? Added::OfKeys : Added::All;
        if (rank == 0 || shape[rank - 1] != scores.m_Columns || (rows != 1 && rows != scores.m_Rows) ||
            shape.GetNumElements() != rows * scores.m_Columns)
        {
            return std::nullopt;
        }
    }
    const AttentionF32 attention(scores, values, rest, added);
    return FillPanels(scores.m_Rows, attention.m_Width) ? std::optional(attention) : std::nullopt;
}

void MultiplyByPanel(const EngineF32& engine, size_t vectors, const float* rows, size_t stride, size_t count,
                     size_t depth, const float* panel, float* out)
{
    const size_t width = vectors * engine.m_Lanes;
    TileF32 tile;
    tile.m_DataStride = stride;
    tile.m_Columns = width;
    tile.m_OutStride = width;
    for (size_t k = 0; k == 0 || k < depth; k += MaxSumDepth)
    {
        tile.m_Depth = std::min(MaxSumDepth, depth - k);
        tile.m_Panel = panel + k * width;
        tile.m_Continues = k != 0;
        ForEachHeight(count, engine.m_Rows[vectors],
                      [&](size_t begin, size_t height, size_t tiles)
                      {
                          tile.m_Data = rows + begin * stride + k;
                          tile.m_Out = out + begin * width;
                          engine.m_Tiles[vectors][height](tile, tiles);
                      });
    }
}

void AttentionF32::RunQueries(const ExecuteArgs& args, size_t first, const Buffers& buffers) const
{
    const size_t keys = m_Scores.m_Columns;
    const size_t queries = std::min(m_Width, m_Scores.m_Rows - first);
    TurnQueries(args.GetInput<float>(0) + first * m_Scores.m_X.m_Row, m_Scores.m_X.m_Row, m_Scores.m_Depth, queries,
                buffers.m_Queries, m_Width);
    Multiply(buffers.m_Keys, buffers.m_KeyStride, keys, m_Scores.m_Depth, buffers.m_Queries, buffers.m_Block);

    ColumnSoftmax softmax;
    softmax.m_Block = buffers.m_Block;
    softmax.m_Rows = keys;
    softmax.m_Width = m_Width;
    softmax.m_Beta = m_Beta;
    softmax.m_Halvings = m_Halvings;
    softmax.m_Factors = buffers.m_Factors;
    if (m_Added == Added::OfKeys)
    {
        softmax.m_RowTerms = args.GetInput<float>(2);
    }
    else if (m_Added == Added::All)
    {
        TurnQueries(args.GetInput<float>(2) + first * keys, keys, keys, queries, buffers.m_Added, m_Width);
        softmax.m_Terms = buffers.m_Added;
    }
    GetAttentionFunctions().m_Softmax(softmax);

    Multiply(buffers.m_Values, buffers.m_ValueStride, m_Values.m_Columns, keys, buffers.m_Block, buffers.m_Out);
    GetAttentionFunctions().m_Scale(buffers.m_Out, m_Values.m_Columns, m_Width, buffers.m_Factors);
    TransposeFloats(buffers.m_Out, m_Width, queries, m_Values.m_Columns,
                    args.GetOutput<float>(0) + first * m_Values.m_Output.m_Row, m_Values.m_Output.m_Row);
}

/// Finds keys and value columns as rows: in place, or transposed into scratch memory.
void AttentionF32::FindRows(const ExecuteArgs& args, Buffers& buffers) const
{
    const auto at = [&](size_t offset) { return Scratch::At<float>(args.m_Scratch, offset); };
    const size_t keys = m_Scores.m_Columns;
    buffers.m_Keys = args.GetInput<float>(1);
    buffers.m_KeyStride = m_Scores.m_Y.m_Column;
    if (m_Scores.m_Y.m_Row != 1)
    {
        TransposeFloats(buffers.m_Keys, m_Scores.m_Y.m_Row, keys, m_Scores.m_Depth, at(m_KeysOffset), m_Scores.m_Depth);
        buffers.m_Keys = at(m_KeysOffset);
        buffers.m_KeyStride = m_Scores.m_Depth;
    }
    buffers.m_Values = args.GetInput<float>(m_Added == Added::Nothing ? 2 : 3);
    buffers.m_ValueStride = m_Values.m_Y.m_Column;
    if (m_Values.m_Y.m_Row != 1)
    {
        TransposeFloats(buffers.m_Values, m_Values.m_Y.m_Row, m_Values.m_Columns, keys, at(m_ValuesOffset), keys);
        buffers.m_Values = at(m_ValuesOffset);
        buffers.m_ValueStride = keys;
    }
}

void AttentionF32::operator()(const ExecuteArgs& args) const
{
    Buffers ofAll;
    FindRows(args, ofAll);
    const size_t blocks = DivideUp(m_Scores.m_Rows, m_Width);
    const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
    RunParts(*args.m_Parallel, parts,
             [&](size_t index)
             {
                 const size_t base = m_PartsOffset + index * m_PartBytes;
                 const auto at = [&](size_t offset) { return Scratch::At<float>(args.m_Scratch, base + offset); };
                 Buffers buffers = ofAll;
                 buffers.m_Queries = at(0);
                 buffers.m_Block = at(m_BlockOffset);
                 buffers.m_Added = at(m_AddedOffset);
                 buffers.m_Factors = at(m_FactorsOffset);
                 buffers.m_Out = at(m_OutOffset);
                 const Part part = GetPart(blocks, parts, index);
                 for (size_t block = part.m_Begin; block < part.m_End; ++block)
                 {
                     RunQueries(args, block * m_Width, buffers);
                 }
             });
}

} // namespace tenon::cpu
