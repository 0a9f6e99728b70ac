// SPDX-License-Identifier: Apache-2.0
// Networks of layout NCHW where little is known before the run.
#include "graph/OptimizedNetwork.hpp"
#include "harness/Networks.hpp"
#include "optimizer/Pass.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::test::lower_to_nhwc_test
{

namespace
{

const Graph& GraphOf(const IOptimizedNetworkPtr& network)
{
    return static_cast<const OptimizedNetwork&>(*network).GetGraph();
}

TensorInfo FloatOf(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float32);
}

ConstTensor ConstantOf(const TensorShape& shape, const std::vector<float>& values)
{
    return ConstTensor(TensorInfo(shape, DataType::Float32, 0.0f, 0, true), values);
}

} // namespace

TEST(Layout, ChainOfNchwLayersWithUnknownSizes)
{
    // conv (1x1, two channels swapped) -> relu -> conv -> relu -> pool
    const std::vector<float> swap{0, 1, 1, 0};
    for (const bool rankIsKnown : {true, false})
    {
        INetworkPtr network = INetwork::Create();
        TensorShape shape({1, 2, 1, 2});
        shape.SetDimensionUnknown(3);
        IConnectableLayer* last = AddInput(*network, 0, FloatOf(rankIsKnown ? shape : TensorShape()));
        for (int i = 0; i < 2; ++i)
        {
            IConnectableLayer* conv = network->AddConvolution2dLayer(Convolution2dDescriptor(), "conv");
            Connect(last, conv);
            Connect(network->AddConstantLayer(ConstantOf({2, 2, 1, 1}, swap)), conv, 1);
            ActivationDescriptor relu;
            relu.m_Function = ActivationFunction::ReLu;
            last = network->AddActivationLayer(relu, "relu");
            Connect(conv, last);
        }
        Pooling2dDescriptor pool; // NCHW
        pool.m_PoolHeight = 1;
        pool.m_PoolWidth = 1;
        pool.m_StrideX = 1;
        pool.m_StrideY = 1;
        IConnectableLayer* pooled = network->AddPooling2dLayer(pool, "pool");
        Connect(last, pooled);
        Connect(pooled, network->AddOutputLayer(0));
        const IRuntimePtr runtime = IRuntime::Create({});
        const NetworkId id = Load(*runtime, *network);
        EXPECT_EQ(runtime->GetOutputTensorInfo(id, 0).GetNumDimensions(), 4u);
        EXPECT_EQ(RunFloat(*runtime, id, {1, 2, 1, 3}, {1, -2, 3, 4, 5, -6}), (std::vector<float>{1, 0, 3, 4, 5, 0}));
    }
}

TEST(Layout, AnotherRankThanTheDeclaredOneIsRefused)
{
    // Of operators that take several ranks; the channels of each are elsewhere.
    const std::function<IConnectableLayer*(INetwork&)> layers[] = {
        [](INetwork& network)
        {
            static const std::vector<float> ones = {1, 1};
            const ConstTensor parameter = ConstantOf({2}, ones);
            return network.AddBatchNormalizationLayer(BatchNormalizationDescriptor(), parameter, parameter, parameter,
                                                      parameter);
        },
        [](INetwork& network) { return network.AddBatchToSpaceNdLayer(BatchToSpaceNdDescriptor()); },
        [](INetwork& network) { return network.AddL2NormalizationLayer(L2NormalizationDescriptor()); },
        [](INetwork& network) { return network.AddSpaceToBatchNdLayer(SpaceToBatchNdDescriptor()); },
    };
    for (const auto& add : layers)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* layer = add(*network);
        Connect(AddInput(*network, 0, FloatInfo({1, 2, 2, 2})), layer);
        Connect(layer, network->AddOutputLayer(0));
        const IRuntimePtr runtime = IRuntime::Create({});
        const NetworkId id = Load(*runtime, *network);
        EXPECT_EQ(RunFloat(*runtime, id, {1, 2, 2, 2}, Ramp(8, 1.0f)).size(), 8u);
        for (const TensorShape& shape : {TensorShape({1, 2, 2}), TensorShape({1, 2, 2, 1, 2})})
        {
            const std::vector<float> data = Ramp(shape.GetNumElements(), 1.0f);
            EXPECT_THROW(RunFloat(*runtime, id, shape, data), LayerValidationException);
        }
    }
}

