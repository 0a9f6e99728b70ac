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
constexpr size_t MaxPanelVectors = 2;

bool IsSupported(const ref::MatMulGeometry& g)
{
    return g.m_NumBatches == 1 && !g.IsEmpty() && g.m_Depth != 0 && g.m_X.m_Column == 1 && g.m_Y.IsContiguous() &&
           g.m_Output.m_Column == 1;
}

/// Whether the padding of the last panel is small against the number of queries.
bool IsPaddingSmall(size_t queries, size_t width)
{
    constexpr size_t MinQueriesPerPadding = 4; // at least this many queries for each padded one
    const size_t missing = DivideUp(queries, width) * width - queries;
    return missing <= queries / MinQueriesPerPadding;
}

} // namespace

void TransposeToPanel(const float* from, size_t stride, size_t rows, size_t queries, float* to, size_t width)
{
    TransposeFloats(from, stride, rows, queries, to, width);
    for (size_t row = 0; row < rows && queries < width; ++row)
    {
        std::fill_n(to + row * width + queries, width - queries, 0.0f);
    }
}

/// Addresses of buffers. Keys and values serve all queries, the others one panel.
struct FusedAttentionF32::Buffers
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

FusedAttentionF32::FusedAttentionF32(const ref::MatMulGeometry& scores, const ref::MatMulGeometry& values,
                                     const AttentionRest& rest, Added added)
    : m_Scores(scores), m_Values(values), m_Beta(rest.m_Beta),
      m_Log2Divisor(static_cast<int>(std::bit_width(scores.m_Columns))), m_Added(added),
      m_Microkernels(&GetMicrokernelsF32()), m_Vectors(std::min(m_Microkernels->m_Vectors, MaxPanelVectors)),
      m_Width(m_Vectors * m_Microkernels->m_Lanes), m_Tasks(1)
{
    if (rest.m_IsShared)
    {
        const double multiplications = static_cast<double>(scores.m_Rows) * static_cast<double>(scores.m_Columns) *
                                       static_cast<double>(scores.m_Depth + values.m_Columns);
        m_Tasks = std::min({GetMaxTasks(rest.m_Product.m_MaxThreads), DivideUp(scores.m_Rows, m_Width),
                            GetWorthwhileTasks(multiplications)});
    }
    const size_t keys = scores.m_Columns;
    Scratch task;
    task.Add<float>(scores.m_Depth, m_Width);
    m_BlockOffset = task.Add<float>(keys, m_Width);
    m_AddedOffset = task.Add<float>(added == Added::All ? keys : 0, m_Width);
    m_FactorsOffset = task.Add<float>(m_Width);
    m_OutOffset = task.Add<float>(values.m_Columns, m_Width);
    m_TaskBytes = task.GetBytes();
    Scratch scratch;
    m_KeysOffset = scratch.Add<float>(scores.m_Y.m_Row == 1 ? 0 : keys, scores.m_Depth);
    m_ValuesOffset = scratch.Add<float>(values.m_Y.m_Row == 1 ? 0 : keys, values.m_Columns);
    m_TasksOffset = scratch.AddPerTask(task, m_Tasks);
    m_ScratchBytes = scratch.GetBytes();
}

std::optional<FusedAttentionF32> FusedAttentionF32::Make(const ref::MatMulGeometry& scores, const AttentionRest& rest)
{
    const ref::MatMulGeometry values(rest.m_Product);
    if (!IsSupported(scores) || !IsSupported(values) || values.m_Rows != scores.m_Rows ||
        values.m_Depth != scores.m_Columns || !(rest.m_Beta > 0.0f))
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
    const FusedAttentionF32 attention(scores, values, rest, added);
    return IsPaddingSmall(scores.m_Rows, attention.m_Width) ? std::optional(attention) : std::nullopt;
}

