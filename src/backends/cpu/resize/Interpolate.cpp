// SPDX-License-Identifier: Apache-2.0
// Kernel row of Interpolate: floats, and the nearest element of any type. Interpolation is separable. Along one
// dimension
//     out[i] = sum_k weight[k][i] * in[offset[k][i]]
// with 1, 2 or 4 taps k, more if antialiasing widens the filter (reference/kernels/InterpolationTaps.hpp). Neighbouring
// dimensions that are not resized are merged. The others are resized one after the other, or two neighbours, as those
// of an image are, in one step: each input row is resized along columns once, then output rows are weighted sums of
// such rows. The step that grows least comes first.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/InterpolateVectors.hpp"
#include "backends/cpu/resize/ResizedImage.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/InterpolationTaps.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using ref::InterpolationTaps;

constexpr backends::TypeRow InterpolateTypes[] = {backends::SameType(backends::WholeByteType)};

/// The dimensions of a tensor, where neighbours that are not resized are merged. There is always one or more.
std::vector<InterpolationTaps> MergeIdentities(std::vector<InterpolationTaps> dimensions)
{
    std::vector<InterpolationTaps> merged;
    for (InterpolationTaps& dimension : dimensions)
    {
        if (dimension.m_IsIdentity && !merged.empty() && merged.back().m_IsIdentity)
        {
            merged.back().m_Input *= dimension.m_Input;
            merged.back().m_Output *= dimension.m_Output;
        }
        else
        {
            merged.push_back(std::move(dimension));
        }
    }
    if (merged.empty())
    {
        merged.emplace_back();
    }
    return merged;
}

/// The input index of each element of a dimension that has one tap.
std::vector<size_t> GetSourceIndices(const InterpolationTaps& dimension)
{
    std::vector<size_t> indices(dimension.m_Index.begin(), dimension.m_Index.end());
    for (size_t i = indices.size(); i < dimension.m_Output; ++i)
    {
        indices.push_back(i);
    }
    return indices;
}

Prepared MakeNearest(const std::vector<InterpolationTaps>& dimensions, size_t elementBytes)
{
    // [images, rows, columns, channels]; the last dimension counts as channels if it is not resized.
    size_t left = dimensions.size();
    const auto take = [&] { return left == 0 ? InterpolationTaps() : dimensions[--left]; };
    const InterpolationTaps channels = dimensions.back().m_IsIdentity ? take() : InterpolationTaps();
    const InterpolationTaps columns = take();
    const InterpolationTaps rows = take();
    std::vector<size_t> images = {0};
    bool isMoved = false;
    for (size_t i = 0; i < left; ++i)
    {
        std::vector<size_t> further;
        const std::vector<size_t> indices = GetSourceIndices(dimensions[i]);
        for (size_t image : images)
        {
            for (size_t place : indices)
            {
                further.push_back(image * dimensions[i].m_Input + place);
            }
        }
        images = std::move(further);
        isMoved = isMoved || !dimensions[i].m_IsIdentity;
    }
    const auto axis = [](const InterpolationTaps& taps) -> ref::ResizeAxis {
        return {static_cast<int64_t>(taps.m_Input), static_cast<int64_t>(taps.m_Output)};
    };
    const ResizedImage image{images.size(), axis(rows), axis(columns), channels.m_Output, elementBytes};
    return MakeResizeNearest(image, GetSourceIndices(rows), GetSourceIndices(columns),
                             isMoved ? std::move(images) : std::vector<size_t>());
}

/// [m_Outer, input rows, input columns, channels] becomes [m_Outer, output rows, output columns, channels].
struct Step
{
    size_t m_Outer = 1;
    InterpolationTaps m_Rows;
    size_t m_InputColumns = 1;
    std::vector<int32_t> m_Offsets; ///< offsets of WeightedColumns
    std::vector<float> m_ColumnWeights;
    std::vector<float> m_RowWeights; ///< m_Rows.m_Taps for each output row
    WeightedColumns m_Columns;       ///< m_Taps is 0 if columns are not resized

