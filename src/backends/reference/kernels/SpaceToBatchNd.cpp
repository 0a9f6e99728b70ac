// SPDX-License-Identifier: Apache-2.0
// SpaceToBatchNd and BatchToSpaceNd of tensors [batch, space..., rest...]. The batch of the blocked tensor is [position
// in the block, batch], with row-major positions. SpaceToBatchNd adds a border of zeros (of the zero point, for
// quantized tensors); BatchToSpaceNd crops a border.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/StoredElement.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Arrangement.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow BlockTypes[] = {backends::SameType(backends::AnyType)};

using Block = std::vector<unsigned int>;
using Edges = std::vector<std::pair<unsigned int, unsigned int>>;

/// One spatial dimension; steps in bytes.
struct Dimension
{
    size_t m_Block = 1;
    size_t m_Before = 0;    ///< padding or crop
    size_t m_Space = 0;     ///< size of the tensor that has the space
    size_t m_SpaceStep = 0; ///< step in that tensor
    size_t m_Blocks = 0;    ///< size of the tensor that has the blocks in its batch
    size_t m_BlocksStep = 0;
    size_t m_PlaceStep = 0; ///< step in that tensor's batch from one position of the block to the next
};

struct BlockPlan
{
    std::array<Dimension, MaxNumOfTensorDimensions> m_Dimensions{};
    unsigned int m_NumSpatial = 0;
    size_t m_Batch = 0; ///< batch of the tensor that has the space
    size_t m_SpaceBatchStep = 0;
    size_t m_BlocksBatchStep = 0;
    size_t m_NumPlaces = 1;
    size_t m_RestBytes = 0; ///< bytes of all dimensions after the spatial ones
    size_t m_ElementBytes = 0;

    /// The border has no elements in input 0: it is filled one slab at a time.
    void ToBatch(const std::byte* space, std::byte* blocks, const std::byte* zero) const
    {
        for (size_t place = 0; place < m_NumPlaces; ++place)
        {
            std::array<size_t, MaxNumOfTensorDimensions> offset{};
            size_t rest = place;
            for (unsigned int i = m_NumSpatial; i-- > 0;)
            {
                offset[i] = rest % m_Dimensions[i].m_Block;
                rest /= m_Dimensions[i].m_Block;
            }
            for (size_t batch = 0; batch < m_Batch; ++batch, blocks += m_BlocksBatchStep)
            {
                FillBlocks(0, offset.data(), space + batch * m_SpaceBatchStep, blocks, zero);
            }
        }
    }

    void ToSpace(const std::byte* blocks, std::byte* space) const
    {
        for (size_t batch = 0; batch < m_Batch; ++batch)
        {
            FillSpace(0, blocks + batch * m_BlocksBatchStep, space + batch * m_SpaceBatchStep);
        }
    }

private:
    void FillBlocks(unsigned int d, const size_t* offset, const std::byte* space, std::byte* blocks,
                    const std::byte* zero) const
    {
        if (d == m_NumSpatial)
        {
            CopyBlock(blocks, space, m_RestBytes);
            return;
        }
        const Dimension& dim = m_Dimensions[d];
        for (size_t i = 0; i < dim.m_Blocks; ++i, blocks += dim.m_BlocksStep)
        {
            const size_t padded = i * dim.m_Block + offset[d];
            if (padded < dim.m_Before || padded - dim.m_Before >= dim.m_Space)
            {
                FillElements(blocks, dim.m_BlocksStep, zero, m_ElementBytes);
                continue;
            }
            FillBlocks(d + 1, offset, space + (padded - dim.m_Before) * dim.m_SpaceStep, blocks, zero);
        }
    }

    void FillSpace(unsigned int d, const std::byte* blocks, std::byte* space) const
    {
        if (d == m_NumSpatial)
        {
            CopyBlock(space, blocks, m_RestBytes);
            return;
        }
        const Dimension& dim = m_Dimensions[d];
        for (size_t i = 0; i < dim.m_Space; ++i, space += dim.m_SpaceStep)
        {
            const size_t uncropped = i + dim.m_Before;
            FillSpace(d + 1,
                      blocks + uncropped / dim.m_Block * dim.m_BlocksStep + uncropped % dim.m_Block * dim.m_PlaceStep,
                      space);
        }
    }
};

