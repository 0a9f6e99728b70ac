// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: builds a graph with a layer of each family by hand, visits it, runs it, writes it to
// a stream, reads it back and runs what came back. Each output has values that are known beforehand.
#include <armnn/ArmNN.hpp>
#include <armnn/StrategyBase.hpp>
#include <armnnDeserializer/IDeserializer.hpp>
#include <armnnSerializer/ISerializer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace armnn;

namespace
{

/// Counts layers by type and remembers their names; looks into some descriptors.
class LayerRecorder : public StrategyBase<NoThrowStrategy>
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>& constants, const char* name,
                         const LayerBindingId id = 0) override
    {
        ++m_Types[GetLayerTypeAsCString(layer->GetType())];
        m_Names.insert(name == nullptr ? "" : name);
        switch (layer->GetType())
        {
        case LayerType::Input: m_Inputs.insert(id); break;
        case LayerType::Output: m_Outputs.insert(id); break;
        case LayerType::Constant: m_ConstantBytes += constants.at(0).GetNumBytes(); break;
        case LayerType::Convolution2d:
        {
            const auto& convolution = static_cast<const Convolution2dDescriptor&>(descriptor);
            m_IsAsBuilt = m_IsAsBuilt && convolution.m_DataLayout == DataLayout::NHWC && convolution.m_StrideX == 1 &&
                          convolution.m_BiasEnabled;
            break;
        }
        case LayerType::Pad:
        {
            const auto& pad = static_cast<const PadDescriptor&>(descriptor);
            m_IsAsBuilt = m_IsAsBuilt && pad.m_PadValue == 9.0f && pad.m_PadList.size() == 2 &&
                          pad.m_PadList[1] == std::make_pair(1u, 1u);
            break;
        }
        case LayerType::Splitter:
        {
            const auto& views = static_cast<const ViewsDescriptor&>(descriptor);
            m_IsAsBuilt = m_IsAsBuilt && views.GetNumViews() == 2 && views.GetViewOrigin(1)[1] == 2 &&
                          views.GetViewSizes(0)[1] == 2;
            break;
        }
        default: m_DefaultStrategy.Apply(GetLayerTypeAsCString(layer->GetType())); break;
        }
    }

    std::map<std::string, unsigned int> m_Types;
    std::multiset<std::string> m_Names;
    std::set<LayerBindingId> m_Inputs;
    std::set<LayerBindingId> m_Outputs;
    size_t m_ConstantBytes = 0;
    bool m_IsAsBuilt = true;
};

/// Refuses every layer but inputs and outputs.
class OnlyBindings : public StrategyBase<ThrowingStrategy>
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>& constants, const char* name,
                         const LayerBindingId id = 0) override
    {
        if (layer->GetType() != LayerType::Input && layer->GetType() != LayerType::Output)
        {
            StrategyBase<ThrowingStrategy>::ExecuteStrategy(layer, descriptor, constants, name, id);
        }
    }
};

/// A tensor that is fed to the network, or that it has to give.
struct Fixture
{
    std::string m_Name;
    TensorInfo m_Info;
    std::vector<float> m_Values; ///< as stored: without scale and offset
    float m_Tolerance = 0.0f;
};

/// The values as bytes of the type.
std::vector<uint8_t> Store(const TensorInfo& info, const std::vector<float>& values)
{
    std::vector<uint8_t> bytes(info.GetNumBytes());
    for (size_t i = 0; i < values.size(); ++i)
    {
        switch (info.GetDataType())
        {
        case DataType::Float32: std::memcpy(&bytes[4 * i], &values[i], 4); break;
        case DataType::Signed32:
        {
            const int32_t value = static_cast<int32_t>(values[i]);
            std::memcpy(&bytes[4 * i], &value, 4);
            break;
        }
        case DataType::QSymmS16:
        {
            const int16_t value = static_cast<int16_t>(values[i]);
            std::memcpy(&bytes[2 * i], &value, 2);
            break;
        }
        default: bytes[i] = static_cast<uint8_t>(static_cast<int>(values[i])); break;
        }
    }
    return bytes;
}

