// SPDX-License-Identifier: Apache-2.0
// Gather: slices of the data along an axis, by index. Each batch has indices of its own if there are batch dimensions.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Indexing.hpp>

#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow GatherTypes[] = {backends::SameType(backends::AnyType)};

/// The data as [batch, outer, axis, inner], the indices as [batch, count].
struct GatherPlan
{
    size_t m_Batch = 1;
    size_t m_Outer = 1;
    size_t m_Axis = 1;
    size_t m_Count = 1;
    size_t m_InnerBytes = 1;
    bool m_FromEnd = false; ///< negative indices count from the end
    IndexInput m_Indices;

    void operator()(const ExecuteArgs& args, const std::byte* data, std::byte* output) const
    {
        for (size_t batch = 0; batch < m_Batch; ++batch)
        {
            for (size_t outer = 0; outer < m_Outer; ++outer, data += m_Axis * m_InnerBytes)
            {
                for (size_t i = 0; i < m_Count; ++i, output += m_InnerBytes)
                {
                    const int64_t index =
                        m_Indices.ReadChecked(args, batch * m_Count + i, static_cast<int64_t>(m_Axis), m_FromEnd);
                    CopyBlock(output, data + static_cast<size_t>(index) * m_InnerBytes, m_InnerBytes);
                }
            }
        }
    }
};

backends::Prepared PrepareGather(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorShape& data = input.GetShape();
    const TensorShape& indices = args.GetInput(1).GetShape();
    const auto& descriptor = args.GetDescriptor<GatherDescriptor>();
    const auto rank = static_cast<int>(data.GetNumDimensions());
    const auto indexRank = static_cast<int>(indices.GetNumDimensions());
    const int axis = descriptor.m_Axis < 0 ? descriptor.m_Axis + rank : descriptor.m_Axis;
    const int batchDims = descriptor.m_BatchDims < 0 ? descriptor.m_BatchDims + indexRank : descriptor.m_BatchDims;
    bool fits = axis >= 0 && axis < rank && batchDims >= 0 && batchDims <= indexRank && batchDims <= axis;
    for (int i = 0; fits && i < batchDims; ++i)
    {
        fits = data[static_cast<unsigned int>(i)] == indices[static_cast<unsigned int>(i)];
    }
    if (!fits)
    {
        throw LayerValidationException("Gather along axis " + std::to_string(descriptor.m_Axis) + " of " +
                                       data.ToString() + " by indices " + indices.ToString() + " with " +
                                       std::to_string(descriptor.m_BatchDims) +
                                       " batch dimensions: the axis must exist and the batch dimensions, in front of "
                                       "it, be equal");
    }
    const auto axisDim = static_cast<unsigned int>(axis);
    const auto batchDim = static_cast<unsigned int>(batchDims);
    std::vector<unsigned int> sizes;
    AppendSizes(sizes, data, 0, axisDim);
    AppendSizes(sizes, indices, batchDim, indices.GetNumDimensions());
    AppendSizes(sizes, data, axisDim + 1, data.GetNumDimensions());
    CheckOutputShape(args, "Gather", sizes);
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const GatherPlan plan{CountElements(data, 0, batchDim),
                          CountElements(data, batchDim, axisDim),
                          data[axisDim],
                          CountElements(indices, batchDim, indices.GetNumDimensions()),
                          CountElements(data, axisDim + 1, data.GetNumDimensions()) *
                              GetMovedBytes(input.GetDataType()),
                          descriptor.m_NegativeIndices,
                          IndexInput(args, 1)};
    return PrepareIndexedMove(input, args.GetOutput(0), plan);
}

SupportResult CheckGather(const LayerView& layer)
{
    return CheckIndexType(layer, 1);
}

} // namespace

extern const backends::Kernel RefGatherKernel = {"RefGather", GatherTypes, PrepareGather, CheckGather};

} // namespace tenon::ref
