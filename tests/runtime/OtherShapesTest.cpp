// SPDX-License-Identifier: Apache-2.0
// A run may have images of another size than those of the load, for which weights were packed.
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

} // namespace tenon::test::other_shapes_test