    Step(size_t outer, InterpolationTaps rows, const InterpolationTaps& columns, size_t channels)
        : m_Outer(outer), m_Rows(std::move(rows)), m_InputColumns(columns.m_Input),
          m_RowWeights(m_Rows.m_Weight.begin(), m_Rows.m_Weight.end()), m_Columns{columns.m_Output,
                                                                                  columns.m_IsIdentity ? 0
                                                                                                       : columns.m_Taps,
                                                                                  channels}
    {
        for (size_t k = 0; k < m_Columns.m_Taps; ++k)
        {
            for (size_t i = 0; i < columns.m_Output; ++i)
            {
                m_Offsets.push_back(static_cast<int32_t>(columns.m_Index[i * columns.m_Taps + k] * channels));
                m_ColumnWeights.push_back(static_cast<float>(columns.m_Weight[i * columns.m_Taps + k]));
            }
        }
        m_Columns.m_Offset = m_Offsets.data();
        m_Columns.m_Weight = m_ColumnWeights.data();
    }
    Step(const Step&) = delete; // m_Columns points into other members
    Step& operator=(const Step&) = delete;
    Step(Step&&) = default;
    Step& operator=(Step&&) = default;
    ~Step() = default;

    size_t InputRow() const { return m_InputColumns * m_Columns.m_Channels; }
    size_t OutputRow() const { return m_Columns.m_Count * m_Columns.m_Channels; }
    size_t NumRows() const { return m_Outer * m_Rows.m_Output; }
};

/// A cache of input rows resized along columns: the last ones, as many as an output row has taps.
class MadeRows
{
public:
    MadeRows(const Step& step, const InterpolateFunctions& functions, const float* in, float* memory,
             const float** made)
        : m_Step(step), m_Functions(functions), m_In(in), m_Memory(memory), m_Made(made)
    {
        std::fill_n(m_Made, step.m_Rows.m_Taps, nullptr);
    }

    /// Row y of an image. The rows of one output row are neighbours.
    const float* Get(size_t image, size_t y)
    {
        const float* const from = m_In + (image * m_Step.m_Rows.m_Input + y) * m_Step.InputRow();
        if (m_Step.m_Columns.m_Taps == 0)
        {
            return from;
        }
        const size_t place = y % m_Step.m_Rows.m_Taps;
        float* const row = m_Memory + place * m_Step.OutputRow();
        if (std::exchange(m_Made[place], from) != from)
        {
            m_Functions.m_CombineColumns(from, m_Step.m_Columns, row);
        }
        return row;
    }

private:
    const Step& m_Step;
    const InterpolateFunctions& m_Functions;
    const float* m_In;
    float* m_Memory;
    const float** m_Made;
};

/// A step, and the scratch memory of each of its tasks.
struct PlannedStep
{
    Step m_Step;
    size_t m_Tasks = 1;
    size_t m_TaskBytes = 0;
    size_t m_RowsAt = 0; ///< offset in the memory of a task
    size_t m_MadeAt = 0;
    size_t m_PointersAt = 0;
    size_t m_WeightsAt = 0;

    PlannedStep(Step step, unsigned int maxThreads) : m_Step(std::move(step))
    {
        const size_t taps = m_Step.m_Rows.m_Taps + (m_Step.m_Columns.m_Taps == 0 ? 0 : m_Step.m_Columns.m_Taps);
        const size_t rowCost = m_Step.OutputRow() * taps * 4; // the cost of the arithmetic in bytes moved
        m_Tasks = std::clamp<size_t>(m_Step.NumRows() / GetGrain(rowCost), 1, GetMaxTasks(maxThreads));
        backends::Scratch scratch;
        m_RowsAt = m_Step.m_Columns.m_Taps == 0 ? 0 : scratch.Add<float>(m_Step.m_Rows.m_Taps, m_Step.OutputRow());
        m_MadeAt = scratch.Add<const float*>(m_Step.m_Rows.m_Taps);
        m_PointersAt = scratch.Add<const void*>(m_Step.m_Rows.m_Taps);
        m_WeightsAt = scratch.Add<float>(m_Step.m_Rows.m_Taps);
        m_TaskBytes = scratch.GetBytes();
    }

