// SPDX-License-Identifier: Apache-2.0
// Kernel row of RoiAlign: averages of floats, by weighted gathers. A cell is the mean of its points, each of which is
// interpolated between four elements (reference/kernels/RegionPoints.hpp):
//     out[c][cell] = sum_k weight[k][cell] * image[c][offset[k][cell]]
// Offsets and weights, [points * 4][cells], are computed once for a region and serve all channels. If a cell has more
// points than MaxPoints, the sum is cut into several.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/InterpolateVectors.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/RegionPoints.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using ref::RegionAxis;
using ref::RegionPoint;

constexpr backends::TypeRow RoiAlignTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32}, DataType::Float32)};

/// The most points of a cell in one sum. A point has four taps.
constexpr size_t MaxPoints = 64;
constexpr size_t TapsOfPoint = 4;

struct RoiAlignRun
{
    RoiAlignDescriptor m_Descriptor;
    ref::IndexInput m_Images;
    TensorShape m_Input;
    TensorShape m_Output;
    const InterpolateFunctions* m_Functions = nullptr;
    size_t m_Tasks = 1;
    size_t m_TaskBytes = 0;
    size_t m_OffsetsAt = 0; ///< offset in the memory of a task
    size_t m_WeightsAt = 0;
    size_t m_SumsAt = 0;

    size_t CountCells() const { return size_t{m_Output[2]} * m_Output[3]; }
    size_t CountElements() const { return size_t{m_Input[2]} * m_Input[3]; }

    void operator()(const ExecuteArgs& run) const
    {
        for (size_t i = 0; i < m_Output[0]; ++i)
        {
            m_Images.Read(run, i, 0, m_Input[0]);
        }
        const size_t used = std::min<size_t>(m_Tasks, run.m_Parallel->GetNumThreads());
        RunTasks(*run.m_Parallel, used,
                 [&](size_t index)
                 {
                     auto* const memory = backends::Scratch::At<std::byte>(run.m_Scratch, index * m_TaskBytes);
                     const IndexRange task = GetTaskRange(m_Output[0], used, index);
                     for (size_t region = task.m_Begin; region < task.m_End; ++region)
                     {
                         PoolRegion(run, region, memory);
                     }
                 });
    }

    void PoolRegion(const ExecuteArgs& run, size_t region, std::byte* memory) const
    {
        const float* const corners = run.GetInput<float>(1) + region * 4;
        const auto corner = [&](size_t i) { return static_cast<double>(corners[i]); };
        const RegionAxis rows(corner(1), corner(3), m_Descriptor, m_Output[2], m_Input[2]);
        const RegionAxis columns(corner(0), corner(2), m_Descriptor, m_Output[3], m_Input[3]);
        const auto points = static_cast<size_t>(rows.m_Points) * static_cast<size_t>(columns.m_Points);
        auto* const offsets = backends::Scratch::At<int32_t>(memory, m_OffsetsAt);
        auto* const weights = backends::Scratch::At<float>(memory, m_WeightsAt);
        auto* const sums = backends::Scratch::At<float>(memory, m_SumsAt);
        const size_t cells = CountCells();
        const float* const in =
            run.GetInput<float>(0) + static_cast<size_t>(m_Images.ReadAny(run, region)) * m_Input[1] * CountElements();
        float* const out = run.GetOutput<float>(0) + region * m_Input[1] * cells;
        if (points == 0)
        {
            std::fill_n(out, m_Input[1] * cells, 0.0f);
        }
        for (size_t first = 0; first < points; first += MaxPoints)
        {
            const size_t count = std::min(MaxPoints, points - first);
            for (size_t cell = 0; cell < cells; ++cell)
            {
                for (size_t i = 0; i < count; ++i)
                {
                    const size_t at = i * TapsOfPoint * cells + cell;
                    FindTaps(rows, columns, cell, first + i, points, offsets + at, weights + at);
                }
            }
            const WeightedColumns taps{cells, count * TapsOfPoint, 1, offsets, weights};
            for (size_t channel = 0; channel < m_Input[1]; ++channel)
            {
                float* const to = out + channel * cells;
                m_Functions->m_CombineColumns(in + channel * CountElements(), taps, first == 0 ? to : sums);
                for (size_t cell = 0; cell < cells && first != 0; ++cell)
                {
                    to[cell] += sums[cell];
                }
            }
        }
    }

    /// Writes the four taps of point `index` of a cell, CountCells() entries apart.
    void FindTaps(const RegionAxis& rows, const RegionAxis& columns, size_t cell, size_t index, size_t points,
                  int32_t* offsets, float* weights) const
    {
        const auto inRow = static_cast<size_t>(columns.m_Points);
        const RegionPoint y(rows, static_cast<int64_t>(cell / m_Output[3]), static_cast<int64_t>(index / inRow));
        const RegionPoint x(columns, static_cast<int64_t>(cell % m_Output[3]), static_cast<int64_t>(index % inRow));
        const double share = y.m_IsOutside || x.m_IsOutside ? 0.0 : 1.0 / static_cast<double>(points);
        const std::pair<int64_t, double> ys[] = {{y.m_Low, y.m_LowWeight}, {y.m_High, y.m_HighWeight}};
        const std::pair<int64_t, double> xs[] = {{x.m_Low, x.m_LowWeight}, {x.m_High, x.m_HighWeight}};
        for (const auto& [row, rowWeight] : ys)
        {
            for (const auto& [column, columnWeight] : xs)
            {
                *offsets = static_cast<int32_t>(row * columns.m_Size + column);
                *weights = static_cast<float>(rowWeight * columnWeight * share);
                offsets += CountCells();
                weights += CountCells();
            }
        }
    }
};

Prepared RefineRoiAlign(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements() == 0)
    {
        return Prepared::Declined("it is empty");
    }
    if (uint64_t{input[2]} * input[3] > uint64_t{std::numeric_limits<int32_t>::max()})
    {
        return Prepared::Declined("an image has more than 2^31 elements");
    }
    RoiAlignRun run{args.GetDescriptor<RoiAlignDescriptor>(), ref::IndexInput(args, 2), input, output,
                    &GetInterpolateFunctions()};
    const uint32_t ratio = run.m_Descriptor.m_SamplingRatio;
    const size_t points = ratio == 0 ? MaxPoints : std::min(MaxPoints, size_t{ratio} * ratio);
    backends::Scratch scratch;
    run.m_OffsetsAt = scratch.Add<int32_t>(points, TapsOfPoint, run.CountCells());
    run.m_WeightsAt = scratch.Add<float>(points, TapsOfPoint, run.CountCells());
    run.m_SumsAt = scratch.Add<float>(run.CountCells());
    run.m_TaskBytes = scratch.GetBytes();
    run.m_Tasks = std::clamp<size_t>(output[0], 1, GetMaxTasks(args.m_MaxThreads));
    const size_t bytes = backends::CheckedCount(run.m_Tasks, run.m_TaskBytes);
    return Prepared(std::move(run), bytes);
}

SupportResult CheckRoiAlign(const LayerView& layer)
{
    return layer.GetDescriptor<RoiAlignDescriptor>().m_PoolType == PoolingAlgorithm::Average
               ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedParameters, "it has averages alone");
}

} // namespace

extern const backends::Kernel CpuRoiAlignKernel = {.m_Name = "CpuRoiAlign",
                                                   .m_Types = RoiAlignTypes,
                                                   .m_Check = CheckRoiAlign,
                                                   .m_Reference = &ref::RefRoiAlignKernel,
                                                   .m_Refine = RefineRoiAlign};

} // namespace tenon::cpu
