// SPDX-License-Identifier: Apache-2.0
// Kernel row of GridSample of floats, by weighted gathers. The taps of a point p are the elements around it, 1, 2 or 4
// in each dimension (reference/kernels/GridPoint.hpp):
//     out[c][p] = sum_k weight[k][p] * image[c][offset[k][p]]
// Offsets and weights, [taps][points], are computed once for a block of points and serve all channels.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/InterpolateVectors.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/GridPoint.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow GridSampleTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32}, DataType::Float32)};

constexpr size_t BlockPoints = 128;

struct GridSampleRun
{
    size_t m_Batches = 0;
    size_t m_Channels = 0;
    size_t m_InputPlane = 0; ///< elements
    size_t m_OutputPlane = 0;
    ref::Extents m_Strides{}; ///< strides of the images' spatial dimensions
    std::vector<ref::GridAxis> m_Axes;
    bool m_IsPlane = false; ///< images of two dimensions, not Cubic: m_Points is complete
    GridPoints m_Points;
    size_t m_Taps = 1; ///< taps of a point
    size_t m_Tasks = 1;
    size_t m_TaskBytes = 0;
    size_t m_OffsetsAt = 0; ///< offset in the memory of a task
    size_t m_WeightsAt = 0;
    const InterpolateFunctions* m_Functions = nullptr;

    size_t CountBlocks() const { return DivideUp(m_OutputPlane, BlockPoints); }

    void operator()(const ExecuteArgs& run) const
    {
        const size_t used = std::min<size_t>(m_Tasks, run.m_Parallel->GetNumThreads());
        RunTasks(*run.m_Parallel, used,
                 [&](size_t index)
                 {
                     auto* const memory = backends::Scratch::At<std::byte>(run.m_Scratch, index * m_TaskBytes);
                     const IndexRange task = GetTaskRange(m_Batches * CountBlocks(), used, index);
                     for (size_t block = task.m_Begin; block < task.m_End; ++block)
                     {
                         SampleBlock(run, block / CountBlocks(), block % CountBlocks() * BlockPoints, memory);
                     }
                 });
    }

    /// Samples the block of points of a batch that begins at `first`.
    void SampleBlock(const ExecuteArgs& run, size_t batch, size_t first, std::byte* memory) const
    {
        const size_t count = std::min(BlockPoints, m_OutputPlane - first);
        auto* const offsets = backends::Scratch::At<int32_t>(memory, m_OffsetsAt);
        auto* const weights = backends::Scratch::At<float>(memory, m_WeightsAt);
        const float* point = run.GetInput<float>(1) + (batch * m_OutputPlane + first) * m_Axes.size();
        if (m_IsPlane)
        {
            m_Functions->m_FindGridTaps(m_Points, point, count, offsets, weights);
        }
        for (size_t i = 0; i < count && !m_IsPlane; ++i, point += m_Axes.size())
        {
            FindTaps(point, count, offsets + i, weights + i);
        }
        const WeightedColumns columns{count, m_Taps, 1, offsets, weights};
        for (size_t channel = 0; channel < m_Channels; ++channel)
        {
            const size_t plane = batch * m_Channels + channel;
            m_Functions->m_CombineColumns(run.GetInput<float>(0) + plane * m_InputPlane, columns,
                                          run.GetOutput<float>(0) + plane * m_OutputPlane + first);
        }
    }

    /// Writes all taps of a point, `step` entries apart.
    void FindTaps(const float* point, size_t step, int32_t* offsets, float* weights) const
    {
        std::array<int64_t, MaxTaps> offset{};
        std::array<double, MaxTaps> weight{1.0};
        size_t found = 1;
        for (size_t axis = 0; axis < m_Axes.size(); ++axis)
        {
            const ref::GridTaps taps = m_Axes[axis].Find(static_cast<double>(point[m_Axes.size() - 1 - axis]));
            for (size_t k = taps.m_Count; k-- > 0;) // backwards, as the first entries are still needed
            {
                const bool isInside = taps.m_Index[k] >= 0;
                for (size_t i = 0; i < found; ++i)
                {
                    offset[k * found + i] = offset[i] + (isInside ? taps.m_Index[k] * m_Strides[axis] : 0);
                    weight[k * found + i] = isInside ? weight[i] * taps.m_Weight[k] : 0.0;
                }
            }
            found *= taps.m_Count;
        }
        for (size_t i = 0; i < found; ++i)
        {
            offsets[i * step] = static_cast<int32_t>(offset[i]);
            weights[i * step] = static_cast<float>(weight[i]);
        }
    }

