// SPDX-License-Identifier: Apache-2.0
// Questions to backends written for Arm NN about layers that lack tensors, or have tensors of a wrong rank: they are
// answered with no and the reason, and the backend does not see them.
#include "SampleBackend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/ArmNN.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/WorkloadFactory.hpp>

namespace
{

using testing::HasSubstr;

using Infos = std::vector<armnn::TensorInfo>;

armnn::TensorInfo FloatInfo(const armnn::TensorShape& shape, bool isConstant = false)
{
    return armnn::TensorInfo(shape, armnn::DataType::Float32, 0.0f, 0, isConstant);
}

/// Why SampleAcc does not run the layer, or "yes".
std::string Ask(armnn::LayerType type, const Infos& inputs, const Infos& outputs,
                const armnn::BaseDescriptor& descriptor)
{
    std::string reason = "no reason";
    const bool isSupported =
        armnn::GetILayerSupportByBackendId("SampleAcc")
            .IsLayerSupported(type, inputs, outputs, descriptor, armnn::Optional<std::string&>(reason));
    return isSupported ? "yes" : reason;
}

armnn::Convolution2dDescriptor MakeConvolution()
{
    armnn::Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = armnn::DataLayout::NHWC;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    return descriptor;
}

} // namespace

TEST(Support, OfAConvolutionWhoseWeightsAreNotConnected)
{
    const armnn::INetworkPtr network = armnn::INetwork::Create();
    const armnn::TensorInfo image = FloatInfo({1, 3, 3, 1});
    armnn::IConnectableLayer* const input = network->AddInputLayer(0);
    armnn::IConnectableLayer* const layer = network->AddConvolution2dLayer(MakeConvolution(), "conv");
    input->GetOutputSlot(0).SetTensorInfo(image);
    input->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
    layer->GetOutputSlot(0).SetTensorInfo(image);
    std::string reason;
    EXPECT_FALSE(armnn::IWorkloadFactory::IsLayerSupported("SampleAcc", *layer, armnn::EmptyOptional(), reason));
    EXPECT_EQ(reason, "input 1 is not connected");

    const std::vector<float> one{1.0f};
    armnn::IConnectableLayer* const weights =
        network->AddConstantLayer(armnn::ConstTensor(FloatInfo({1, 1, 1, 1}, true), one));
    weights->GetOutputSlot(0).SetTensorInfo(FloatInfo({1, 1, 1, 1}, true));
    weights->GetOutputSlot(0).Connect(layer->GetInputSlot(1));
    EXPECT_TRUE(armnn::IWorkloadFactory::IsLayerSupported("SampleAcc", *layer, armnn::EmptyOptional(), reason))
        << reason;
}

TEST(Support, OfLayersThatLackTensors)
{
    using T = armnn::LayerType;
    const armnn::TensorInfo image = FloatInfo({1, 3, 3, 1});
    const armnn::TensorInfo weights = FloatInfo({1, 1, 1, 1}, true);
    const armnn::Convolution2dDescriptor convolution = MakeConvolution();
    EXPECT_EQ(Ask(T::Convolution2d, {image, weights}, {image}, convolution), "yes");
    EXPECT_EQ(Ask(T::Convolution2d, {image}, {image}, convolution), "input 1 is not connected");
    EXPECT_EQ(Ask(T::Convolution2d, {}, {image}, convolution), "input 0 is not connected");
    EXPECT_EQ(Ask(T::Convolution2d, {image, weights}, {}, convolution),
              "there are infos of 0 outputs, but the layer has 1");
    EXPECT_EQ(Ask(T::Convolution2d, {image, weights, weights}, {image}, convolution),
              "there is an input 2, but with these parameters the layer has 2");
    EXPECT_EQ(Ask(T::Lstm, {image, image}, {image, image, image, image}, armnn::LstmDescriptor()),
              "input 2 is not connected");
    EXPECT_EQ(Ask(T::QuantizedLstm, {image, image, image}, {image, image}, armnn::BaseDescriptor()),
              "input 3 is not connected");
    EXPECT_EQ(Ask(T::BatchNormalization, {image}, {image}, armnn::BatchNormalizationDescriptor()),
              "input 1 is not connected");
    EXPECT_EQ(Ask(T::Pooling2d, {}, {image}, armnn::Pooling2dDescriptor()), "input 0 is not connected");
    EXPECT_EQ(Ask(T::Reshape, {image}, {}, armnn::ReshapeDescriptor()),
              "there are infos of 0 outputs, but the layer has 1");
    EXPECT_EQ(Ask(T::Concat, {image}, {image}, armnn::OriginsDescriptor(2, 4)), "input 1 is not connected");
    EXPECT_EQ(Ask(T::Splitter, {image}, {image}, armnn::ViewsDescriptor(2, 4)),
              "there are infos of 1 outputs, but the layer has 2");
    EXPECT_EQ(Ask(T::Addition, {image}, {image}, armnn::BaseDescriptor()), "input 1 is not connected");
}

TEST(Support, OfLayersWithTensorsOfAWrongRank)
{
    using T = armnn::LayerType;
    const armnn::TensorInfo image = FloatInfo({1, 3, 3, 1});
    const armnn::TensorInfo weights = FloatInfo({1, 1, 1, 1}, true);
    const armnn::TensorInfo volume = FloatInfo({1, 1, 3, 3, 1});
    const armnn::TensorInfo row = FloatInfo({9});
    const armnn::Convolution2dDescriptor convolution = MakeConvolution();
    EXPECT_EQ(Ask(T::Convolution2d, {row, weights}, {image}, convolution),
              "input 0 has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::Convolution2d, {image, row}, {image}, convolution),
              "input 1, the weights, has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::Convolution2d, {image, weights}, {row}, convolution),
              "output 0 has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::DepthwiseConvolution2d, {image, row}, {image}, armnn::DepthwiseConvolution2dDescriptor()),
              "input 1, the weights, has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(
        Ask(T::Convolution3d, {image, FloatInfo({1, 1, 1, 1, 1}, true)}, {volume}, armnn::Convolution3dDescriptor()),
        "input 0 has shape [1,3,3,1], but it must have 5 dimensions");
    EXPECT_EQ(Ask(T::TransposeConvolution2d, {row, weights}, {image}, armnn::TransposeConvolution2dDescriptor()),
              "input 0 has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::Pooling2d, {row}, {image}, armnn::Pooling2dDescriptor()),
              "input 0 has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::Pooling3d, {image}, {volume}, armnn::Pooling3dDescriptor()),
              "input 0 has shape [1,3,3,1], but it must have 5 dimensions");
}

TEST(Support, OfALayerWithTheDescriptorOfAnother)
{
    const armnn::TensorInfo image = FloatInfo({1, 3, 3, 1});
    EXPECT_EQ(
        Ask(armnn::LayerType::Convolution2d, {image, FloatInfo({1, 1, 1, 1}, true)}, {image}, armnn::BaseDescriptor()),
        "the descriptor is not of a layer Convolution2d");
    EXPECT_EQ(Ask(armnn::LayerType::Activation, {image}, {image}, armnn::SoftmaxDescriptor()),
              "the descriptor is not of a layer Activation");
}
