// SPDX-License-Identifier: Apache-2.0
// See StepGemmF32.hpp.
#include "backends/cpu/recurrent/StepGemmF32.hpp"

#include "backends/cpu/gemm/kernels/f32/AxpyF32.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

/// The stride of weights in floats. Rows that are a multiple of a page apart would share few sets of a cache.
uint64_t FindStride(uint64_t columns)
{
    constexpr uint64_t Page = 1024;
    const uint64_t lanes = GetMicrokernelsF32().m_Lanes;
    const uint64_t padded = DivideUp(columns, lanes) * lanes;
    return padded % Page == 0 ? padded + lanes : padded;
}

WeightSizes FindSizes(size_t columns, size_t depth)
{
    const size_t lanes = GetMicrokernelsF32().m_Lanes;
    return {1, DivideUp(columns, lanes) * lanes, depth, 0, FindStride(columns)};
}

/// The least bytes of weights a task: reading them takes several times as long as starting a thread.
constexpr size_t TaskBytes = size_t{1} << 18;
constexpr size_t MinColumns = 64; ///< several cache lines of the output
/// Measured with AVX-512: tiles of four rows take 0.85 times as long, of one row of few units 1.2 times.
constexpr size_t MaxRowsOfSums = AxpyF32::MaxRows - 1;

} // namespace

StepWeightsF32::StepWeightsF32(const float* weights, size_t columns, size_t depth, backends::PackedStore& store)
    : m_Panels(FindSizes(columns, depth))
{
    const size_t stride = GetStride();
    m_Data = store.GetBlock(depth * stride * sizeof(float),
                            [&](std::byte* to)
                            {
                                auto* const floats = reinterpret_cast<float*>(to);
                                std::fill_n(floats, depth * stride, 0.0f);
                                TransposeFloats(weights, depth, depth, columns, floats, stride);
                            });
}

uint64_t StepWeightsF32::GetPackedBytes(uint64_t columns, uint64_t depth)
{
    return FindStride(columns) * depth * sizeof(float);
}

StepGemmF32::StepGemmF32(const StepWeightsF32& weights, size_t rows)
    : m_Weights(&weights), m_Rows(rows),
      m_ColumnTasks(std::clamp<size_t>(std::min(weights.GetColumns() * weights.GetDepth() * sizeof(float) / TaskBytes,
                                                weights.GetColumns() / MinColumns),
                                       1, GetFixedTasks()))
{
    if (rows > MaxRowsOfSums)
    {
        m_Gemm.emplace(weights.GetPanels(), MakeMatrixIm2col(rows, weights.GetDepth()), rows, 1);
        m_ColumnTasks = std::min(m_ColumnTasks, weights.GetPanels().Get().size());
    }
}

void StepGemmF32::Run(const float* data, float* sums, std::byte* scratch, IParallelFor& parallel) const
{
    RunTasks(parallel, m_ColumnTasks, [&](size_t task) { RunTask(data, sums, scratch, task); });
}

void StepGemmF32::RunTask(const float* data, float* sums, std::byte* scratch, size_t task) const
{
    if (m_Gemm)
    {
        const IndexRange panels = GetTaskRange(m_Weights->GetPanels().Get().size(), m_ColumnTasks, task);
        m_Gemm->RunRange(data, m_Weights->GetData(), nullptr, sums, {0, m_Rows, panels.m_Begin, panels.m_End},
                         scratch + task * m_Gemm->GetTaskBytes());
        return;
    }
    const size_t columns = m_Weights->GetColumns();
    const IndexRange range = GetTaskRange(columns, m_ColumnTasks, task, GetMicrokernelsF32().m_Lanes);
    RunAxpyF32({data, m_Weights->GetDepth(), 1, m_Weights->GetData() + range.m_Begin, m_Weights->GetStride(), m_Rows,
                range.m_End - range.m_Begin, m_Weights->GetDepth(), sums + range.m_Begin, columns});
}

} // namespace tenon::cpu