float Load(const TensorInfo& info, const std::vector<uint8_t>& bytes, size_t i)
{
    switch (info.GetDataType())
    {
    case DataType::Float32:
    {
        float value;
        std::memcpy(&value, &bytes[4 * i], 4);
        return value;
    }
    case DataType::Signed32:
    {
        int32_t value;
        std::memcpy(&value, &bytes[4 * i], 4);
        return static_cast<float>(value);
    }
    case DataType::QSymmS16:
    {
        int16_t value;
        std::memcpy(&value, &bytes[2 * i], 2);
        return static_cast<float>(value);
    }
    case DataType::QAsymmS8: return static_cast<float>(static_cast<int8_t>(bytes[i]));
    default: return static_cast<float>(bytes[i]);
    }
}

/// A network of branches: inputs, a layer, its outputs.
class Graph
{
public:
    using Layers = std::vector<IConnectableLayer*>;

    INetwork& GetNetwork() const { return *m_Network; }
    const std::vector<Fixture>& GetInputs() const { return m_Inputs; }
    const std::vector<Fixture>& GetOutputs() const { return m_Outputs; }

    static TensorInfo Floats(const TensorShape& shape) { return TensorInfo(shape, DataType::Float32); }

    IConnectableLayer* Input(const TensorInfo& info, const std::vector<float>& values)
    {
        const std::string name = "input " + std::to_string(m_Inputs.size());
        IConnectableLayer* layer = m_Network->AddInputLayer(static_cast<LayerBindingId>(m_Inputs.size()), name.c_str());
        layer->GetOutputSlot(0).SetTensorInfo(info);
        m_Inputs.push_back({name, info, values, 0.0f});
        return layer;
    }
    IConnectableLayer* Input(const TensorShape& shape, const std::vector<float>& values)
    {
        return Input(Floats(shape), values);
    }

    /// The memory lives as long as the graph.
    ConstTensor Tensor(TensorInfo info, const std::vector<float>& values)
    {
        info.SetConstant();
        m_Memory.push_back(Store(info, values));
        return ConstTensor(info, m_Memory.back().data());
    }
    IConnectableLayer* Constant(const TensorInfo& info, const std::vector<float>& values)
    {
        const ConstTensor tensor = Tensor(info, values);
        const std::string name = "constant " + std::to_string(m_Memory.size());
        IConnectableLayer* layer = m_Network->AddConstantLayer(tensor, name.c_str());
        layer->GetOutputSlot(0).SetTensorInfo(tensor.GetInfo());
        return layer;
    }
    IConnectableLayer* Constant(const TensorShape& shape, const std::vector<float>& values)
    {
        return Constant(Floats(shape), values);
    }

    /// Connects a layer's inputs.
    static IConnectableLayer* Connect(IConnectableLayer* layer, const Layers& sources)
    {
        for (size_t i = 0; i < sources.size(); ++i)
        {
            sources[i]->GetOutputSlot(0).Connect(layer->GetInputSlot(static_cast<unsigned int>(i)));
        }
        return layer;
    }
    /// Says what an output of a layer holds, and has the network give it.
    void Expect(IConnectableLayer* layer, unsigned int slot, const TensorInfo& info, const std::vector<float>& values,
                float tolerance = 1e-5f)
    {
        const std::string name = "output " + std::to_string(m_Outputs.size()) + " of " + layer->GetName();
        layer->GetOutputSlot(slot).SetTensorInfo(info);
        IConnectableLayer* output =
            m_Network->AddOutputLayer(static_cast<LayerBindingId>(m_Outputs.size()), name.c_str());
        layer->GetOutputSlot(slot).Connect(output->GetInputSlot(0));
        m_Outputs.push_back({name, info, values, tolerance});
    }
    void Expect(IConnectableLayer* layer, const TensorShape& shape, const std::vector<float>& values)
    {
        Expect(layer, 0, Floats(shape), values);
    }

private:
    INetworkPtr m_Network = INetwork::Create();
    std::vector<Fixture> m_Inputs;
    std::vector<Fixture> m_Outputs;
    std::deque<std::vector<uint8_t>> m_Memory;
};

TensorInfo Ints(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Signed32);
}

