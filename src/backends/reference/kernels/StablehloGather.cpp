// SPDX-License-Identifier: Apache-2.0
// StablehloGather: slices of a tensor at the starts that index vectors give. Shape inference has checked the
// dimensions. A start that is out of range is clamped to the nearest valid one, so that no index is an error.
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/IndexWalk.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::TypeSet;

constexpr TypeSet IndexTypes = {DataType::Signed32, DataType::Signed64};

constexpr auto GatherTypes = []
{
    std::array<backends::TypeRow, 19> rows{};
    size_t count = 0;
    for (unsigned int type = 0; type < 32; ++type)
    {
        if (backends::WholeByteType.Has(static_cast<DataType>(type)))
        {
            rows[count++] =
                backends::Types({TypeSet(static_cast<DataType>(type)), IndexTypes}, static_cast<DataType>(type));
        }
    }
    return rows;
}();

bool Contains(const std::vector<uint32_t>& dimensions, uint32_t dimension)
{
    return std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end();
}

/// One entry of an index vector.
struct Start
{
    int64_t m_Largest = 0; ///< largest start, so that the slice ends inside
    int64_t m_Step = 0;    ///< bytes from one index to the next
};

struct GatherPlan
{
    IndexWalk<2> m_Batch; ///< over index vectors; offsets: index vector (elements), output (bytes)
    IndexWalk<2> m_Slice; ///< within a slice; offsets: input, output (bytes)
    std::vector<Start> m_Starts;
    int64_t m_EntryStep = 1; ///< elements from one entry of an index vector to the next
    size_t m_RunBytes = 0;   ///< bytes copied at a time
};

GatherPlan MakePlan(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<StablehloGatherDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& indices = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const Extents inputStrides = GetStrides(input);
    const Extents indexStrides = GetStrides(indices);
    const Extents outputStrides = GetStrides(output);
    const auto bytes = static_cast<int64_t>(GetMovedBytes(args.GetInput(0).GetDataType()));

    GatherPlan plan;
    plan.m_RunBytes = static_cast<size_t>(bytes);
    unsigned int batchDim = 0; // dimension of the indices
    unsigned int sliceDim = 0; // dimension of the input
    for (unsigned int i = 0; i < output.GetNumDimensions(); ++i)
    {
        if (!Contains(descriptor.m_OffsetDims, i))
        {
            batchDim += batchDim == descriptor.m_IndexVectorDim ? 1 : 0;
            plan.m_Batch.Add(output[i], {indexStrides[batchDim++], outputStrides[i] * bytes});
            continue;
        }
        while (Contains(descriptor.m_CollapsedSliceDims, sliceDim))
        {
            ++sliceDim;
        }
        const bool isRun = i + 1 == output.GetNumDimensions() && inputStrides[sliceDim] == 1;
        if (isRun)
        {
            plan.m_RunBytes *= output[i];
        }
        else
        {
            plan.m_Slice.Add(output[i], {inputStrides[sliceDim] * bytes, outputStrides[i] * bytes});
        }
        ++sliceDim;
    }
    for (const uint32_t dimension : descriptor.m_StartIndexMap)
    {
        plan.m_Starts.push_back(
            {int64_t{input[dimension]} - int64_t{descriptor.m_SliceSizes[dimension]}, inputStrides[dimension] * bytes});
    }
    if (descriptor.m_IndexVectorDim < indices.GetNumDimensions())
    {
        plan.m_EntryStep = indexStrides[descriptor.m_IndexVectorDim];
    }
    return plan;
}

template <typename Index>
backends::Prepared MakeGather(GatherPlan plan)
{
    return [plan = std::move(plan)](const ExecuteArgs& run)
    {
        const auto* in = run.GetInput<std::byte>(0);
        const Index* indices = run.GetInput<Index>(1);
        auto* out = run.GetOutput<std::byte>(0);
        plan.m_Batch.Run({},
                         [&](const auto&, const auto& batch)
                         {
                             int64_t from = 0;
                             int64_t entry = batch[0];
                             for (const Start& start : plan.m_Starts)
                             {
                                 from += std::clamp<int64_t>(indices[entry], 0, start.m_Largest) * start.m_Step;
                                 entry += plan.m_EntryStep;
                             }
                             plan.m_Slice.Run({from, batch[1]}, [&](const auto&, const auto& at)
                                              { std::memcpy(out + at[1], in + at[0], plan.m_RunBytes); });
                         });
    };
}

backends::Prepared PrepareStablehloGather(const ReshapeArgs& args, const backends::PackedWeights*)
{
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    return DispatchType<int32_t, int64_t>(args.GetInput(1).GetDataType(), [&](auto tag)
                                          { return MakeGather<typename decltype(tag)::Type>(MakePlan(args)); });
}

} // namespace

extern const backends::Kernel RefStablehloGatherKernel = {"RefStablehloGather", GatherTypes, PrepareStablehloGather};

} // namespace tenon::ref
