// SPDX-License-Identifier: Apache-2.0
// A run may have images of another size than those of the load, for which weights were packed; IRuntime::PlanRun tells
// the sizes of outputs before such a run.
#include <tenon/Tenon.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::other_shapes_test
{

namespace
{

struct Size
{
    unsigned int m_Height;
    unsigned int m_Width;
};

constexpr unsigned int Channels = 24;

TensorInfo Image(const Size& size)
{
    return TensorInfo({1, size.m_Height, size.m_Width, Channels}, DataType::QAsymmS8, 0.1f, 3);
}

std::vector<int8_t> MakeBytes(size_t count, unsigned int seed)
{
    std::mt19937 random(seed);
    std::vector<int8_t> bytes(count);
    for (int8_t& byte : bytes)
    {
        byte = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
    }
    return bytes;
}

/// A depthwise convolution that keeps the size of its images.
std::vector<int8_t> RunDepthwise(const std::vector<BackendId>& backends, const Size& window, const Size& atLoad,
                                 const Size& atRun)
{
    INetworkPtr network = INetwork::Create();
    DepthwiseConvolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    descriptor.m_PadTop = descriptor.m_PadBottom = window.m_Height / 2;
    descriptor.m_PadLeft = descriptor.m_PadRight = window.m_Width / 2;
    const std::vector<int8_t> weights = MakeBytes(size_t{window.m_Height} * window.m_Width * Channels, 1);
    TensorInfo weightsInfo({1, window.m_Height, window.m_Width, Channels}, DataType::QSymmS8, 0.01f, 0);
    weightsInfo.SetConstant();
    IConnectableLayer* const input = network->AddInputLayer(0);
    IConnectableLayer* const constant = network->AddConstantLayer(ConstTensor(weightsInfo, weights.data()));
    IConnectableLayer* const layer = network->AddDepthwiseConvolution2dLayer(descriptor);
    IConnectableLayer* const output = network->AddOutputLayer(0);
    input->GetOutputSlot(0).SetTensorInfo(Image(atLoad));
    constant->GetOutputSlot(0).SetTensorInfo(weightsInfo);
    layer->GetOutputSlot(0).SetTensorInfo(Image(atLoad));
    input->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
    constant->GetOutputSlot(0).Connect(layer->GetInputSlot(1));
    layer->GetOutputSlot(0).Connect(output->GetInputSlot(0));

    const IRuntimePtr runtime = IRuntime::Create({});
    NetworkId id = 0;
    std::string error;
    EXPECT_EQ(runtime->LoadNetwork(id, Optimize(*network, backends, runtime->GetDeviceSpec()), error), Status::Success)
        << error;
    TensorInfo info = Image(atRun);
    const std::vector<int8_t> data = MakeBytes(info.GetNumElements(), 2);
    std::vector<int8_t> result(info.GetNumElements());
    const Tensor target(info, result.data());
    info.SetConstant();
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, data.data())}}, {{0, target}});
    return result;
}

} // namespace

TEST(OtherShapes, DepthwiseConvolutionsOfLines)
{
    const Size sizes[] = {{40, 1}, {1, 40}, {40, 5}, {5, 40}, {1, 1}};
    for (const Size& window : {Size{3, 1}, Size{9, 1}, Size{1, 3}, Size{1, 9}})
    {
        for (const Size& atLoad : sizes)
        {
            for (const Size& atRun : sizes)
            {
                EXPECT_EQ(RunDepthwise({"CpuAcc", "CpuRef"}, window, atLoad, atRun),
                          RunDepthwise({"CpuRef"}, window, atLoad, atRun))
                    << "window " << window.m_Height << "x" << window.m_Width << ", loaded with " << atLoad.m_Height
                    << "x" << atLoad.m_Width << ", run with " << atRun.m_Height << "x" << atRun.m_Width;
            }
        }
    }
}

namespace
{

/// Output 0: the ReLU of input 0; output 1: where input 0 is not zero, whose size depends on the values; output 2: the
/// absolute values of output 1; output 3: those of input 0, which are computed last.
NetworkId LoadReluAndWhere(IRuntime& runtime)
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo info({1, 4}, DataType::Float32);
    IConnectableLayer* const input = network->AddInputLayer(0);
    IConnectableLayer* const relu = network->AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu));
    IConnectableLayer* const where = network->AddWhereLayer();
    input->GetOutputSlot(0).SetTensorInfo(info);
    relu->GetOutputSlot(0).SetTensorInfo(info);
    where->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(Dimensionality::NotSpecified), DataType::Signed64));
    input->GetOutputSlot(0).Connect(relu->GetInputSlot(0));
    input->GetOutputSlot(0).Connect(where->GetInputSlot(0));
    relu->GetOutputSlot(0).Connect(network->AddOutputLayer(0)->GetInputSlot(0));
    where->GetOutputSlot(0).Connect(network->AddOutputLayer(1)->GetInputSlot(0));
    const auto addAbs = [&](IConnectableLayer& of, LayerBindingId output)
    {
        IConnectableLayer* const abs =
            network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs));
        abs->GetOutputSlot(0).SetTensorInfo(of.GetOutputSlot(0).GetTensorInfo());
        of.GetOutputSlot(0).Connect(abs->GetInputSlot(0));
        abs->GetOutputSlot(0).Connect(network->AddOutputLayer(output)->GetInputSlot(0));
    };
    addAbs(*where, 2);
    addAbs(*input, 3);
    NetworkId id = 0;
    EXPECT_EQ(runtime.LoadNetwork(id, Optimize(*network, {"CpuRef"}, runtime.GetDeviceSpec())), Status::Success);
    return id;
}

} // namespace

TEST(PlanRun, TellsSizesBeforeTheRun)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = LoadReluAndWhere(*runtime);
    const auto outputs = runtime->PlanRun(id, {{0, TensorInfo({3, 4}, DataType::Float32)}});
    ASSERT_EQ(outputs.size(), 4u);
    EXPECT_EQ(outputs[0].first, 0);
    EXPECT_EQ(outputs[0].second.GetShape(), TensorShape({3, 4}));
    EXPECT_EQ(outputs[1].first, 1);
    EXPECT_EQ(outputs[1].second.GetDataType(), DataType::Signed64);
    EXPECT_FALSE(outputs[1].second.GetShape().AreAllDimensionsSpecified());
    EXPECT_FALSE(outputs[2].second.GetShape().AreAllDimensionsSpecified());
    EXPECT_EQ(outputs[3].second.GetShape(), TensorShape({3, 4})) << "though its layer is behind one of unknown sizes";
    EXPECT_EQ(runtime->GetOutputTensorInfo(id, 0).GetShape(), TensorShape({1, 4})) << "that of the load";
}

TEST(PlanRun, RefusesWhatARunWould)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = LoadReluAndWhere(*runtime);
    const TensorInfo info({3, 4}, DataType::Float32);
    EXPECT_THROW(runtime->PlanRun(id + 1, {{0, info}}), InvalidArgumentException);
    EXPECT_THROW(runtime->PlanRun(id, {}), InvalidArgumentException);
    EXPECT_THROW(runtime->PlanRun(id, {{7, info}}), InvalidArgumentException);
    EXPECT_THROW(runtime->PlanRun(id, {{0, info}, {0, info}}), InvalidArgumentException);
    EXPECT_THROW(runtime->PlanRun(id, {{0, TensorInfo({3, 4}, DataType::Signed32)}}), InvalidArgumentException);
}

} // namespace tenon::test::other_shapes_test
