// SPDX-License-Identifier: Apache-2.0
// Branches of layers that compute.
#include "Graph.hpp"

#include <string>
#include <vector>

namespace layers
{

/// Layers that compute element by element.
void AddElementwise(Graph& graph)
{
    INetwork& network = graph.GetNetwork();
    const auto unary = [&](UnaryOperation operation, float in, float out)
    {
        graph.Expect(Graph::Connect(network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation),
                                                                     GetUnaryOperationAsCString(operation)),
                                    {graph.Input({1}, {in})}),
                     {1}, {out});
    };
    unary(UnaryOperation::Abs, -2.0f, 2.0f);
    unary(UnaryOperation::Ceil, 1.25f, 2.0f);
    unary(UnaryOperation::Exp, 1.0f, 2.7182818f);
    unary(UnaryOperation::Log, 2.7182818f, 1.0f);
    unary(UnaryOperation::Neg, 2.0f, -2.0f);
    unary(UnaryOperation::Rsqrt, 4.0f, 0.5f);
    unary(UnaryOperation::Sin, 0.0f, 0.0f);
    unary(UnaryOperation::Sqrt, 9.0f, 3.0f);
    graph.Expect(
        Graph::Connect(network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::LogicalNot), "not"),
                       {graph.Input(Booleans({2}), {1, 0})}),
        0, Booleans({2}), {0, 1});

    const auto binary = [&](IConnectableLayer* layer, float out) {
        graph.Expect(Graph::Connect(layer, {graph.Input({2}, {6, 6}), graph.Input({2}, {3, 3})}), {2}, {out, out});
    };
    binary(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "add"), 9);
    binary(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Div), "div"), 2);
    binary(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Maximum), "max"), 6);
    binary(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Minimum), "min"), 3);
    binary(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul), "mul"), 18);
    binary(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Power), "power"), 216);
    binary(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::SqDiff), "sqdiff"), 9);
    binary(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Sub), "sub"), 3);
    ARMNN_NO_DEPRECATE_WARN_BEGIN
    binary(network.AddAdditionLayer("addition"), 9);
    binary(network.AddDivisionLayer("division"), 2);
    binary(network.AddMaximumLayer("maximum"), 6);
    binary(network.AddMinimumLayer("minimum"), 3);
    binary(network.AddMultiplicationLayer("multiplication"), 18);
    binary(network.AddSubtractionLayer("subtraction"), 3);
    ARMNN_NO_DEPRECATE_WARN_END

    ActivationDescriptor activation;
    activation.m_Function = ActivationFunction::BoundedReLu;
    activation.m_A = 6.0f;
    activation.m_B = -1.0f;
    graph.Expect(Graph::Connect(network.AddActivationLayer(activation, "activation"), {graph.Input({3}, {-4, 2, 8})}),
                 {3}, {-1, 2, 6});
    graph.Expect(Graph::Connect(network.AddFloorLayer("floor"), {graph.Input({2}, {1.5f, -1.5f})}), {2}, {1, -2});
    graph.Expect(Graph::Connect(network.AddPreluLayer("prelu"),
                                {graph.Input({1, 1, 1, 2}, {-2, 3}), graph.Input({1, 1, 1, 2}, {0.5f, 0.5f})}),
                 {1, 1, 1, 2}, {-1, 3});
    graph.Expect(Graph::Connect(network.AddCastLayer("cast"), {graph.Input({3}, {1.7f, -2.2f, 3})}), 0, Ints({3}),
                 {1, -2, 3});
    graph.Expect(
        Graph::Connect(network.AddComparisonLayer(ComparisonDescriptor(ComparisonOperation::Greater), "greater"),
                       {graph.Input({3}, {1, 2, 3}), graph.Input({3}, {2, 2, 2})}),
        0, Booleans({3}), {0, 0, 1});
    graph.Expect(Graph::Connect(
                     network.AddLogicalBinaryLayer(LogicalBinaryDescriptor(LogicalBinaryOperation::LogicalAnd), "and"),
                     {graph.Input(Booleans({3}), {1, 1, 0}), graph.Input(Booleans({3}), {1, 0, 0})}),
                 0, Booleans({3}), {1, 0, 0});

    const TensorInfo quantized({3}, DataType::QAsymmU8, 0.5f, 10);
    IConnectableLayer* quantize = Graph::Connect(network.AddQuantizeLayer("quantize"), {graph.Input({3}, {0, 1, -1})});
    graph.Expect(quantize, 0, quantized, {10, 12, 8});
    graph.Expect(Graph::Connect(network.AddDequantizeLayer("dequantize"), {quantize}), {3}, {0, 1, -1});
}