/// Checks that the blocks cover the space together with its edges. Edges are paddings or crops.
void CheckShapes(const ReshapeArgs& args, const TensorShape& space, const TensorShape& blocks, const Block& block,
                 const Edges& edges, bool isPadding)
{
    const size_t rank = space.GetNumDimensions();
    bool fits = edges.size() == block.size() && rank > block.size() && blocks.GetNumDimensions() == rank;
    uint64_t places = 1;
    for (size_t i = 0; fits && i < block.size(); ++i)
    {
        const auto dim = static_cast<unsigned int>(i + 1);
        const uint64_t edge = uint64_t{edges[i].first} + edges[i].second;
        const uint64_t whole = uint64_t{block[i]} * blocks[dim];
        fits = block[i] != 0 && whole == space[dim] + edge;
        places = std::min(places * block[i], uint64_t{1} << 32); // no batch is that large
    }
    for (size_t i = block.size() + 1; fits && i < rank; ++i)
    {
        fits = space[static_cast<unsigned int>(i)] == blocks[static_cast<unsigned int>(i)];
    }
    if (!fits || places * space[0] != blocks[0])
    {
        throw LayerValidationException(
            std::string(isPadding ? "SpaceToBatchNd" : "BatchToSpaceNd") + " of " +
            args.GetInput(0).GetShape().ToString() + " to " + args.GetOutput(0).GetShape().ToString() + " with " +
            std::to_string(block.size()) + " block sizes and " + std::to_string(edges.size()) +
            " edges: space with its paddings or crops must be whole blocks, and the batch have all their places");
    }
}

BlockPlan MakePlan(const TensorInfo& space, const TensorInfo& blocks, const Block& block, const Edges& edges)
{
    const auto numSpatial = static_cast<unsigned int>(block.size());
    const size_t elementBytes = GetMovedBytes(space.GetDataType());
    const Extents spaceSteps = GetStrides(space.GetShape());
    const Extents blocksSteps = GetStrides(blocks.GetShape());
    BlockPlan plan;
    plan.m_NumSpatial = numSpatial;
    plan.m_Batch = space.GetShape()[0];
    plan.m_SpaceBatchStep = static_cast<size_t>(spaceSteps[0]) * elementBytes;
    plan.m_BlocksBatchStep = static_cast<size_t>(blocksSteps[0]) * elementBytes;
    plan.m_RestBytes =
        CountElements(space.GetShape(), numSpatial + 1, space.GetShape().GetNumDimensions()) * elementBytes;
    plan.m_ElementBytes = elementBytes;
    for (unsigned int i = numSpatial; i-- > 0;)
    {
        plan.m_Dimensions[i] = {block[i],
                                edges[i].first,
                                space.GetShape()[i + 1],
                                static_cast<size_t>(spaceSteps[i + 1]) * elementBytes,
                                blocks.GetShape()[i + 1],
                                static_cast<size_t>(blocksSteps[i + 1]) * elementBytes,
                                plan.m_NumPlaces * plan.m_Batch * plan.m_BlocksBatchStep};
        plan.m_NumPlaces *= block[i];
    }
    return plan;
}

backends::Prepared PrepareSpaceToBatch(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SpaceToBatchNdDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    CheckShapes(args, input.GetShape(), output.GetShape(), descriptor.m_BlockShape, descriptor.m_PadList, true);
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const BlockPlan plan = MakePlan(input, output, descriptor.m_BlockShape, descriptor.m_PadList);
    const float zero = output.HasPerAxisQuantization() ? 0.0f : static_cast<float>(output.GetQuantizationOffset());
    return PrepareMove(input, output,
                       [plan, zero = StoreValue(zero, output.GetDataType())](const std::byte* from, std::byte* to)
                       { plan.ToBatch(from, to, zero.data()); });
}

backends::Prepared PrepareBatchToSpace(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<BatchToSpaceNdDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    CheckShapes(args, output.GetShape(), input.GetShape(), descriptor.m_BlockShape, descriptor.m_Crops, false);
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const BlockPlan plan = MakePlan(output, input, descriptor.m_BlockShape, descriptor.m_Crops);
    return PrepareMove(input, output, [plan](const std::byte* from, std::byte* to) { plan.ToSpace(from, to); });
}

template <typename D>
SupportResult CheckLayout(const LayerView& layer)
{
    const DataLayout layout = layer.GetDescriptor<D>().m_DataLayout;
    if (layout != DataLayout::NHWC && layout != DataLayout::NDHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the data layout is not NHWC or NDHWC");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefSpaceToBatchNdKernel = {"RefSpaceToBatchNd", BlockTypes, PrepareSpaceToBatch,
                                                         CheckLayout<SpaceToBatchNdDescriptor>};
extern const backends::Kernel RefBatchToSpaceNdKernel = {"RefBatchToSpaceNd", BlockTypes, PrepareBatchToSpace,
                                                         CheckLayout<BatchToSpaceNdDescriptor>};

} // namespace tenon::ref
