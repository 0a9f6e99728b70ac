// SPDX-License-Identifier: Apache-2.0
// SpaceToDepth and DepthToSpace: blocks of pixels to channels and back.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tenon::test::space_to_depth_test
{

namespace
{

/// An image of `blocks` x `blocks` + 1 blocks.
OpCase MakeCase(LayerType layer, unsigned int batch, unsigned int blocks, unsigned int block, unsigned int channels,
                DataType type, bool isChannelMajor = false)
{
    const TensorInfo image = MakeInfo(TensorShape({batch, blocks * block, (blocks + 1) * block, channels}), type);
    const TensorInfo deep = MakeInfo(TensorShape({batch, blocks, blocks + 1, channels * block * block}), type);
    const bool toDepth = layer == LayerType::SpaceToDepth;
    const TensorInfo& output = toDepth ? deep : image;
    SpaceToDepthDescriptor descriptor(block, DataLayout::NHWC);
    descriptor.m_ChannelMajor = isChannelMajor;
    const unsigned int pixels = block * block;
    return Exactly(
        {"blocks of " + std::to_string(block) + " to " + output.ToString(),
         layer,
         MakeDescriptor(descriptor),
         {Random(toDepth ? image : deep, 2)},
         output,
         [=](const auto& in)
         {
             return Move(output.GetShape(), in[0],
                         [=](const Coordinates& at)
                         {
                             if (toDepth)
                             {
                                 const int64_t pixel = isChannelMajor ? at[3] % pixels : at[3] / channels;
                                 return Coordinates{at[0], at[1] * block + pixel / block, at[2] * block + pixel % block,
                                                    isChannelMajor ? at[3] / pixels : at[3] % channels};
                             }
                             const int64_t pixel = at[1] % block * block + at[2] % block;
                             return Coordinates{at[0], at[1] / block, at[2] / block,
                                                isChannelMajor ? at[3] * pixels + pixel : pixel * channels + at[3]};
                         });
         }});
}

} // namespace

ISA_TEST(SpaceToDepth, AnyTypeBothWays)
{
    for (const LayerType layer : {LayerType::SpaceToDepth, LayerType::DepthToSpace})
    {
        for (const DataType type : GetMovedTypes())
        {
            CheckOp(MakeCase(layer, 2, 3, 2, 3, type, true));
            CheckOp(MakeCase(layer, 1, 2, 3, 2, type, true));
            CheckOp(MakeCase(layer, 1, 1, 2, 1, type));
            CheckOp(MakeCase(layer, 2, 3, 2, 3, type));
            CheckOp(MakeCase(layer, 2, 2, 3, 2, type));
            CheckOp(MakeCase(layer, 1, 3, 1, 2, type));
            CheckOp(MakeCase(layer, 0, 3, 2, 2, type));
            CheckOp(MakeCase(layer, 1, 3, 2, 0, type));
        }
    }
}

ISA_TEST(SpaceToDepth, RefusesWhatDoesNotFit)
{
    for (const LayerType layer : {LayerType::SpaceToDepth, LayerType::DepthToSpace})
    {
        OpCase layout = MakeCase(layer, 1, 2, 2, 1, DataType::Float32);
        layout.m_Descriptor = MakeDescriptor(SpaceToDepthDescriptor(2, DataLayout::NCHW));
        CheckUnsupported(layout, SupportCode::UnsupportedParameters, "NHWC");
        for (const unsigned int block : {0U, 3U, 0xFFFFFFFFU})
        {
            OpCase op = MakeCase(layer, 1, 2, 2, 1, DataType::Float32);
            op.m_Descriptor = MakeDescriptor(SpaceToDepthDescriptor(block, DataLayout::NHWC));
            CheckRejectsShapes(op, "blocks of " + std::to_string(block));
        }
    }
}

} // namespace tenon::test::space_to_depth_test