/// Layers with weights, and products.
void AddProducts(Graph& graph)
{
    INetwork& network = graph.GetNetwork();
    graph.Expect(Graph::Connect(network.AddBatchMatMulLayer(BatchMatMulDescriptor(), "batch matmul"),
                                {graph.Input({1, 2, 2}, {1, 2, 3, 4}), graph.Input({1, 2, 2}, {5, 6, 7, 8})}),
                 {1, 2, 2}, {19, 22, 43, 50});

    FullyConnectedDescriptor fullyConnected;
    fullyConnected.m_BiasEnabled = true;
    fullyConnected.m_TransposeWeightMatrix = true;
    graph.Expect(Graph::Connect(
                     network.AddFullyConnectedLayer(fullyConnected, "fully connected"),
                     {graph.Input({1, 2}, {1, 2}), graph.Constant({2, 2}, {1, 2, 3, 4}), graph.Constant({2}, {1, 1})}),
                 {1, 2}, {6, 12});

    Convolution2dDescriptor convolution;
    convolution.m_StrideX = 1;
    convolution.m_StrideY = 1;
    convolution.m_BiasEnabled = true;
    convolution.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddConvolution2dLayer(convolution, "convolution 2d"),
                                {graph.Input({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                                 graph.Constant({1, 2, 2, 1}, {1, 1, 1, 1}), graph.Constant({1}, {10})}),
                 {1, 2, 2, 1}, {22, 26, 34, 38});

    Convolution3dDescriptor convolution3d;
    convolution3d.m_StrideX = 1;
    convolution3d.m_StrideY = 1;
    convolution3d.m_StrideZ = 1;
    convolution3d.m_DataLayout = DataLayout::NDHWC;
    graph.Expect(Graph::Connect(network.AddConvolution3dLayer(convolution3d, "convolution 3d"),
                                {graph.Input({1, 2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}),
                                 graph.Constant({2, 2, 2, 1, 1}, std::vector<float>(8, 1.0f))}),
                 {1, 1, 1, 1, 1}, {36});

    DepthwiseConvolution2dDescriptor depthwise;
    depthwise.m_StrideX = 1;
    depthwise.m_StrideY = 1;
    depthwise.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddDepthwiseConvolution2dLayer(depthwise, "depthwise"),
                                {graph.Input({1, 2, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40}),
                                 graph.Constant({1, 2, 2, 2}, std::vector<float>(8, 1.0f))}),
                 {1, 1, 1, 2}, {10, 100});

    TransposeConvolution2dDescriptor transposed;
    transposed.m_StrideX = 2;
    transposed.m_StrideY = 2;
    transposed.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddTransposeConvolution2dLayer(transposed,
                                                                       graph.Tensor(Floats({1, 2, 2, 1}), {1, 2, 3, 4}),
                                                                       EmptyOptional(), "transpose convolution"),
                                {graph.Input({1, 1, 1, 1}, {2})}),
                 {1, 2, 2, 1}, {2, 4, 6, 8});
}

