// SPDX-License-Identifier: Apache-2.0
// See BatchedGemmInt8.hpp.
#include "backends/cpu/matmul/BatchedGemmInt8.hpp"

#include "backends/cpu/gemm/driver/MultiplyPanelInt8.hpp"
#include "backends/cpu/gemm/pack/MatrixPanelsInt8.hpp"
#include "backends/cpu/matmul/BatchedGemmTasks.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Bytes of packed panels of a thread: half of a second-level cache of 512 KiB.
constexpr size_t PackedBytes = 256 * 1024;
/// Bytes of a block of copied rows of x.
constexpr size_t BlockBytes = 64 * 1024;
constexpr size_t MaxBlockRows = 512;

const MicrokernelSetInt8& FindMicrokernels(bool isSigned)
{
    return GetMicrokernelsInt8().Get(isSigned ? KernelRoleInt8::UnpackedInt8 : KernelRoleInt8::UnpackedUInt8);
}

} // namespace

bool BatchedGemmInt8::Takes(const ref::MatMulGeometry& geometry, int64_t maxBias)
{
    return !geometry.IsEmpty() && geometry.m_Depth != 0 &&
           RequantizeArraysInt8::IsExactFor(GetMaxSumInt8(geometry) + maxBias) && geometry.m_Y.IsContiguous() &&
           geometry.m_Output.m_Column == 1;
}

BatchedGemmInt8::BatchedGemmInt8(const ref::MatMulGeometry& geometry, const ReshapeArgs& args,
                                 const EpilogueParamsInt8& epilogue)
    : m_Geometry(geometry), m_IsSigned(HasSignedElements(args.GetInput(0))),
      m_ZeroX(args.GetInput(0).GetQuantizationOffset()), m_Epilogue(epilogue),
      m_Panels(std::make_shared<MatrixPanelsInt8>(m_IsSigned, geometry.m_Columns, geometry.m_Depth,
                                                  HasSignedElements(args.GetInput(1)),
                                                  ref::GetWeightsZeroPoint(args.GetInput(1)))),
      m_Columns(epilogue, geometry.m_Columns, m_Panels->GetMaxWidth(), args.GetOutput(0).GetQuantizationOffset())
{
    PlanTasks(args.m_MaxThreads);
    const MicrokernelSetInt8& tiles = m_Panels->GetTiles();
    m_Pitch = m_Panels->GetGroups() * tiles.GetGroupDepth();
    m_Stride = m_Pitch * (tiles.IsDataInt16() ? sizeof(int16_t) : 1);
    const size_t tileRows = tiles.m_Rows[m_Panels->Get().front().m_Vectors];
    m_BlockRows = std::clamp<size_t>(BlockBytes / m_Stride, 1, std::min(MaxBlockRows, m_Geometry.m_Rows));
    m_BlockRows = DivideUp(m_BlockRows, tileRows) * tileRows;
    size_t packed = 0;
    for (size_t group = 0; group < m_Groups; ++group)
    {
        packed = std::max(packed, m_Panels->GetBytes(GetTaskRange(m_Panels->Get().size(), m_Groups, group)));
    }
    Scratch task;
    task.Add<std::byte>(packed);
    m_BiasOffset = task.Add<int32_t>(DivideUp(m_Panels->Get().size(), m_Groups), m_Panels->GetMaxWidth());
    // Microkernels read whole tiles, past the last row.
    m_BlockOffset = task.Add<std::byte>(m_BlockRows + MicrokernelSetInt8::MaxRows, m_Stride);
    m_BytesOffset = task.Add<uint8_t>(tiles.IsDataInt16() ? m_Pitch : 0);
    m_TermsOffset = task.Add<int32_t>(m_BlockRows);
    m_SliceOffset = task.Add<std::byte>(m_Panels->GetSliceBytes(geometry.m_Y.m_Column));
    m_TaskBytes = task.GetBytes();
    m_Scratch.AddPerTask(task, m_Tasks);
}

void BatchedGemmInt8::operator()(const ExecuteArgs& args) const
{
    RunWorkItems(args, CountWorkItems(), m_Tasks, m_TaskBytes,
                 [&](const IndexRange& items, std::byte* scratch) { RunTask(args, items, scratch); });
}