    void Run(IParallelFor& parallel, const InterpolateFunctions& functions, const float* in, float* out,
             std::byte* memory) const
    {
        const size_t used = std::min<size_t>(m_Tasks, parallel.GetNumThreads());
        RunTasks(parallel, used,
                 [&](size_t index) {
                     RunTask(functions, in, out, GetTaskRange(m_Step.NumRows(), used, index),
                             memory + index * m_TaskBytes);
                 });
    }

private:
    void RunTask(const InterpolateFunctions& functions, const float* in, float* out, const IndexRange& task,
                 std::byte* memory) const
    {
        using backends::Scratch;
        const InterpolationTaps& rows = m_Step.m_Rows;
        MadeRows made(m_Step, functions, in, Scratch::At<float>(memory, m_RowsAt),
                      Scratch::At<const float*>(memory, m_MadeAt));
        auto* const pointers = Scratch::At<const void*>(memory, m_PointersAt);
        auto* const weights = Scratch::At<float>(memory, m_WeightsAt);
        const size_t elements = m_Step.OutputRow();
        for (size_t i = task.m_Begin; i < task.m_End; ++i)
        {
            const size_t image = i / rows.m_Output;
            const size_t y = i % rows.m_Output;
            if (rows.m_IsIdentity)
            {
                functions.m_CombineColumns(in + i * m_Step.InputRow(), m_Step.m_Columns, out + i * elements);
                continue;
            }
            size_t taps = 0; // taps of nonzero weight
            for (size_t k = y * rows.m_Taps; k < (y + 1) * rows.m_Taps; ++k)
            {
                if (m_Step.m_RowWeights[k] != 0.0f)
                {
                    pointers[taps] = made.Get(image, rows.m_Index[k]);
                    weights[taps++] = m_Step.m_RowWeights[k];
                }
            }
            functions.m_CombineRows(pointers, weights, taps, elements, out + i * elements);
        }
    }
};

/// The steps that resize all dimensions that change.
std::vector<Step> MakeSteps(const std::vector<InterpolationTaps>& dimensions)
{
    struct Pair
    {
        size_t m_First; ///< the first dimension
        size_t m_Count; ///< 1 or 2 dimensions
        double m_Growth;
    };
    std::vector<Pair> pairs; // sorted by growth, the smallest first
    const auto growth = [&](size_t i)
    { return static_cast<double>(dimensions[i].m_Output) / static_cast<double>(dimensions[i].m_Input); };
    for (size_t i = dimensions.size(); i-- > 0;)
    {
        if (!dimensions[i].m_IsIdentity)
        {
            const bool isPair = i > 0 && !dimensions[i - 1].m_IsIdentity;
            const Pair pair = isPair ? Pair{i - 1, 2, growth(i) * growth(i - 1)} : Pair{i, 1, growth(i)};
            const auto isLess = [](const Pair& a, const Pair& b) { return a.m_Growth < b.m_Growth; };
            pairs.insert(std::upper_bound(pairs.begin(), pairs.end(), pair, isLess), pair);
            i -= isPair ? 1 : 0;
        }
    }
    std::vector<size_t> sizes;
    for (const InterpolationTaps& dimension : dimensions)
    {
        sizes.push_back(dimension.m_Input);
    }
    const auto product = [&](size_t first, size_t last)
    {
        size_t elements = 1;
        for (size_t i = first; i < last; ++i)
        {
            elements *= sizes[i];
        }
        return elements;
    };
    std::vector<Step> steps;
    for (const Pair& pair : pairs)
    {
        const size_t outer = product(0, pair.m_First);
        const size_t inner = product(pair.m_First + pair.m_Count, sizes.size());
        InterpolationTaps unchanged;
        if (pair.m_Count == 2)
        {
            steps.emplace_back(outer, dimensions[pair.m_First], dimensions[pair.m_First + 1], inner);
        }
        else if (inner == 1)
        {
            steps.emplace_back(outer, unchanged, dimensions[pair.m_First], 1);
        }
        else
        {
            steps.emplace_back(outer, dimensions[pair.m_First], unchanged, inner);
        }
        for (size_t i = pair.m_First; i < pair.m_First + pair.m_Count; ++i)
        {
            sizes[i] = dimensions[i].m_Output;
        }
    }
    return steps;
}

