// SPDX-License-Identifier: Apache-2.0
// Shape inference of operations that move blocks between space, batch and channels.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Arrangement.hpp>

namespace tenon::infer
{

namespace
{

using Pairs = std::vector<std::pair<unsigned int, unsigned int>>;

// Checks the block and its edges against input 0; the result is the number of elements of a block.
int64_t CheckBlocks(const InferContext& context, const std::vector<unsigned int>& block, const Pairs& edges,
                    unsigned int firstSpatial)
{
    context.Check(!block.empty() && edges.size() == block.size(),
                  "a block of {} dimensions with {} pairs of paddings or crops: both must have as many, at least one",
                  block.size(), edges.size());
    context.Check(context.InputShape(0).GetNumDimensions() >= firstSpatial + block.size(),
                  "a block of {} dimensions does not fit input 0 of shape {}", block.size(), context.InputShape(0));
    int64_t elements = 1;
    for (unsigned int size : block)
    {
        context.Check(size != 0, "the block is 0 in one dimension, but it must be at least 1");
        elements = Multiply(context, elements, size);
    }
    return elements;
}

// Where the dimensions of the block start.
unsigned int FirstSpatial(const InferContext& context, DataLayout layout)
{
    switch (layout)
    {
    case DataLayout::NHWC:
    case DataLayout::NDHWC: return 1;
    case DataLayout::NCHW:
    case DataLayout::NCDHW: return 2;
    }
    context.Fail("the data layout is none that there is");
}

// SpaceToBatchNd and BatchToSpaceNd with run-time parameters: the same two inputs, other field names.
template <typename D>
const D& ResolveBlocks(InferContext& context, Pairs D::*edges)
{
    if (context.Descriptor<D>().m_ParametersAsInputs)
    {
        auto block = ValuesAsSizes(context, 1);
        auto pairs = ValuesAsPairs(context, 2);
        D& edited = context.Edit<D>();
        edited.m_BlockShape = std::move(block);
        edited.*edges = std::move(pairs);
        edited.m_ParametersAsInputs = false;
    }
    return context.Descriptor<D>();
}

} // namespace

void InferBatchToSpaceNd(InferContext& context)
{
    const auto& descriptor = ResolveBlocks(context, &BatchToSpaceNdDescriptor::m_Crops);
    const unsigned int first = FirstSpatial(context, descriptor.m_DataLayout);
    const int64_t elements = CheckBlocks(context, descriptor.m_BlockShape, descriptor.m_Crops, first);
    TensorShape output = context.InputShape(0);
    context.Check(output[0] % elements == 0, "the batch of input 0 of shape {} is no multiple of the block of {}",
                  output, elements);
    output.SetDimensionSize(0, static_cast<unsigned int>(output[0] / elements));
    for (unsigned int i = 0; i < descriptor.m_BlockShape.size(); ++i)
    {
        const auto [before, after] = descriptor.m_Crops[i];
        const int64_t uncropped = Multiply(context, output[first + i], descriptor.m_BlockShape[i]);
        context.Check(int64_t{before} + after <= uncropped,
                      "crops {} and {} of dimension {} are more than its {} elements", before, after, first + i,
                      uncropped);
        output.SetDimensionSize(first + i, ToSize(context, uncropped - before - after));
    }
    context.SetOutputShape(0, output);
}

void InferChannelShuffle(InferContext& context)
{
    const auto& descriptor = context.Descriptor<ChannelShuffleDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int axis = context.CanonicalAxis(descriptor.m_Axis, input.GetNumDimensions());
    context.Check(descriptor.m_NumGroups != 0 && input[axis] % descriptor.m_NumGroups == 0,
                  "dimension {} of input 0 of shape {} cannot be cut into {} groups", axis, input,
                  descriptor.m_NumGroups);
    context.SetOutputShape(0, input);
}

void InferDepthToSpace(InferContext& context)
{
    const auto& descriptor = context.Descriptor<DepthToSpaceDescriptor>();
    CheckRank(context, 0, 4);
    const ImageDims dims = GetImageDims(context, descriptor.m_DataLayout);
    const int64_t block = descriptor.m_BlockSize;
    TensorShape output = context.InputShape(0);
    context.Check(block != 0, "the block size is 0, but it must be at least 1");
    const int64_t elements = Multiply(context, block, block);
    context.Check(output[dims.m_Channels] % elements == 0,
                  "the channels of input 0 of shape {} are no multiple of the block of {} pixels", output, elements);
    output.SetDimensionSize(dims.m_Channels, static_cast<unsigned int>(output[dims.m_Channels] / elements));
    output.SetDimensionSize(dims.m_Height, ToSize(context, Multiply(context, output[dims.m_Height], block)));
    output.SetDimensionSize(dims.m_Width, ToSize(context, Multiply(context, output[dims.m_Width], block)));
    context.SetOutputShape(0, output);
}

void InferSpaceToBatchNd(InferContext& context)
{
    const auto& descriptor = ResolveBlocks(context, &SpaceToBatchNdDescriptor::m_PadList);
    const unsigned int first = FirstSpatial(context, descriptor.m_DataLayout);
    const int64_t elements = CheckBlocks(context, descriptor.m_BlockShape, descriptor.m_PadList, first);
    TensorShape output = context.InputShape(0);
    output.SetDimensionSize(0, ToSize(context, Multiply(context, output[0], elements)));
    for (unsigned int i = 0; i < descriptor.m_BlockShape.size(); ++i)
    {
        const auto [before, after] = descriptor.m_PadList[i];
        const int64_t padded = int64_t{before} + output[first + i] + after;
        context.Check(padded % descriptor.m_BlockShape[i] == 0,
                      "dimension {} has {} elements with its paddings, which is no multiple of the block of {}",
                      first + i, padded, descriptor.m_BlockShape[i]);
        output.SetDimensionSize(first + i, ToSize(context, padded / descriptor.m_BlockShape[i]));
    }
    context.SetOutputShape(0, output);
}

void InferSpaceToDepth(InferContext& context)
{
    const auto& descriptor = context.Descriptor<SpaceToDepthDescriptor>();
    CheckRank(context, 0, 4);
    const ImageDims dims = GetImageDims(context, descriptor.m_DataLayout);
    const unsigned int block = descriptor.m_BlockSize;
    TensorShape output = context.InputShape(0);
    context.Check(block != 0 && output[dims.m_Height] % block == 0 && output[dims.m_Width] % block == 0,
                  "height and width of input 0 of shape {} must be multiples of the block size of {}, which must be at "
                  "least 1",
                  output, block);
    const int64_t elements = Multiply(context, block, block);
    output.SetDimensionSize(dims.m_Channels, ToSize(context, Multiply(context, output[dims.m_Channels], elements)));
    output.SetDimensionSize(dims.m_Height, output[dims.m_Height] / block);
    output.SetDimensionSize(dims.m_Width, output[dims.m_Width] / block);
    context.SetOutputShape(0, output);
}

} // namespace tenon::infer