/// Chooses groups of panels and chunks of rows: as few as keep packed panels in the cache and all threads busy.
void BatchedGemmInt8::PlanTasks(unsigned int maxThreads)
{
    const ref::MatMulGeometry& g = m_Geometry;
    const size_t panels = m_Panels->Get().size();
    const double outputs =
        static_cast<double>(g.m_NumBatches) * static_cast<double>(g.m_Rows) * static_cast<double>(g.m_Columns);
    // Requantizing a sum takes as long as about 32 multiplications.
    m_Tasks =
        std::min(GetMaxTasks(maxThreads), GetWorthwhileTasks(outputs * (static_cast<double>(g.m_Depth) / 2 + 32)));
    const size_t forCache = DivideUp(m_Panels->GetBytes(IndexRange{0, panels}), PackedBytes);
    const size_t forThreads = DivideUp(m_Tasks, g.m_NumBatches);
    m_Groups = std::min(panels, std::max(forCache, forThreads));
    m_RowChunks = CountRowChunks(DivideUp(m_Tasks, g.m_NumBatches * m_Groups), g.m_Rows);
    m_Tasks = std::min(m_Tasks, CountWorkItems());
}

void BatchedGemmInt8::RunTask(const ExecuteArgs& args, const IndexRange& items, std::byte* scratch) const
{
    const ref::MatMulGeometry& g = m_Geometry;
    const MicrokernelSetInt8& tiles = m_Panels->GetTiles();
    if (tiles.m_Begin != nullptr)
    {
        tiles.m_Begin();
    }
    const size_t length = g.CountBatchesOf() * m_RowChunks; // work items that share one group of panels of one matrix
    for (size_t item = items.m_Begin; item < items.m_End; ++item)
    {
        const size_t run = item / length;
        const ref::MatMulGeometry::Batch batch = g.GetBatchOf(run / m_Groups, item % length / m_RowChunks);
        const size_t group = run % m_Groups;
        const IndexRange panels = GetTaskRange(m_Panels->Get().size(), m_Groups, group);
        const IndexRange rows = GetTaskRange(g.m_Rows, m_RowChunks, item % m_RowChunks);
        if (item == items.m_Begin || item % length == 0)
        {
            Pack(args.GetInput<uint8_t>(1) + g.GetMatrixY(batch.m_MatrixY), m_Epilogue.GetBias(args), panels, scratch);
        }
        for (size_t first = rows.m_Begin; first < rows.m_End; first += m_BlockRows)
        {
            const size_t count = std::min(m_BlockRows, rows.m_End - first);
            const uint8_t* x = args.GetInput<uint8_t>(0) + batch.m_X + first * g.m_X.m_Row;
            CopyRows(x, count, scratch);
            RunPanels(panels, count, args.GetOutput<uint8_t>(0) + batch.m_Output + first * g.m_Output.m_Row, scratch);
        }
    }
    if (tiles.m_End != nullptr)
    {
        tiles.m_End();
    }
}

void BatchedGemmInt8::Pack(const uint8_t* y, const int32_t* bias, const IndexRange& panels, std::byte* scratch) const
{
    std::byte* packed = scratch;
    auto* start = Scratch::At<int32_t>(scratch, m_BiasOffset);
    for (size_t p = panels.m_Begin; p < panels.m_End; ++p)
    {
        const PanelInt8& panel = m_Panels->Get()[p];
        m_Panels->Pack(panel, {y, m_Geometry.m_Y.m_Row, m_Geometry.m_Y.m_Column}, m_ZeroX, packed, start,
                       Scratch::At<std::byte>(scratch, m_SliceOffset));
        if (bias != nullptr)
        {
            std::transform(start, start + panel.m_Columns, bias + panel.m_Column, start, ref::WrapAdd<int32_t>);
        }
        packed += m_Panels->GetBytes(panel);
        start += m_Panels->GetMaxWidth();
    }
}