Prepared MakeWeightedSteps(const std::vector<InterpolationTaps>& dimensions, unsigned int maxThreads)
{
    struct Plan
    {
        std::vector<PlannedStep> m_Steps;
        std::vector<size_t> m_Between; ///< offsets in scratch memory: the results of all steps but the last
        size_t m_TasksAt = 0;
    };
    const auto plan = std::make_shared<Plan>();
    backends::Scratch scratch;
    size_t maxBytes = 0;
    std::vector<Step> steps = MakeSteps(dimensions);
    for (size_t i = 0; i < steps.size(); ++i)
    {
        if (i + 1 < steps.size())
        {
            plan->m_Between.push_back(scratch.Add<float>(steps[i].NumRows(), steps[i].OutputRow()));
        }
        plan->m_Steps.emplace_back(std::move(steps[i]), maxThreads);
        maxBytes = std::max(maxBytes, backends::CheckedCount(plan->m_Steps[i].m_Tasks, plan->m_Steps[i].m_TaskBytes));
    }
    plan->m_TasksAt = scratch.Add<std::byte>(maxBytes);
    return {[plan = std::shared_ptr<const Plan>(plan), &functions = GetInterpolateFunctions()](const ExecuteArgs& run)
            {
                const float* in = run.GetInput<float>(0);
                for (size_t i = 0; i < plan->m_Steps.size(); ++i)
                {
                    float* const out = i < plan->m_Between.size()
                                           ? backends::Scratch::At<float>(run.m_Scratch, plan->m_Between[i])
                                           : run.GetOutput<float>(0);
                    plan->m_Steps[i].Run(*run.m_Parallel, functions, in, out,
                                         backends::Scratch::At<std::byte>(run.m_Scratch, plan->m_TasksAt));
                    in = out;
                }
            },
            scratch.GetBytes()};
}

Prepared RefineInterpolate(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<InterpolateDescriptor>();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements() == 0)
    {
        return Prepared::Declined("it is empty");
    }
    const std::vector<InterpolationTaps> dimensions =
        MergeIdentities(ref::FindInterpolationTaps(descriptor, args.GetInput(0).GetShape(), output));
    bool hasOutside = false;
    bool isIdentity = true;
    for (const InterpolationTaps& dimension : dimensions)
    {
        hasOutside = hasOutside || std::ranges::count(dimension.m_IsOutside, 1) != 0;
        isIdentity = isIdentity && dimension.m_IsIdentity;
    }
    if (hasOutside)
    {
        return Prepared::Declined("parts of the output are extrapolated");
    }
    // Offsets in rows are 32-bit numbers.
    const auto isTooMuch = [](const TensorShape& shape)
    { return shape.GetNumElements64() > uint64_t{std::numeric_limits<int32_t>::max()}; };
    if (isTooMuch(output) || isTooMuch(args.GetInput(0).GetShape()))
    {
        return Prepared::Declined("a tensor has more than 2^31 elements");
    }
    if (descriptor.m_Mode == InterpolationMode::Nearest || isIdentity)
    {
        return MakeNearest(dimensions, GetDataTypeSize(args.GetInput(0).GetDataType()));
    }
    return MakeWeightedSteps(dimensions, args.m_MaxThreads);
}

SupportResult CheckInterpolate(const LayerView& layer)
{
    if (layer.GetDescriptor<InterpolateDescriptor>().m_Mode != InterpolationMode::Nearest &&
        layer.GetInput(0).GetDataType() != DataType::Float32)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 "it has no arithmetic but that of Float32; the nearest element may have any type");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel CpuInterpolateKernel = {.m_Name = "CpuInterpolate",
                                                      .m_Types = InterpolateTypes,
                                                      .m_Check = CheckInterpolate,
                                                      .m_Reference = &ref::RefInterpolateKernel,
                                                      .m_Refine = RefineInterpolate};

} // namespace tenon::cpu
