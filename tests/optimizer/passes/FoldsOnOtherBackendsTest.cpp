// SPDX-License-Identifier: Apache-2.0
// Passes that make a layer of another type: only where the backends that take what is there take that, too.
#include "harness/FakeBackend.hpp"
#include "harness/Passes.hpp"
#include "optimizer/passes/Fusing.hpp"

namespace tenon::test::folds_on_other_backends_test
{

namespace
{

using testing::ElementsAre;

IConnectableLayer* Give(IConnectableLayer* layer, const TensorInfo& info)
{
    layer->GetOutputSlot(0).SetTensorInfo(info);
    return layer;
}

IConnectableLayer* AddBinary(INetwork& network, BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b,
                             const TensorInfo& info)
{
    IConnectableLayer* const layer = network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation));
    Connect(a, layer, 0);
    Connect(b, layer, 1);
    return Give(layer, info);
}

/// min(6, max(0, x)), which is a BoundedReLu: with x second, NaN passes.
INetworkPtr MakeMaxMin()
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo info = FloatInfo({4, 4});
    const TensorShape scalar(Dimensionality::Scalar);
    IConnectableLayer* x = AddInput(*network, 0, info);
    x = AddBinary(*network, BinaryOperation::Maximum, AddFloatConstant(*network, scalar, {0.0f}), x, info);
    x = AddBinary(*network, BinaryOperation::Minimum, AddFloatConstant(*network, scalar, {6.0f}), x, info);
    Connect(x, network->AddOutputLayer(0));
    return network;
}

/// A convolution with a group for each channel, which is a depthwise one.
INetworkPtr MakeGrouped(const char* hint = nullptr)
{
    INetworkPtr network = INetwork::Create();
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    IConnectableLayer* const convolution = network->AddConvolution2dLayer(descriptor, "convolution");
    Connect(AddInput(*network, 0, FloatInfo({1, 8, 8, 6})), convolution);
    Connect(AddFloatConstant(*network, TensorShape({6, 3, 3, 1}), Ramp(54)), convolution, 1);
    if (hint != nullptr)
    {
        convolution->BackendSelectionHint(BackendId(hint));
    }
    Connect(Give(convolution, FloatInfo({1, 6, 6, 6})), network->AddOutputLayer(0));
    return network;
}

/// x * sigmoid(x) of bytes, which is a table.
INetworkPtr MakeByteFunction()
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo info(TensorShape({4, 8}), DataType::QAsymmS8, 0.05f, 3);
    IConnectableLayer* const x = AddInput(*network, 0, info);
    IConnectableLayer* const sigmoid =
        network->AddActivationLayer(ActivationDescriptor(ActivationFunction::Sigmoid), "sigmoid");
    Connect(x, sigmoid);
    Give(sigmoid, TensorInfo(TensorShape({4, 8}), DataType::QAsymmS8, 1.0f / 256, -128));
    Connect(AddBinary(*network, BinaryOperation::Mul, x, sigmoid, info), network->AddOutputLayer(0));
    return network;
}

/// The layers that compute, each with its backend, where a backend "Other" takes some.
std::vector<std::string> Assign(const INetwork& network, const std::set<LayerType>& taken, const Backends& backends)
{
    IRuntime::CreationOptions options;
    options.m_Backends = {std::make_shared<FakeBackend>("Other", taken)};
    const IRuntimePtr runtime = IRuntime::Create(options);
    const IOptimizedNetworkPtr optimized = Optimize(network, backends, runtime->GetDeviceSpec());
    std::vector<std::string> assigned;
    for (const auto& layer : GraphOf(optimized).Layers())
    {
        const LayerType type = layer->GetType();
        if (type != LayerType::Input && type != LayerType::Output && type != LayerType::Constant)
        {
            assigned.push_back(std::string(GetLayerTypeAsCString(type)) + " on " + layer->GetBackendId().Get());
        }
    }
    return assigned;
}

} // namespace

TEST(FoldsOnOtherBackends, StayWhereTheNewTypeIsRefused)
{
    const Backends alone = {"Other"};
    const Backends first = {"Other", "CpuAcc"};
    for (const Backends& backends : {alone, first})
    {
        EXPECT_THAT(Assign(*MakeMaxMin(), {LayerType::ElementwiseBinary}, backends),
                    ElementsAre("ElementwiseBinary on Other", "ElementwiseBinary on Other"));
        EXPECT_THAT(Assign(*MakeGrouped(), {LayerType::Convolution2d}, backends),
                    ElementsAre("Convolution2d on Other"));
        EXPECT_THAT(Assign(*MakeByteFunction(), {LayerType::Activation, LayerType::ElementwiseBinary}, backends),
                    ElementsAre("Activation on Other", "ElementwiseBinary on Other"));
    }
}

TEST(FoldsOnOtherBackends, StayWhereALayerAsksForItsBackend)
{
    EXPECT_THAT(Assign(*MakeGrouped("Other"), {LayerType::Convolution2d}, {"CpuAcc", "Other"}),
                ElementsAre("Convolution2d on Other"));
    EXPECT_THAT(Assign(*MakeGrouped("Other"), {LayerType::Convolution2d, LayerType::DepthwiseConvolution2d},
                       {"CpuAcc", "Other"}),
                ElementsAre("DepthwiseConvolution2d on Other"));
}

TEST(FoldsOnOtherBackends, AreDoneWhereItIsTaken)
{
    EXPECT_THAT(Assign(*MakeMaxMin(), {LayerType::Activation}, {"Other", "CpuAcc"}),
                ElementsAre("Activation on Other"));
    EXPECT_THAT(Assign(*MakeGrouped(), {LayerType::Convolution2d}, {"CpuAcc", "Other"}),
                ElementsAre("DepthwiseConvolution2d on CpuAcc"));
    EXPECT_THAT(Assign(*MakeByteFunction(), {LayerType::Table, LayerType::ElementwiseBinary}, {"Other", "CpuAcc"}),
                ElementsAre("Table on Other"));
}

} // namespace tenon::test::folds_on_other_backends_test