TEST(Layout, WeightsOfUnknownRankAreTurnedToo)
{
    // Weights given at run time, as many rows and columns as input channels: what is not turned would not be noticed.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* conv = network->AddConvolution2dLayer(Convolution2dDescriptor(), "conv");
    Connect(AddInput(*network, 0, FloatInfo({1, 2, 2, 2})), conv);
    Connect(AddInput(*network, 1, FloatOf(TensorShape()), "weights"), conv, 1);
    Connect(conv, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    const std::vector<float> data = Ramp(8, 1.0f);
    const std::vector<float> weights = Ramp(8, 1.0f); // [1, 2, 2, 2] as the data: the sum of squares
    std::vector<float> result(1);
    runtime->EnqueueWorkload(id, {{0, ConstantOf({1, 2, 2, 2}, data)}, {1, ConstantOf({1, 2, 2, 2}, weights)}},
                             OutputTensors{{0, Tensor(FloatInfo({1, 1, 1, 1}), result.data())}});
    EXPECT_EQ(result[0], 204.0f);
}

TEST(Layout, OutputShapeOfATransposeConvolutionIsTurnedToo)
{
    Graph graph;
    Layer& input = graph.AddLayer(LayerType::Input, nullptr, "in");
    input.Output(0).SetTensorInfo(FloatInfo({1, 3, 4, 5}));
    const std::vector<float> values(2 * 3 * 1 * 1);
    Layer& weights = graph.AddConstant(ConstantOf({2, 3, 1, 1}, values), nullptr, "w");
    auto descriptor = std::make_unique<TransposeConvolution2dDescriptor>(); // NCHW
    descriptor->m_OutputShapeEnabled = true;
    descriptor->m_OutputShape = {1, 2, 7, 9};
    Layer& layer = graph.AddLayer(LayerType::TransposeConvolution2d, std::move(descriptor), "t");
    layer.Output(0).SetTensorInfo(FloatInfo({1, 2, 7, 9}));
    input.Output(0).Connect(layer.Input(0));
    weights.Output(0).Connect(layer.Input(1));
    passes::LowerToNhwc(graph);
    const auto& lowered = layer.Descriptor<TransposeConvolution2dDescriptor>();
    EXPECT_EQ(lowered.m_DataLayout, DataLayout::NHWC);
    EXPECT_EQ(lowered.m_OutputShape, (std::vector<unsigned int>{1, 7, 9, 2}));
    EXPECT_EQ(layer.Output(0).GetTensorInfo().GetShape(), TensorShape({1, 7, 9, 2}));
    EXPECT_EQ(layer.Input(1).GetTensorInfo().GetShape(), TensorShape({2, 1, 1, 3}));
}

TEST(InferTensors, QuantizationOfAnUndeclaredOutputFollowsOnlyWhereValuesAreKept)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const TensorInfo quantized({1, 4}, DataType::QAsymmU8, 0.25f, 7);
    const auto optimize = [&](const auto& add)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* layer = add(*network);
        Connect(AddInput(*network, 0, quantized), layer);
        Connect(layer, network->AddOutputLayer(0));
        return Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    };
    const auto reduce = [&](ReduceOperation operation)
    {
        ReduceDescriptor descriptor;
        descriptor.m_ReduceOperation = operation;
        descriptor.m_vAxis = {1};
        return optimize([&](INetwork& network) { return network.AddReduceLayer(descriptor, "r"); });
    };
    EXPECT_THROW(optimize([](INetwork& network) { return network.AddSoftmaxLayer(SoftmaxDescriptor(), "s"); }),
                 LayerValidationException);
    EXPECT_THROW(reduce(ReduceOperation::Sum), LayerValidationException);
    for (const auto& optimized : {optimize(
                                      [](INetwork& network) {
                                          return network.AddTransposeLayer(TransposeDescriptor({1, 0}), "t");
                                      }),
                                  reduce(ReduceOperation::Max), reduce(ReduceOperation::Min)})
    {
        const TensorInfo& info = GraphOf(optimized).Layers()[1]->Output(0).GetTensorInfo();
        EXPECT_EQ(info.GetQuantizationScale(), 0.25f);
        EXPECT_EQ(info.GetQuantizationOffset(), 7);
    }
}

TEST(InferTensors, SizesOfOneMayBeToleratedInDeclarations)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto optimize = [&](const TensorShape& declared, bool tolerated)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* floor = network->AddFloorLayer("floor");
        Connect(AddInput(*network, 0, FloatInfo({2, 3})), floor);
        Connect(floor, network->AddOutputLayer(0));
        floor->GetOutputSlot(0).SetTensorInfo(FloatOf(declared));
        OptimizerOptionsOpaque options;
        options.SetAllowExpandedDims(tolerated);
        return GraphOf(Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), options))
            .Layers()[1]
            ->Output(0)
            .GetTensorInfo()
            .GetShape();
    };
    EXPECT_EQ(optimize({1, 2, 1, 3}, true), TensorShape({2, 3}));
    EXPECT_THROW(optimize({1, 2, 1, 3}, false), LayerValidationException);
    EXPECT_THROW(optimize({1, 3, 1, 2}, true), LayerValidationException);
}

} // namespace tenon::test::lower_to_nhwc_test