void BatchedGemmInt8::CopyRows(const uint8_t* x, size_t count, std::byte* scratch) const
{
    const ref::MatMulGeometry& g = m_Geometry;
    const bool isWide = m_Panels->GetTiles().IsDataInt16();
    auto* const block = Scratch::At<std::byte>(scratch, m_BlockOffset);
    auto* const bytes = Scratch::At<uint8_t>(scratch, m_BytesOffset);
    for (size_t row = 0; row < count; ++row, x += g.m_X.m_Row)
    {
        std::byte* const to = block + row * m_Stride;
        const uint8_t* from = x;
        if (g.m_X.m_Column != 1 || !isWide)
        {
            auto* const stored = isWide ? bytes : reinterpret_cast<uint8_t*>(to);
            CopyRow(x, stored);
            from = stored;
        }
        if (isWide)
        {
            auto* const wide = reinterpret_cast<int16_t*>(to);
            GetMicrokernelsInt8().m_Widen(from, g.m_Depth, m_IsSigned, m_ZeroX, wide);
            std::fill(wide + g.m_Depth, wide + m_Pitch, int16_t{0});
        }
    }
    if (m_Panels->GetRowSumFactor() != 0)
    {
        GetMicrokernelsInt8().m_SumRows(block, m_Stride, count, g.m_Depth, m_IsSigned, m_Panels->GetRowSumFactor(),
                                        Scratch::At<int32_t>(scratch, m_TermsOffset));
    }
}

void BatchedGemmInt8::CopyRow(const uint8_t* x, uint8_t* to) const
{
    const ref::MatMulGeometry& g = m_Geometry;
    if (g.m_X.m_Column == 1)
    {
        std::memcpy(to, x, g.m_Depth);
    }
    for (size_t k = 0; g.m_X.m_Column != 1 && k < g.m_Depth; ++k)
    {
        to[k] = x[k * g.m_X.m_Column];
    }
    std::memset(to + g.m_Depth, 0, m_Pitch - g.m_Depth);
}

void BatchedGemmInt8::RunPanels(const IndexRange& panels, size_t count, uint8_t* out, std::byte* scratch) const
{
    const auto* const block = Scratch::At<std::byte>(scratch, m_BlockOffset);
    const auto* const terms = Scratch::At<int32_t>(scratch, m_TermsOffset);
    const auto* bias = Scratch::At<int32_t>(scratch, m_BiasOffset);
    const std::byte* packed = scratch;
    const size_t outStride = m_Geometry.m_Output.m_Row;
    for (size_t p = panels.m_Begin; p < panels.m_End; ++p)
    {
        const PanelInt8& panel = m_Panels->Get()[p];
        const size_t width = m_Panels->GetWidth(panel);
        const RequantizeColumns columns = m_Columns.From(panel.m_Column);
        MultiplyPanelInt8({&m_Panels->GetTiles(), panel.m_Vectors, width, packed, m_Panels->GetGroups(), bias},
                          {block, m_Stride, count},
                          [&](const int32_t* sums, size_t row, size_t rows)
                          {
                              const int32_t* const ofRows = m_Panels->GetRowSumFactor() != 0 ? terms + row : nullptr;
                              GetMicrokernelsInt8().m_Requantize({sums, width, rows, panel.m_Columns, ofRows,
                                                                  out + row * outStride + panel.m_Column, outStride,
                                                                  m_IsSigned},
                                                                 columns);
                          });
        packed += m_Panels->GetBytes(panel);
        bias += m_Panels->GetMaxWidth();
    }
}

bool FewRowsInt8::Takes(const ref::MatMulGeometry& geometry, const TensorInfo& x)
{
    const MicrokernelSetInt8& tiles = FindMicrokernels(HasSignedElements(x));
    return tiles.m_Vectors != 0 && geometry.m_Rows <= MaxRows && geometry.m_Depth >= tiles.m_Row->m_MinDepth &&
           geometry.m_X.m_Column == 1 && geometry.m_Y.m_Row == 1 && geometry.m_Y.m_Column == geometry.m_Depth;
}

bool FewRowsInt8::TakesMinByte(const TensorInfo& x)
{
    return FindMicrokernels(HasSignedElements(x)).TakesAnyMinWeights();
}

