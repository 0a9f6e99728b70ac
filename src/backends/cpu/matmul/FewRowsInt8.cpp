// SPDX-License-Identifier: Apache-2.0
// See FewRowsInt8.hpp.
#include "backends/cpu/matmul/FewRowsInt8.hpp"

#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

const MicrokernelSetInt8& FindMicrokernels(bool isSigned)
{
    return GetMicrokernelsInt8().Get(isSigned ? KernelRoleInt8::UnpackedInt8 : KernelRoleInt8::UnpackedUInt8);
}

} // namespace

bool FewRowsInt8::Takes(const ref::MatMulGeometry& geometry, const TensorInfo& x)
{
    const MicrokernelSetInt8& tiles = FindMicrokernels(HasSignedElements(x));
    return tiles.m_Vectors != 0 && geometry.m_Rows <= MaxRows && geometry.m_Depth >= tiles.m_Row->m_MinDepth &&
           geometry.m_X.m_Column == 1 && geometry.m_Y.m_Row == 1 && geometry.m_Y.m_Column == geometry.m_Depth;
}

bool FewRowsInt8::TakesMinByte(const TensorInfo& x)
{
    return FindMicrokernels(HasSignedElements(x)).m_TakesMinWeight;
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
    const MicrokernelsInt8& engine = GetMicrokernelsInt8();
    const size_t first = index * RunColumns;
    const size_t count = std::min(RunColumns, g.m_Columns - first);
    const uint8_t* const x = args.GetInput<uint8_t>(0) + batch.m_X;
    const uint8_t* const y = args.GetInput<uint8_t>(1) + g.GetMatrixY(batch.m_MatrixY) + first * g.m_Depth;
    const int32_t* const bias = m_Epilogue.GetBias(args);

    // Initial accumulators: bias and zero-point correction. Summing the columns also loads them into the cache.
    alignas(64) int32_t start[RunColumns];
    engine.m_SumRows(y, g.m_Depth, count, g.m_Depth, m_IsSigned, 1, start);
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
        engine.m_SumRows(x, g.m_X.m_Row, g.m_Rows, g.m_Depth, m_IsSigned, m_ZeroPointCorrection.m_RowSumFactor, terms);
    }
    engine.m_Requantize({sums, RunColumns, g.m_Rows, count, m_ZeroPointCorrection.m_RowSumFactor != 0 ? terms : nullptr,
                         args.GetOutput<uint8_t>(0) + batch.m_Output + first, g.m_Output.m_Row, m_IsSigned},
                        m_Columns.From(first));
}

} // namespace tenon::cpu