void MultiplyByPanel(const MicrokernelsF32& microkernels, size_t vectors, const float* rows, size_t stride,
                     size_t count, size_t depth, const float* panel, float* out)
{
    const size_t width = vectors * microkernels.m_Lanes;
    TileF32 tile;
    tile.m_DataStride = stride;
    tile.m_Columns = width;
    tile.m_OutStride = width;
    for (size_t k = 0; k == 0 || k < depth; k += MaxSumDepth)
    {
        tile.m_Depth = std::min(MaxSumDepth, depth - k);
        tile.m_Panel = panel + k * width;
        tile.m_Accumulates = k != 0;
        ForEachHeight(count, microkernels.m_Rows[vectors],
                      [&](size_t begin, size_t height, size_t tiles)
                      {
                          tile.m_Data = rows + begin * stride + k;
                          tile.m_Out = out + begin * width;
                          microkernels.m_Tiles[vectors][height](tile, tiles);
                      });
    }
}

void FusedAttentionF32::RunQueries(const ExecuteArgs& args, size_t first, const Buffers& buffers) const
{
    const size_t keys = m_Scores.m_Columns;
    const size_t queries = std::min(m_Width, m_Scores.m_Rows - first);
    TransposeToPanel(args.GetInput<float>(0) + first * m_Scores.m_X.m_Row, m_Scores.m_X.m_Row, m_Scores.m_Depth,
                     queries, buffers.m_Queries, m_Width);
    Multiply(buffers.m_Keys, buffers.m_KeyStride, keys, m_Scores.m_Depth, buffers.m_Queries, buffers.m_Block);

    ColumnSoftmax softmax;
    softmax.m_Block = buffers.m_Block;
    softmax.m_Rows = keys;
    softmax.m_Width = m_Width;
    softmax.m_Beta = m_Beta;
    softmax.m_Log2Divisor = m_Log2Divisor;
    softmax.m_Factors = buffers.m_Factors;
    if (m_Added == Added::OfKeys)
    {
        softmax.m_RowMask = args.GetInput<float>(2);
    }
    else if (m_Added == Added::All)
    {
        TransposeToPanel(args.GetInput<float>(2) + first * keys, keys, keys, queries, buffers.m_Added, m_Width);
        softmax.m_ElementMask = buffers.m_Added;
    }
    GetAttentionFunctions().m_Softmax(softmax);

    Multiply(buffers.m_Values, buffers.m_ValueStride, m_Values.m_Columns, keys, buffers.m_Block, buffers.m_Out);
    GetAttentionFunctions().m_Scale(buffers.m_Out, m_Values.m_Columns, m_Width, buffers.m_Factors);
    TransposeFloats(buffers.m_Out, m_Width, queries, m_Values.m_Columns,
                    args.GetOutput<float>(0) + first * m_Values.m_Output.m_Row, m_Values.m_Output.m_Row);
}

/// Finds keys and value columns as rows: in place, or transposed into scratch memory.
void FusedAttentionF32::FindRows(const ExecuteArgs& args, Buffers& buffers) const
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

void FusedAttentionF32::operator()(const ExecuteArgs& args) const
{
    Buffers shared;
    FindRows(args, shared);
    const size_t blocks = DivideUp(m_Scores.m_Rows, m_Width);
    const size_t tasks = std::min<size_t>(m_Tasks, args.m_Parallel->GetNumThreads());
    RunTasks(*args.m_Parallel, tasks,
             [&](size_t index)
             {
                 const size_t base = m_TasksOffset + index * m_TaskBytes;
                 const auto at = [&](size_t offset) { return Scratch::At<float>(args.m_Scratch, base + offset); };
                 Buffers buffers = shared;
                 buffers.m_Queries = at(0);
                 buffers.m_Block = at(m_BlockOffset);
                 buffers.m_Added = at(m_AddedOffset);
                 buffers.m_Factors = at(m_FactorsOffset);
                 buffers.m_Out = at(m_OutOffset);
                 const IndexRange task = GetTaskRange(blocks, tasks, index);
                 for (size_t block = task.m_Begin; block < task.m_End; ++block)
                 {
                     RunQueries(args, block * m_Width, buffers);
                 }
             });
}

} // namespace tenon::cpu