/// Pools, reductions and normalizations.
void AddReductions(Graph& graph)
{
    INetwork& network = graph.GetNetwork();
    ArgMinMaxDescriptor argMax;
    argMax.m_Function = ArgMinMaxFunction::Max;
    argMax.m_Axis = -1;
    graph.Expect(Graph::Connect(network.AddArgMinMaxLayer(argMax, "argmax"), {graph.Input({2, 3}, {1, 5, 2, 7, 0, 3})}),
                 0, Ints({2}), {1, 0});
    graph.Expect(
        Graph::Connect(network.AddMeanLayer(MeanDescriptor({1}, false), "mean"), {graph.Input({2, 2}, {1, 3, 5, 9})}),
        {2}, {2, 7});
    ReduceDescriptor reduce;
    reduce.m_ReduceOperation = ReduceOperation::Sum;
    reduce.m_vAxis = {0};
    reduce.m_KeepDims = true;
    graph.Expect(Graph::Connect(network.AddReduceLayer(reduce, "reduce"), {graph.Input({2, 2}, {1, 3, 5, 9})}), {1, 2},
                 {6, 12});

    Pooling2dDescriptor pooling;
    pooling.m_PoolType = PoolingAlgorithm::Max;
    pooling.m_PoolWidth = 2;
    pooling.m_PoolHeight = 2;
    pooling.m_StrideX = 2;
    pooling.m_StrideY = 2;
    pooling.m_DataLayout = DataLayout::NHWC;
    graph.Expect(
        Graph::Connect(network.AddPooling2dLayer(pooling, "pooling 2d"), {graph.Input({1, 2, 2, 1}, {1, 4, 3, 2})}),
        {1, 1, 1, 1}, {4});
    Pooling3dDescriptor pooling3d;
    pooling3d.m_PoolType = PoolingAlgorithm::Average;
    pooling3d.m_PoolWidth = 2;
    pooling3d.m_PoolHeight = 2;
    pooling3d.m_PoolDepth = 2;
    pooling3d.m_StrideX = 2;
    pooling3d.m_StrideY = 2;
    pooling3d.m_StrideZ = 2;
    pooling3d.m_DataLayout = DataLayout::NDHWC;
    graph.Expect(Graph::Connect(network.AddPooling3dLayer(pooling3d, "pooling 3d"),
                                {graph.Input({1, 2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8})}),
                 {1, 1, 1, 1, 1}, {4.5f});

    BatchNormalizationDescriptor batchNormalization;
    batchNormalization.m_Eps = 0.0f;
    batchNormalization.m_DataLayout = DataLayout::NHWC;
    graph.Expect(
        Graph::Connect(network.AddBatchNormalizationLayer(
                           batchNormalization, graph.Tensor(Floats({2}), {1, 2}), graph.Tensor(Floats({2}), {4, 1}),
                           graph.Tensor(Floats({2}), {0, 1}), graph.Tensor(Floats({2}), {2, 3}), "batch normalization"),
                       {graph.Input({1, 1, 2, 2}, {1, 2, 3, 4})}),
        {1, 1, 2, 2}, {0, 1, 2, 7});
    InstanceNormalizationDescriptor instanceNormalization;
    instanceNormalization.m_Gamma = 2.0f;
    instanceNormalization.m_Beta = 1.0f;
    instanceNormalization.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddInstanceNormalizationLayer(instanceNormalization, "instance normalization"),
                                {graph.Input({1, 1, 2, 1}, {1, 3})}),
                 {1, 1, 2, 1}, {-1, 3});
    L2NormalizationDescriptor l2Normalization;
    l2Normalization.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddL2NormalizationLayer(l2Normalization, "l2 normalization"),
                                {graph.Input({1, 1, 1, 2}, {3, 4})}),
                 {1, 1, 1, 2}, {0.6f, 0.8f});
    NormalizationDescriptor normalization;
    normalization.m_NormChannelType = NormalizationAlgorithmChannel::Across;
    normalization.m_NormMethodType = NormalizationAlgorithmMethod::LocalBrightness;
    normalization.m_NormSize = 1;
    normalization.m_Alpha = 1.0f;
    normalization.m_Beta = 1.0f;
    normalization.m_K = 1.0f;
    normalization.m_DataLayout = DataLayout::NHWC;
    graph.Expect(
        Graph::Connect(network.AddNormalizationLayer(normalization, "normalization"), {graph.Input({1, 1, 1, 1}, {2})}),
        {1, 1, 1, 1}, {0.4f});
    SoftmaxDescriptor softmax;
    softmax.m_Beta = 1.0f;
    graph.Expect(Graph::Connect(network.AddSoftmaxLayer(softmax, "softmax"), {graph.Input({1, 2}, {1, 1})}), {1, 2},
                 {0.5f, 0.5f});
    graph.Expect(Graph::Connect(network.AddLogSoftmaxLayer(LogSoftmaxDescriptor(), "log softmax"),
                                {graph.Input({1, 2}, {1, 1})}),
                 {1, 2}, {-0.6931472f, -0.6931472f});
}

} // namespace layers
