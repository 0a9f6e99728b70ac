// SPDX-License-Identifier: Apache-2.0
// GatherNd: slices of the data, each by a tuple of indices into its first dimensions.
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

constexpr backends::TypeRow GatherNdTypes[] = {backends::SameType(backends::AnyType)};

struct GatherNdPlan
{
    IndexTuples m_Tuples;
    size_t m_SliceBytes = 0;
    size_t m_ElementBytes = 0;

    void operator()(const ExecuteArgs& args, const std::byte* data, std::byte* output) const
    {
        for (size_t i = 0; i < m_Tuples.GetCount(); ++i, output += m_SliceBytes)
        {
            CopyBlock(output, data + m_Tuples.GetOffset(args, i) * m_ElementBytes, m_SliceBytes);
        }
    }
};

backends::Prepared PrepareGatherNd(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorShape& data = input.GetShape();
    const auto& descriptor = args.GetDescriptor<GatherNdDescriptor>();
    const IndexTuples tuples(args, 1, data, descriptor.m_NegativeIndices, descriptor.m_BatchDims);
    CheckOutputShape(args, "GatherNd", tuples.GetSlicesShape());
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t elementBytes = GetMovedBytes(input.GetDataType());
    return PrepareIndexedMove(input, args.GetOutput(0),
                              GatherNdPlan{tuples, tuples.GetSliceElements() * elementBytes, elementBytes});
}

SupportResult CheckGatherNd(const LayerView& layer)
{
    return CheckIndexType(layer, 1);
}

} // namespace

extern const backends::Kernel RefGatherNdKernel = {"RefGatherNd", GatherNdTypes, PrepareGatherNd, CheckGatherNd};

} // namespace tenon::ref
