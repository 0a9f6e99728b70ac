// SPDX-License-Identifier: Apache-2.0
// SpaceToDepth and DepthToSpace of NHWC images: the pixels of a block, row by row, become consecutive channels. With
// m_ChannelMajor, the values of one channel in a block become consecutive channels, as in PyTorch's PixelShuffle. Both
// are a transposition of six dimensions.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Arrangement.hpp>

#include <string>
#include <utility>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow BlockTypes[] = {backends::SameType(backends::AnyType)};

/// Checks the shapes: `image` has the larger space, `deep` has the blocks as channels.
void CheckShapes(const ReshapeArgs& args, const TensorShape& image, const TensorShape& deep, uint64_t block)
{
    if (image.GetNumDimensions() == 4 && deep.GetNumDimensions() == 4 && block != 0 && image[0] == deep[0] &&
        deep[1] * block == image[1] && deep[2] * block == image[2] &&
        (image[3] == 0 ? deep[3] == 0 : deep[3] % image[3] == 0 && deep[3] / image[3] == block * block))
    {
        return;
    }
    throw LayerValidationException("blocks of " + std::to_string(block) + " from " +
                                   args.GetInput(0).GetShape().ToString() + " to " +
                                   args.GetOutput(0).GetShape().ToString() +
                                   ": both must have rank 4, and height, width and channels fit the blocks");
}

backends::Prepared PrepareSpaceToDepth(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SpaceToDepthDescriptor>();
    const uint32_t block = descriptor.m_BlockSize;
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    CheckShapes(args, input.GetShape(), output.GetShape(), block);
    if (output.GetNumElements() == 0) // then strides may be out of any range
    {
        return [](const ExecuteArgs&) {};
    }
    const Extents in = GetExtents(input.GetShape());
    const Extents out = GetExtents(output.GetShape());
    const Extents strides = GetStrides(input.GetShape());
    if (descriptor.m_ChannelMajor)
    {
        // [batch, row of blocks, block in it, channel, row of the block, pixel in it]
        return PrepareMove(input, output,
                           BoxCopy(6, {in[0], out[1], out[2], in[3], block, block},
                                   {strides[0], strides[1] * block, strides[2] * block, 1, strides[1], strides[2]}, 0,
                                   GetMovedBytes(input.GetDataType())));
    }
    // [batch, row of blocks, block in it, row of the block, pixel in it, channel]
    return PrepareMove(input, output,
                       BoxCopy(6, {in[0], out[1], out[2], block, block, in[3]},
                               {strides[0], strides[1] * block, strides[2] * block, strides[1], strides[2], 1}, 0,
                               GetMovedBytes(input.GetDataType())));
}

backends::Prepared PrepareDepthToSpace(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<DepthToSpaceDescriptor>();
    const uint32_t block = descriptor.m_BlockSize;
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    CheckShapes(args, output.GetShape(), input.GetShape(), block);
    if (output.GetNumElements() == 0) // then strides may be out of any range
    {
        return [](const ExecuteArgs&) {};
    }
    const Extents in = GetExtents(input.GetShape());
    const int64_t channels = output.GetShape()[3];
    const Extents strides = GetStrides(input.GetShape());
    // Strides of a block's rows, of its pixels, and of channels.
    const int64_t row = descriptor.m_ChannelMajor ? block : channels * block;
    const int64_t pixel = descriptor.m_ChannelMajor ? 1 : channels;
    const int64_t channel = descriptor.m_ChannelMajor ? int64_t{block} * block : 1;
    // [batch, row of blocks, row of the block, block in the row, pixel in the block's row, channel]
    return PrepareMove(input, output,
                       BoxCopy(6, {in[0], in[1], block, in[2], block, channels},
                               {strides[0], strides[1], row, strides[2], pixel, channel}, 0,
                               GetMovedBytes(input.GetDataType())));
}

SupportResult CheckLayout(const LayerView& layer)
{
    if (layer.GetDescriptor<SpaceToDepthDescriptor>().m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the data layout is not NHWC");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefSpaceToDepthKernel = {"RefSpaceToDepth", BlockTypes, PrepareSpaceToDepth, CheckLayout};
extern const backends::Kernel RefDepthToSpaceKernel = {"RefDepthToSpace", BlockTypes, PrepareDepthToSpace, CheckLayout};

} // namespace tenon::ref