    static constexpr size_t MaxTaps = 64; ///< cubic interpolation of volumes: 4^3
};

GridDimension MakeDimension(unsigned int size, int64_t stride, const GridSampleDescriptor& descriptor)
{
    const auto elements = static_cast<float>(size);
    const float range = descriptor.m_AlignCorners ? elements - 1.0f : elements;
    GridDimension dimension = GridDimension::InPixels(size, static_cast<size_t>(stride));
    dimension.m_First = descriptor.m_AlignCorners ? 0.0f : -0.5f;
    dimension.m_Range = range;
    if (!descriptor.m_InPixels)
    {
        dimension.m_Scale = range / 2.0f;
        dimension.m_Shift = (elements - 1.0f) / 2.0f;
    }
    return dimension;
}

Prepared RefineGridSample(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<GridSampleDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    if (output.GetNumElements() == 0 || rank > 5)
    {
        return Prepared::Declined("it is empty, or has more than three spatial dimensions");
    }
    GridSampleRun run;
    run.m_Batches = input[0];
    run.m_Channels = input[1];
    run.m_InputPlane = ref::CountElements(input, 2, rank);
    run.m_OutputPlane = ref::CountElements(output, 2, rank);
    if (run.m_InputPlane > size_t{std::numeric_limits<int32_t>::max()})
    {
        return Prepared::Declined("an image has more than 2^31 elements");
    }
    const ref::Extents strides = ref::GetStrides(input);
    const size_t tapsOfAxis = descriptor.m_Mode == InterpolationMode::Nearest  ? 1
                              : descriptor.m_Mode == InterpolationMode::Linear ? 2
                                                                               : 4;
    for (unsigned int i = 2; i < rank; ++i)
    {
        run.m_Strides[i - 2] = strides[i];
        run.m_Axes.emplace_back(input[i], descriptor);
        run.m_Taps *= tapsOfAxis;
    }
    // An aligned dimension of one element has no range to reflect in.
    run.m_IsPlane = rank == 4 && descriptor.m_Mode != InterpolationMode::Cubic && std::min(input[2], input[3]) > 1 &&
                    std::max(input[2], input[3]) <= MaxGridSize;
    if (run.m_IsPlane)
    {
        run.m_Points = {MakeDimension(input[2], strides[2], descriptor),
                        MakeDimension(input[3], strides[3], descriptor), descriptor.m_Mode, descriptor.m_Padding};
    }
    backends::Scratch scratch;
    run.m_OffsetsAt = scratch.Add<int32_t>(run.m_Taps, BlockPoints);
    run.m_WeightsAt = scratch.Add<float>(run.m_Taps, BlockPoints);
    run.m_TaskBytes = scratch.GetBytes();
    const size_t pointCost = run.m_IsPlane ? 64 : 512; // cost in bytes moved
    const size_t blockCost = BlockPoints * (run.m_Channels * run.m_Taps * 8 + pointCost);
    run.m_Tasks =
        std::clamp<size_t>(run.m_Batches * run.CountBlocks() / GetGrain(blockCost), 1, GetMaxTasks(args.m_MaxThreads));
    run.m_Functions = &GetInterpolateFunctions();
    const size_t bytes = backends::CheckedCount(run.m_Tasks, run.m_TaskBytes);
    return Prepared(std::move(run), bytes);
}

} // namespace

extern const backends::Kernel CpuGridSampleKernel = {.m_Name = "CpuGridSample",
                                                     .m_Types = GridSampleTypes,
                                                     .m_Reference = &ref::RefGridSampleKernel,
                                                     .m_Refine = RefineGridSample};

} // namespace tenon::cpu