TensorInfo Booleans(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Boolean);
}

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
    graph.Expect(Graph::Connect(network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::LogicalNot),
                                                                 "not"),
                                {graph.Input(Booleans({2}), {1, 0})}),
                 0, Booleans({2}), {0, 1});

    const auto binary = [&](IConnectableLayer* layer, float out)
    { graph.Expect(Graph::Connect(layer, {graph.Input({2}, {6, 6}), graph.Input({2}, {3, 3})}), {2}, {out, out}); };
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
    graph.Expect(Graph::Connect(network.AddComparisonLayer(ComparisonDescriptor(ComparisonOperation::Greater), "greater"),
                                {graph.Input({3}, {1, 2, 3}), graph.Input({3}, {2, 2, 2})}),
                 0, Booleans({3}), {0, 0, 1});
    graph.Expect(Graph::Connect(network.AddLogicalBinaryLayer(LogicalBinaryDescriptor(LogicalBinaryOperation::LogicalAnd),
                                                              "and"),
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
    graph.Expect(Graph::Connect(network.AddFullyConnectedLayer(fullyConnected, "fully connected"),
                                {graph.Input({1, 2}, {1, 2}), graph.Constant({2, 2}, {1, 2, 3, 4}),
                                 graph.Constant({2}, {1, 1})}),
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
    graph.Expect(Graph::Connect(network.AddTransposeConvolution2dLayer(
                                    transposed, graph.Tensor(Graph::Floats({1, 2, 2, 1}), {1, 2, 3, 4}),
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
    graph.Expect(Graph::Connect(network.AddArgMinMaxLayer(argMax, "argmax"),
                                {graph.Input({2, 3}, {1, 5, 2, 7, 0, 3})}),
                 0, Ints({2}), {1, 0});
    graph.Expect(Graph::Connect(network.AddMeanLayer(MeanDescriptor({1}, false), "mean"),
                                {graph.Input({2, 2}, {1, 3, 5, 9})}),
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
    graph.Expect(Graph::Connect(network.AddPooling2dLayer(pooling, "pooling 2d"),
                                {graph.Input({1, 2, 2, 1}, {1, 4, 3, 2})}),
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
    graph.Expect(Graph::Connect(network.AddBatchNormalizationLayer(
                                    batchNormalization, graph.Tensor(Graph::Floats({2}), {1, 2}),
                                    graph.Tensor(Graph::Floats({2}), {4, 1}), graph.Tensor(Graph::Floats({2}), {0, 1}),
                                    graph.Tensor(Graph::Floats({2}), {2, 3}), "batch normalization"),
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
    graph.Expect(Graph::Connect(network.AddNormalizationLayer(normalization, "normalization"),
                                {graph.Input({1, 1, 1, 1}, {2})}),
                 {1, 1, 1, 1}, {0.4f});
    SoftmaxDescriptor softmax;
    softmax.m_Beta = 1.0f;
    graph.Expect(Graph::Connect(network.AddSoftmaxLayer(softmax, "softmax"), {graph.Input({1, 2}, {1, 1})}), {1, 2},
                 {0.5f, 0.5f});
    graph.Expect(Graph::Connect(network.AddLogSoftmaxLayer(LogSoftmaxDescriptor(), "log softmax"),
                                {graph.Input({1, 2}, {1, 1})}),
                 {1, 2}, {-0.6931472f, -0.6931472f});
}

/// Layers that move elements.
void AddMoves(Graph& graph)
{
    INetwork& network = graph.GetNetwork();
    const std::vector<float> four = {1, 2, 3, 4};
    const std::vector<float> six = {1, 2, 3, 4, 5, 6};

    BatchToSpaceNdDescriptor batchToSpace({2, 2}, {{0, 0}, {0, 0}});
    batchToSpace.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddBatchToSpaceNdLayer(batchToSpace, "batch to space"),
                                {graph.Input({4, 1, 1, 1}, four)}),
                 {1, 2, 2, 1}, four);
    SpaceToBatchNdDescriptor spaceToBatch({2, 2}, {{0, 0}, {0, 0}});
    spaceToBatch.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddSpaceToBatchNdLayer(spaceToBatch, "space to batch"),
                                {graph.Input({1, 2, 2, 1}, four)}),
                 {4, 1, 1, 1}, four);
    graph.Expect(Graph::Connect(network.AddDepthToSpaceLayer(DepthToSpaceDescriptor(2, DataLayout::NHWC),
                                                             "depth to space"),
                                {graph.Input({1, 1, 1, 4}, four)}),
                 {1, 2, 2, 1}, four);
    graph.Expect(Graph::Connect(network.AddSpaceToDepthLayer(SpaceToDepthDescriptor(2, DataLayout::NHWC),
                                                             "space to depth"),
                                {graph.Input({1, 2, 2, 1}, four)}),
                 {1, 1, 1, 4}, four);
    graph.Expect(Graph::Connect(network.AddChannelShuffleLayer(ChannelShuffleDescriptor(2, 1), "channel shuffle"),
                                {graph.Input({1, 4}, four)}),
                 {1, 4}, {1, 3, 2, 4});

    const std::vector<TensorShape> shapes = {{1, 2}, {1, 1}};
    graph.Expect(Graph::Connect(network.AddConcatLayer(CreateDescriptorForConcatenation(shapes.begin(), shapes.end(), 1),
                                                       "concat"),
                                {graph.Input({1, 2}, {1, 2}), graph.Input({1, 1}, {3})}),
                 {1, 3}, {1, 2, 3});
    ViewsDescriptor views(2, 2);
    for (unsigned int view = 0; view < 2; ++view)
    {
        views.SetViewOriginCoord(view, 0, 0);
        views.SetViewOriginCoord(view, 1, 2 * view);
        views.SetViewSize(view, 0, 1);
        views.SetViewSize(view, 1, 2);
    }
    IConnectableLayer* splitter =
        Graph::Connect(network.AddSplitterLayer(views, "splitter"), {graph.Input({1, 4}, four)});
    graph.Expect(splitter, 0, Graph::Floats({1, 2}), {1, 2});
    graph.Expect(splitter, 1, Graph::Floats({1, 2}), {3, 4});
    graph.Expect(Graph::Connect(network.AddStackLayer(StackDescriptor(0, 2, TensorShape({2})), "stack"),
                                {graph.Input({2}, {1, 2}), graph.Input({2}, {3, 4})}),
                 {2, 2}, four);

    FillDescriptor fill;
    fill.m_Value = 7.0f;
    graph.Expect(Graph::Connect(network.AddFillLayer(fill, "fill"), {graph.Constant(Ints({2}), {2, 2})}), {2, 2},
                 {7, 7, 7, 7});
    graph.Expect(Graph::Connect(network.AddGatherLayer(GatherDescriptor(), "gather"),
                                {graph.Input({3, 2}, six), graph.Constant(Ints({2}), {2, 0})}),
                 {2, 2}, {5, 6, 1, 2});
    graph.Expect(Graph::Connect(network.AddGatherNdLayer("gather nd"),
                                {graph.Input({2, 2}, four), graph.Constant(Ints({2, 2}), {0, 1, 1, 0})}),
                 {2}, {2, 3});
    graph.Expect(Graph::Connect(network.AddPadLayer(PadDescriptor({{0, 0}, {1, 1}}, 9.0f), "pad"),
                                {graph.Input({1, 2}, {1, 2})}),
                 {1, 4}, {9, 1, 2, 9});
    graph.Expect(Graph::Connect(network.AddPermuteLayer(PermuteDescriptor({1, 0}), "permute"),
                                {graph.Input({2, 3}, six)}),
                 {3, 2}, {1, 4, 2, 5, 3, 6});
    graph.Expect(Graph::Connect(network.AddTransposeLayer(TransposeDescriptor({1, 0}), "transpose"),
                                {graph.Input({2, 3}, six)}),
                 {3, 2}, {1, 4, 2, 5, 3, 6});
    graph.Expect(Graph::Connect(network.AddReshapeLayer(ReshapeDescriptor({3, 2}), "reshape"),
                                {graph.Input({2, 3}, six)}),
                 {3, 2}, six);
    ResizeDescriptor resize;
    resize.m_Method = ResizeMethod::NearestNeighbor;
    resize.m_TargetHeight = 2;
    resize.m_TargetWidth = 4;
    resize.m_DataLayout = DataLayout::NHWC;
    graph.Expect(Graph::Connect(network.AddResizeLayer(resize, "resize"), {graph.Input({1, 1, 2, 1}, {1, 2})}),
                 {1, 2, 4, 1}, {1, 1, 2, 2, 1, 1, 2, 2});
    graph.Expect(Graph::Connect(network.AddReverseV2Layer("reverse"),
                                {graph.Input({3}, {1, 2, 3}), graph.Constant(Ints({1}), {0})}),
                 {3}, {3, 2, 1});
    graph.Expect(Graph::Connect(network.AddSliceLayer(SliceDescriptor({1}, {2}), "slice"), {graph.Input({4}, four)}),
                 {2}, {2, 3});
    graph.Expect(Graph::Connect(network.AddStridedSliceLayer(StridedSliceDescriptor({0}, {4}, {2}), "strided slice"),
                                {graph.Input({4}, four)}),
                 {2}, {1, 3});
    graph.Expect(Graph::Connect(network.AddTileLayer(TileDescriptor({2}), "tile"), {graph.Input({2}, {1, 2})}), {4},
                 {1, 2, 1, 2});
    graph.Expect(graph.Constant({2}, {5, 6}), {2}, {5, 6});
    graph.Expect(Graph::Connect(network.AddRankLayer("rank"), {graph.Input({2, 3}, six)}), 0,
                 TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Signed32), {2});
    graph.Expect(Graph::Connect(network.AddShapeLayer("shape"), {graph.Input({2, 3}, six)}), 0, Ints({2}), {2, 3});
}

/// One box, which is its anchor.
void AddDetection(Graph& graph)
{
    DetectionPostProcessDescriptor detection;
    detection.m_MaxDetections = 1;
    detection.m_MaxClassesPerDetection = 1;
    detection.m_DetectionsPerClass = 1;
    detection.m_NmsScoreThreshold = 0.1f;
    detection.m_NmsIouThreshold = 0.5f;
    detection.m_NumClasses = 1;
    detection.m_UseRegularNms = false;
    detection.m_ScaleX = 10.0f;
    detection.m_ScaleY = 10.0f;
    detection.m_ScaleW = 5.0f;
    detection.m_ScaleH = 5.0f;
    IConnectableLayer* layer = Graph::Connect(
        graph.GetNetwork().AddDetectionPostProcessLayer(
            detection, graph.Tensor(Graph::Floats({1, 4}), {0.5f, 0.5f, 1.0f, 1.0f}), "detection"),
        {graph.Input({1, 1, 4}, {0, 0, 0, 0}), graph.Input({1, 1, 2}, {0.1f, 0.9f})});
    graph.Expect(layer, 0, Graph::Floats({1, 1, 4}), {0, 0, 1, 1});
    graph.Expect(layer, 1, Graph::Floats({1, 1}), {0});
    graph.Expect(layer, 2, Graph::Floats({1, 1}), {0.9f});
    graph.Expect(layer, 3, Graph::Floats({1}), {1});
}

/// Recurrent layers whose weights are zero: every gate is half open, so that a cell halves with each step and the output
/// is half its hyperbolic tangent.
void AddRecurrent(Graph& graph)
{
    INetwork& network = graph.GetNetwork();
    const float half = 0.5f * std::tanh(0.5f);
    const float quarter = 0.5f * std::tanh(0.25f);
    const ConstTensor inputWeights = graph.Tensor(Graph::Floats({2, 2}), {0, 0, 0, 0});
    const ConstTensor gateBias = graph.Tensor(Graph::Floats({2}), {0, 0});
    LstmInputParams params;
    params.m_InputToForgetWeights = &inputWeights;
    params.m_InputToCellWeights = &inputWeights;
    params.m_InputToOutputWeights = &inputWeights;
    params.m_RecurrentToForgetWeights = &inputWeights;
    params.m_RecurrentToCellWeights = &inputWeights;
    params.m_RecurrentToOutputWeights = &inputWeights;
    params.m_ForgetGateBias = &gateBias;
    params.m_CellBias = &gateBias;
    params.m_OutputGateBias = &gateBias;
    LstmDescriptor lstmDescriptor;
    lstmDescriptor.m_ActivationFunc = 4;
    lstmDescriptor.m_CifgEnabled = true;
    IConnectableLayer* lstm = Graph::Connect(
        network.AddLstmLayer(lstmDescriptor, params, "lstm"),
        {graph.Input({1, 2}, {1, 2}), graph.Input({1, 2}, {3, 4}), graph.Input({1, 2}, {1, 1})});
    lstm->GetOutputSlot(0).SetTensorInfo(Graph::Floats({1, 6}));
    graph.Expect(lstm, 1, Graph::Floats({1, 2}), {half, half});
    graph.Expect(lstm, 2, Graph::Floats({1, 2}), {0.5f, 0.5f});
    graph.Expect(lstm, 3, Graph::Floats({1, 2}), {half, half});

    UnidirectionalSequenceLstmDescriptor sequenceDescriptor = lstmDescriptor;
    sequenceDescriptor.m_TimeMajor = false;
    IConnectableLayer* sequence = Graph::Connect(
        network.AddUnidirectionalSequenceLstmLayer(sequenceDescriptor, params, "sequence lstm"),
        {graph.Input({1, 2, 2}, {1, 2, 3, 4}), graph.Input({1, 2}, {3, 4}), graph.Input({1, 2}, {1, 1})});
    sequence->GetOutputSlot(0).SetTensorInfo(Graph::Floats({1, 2}));
    sequence->GetOutputSlot(1).SetTensorInfo(Graph::Floats({1, 2}));
    graph.Expect(sequence, 2, Graph::Floats({1, 2, 2}), {half, half, quarter, quarter});

    // Stored zeros are the weights' offset, 100. A cell of 2048 is 1.
    const ConstTensor weights8 = graph.Tensor(TensorInfo({4, 2}, DataType::QAsymmU8, 0.01f, 100),
                                              std::vector<float>(8, 100.0f));
    const ConstTensor recurrent8 = graph.Tensor(TensorInfo({4, 4}, DataType::QAsymmU8, 0.01f, 100),
                                                std::vector<float>(16, 100.0f));
    const ConstTensor bias32 = graph.Tensor(TensorInfo({4}, DataType::Signed32, 0.01f / 128.0f, 0), {0, 0, 0, 0});
    QuantizedLstmInputParams quantizedParams;
    quantizedParams.m_InputToInputWeights = &weights8;
    quantizedParams.m_InputToForgetWeights = &weights8;
    quantizedParams.m_InputToCellWeights = &weights8;
    quantizedParams.m_InputToOutputWeights = &weights8;
    quantizedParams.m_RecurrentToInputWeights = &recurrent8;
    quantizedParams.m_RecurrentToForgetWeights = &recurrent8;
    quantizedParams.m_RecurrentToCellWeights = &recurrent8;
    quantizedParams.m_RecurrentToOutputWeights = &recurrent8;
    quantizedParams.m_InputGateBias = &bias32;
    quantizedParams.m_ForgetGateBias = &bias32;
    quantizedParams.m_CellBias = &bias32;
    quantizedParams.m_OutputGateBias = &bias32;
    const TensorInfo state8({1, 4}, DataType::QAsymmU8, 1.0f / 128.0f, 128);
    const TensorInfo cell16({1, 4}, DataType::QSymmS16, 1.0f / 2048.0f, 0);
    IConnectableLayer* quantizedLstm = Graph::Connect(
        network.AddQuantizedLstmLayer(quantizedParams, "quantized lstm"),
        {graph.Input(TensorInfo({1, 2}, DataType::QAsymmU8, 1.0f / 128.0f, 128), {130, 140}),
         graph.Input(cell16, {2048, 2048, 2048, 2048}), graph.Input(state8, {128, 128, 128, 128})});
    graph.Expect(quantizedLstm, 0, cell16, {1024, 1024, 1024, 1024}, 1.0f);
    graph.Expect(quantizedLstm, 1, state8, std::vector<float>(4, 128.0f + 128.0f * half), 1.0f);

    const ConstTensor weightsS8 = graph.Tensor(TensorInfo({4, 2}, DataType::QSymmS8, 0.01f, 0),
                                               std::vector<float>(8, 0.0f));
    const ConstTensor recurrentS8 = graph.Tensor(TensorInfo({4, 4}, DataType::QSymmS8, 0.01f, 0),
                                                 std::vector<float>(16, 0.0f));
    const ConstTensor biasS32 = graph.Tensor(TensorInfo({4}, DataType::Signed32, 0.01f / 128.0f, 0), {0, 0, 0, 0});
    LstmInputParams qParams;
    qParams.m_InputToForgetWeights = &weightsS8;
    qParams.m_InputToCellWeights = &weightsS8;
    qParams.m_InputToOutputWeights = &weightsS8;
    qParams.m_RecurrentToForgetWeights = &recurrentS8;
    qParams.m_RecurrentToCellWeights = &recurrentS8;
    qParams.m_RecurrentToOutputWeights = &recurrentS8;
    qParams.m_ForgetGateBias = &biasS32;
    qParams.m_CellBias = &biasS32;
    qParams.m_OutputGateBias = &biasS32;
    QLstmDescriptor qDescriptor;
    qDescriptor.m_CifgEnabled = true;
    qDescriptor.m_InputIntermediateScale = 0.0001f;
    qDescriptor.m_ForgetIntermediateScale = 0.0001f;
    qDescriptor.m_CellIntermediateScale = 0.0001f;
    qDescriptor.m_OutputIntermediateScale = 0.0001f;
    qDescriptor.m_HiddenStateScale = 1.0f / 128.0f;
    qDescriptor.m_HiddenStateZeroPoint = 0;
    const TensorInfo stateS8({1, 4}, DataType::QAsymmS8, 1.0f / 128.0f, 0);
    IConnectableLayer* qLstm = Graph::Connect(
        network.AddQLstmLayer(qDescriptor, qParams, "qlstm"),
        {graph.Input(TensorInfo({1, 2}, DataType::QAsymmS8, 1.0f / 128.0f, 0), {3, 4}),
         graph.Input(stateS8, {0, 0, 0, 0}), graph.Input(cell16, {2048, 2048, 2048, 2048})});
    qLstm->GetOutputSlot(0).SetTensorInfo(stateS8);
    graph.Expect(qLstm, 1, cell16, {1024, 1024, 1024, 1024}, 1.0f);
    graph.Expect(qLstm, 2, stateS8, std::vector<float>(4, 128.0f * half), 1.0f);
}

/// Runs a network and says which of its outputs are wrong; gives how many.
unsigned int Run(const INetwork& network, const std::vector<BackendId>& backends, const Graph& graph,
                 const std::map<std::string, std::pair<LayerBindingId, TensorInfo>>& bindings)
{
    IRuntimePtr runtime = IRuntime::Create(IRuntime::CreationOptions());
    IOptimizedNetworkPtr optimized = Optimize(network, backends, runtime->GetDeviceSpec(), OptimizerOptionsOpaque());
    if (!optimized)
    {
        throw Exception("the network was not optimized", CHECK_LOCATION());
    }
    std::stringstream dot;
    if (optimized->SerializeToDot(dot) != Status::Success || dot.str().find("digraph") == std::string::npos)
    {
        throw Exception("the network has no picture", CHECK_LOCATION());
    }
    NetworkId id = 0;
    if (runtime->LoadNetwork(id, std::move(optimized)) != Status::Success)
    {
        throw Exception("the network was not loaded", CHECK_LOCATION());
    }

    std::vector<std::vector<uint8_t>> memory;
    InputTensors inputs;
    for (const Fixture& input : graph.GetInputs())
    {
        TensorInfo info = bindings.at(input.m_Name).second;
        info.SetConstant(true);
        memory.push_back(Store(info, input.m_Values));
        inputs.emplace_back(bindings.at(input.m_Name).first, ConstTensor(info, memory.back().data()));
    }
    std::vector<std::vector<uint8_t>> results;
    OutputTensors outputs;
    for (const Fixture& output : graph.GetOutputs())
    {
        const TensorInfo& info = bindings.at(output.m_Name).second;
        results.emplace_back(info.GetNumBytes());
        outputs.emplace_back(bindings.at(output.m_Name).first, Tensor(info, results.back().data()));
    }
    if (runtime->EnqueueWorkload(id, inputs, outputs) != Status::Success)
    {
        throw Exception("the run failed", CHECK_LOCATION());
    }

    unsigned int wrong = 0;
    for (size_t i = 0; i < results.size(); ++i)
    {
        const Fixture& output = graph.GetOutputs()[i];
        for (size_t k = 0; k < output.m_Values.size(); ++k)
        {
            const float value = Load(output.m_Info, results[i], k);
            if (!(std::fabs(value - output.m_Values[k]) <= output.m_Tolerance * std::max(1.0f, std::fabs(value))))
            {
                std::cerr << output.m_Name << ", element " << k << ": " << value << ", expected " << output.m_Values[k]
                          << '\n';
                ++wrong;
            }
        }
    }
    runtime->UnloadNetwork(id);
    return wrong;
}

/// Layers that only visitors see here: no backend runs them.
unsigned int VisitOthers()
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo info({2}, DataType::Float32);
    IConnectableLayer* input = network->AddInputLayer(0, "input");
    input->GetOutputSlot(0).SetTensorInfo(info);
    IConnectableLayer* standIn = network->AddStandInLayer(StandInDescriptor(1, 2), "stand-in");
    IConnectableLayer* merge = network->AddMergeLayer("merge");
    IConnectableLayer* output = network->AddOutputLayer(0, "output");
    input->GetOutputSlot(0).Connect(standIn->GetInputSlot(0));
    standIn->GetOutputSlot(0).Connect(merge->GetInputSlot(0));
    standIn->GetOutputSlot(1).Connect(merge->GetInputSlot(1));
    standIn->GetOutputSlot(0).SetTensorInfo(info);
    standIn->GetOutputSlot(1).SetTensorInfo(info);
    merge->GetOutputSlot(0).SetTensorInfo(info);
    merge->GetOutputSlot(0).Connect(output->GetInputSlot(0));

    LayerRecorder recorder;
    network->ExecuteStrategy(recorder);
    unsigned int wrong = recorder.m_Types.at("StandIn") == 1 && recorder.m_Types.at("Merge") == 1 ? 0 : 1;
    OnlyBindings onlyBindings;
    try
    {
        network->ExecuteStrategy(onlyBindings);
        std::cerr << "a strategy that throws did not\n";
        ++wrong;
    }
    catch (const UnimplementedException& exception)
    {
        wrong += std::string(exception.what()).find("StandIn") != std::string::npos ? 0 : 1;
    }
    return wrong;
}

} // namespace

int main()
{
    armnn::ConfigureLogging(true, false, armnn::LogSeverity::Warning);
    try
    {
        Graph graph;
        AddElementwise(graph);
        AddProducts(graph);
        AddReductions(graph);
        AddMoves(graph);
        AddDetection(graph);
        AddRecurrent(graph);

        LayerRecorder built;
        graph.GetNetwork().ExecuteStrategy(built);
        unsigned int wrong = built.m_IsAsBuilt && built.m_Inputs.size() == graph.GetInputs().size() &&
                                     built.m_Outputs.size() == graph.GetOutputs().size()
                                 ? 0
                                 : 1;
        std::map<std::string, std::pair<LayerBindingId, TensorInfo>> bindings;
        for (size_t i = 0; i < graph.GetInputs().size(); ++i)
        {
            bindings[graph.GetInputs()[i].m_Name] = {static_cast<LayerBindingId>(i), graph.GetInputs()[i].m_Info};
        }
        for (size_t i = 0; i < graph.GetOutputs().size(); ++i)
        {
            bindings[graph.GetOutputs()[i].m_Name] = {static_cast<LayerBindingId>(i), graph.GetOutputs()[i].m_Info};
        }
        wrong += Run(graph.GetNetwork(), {Compute::CpuRef}, graph, bindings);
        wrong += Run(graph.GetNetwork(), {Compute::CpuAcc, Compute::CpuRef}, graph, bindings);

        std::stringstream stream;
        armnnSerializer::ISerializerPtr serializer = armnnSerializer::ISerializer::Create();
        serializer->Serialize(graph.GetNetwork());
        if (!serializer->SaveSerializedToStream(stream))
        {
            throw Exception("the network was not serialized", CHECK_LOCATION());
        }
        armnnDeserializer::IDeserializerPtr deserializer = armnnDeserializer::IDeserializer::Create();
        INetworkPtr read = deserializer->CreateNetworkFromBinary(stream);
        LayerRecorder readBack;
        read->ExecuteStrategy(readBack);
        if (readBack.m_Types != built.m_Types || readBack.m_Names != built.m_Names ||
            readBack.m_ConstantBytes != built.m_ConstantBytes || !readBack.m_IsAsBuilt)
        {
            std::cerr << "other layers were read than were written\n";
            ++wrong;
        }
        for (const Fixture& input : graph.GetInputs())
        {
            const armnnDeserializer::BindingPointInfo info =
                deserializer->GetNetworkInputBindingInfo(0, input.m_Name);
            bindings[input.m_Name] = {info.m_BindingId, info.m_TensorInfo};
        }
        for (const Fixture& output : graph.GetOutputs())
        {
            const armnnDeserializer::BindingPointInfo info =
                deserializer->GetNetworkOutputBindingInfo(0, output.m_Name);
            bindings[output.m_Name] = {info.m_BindingId, info.m_TensorInfo};
        }
        wrong += Run(*read, {Compute::CpuAcc, Compute::CpuRef}, graph, bindings);
        wrong += VisitOthers();

        std::cout << built.m_Types.size() << " types of layers, " << graph.GetOutputs().size() << " outputs, " << wrong
                  << " wrong" << std::endl;
        return wrong == 0 ? 0 : 1;
    }
    catch (const armnn::Exception& exception)
    {
        std::cerr << exception.what() << std::endl;
        return 1;
    }
}