FewRowsInt8::FewRowsInt8(const ref::MatMulGeometry& geometry, const ReshapeArgs& args,
                         const EpilogueParamsInt8& epilogue)
    : m_Geometry(geometry), m_Epilogue(epilogue), m_IsSigned(HasSignedElements(args.GetInput(0))),
      m_ZeroX(args.GetInput(0).GetQuantizationOffset()), m_ZeroY(ref::GetWeightsZeroPoint(args.GetInput(1))),
      m_Microkernels(&FindMicrokernels(m_IsSigned)), m_ZeroPointCorrection(*m_Microkernels, m_IsSigned, m_ZeroY),
      m_Columns(epilogue, geometry.m_Columns, RunColumns, args.GetOutput(0).GetQuantizationOffset()),
      m_Runs(DivideUp(geometry.m_Columns, RunColumns))
{
}

bool FewRowsInt8::HasMinByte(const ExecuteArgs& args) const
{
    return std::memchr(args.m_Inputs[1], m_IsSigned ? 0x80 : 0, m_Geometry.m_Columns * m_Geometry.m_Depth) != nullptr;
}

void FewRowsInt8::operator()(const ExecuteArgs& args) const
{
    const auto range = [&](size_t begin, size_t end)
    {
        for (size_t run = begin; run < end; ++run)
        {
            Multiply(args, m_Geometry.GetBatch(run / m_Runs), run % m_Runs);
        }
    };
    RunRanges(*args.m_Parallel, m_Geometry.m_NumBatches * m_Runs, GetGrain(RunColumns * m_Geometry.m_Depth), range);
}

void FewRowsInt8::Multiply(const ExecuteArgs& args, const ref::MatMulGeometry::Batch& batch, size_t index) const
{
    const ref::MatMulGeometry& g = m_Geometry;
    const MicrokernelsInt8& microkernels = GetMicrokernelsInt8();
    const size_t first = index * RunColumns;
    const size_t count = std::min(RunColumns, g.m_Columns - first);
    const uint8_t* const x = args.GetInput<uint8_t>(0) + batch.m_X;
    const uint8_t* const y = args.GetInput<uint8_t>(1) + g.GetMatrixY(batch.m_MatrixY) + first * g.m_Depth;
    const int32_t* const bias = m_Epilogue.GetBias(args);

    // Initial accumulators: bias and zero-point correction. Summing the columns also loads them into the cache.
    alignas(64) int32_t start[RunColumns];
    microkernels.m_SumRows(y, g.m_Depth, count, g.m_Depth, m_IsSigned, 1, start);
    for (size_t c = 0; c < count; ++c)
    {
        const int64_t sum = start[c] - int64_t{m_ZeroY} * static_cast<int64_t>(g.m_Depth);
        const int64_t own = bias != nullptr ? bias[first + c] : 0;
        // Overflows cancel out, or wrap around as in the reference kernel.
        start[c] = static_cast<int32_t>(own + m_ZeroPointCorrection.GetCorrection(sum, g.m_Depth, m_ZeroX));
    }

    alignas(64) int32_t sums[MaxRows * RunColumns + RequantizeRows::PastSums];
    UnpackedDotsInt8 dots;
    dots.m_Data = x;
    dots.m_DataStride = g.m_X.m_Row;
    dots.m_Rows = g.m_Rows;
    dots.m_Weights = y;
    dots.m_Columns = count;
    dots.m_Depth = g.m_Depth;
    dots.m_Bias = start;
    dots.m_Sums = sums;
    dots.m_SumStride = RunColumns;
    m_Microkernels->m_UnpackedDots(dots);

    int32_t terms[MaxRows];
    if (m_ZeroPointCorrection.m_RowSumFactor != 0)
    {
        microkernels.m_SumRows(x, g.m_X.m_Row, g.m_Rows, g.m_Depth, m_IsSigned, m_ZeroPointCorrection.m_RowSumFactor,
                               terms);
    }
    microkernels.m_Requantize({sums, RunColumns, g.m_Rows, count,
                               m_ZeroPointCorrection.m_RowSumFactor != 0 ? terms : nullptr,
                               args.GetOutput<uint8_t>(0) + batch.m_Output + first, g.m_Output.m_Row, m_IsSigned},
                              m_Columns.From(first));
}

} // namespace tenon::cpu
