// SPDX-License-Identifier: Apache-2.0
// Passes FoldBatchNormalization and FoldScaleShift: what becomes a part of weights and bias, and what must not.
#include "optimizer/passes/Fusing.hpp"

#include <array>
#include <functional>

namespace tenon::test::fold_weights_test
{

using testing::ElementsAre;

namespace
{

constexpr double Tolerance = 1e-5;

/// The layer whose weights are changed.
struct Producer
{
    LayerType m_Type = LayerType::Convolution2d;
    DataLayout m_Layout = DataLayout::NHWC;
    bool m_HasBias = false;
    bool m_IsTransposed = false; ///< weights of FullyConnected
};

constexpr unsigned int Channels = 4;

TensorInfo InputOf(const Producer& producer)
{
    if (producer.m_Type == LayerType::FullyConnected)
    {
        return FloatInfo({3, 6});
    }
    const unsigned int inputs = producer.m_Type == LayerType::Convolution2d ? 3 : Channels;
    return producer.m_Layout == DataLayout::NHWC ? FloatInfo({2, 4, 5, inputs}) : FloatInfo({2, inputs, 4, 5});
}

std::vector<TensorShape> ShapesOf(const Producer& producer)
{
    const TensorShape known = InputOf(producer).GetShape();
    TensorShape longer = known;
    longer.SetDimensionSize(0, 5);
    return {known, longer};
}

IConnectableLayer* AddProducer(INetwork& network, const Producer& p)
{
    const bool nhwc = p.m_Layout == DataLayout::NHWC;
    IConnectableLayer* layer = nullptr;
    TensorShape weights;
    if (p.m_Type == LayerType::FullyConnected)
    {
        FullyConnectedDescriptor descriptor;
        descriptor.m_BiasEnabled = p.m_HasBias;
        descriptor.m_TransposeWeightMatrix = p.m_IsTransposed;
        layer = network.AddFullyConnectedLayer(descriptor, "product");
        weights = p.m_IsTransposed ? TensorShape({Channels, 6}) : TensorShape({6, Channels});
    }
    else if (p.m_Type == LayerType::Convolution2d)
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_BiasEnabled = p.m_HasBias;
        descriptor.m_DataLayout = p.m_Layout;
        layer = network.AddConvolution2dLayer(descriptor, "product");
        weights = nhwc ? TensorShape({Channels, 2, 3, 3}) : TensorShape({Channels, 3, 2, 3});
    }
    else
    {
        DepthwiseConvolution2dDescriptor descriptor;
        descriptor.m_BiasEnabled = p.m_HasBias;
        descriptor.m_DataLayout = p.m_Layout;
        layer = network.AddDepthwiseConvolution2dLayer(descriptor, "product");
        weights = TensorShape({1, 2, 3, Channels});
    }
    Connect(AddFloatConstant(network, weights, Spread(weights.GetNumElements())), layer, 1);
    if (p.m_HasBias)
    {
        Connect(AddFloatConstant(network, TensorShape({Channels}), {0.5f, -1.0f, 2.0f, 0.25f}), layer, 2);
    }
    return layer;
}

/// Mean, variance, beta and gamma.
using Statistics = std::array<std::vector<float>, 4>;
const Statistics Usual = {
    {{0.1f, -0.2f, 0.3f, 1.0f}, {1.0f, 0.5f, 2.0f, 4.0f}, {1.0f, 2.0f, -1.0f, 0.0f}, {1.5f, -1.0f, 0.5f, 1.0f}}};

/// `statistics` must live as long as the network.
IConnectableLayer* AddNormalization(INetwork& network, DataLayout layout, const Statistics& statistics = Usual,
                                    float epsilon = 0.01f)
{
    BatchNormalizationDescriptor descriptor;
    descriptor.m_Eps = epsilon;
    descriptor.m_DataLayout = layout;
    const TensorInfo info({Channels}, DataType::Float32, 0.0f, 0, true);
    return network.AddBatchNormalizationLayer(descriptor, ConstTensor(info, statistics[0]),
                                              ConstTensor(info, statistics[1]), ConstTensor(info, statistics[2]),
                                              ConstTensor(info, statistics[3]), "normalization");
}

std::vector<Producer> AllProducers()
{
    std::vector<Producer> all;
    for (const bool hasBias : {false, true})
    {
        for (const LayerType type : {LayerType::Convolution2d, LayerType::DepthwiseConvolution2d})
        {
            for (const DataLayout layout : {DataLayout::NHWC, DataLayout::NCHW})
            {
                all.push_back({type, layout, hasBias, false});
            }
        }
        all.push_back({LayerType::FullyConnected, DataLayout::NHWC, hasBias, false});
        all.push_back({LayerType::FullyConnected, DataLayout::NHWC, hasBias, true});
    }
    return all;
}

bool Has(const INetwork& network, LayerType type)
{
    const std::vector<LayerType> types = FusedTypes(network);
    return std::find(types.begin(), types.end(), type) != types.end();
}

/// Whether a pass takes what `add` puts behind the producer, with the same results.
void ExpectFolds(const Producer& producer, LayerType what, const std::function<IConnectableLayer*(INetwork&)>& add,
                 bool folds = true, unsigned int dataInput = 0)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* first = AddProducer(*network, producer);
    IConnectableLayer* second = add(*network);
    Connect(AddInput(*network, 0, InputOf(producer)), first);
    Connect(first, second, dataInput);
    Connect(second, network->AddOutputLayer(0));
    EXPECT_EQ(Has(*network, what), !folds);
    ExpectSame(*network, InputOf(producer), ShapesOf(producer), Tolerance);
}

std::function<IConnectableLayer*(INetwork&)> Binary(BinaryOperation operation, const TensorShape& shape,
                                                    const std::vector<float>& constant, unsigned int constantInput = 1)
{
    return [=](INetwork& network)
    {
        IConnectableLayer* layer = network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), "binary");
        Connect(AddFloatConstant(network, shape, constant), layer, constantInput);
        return layer;
    };
}

} // namespace

TEST(FoldBatchNormalization, GoesIntoWeightsAndBias)
{
    for (const Producer& producer : AllProducers())
    {
        SCOPED_TRACE(GetLayerTypeAsCString(producer.m_Type));
        ExpectFolds(producer, LayerType::BatchNormalization,
                    [&](INetwork& network) { return AddNormalization(network, producer.m_Layout); });
    }
}

TEST(FoldBatchNormalization, TheLayerKeepsItsName)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* product = AddProducer(*network, {});
    IConnectableLayer* normalization = AddNormalization(*network, DataLayout::NHWC);
    Connect(AddInput(*network, 0, InputOf({})), product);
    Connect(product, normalization);
    Connect(normalization, network->AddOutputLayer(7, "result"));
    const auto optimized = OptimizeFor(*network, true);
    for (const auto& layer : static_cast<const OptimizedNetwork&>(*optimized).GetGraph().Layers())
    {
        if (layer->GetType() == LayerType::Convolution2d)
        {
            EXPECT_EQ(layer->GetNameStr(), "product");
            EXPECT_EQ(layer->GetGuid(), product->GetGuid());
        }
        else if (layer->GetType() == LayerType::Output)
        {
            EXPECT_EQ(layer->GetNameStr(), "result");
            EXPECT_EQ(layer->GetBindingId(), 7);
        }
    }
}

TEST(FoldBatchNormalization, OtherReadersKeepTheResult)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* product = AddProducer(*network, {});
    IConnectableLayer* normalization = AddNormalization(*network, DataLayout::NHWC);
    Connect(AddInput(*network, 0, InputOf({})), product);
    Connect(product, normalization);
    Connect(normalization, network->AddOutputLayer(0));
    Connect(product, network->AddOutputLayer(1));
    EXPECT_TRUE(Has(*network, LayerType::BatchNormalization));
}

TEST(FoldBatchNormalization, WeightsThatTwoLayersShareChangeForOne)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2, 4, 4, 3}));
    IConnectableLayer* weights = AddFloatConstant(*network, TensorShape({Channels, 1, 1, 3}), Spread(12));
    IConnectableLayer* add =
        network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "add");
    for (unsigned int i = 0; i < 2; ++i)
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        IConnectableLayer* product = network->AddConvolution2dLayer(descriptor, "product");
        Connect(input, product);
        Connect(weights, product, 1);
        IConnectableLayer* result = product;
        if (i == 0)
        {
            product->BackendSelectionHint(Optional<BackendId>(BackendId("CpuRef"))); // else both are one
            result = AddNormalization(*network, DataLayout::NHWC);
            result->BackendSelectionHint(Optional<BackendId>(BackendId("CpuRef")));
            Connect(product, result);
        }
        Connect(result, add, i);
    }
    Connect(add, network->AddOutputLayer(0));
    EXPECT_FALSE(Has(*network, LayerType::BatchNormalization));
    ExpectSame(*network, FloatInfo({2, 4, 4, 3}), {{2, 4, 4, 3}}, Tolerance);
}

TEST(FoldBatchNormalization, NeedsConstants)
{
    for (unsigned int given = 0; given < 3; ++given)
    {
        INetworkPtr network = INetwork::Create();
        Convolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        IConnectableLayer* product = network->AddConvolution2dLayer(descriptor, "product");
        IConnectableLayer* normalization = AddNormalization(*network, DataLayout::NHWC);
        Connect(AddInput(*network, 0, FloatInfo({2, 4, 4, 3})), product);
        Connect(given == 1 ? AddInput(*network, 1, FloatInfo({Channels, 1, 1, 3}))
                           : AddFloatConstant(*network, TensorShape({Channels, 1, 1, 3}), Spread(12)),
                product, 1);
        if (given == 2)
        {
            IInputSlot& variance = normalization->GetInputSlot(2);
            variance.GetConnection()->Disconnect(variance);
            Connect(AddInput(*network, 1, FloatInfo({Channels})), normalization, 2);
        }
        Connect(product, normalization);
        Connect(normalization, network->AddOutputLayer(0));
        EXPECT_EQ(Has(*network, LayerType::BatchNormalization), given != 0) << given;
    }
}

TEST(FoldBatchNormalization, ScalesThatAreNotFiniteStay)
{
    const Statistics statistics = {{{1, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 1, 1}, {1, 0, 1, 1}}};
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* product = AddProducer(*network, {});
    IConnectableLayer* normalization = AddNormalization(*network, DataLayout::NHWC, statistics, 0.0f);
    Connect(AddInput(*network, 0, InputOf({})), product);
    Connect(product, normalization);
    Connect(normalization, network->AddOutputLayer(0));
    EXPECT_TRUE(Has(*network, LayerType::BatchNormalization)); // 0 / sqrt(0)
}

TEST(FoldScaleShift, ConstantsOfChannelsGoIntoWeightsAndBias)
{
    const std::vector<float> constant{2.0f, -0.5f, 3.0f, 0.25f};
    for (const Producer& producer : AllProducers())
    {
        SCOPED_TRACE(GetLayerTypeAsCString(producer.m_Type));
        const TensorShape shape =
            producer.m_Layout == DataLayout::NHWC ? TensorShape({Channels}) : TensorShape({Channels, 1, 1});
        for (const BinaryOperation operation :
             {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul, BinaryOperation::Div})
        {
            ExpectFolds(producer, LayerType::ElementwiseBinary, Binary(operation, shape, constant));
            ExpectFolds(producer, LayerType::ElementwiseBinary,
                        Binary(operation, TensorShape(Dimensionality::Scalar), {1.5f}));
            ExpectFolds(producer, LayerType::ElementwiseBinary, Binary(operation, shape, constant, 0),
                        operation != BinaryOperation::Div, 1);
        }
    }
}

TEST(FoldScaleShift, ChainsAreOneLayer)
{
    INetworkPtr network = INetwork::Create();
    const Producer producer;
    IConnectableLayer* last = AddProducer(*network, producer);
    Connect(AddInput(*network, 0, InputOf(producer)), last);
    const std::vector<float> constant{2.0f, -0.5f, 3.0f, 0.25f};
    const TensorShape shape({1, 1, 1, Channels});
    for (const BinaryOperation operation : {BinaryOperation::Mul, BinaryOperation::Add, BinaryOperation::Div})
    {
        IConnectableLayer* layer = Binary(operation, shape, constant)(*network);
        Connect(last, layer);
        last = layer;
    }
    IConnectableLayer* normalization = AddNormalization(*network, DataLayout::NHWC);
    Connect(last, normalization);
    Connect(normalization, network->AddOutputLayer(0));
    EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::Convolution2d, LayerType::BatchNormalization));
    ExpectSame(*network, InputOf(producer), ShapesOf(producer), Tolerance);
}

namespace
{

/// What an attention does with its queries and keys, up to where scores are multiplied.
struct Scores
{
    TensorShape m_Factor = TensorShape(Dimensionality::Scalar);
    BinaryOperation m_Operation = BinaryOperation::Mul;
    unsigned int m_FactorInput = 1;
    bool m_IsKeyWeighted = false; ///< the product with weights is the second operand
    bool m_IsReadTwice = false;
    bool m_IsReshapedLast = false;
};

/// Whether nothing of the multiplication is left, with the same results.
bool IsScaleFolded(const Scores& scores)
{
    const Producer producer{LayerType::FullyConnected, DataLayout::NHWC, true, true};
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* product = AddProducer(*network, producer);
    IConnectableLayer* heads = network->AddReshapeLayer(ReshapeDescriptor(TensorShape({3, 2, 2})));
    IConnectableLayer* turned = network->AddTransposeLayer(TransposeDescriptor({1, 0, 2}));
    IConnectableLayer* matrix = network->AddBatchMatMulLayer(BatchMatMulDescriptor());
    Connect(AddInput(*network, 0, InputOf(producer)), product);
    Connect(product, heads);
    Connect(heads, turned);
    Connect(turned, matrix, scores.m_IsKeyWeighted ? 1 : 0);
    const TensorShape other = scores.m_IsKeyWeighted ? TensorShape({2, 2, 3}) : TensorShape({2, 2, 5});
    Connect(AddFloatConstant(*network, other, Spread(other.GetNumElements())), matrix, scores.m_IsKeyWeighted ? 0 : 1);
    IConnectableLayer* last = matrix;
    if (scores.m_IsReshapedLast)
    {
        last = network->AddReshapeLayer(ReshapeDescriptor(TensorShape({30})));
        Connect(matrix, last);
    }
    IConnectableLayer* scaled = Binary(scores.m_Operation, scores.m_Factor, {0.3f}, scores.m_FactorInput)(*network);
    Connect(last, scaled, 1 - scores.m_FactorInput);
    Connect(scaled, network->AddOutputLayer(0));
    if (scores.m_IsReadTwice)
    {
        Connect(last, network->AddOutputLayer(1));
    }
    else
    {
        ExpectSame(*network, InputOf(producer), {InputOf(producer).GetShape()}, Tolerance);
    }
    return !Has(*network, LayerType::ElementwiseBinary);
}

} // namespace

TEST(FoldScaleShift, WhatMultipliesScoresGoesIntoTheWeightsOfQueriesOrKeys)
{
    EXPECT_TRUE(IsScaleFolded({}));
    EXPECT_TRUE(IsScaleFolded({.m_IsKeyWeighted = true}));
    EXPECT_TRUE(IsScaleFolded({.m_Factor = TensorShape({1, 1}), .m_FactorInput = 0}));
    EXPECT_TRUE(IsScaleFolded({.m_Operation = BinaryOperation::Div}));
    EXPECT_FALSE(IsScaleFolded({.m_Operation = BinaryOperation::Div, .m_FactorInput = 0}));
    EXPECT_FALSE(IsScaleFolded({.m_Operation = BinaryOperation::Add}));
    EXPECT_FALSE(IsScaleFolded({.m_IsReadTwice = true}));
    EXPECT_FALSE(IsScaleFolded({.m_Factor = TensorShape({1, 1, 1})})); // which a product may have fewer of
    EXPECT_FALSE(IsScaleFolded({.m_Factor = TensorShape({1, 1}), .m_IsReshapedLast = true}));
}

TEST(FoldScaleShift, WhatChangesTheShapeOrIsNotPerChannelStays)
{
    const std::vector<float> four{2.0f, -0.5f, 3.0f, 0.25f};
    const Producer nhwc;
    const Producer product{LayerType::FullyConnected, DataLayout::NHWC, true, true};
    const auto stays = [&](const Producer& producer, const std::function<IConnectableLayer*(INetwork&)>& add)
    { ExpectFolds(producer, LayerType::ElementwiseBinary, add, false); };
    using enum BinaryOperation;
    stays(nhwc, Binary(Mul, TensorShape({1, 1, 1, 1, Channels}), four)); // rank 5
    stays(product, Binary(Add, TensorShape({1, 1, Channels}), four));    // rank 3
    stays(product, Binary(Add, TensorShape({1, 1, 1}), {2.0f}));
    stays(nhwc, Binary(Maximum, TensorShape({Channels}), four));
    stays(nhwc, Binary(Mul, TensorShape({1, 1, 3, Channels}), Spread(12)));
    const Producer nchw{LayerType::Convolution2d, DataLayout::NCHW, false, false};
    INetworkPtr network = INetwork::Create(); // a constant along the width, which is as long as there are channels
    IConnectableLayer* first = AddProducer(*network, nchw);
    IConnectableLayer* second = Binary(Mul, TensorShape({Channels}), four)(*network);
    Connect(AddInput(*network, 0, FloatInfo({1, 3, 4, 6})), first);
    Connect(first, second);
    Connect(second, network->AddOutputLayer(0));
    EXPECT_TRUE(Has(*network, LayerType::ElementwiseBinary));
    ExpectSame(*network, FloatInfo({1, 3, 4, 6}), {{1, 3, 4, 6}}, Tolerance);
}

TEST(FoldScaleShift, DivisionByZeroStays)
{
    INetworkPtr network = INetwork::Create();
    const Producer producer;
    IConnectableLayer* first = AddProducer(*network, producer);
    IConnectableLayer* second = Binary(BinaryOperation::Div, TensorShape({Channels}), {1, 0, 1, 1})(*network);
    Connect(AddInput(*network, 0, InputOf(producer)), first);
    Connect(first, second);
    Connect(second, network->AddOutputLayer(0));
    EXPECT_TRUE(Has(*network, LayerType::ElementwiseBinary));
}

/// Constants below the normal numbers of floats.
constexpr float Tiny[] = {1e-38f, -3e-39f, 3e-42f, 1e-45f};

TEST(FoldScaleShift, FactorsThatTakeWeightsBelowNormalNumbersStay)
{
    for (const Producer& producer : AllProducers())
    {
        SCOPED_TRACE(GetLayerTypeAsCString(producer.m_Type));
        for (const float factor : Tiny)
        {
            const TensorShape one(Dimensionality::Scalar);
            INetworkPtr network = INetwork::Create();
            IConnectableLayer* product = AddProducer(*network, producer);
            IConnectableLayer* smaller = Binary(BinaryOperation::Mul, one, {factor})(*network);
            IConnectableLayer* larger = Binary(BinaryOperation::Mul, one, {1e37f})(*network);
            Connect(AddInput(*network, 0, InputOf(producer)), product);
            Connect(product, smaller);
            Connect(smaller, larger);
            Connect(larger, network->AddOutputLayer(0));
            const std::vector<LayerType> types = FusedTypes(*network);
            EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::ElementwiseBinary), 2) << factor;
            ExpectSame(*network, InputOf(producer), ShapesOf(producer), Tolerance);
        }
    }
}

TEST(FoldScaleShift, AFactorForOneChannelStaysWithTheOthers)
{
    const Producer producer;
    ExpectFolds(producer, LayerType::ElementwiseBinary,
                Binary(BinaryOperation::Mul, TensorShape({Channels}), {1.0f, 2.0f, 1e-38f, 1.0f}), false);
    ExpectFolds(producer, LayerType::ElementwiseBinary,
                Binary(BinaryOperation::Div, TensorShape({Channels}), {1.0f, 2.0f, 1e38f, 1.0f}), false);
    // 0 makes zeros of all weights, which are exact.
    ExpectFolds(producer, LayerType::ElementwiseBinary,
                Binary(BinaryOperation::Mul, TensorShape({Channels}), {1.0f, 2.0f, 0.0f, 1.0f}));
    ExpectFolds(producer, LayerType::ElementwiseBinary,
                Binary(BinaryOperation::Mul, TensorShape({Channels}), {1.0f, 2.0f, 1e-30f, 1.0f}));
}

TEST(FoldScaleShift, AFarFactorThatTakesWeightsBelowNormalNumbersStays)
{
    for (const float factor : {0.5f, 1e-38f})
    {
        INetworkPtr network = INetwork::Create();
        const Producer producer{LayerType::FullyConnected, DataLayout::NHWC, false, false};
        IConnectableLayer* product = AddProducer(*network, producer);
        ReshapeDescriptor descriptor;
        descriptor.m_TargetShape = TensorShape({3, 2, 2});
        IConnectableLayer* reshape = network->AddReshapeLayer(descriptor);
        IConnectableLayer* scaled = Binary(BinaryOperation::Mul, TensorShape({1}), {factor})(*network);
        Connect(AddInput(*network, 0, InputOf(producer)), product);
        Connect(product, reshape);
        Connect(reshape, scaled);
        Connect(scaled, network->AddOutputLayer(0));
        EXPECT_EQ(Has(*network, LayerType::ElementwiseBinary), factor != 0.5f);
    }
}

TEST(FoldScaleShift, WeightsThatAreBelowNormalNumbersAreNoReasonToStay)
{
    for (const float factor : {0.5f, 1e37f})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* product = network->AddFullyConnectedLayer(FullyConnectedDescriptor());
        IConnectableLayer* scaled = Binary(BinaryOperation::Mul, TensorShape({1}), {factor})(*network);
        Connect(AddInput(*network, 0, FloatInfo({1, 4})), product);
        const std::vector<float> weights{0.0f, 1e-40f, -3e-41f, 0.5f};
        Connect(AddFloatConstant(*network, TensorShape({4, 1}), weights), product, 1);
        Connect(product, scaled);
        Connect(scaled, network->AddOutputLayer(0));
        EXPECT_FALSE(Has(*network, LayerType::ElementwiseBinary)) << factor;
    }
}

TEST(FoldBatchNormalization, ScalesThatTakeWeightsBelowNormalNumbersStay)
{
    for (const float gamma : Tiny)
    {
        const Statistics statistics = {{{0, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, gamma, 1}}};
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* product = AddProducer(*network, {});
        IConnectableLayer* normalization = AddNormalization(*network, DataLayout::NHWC, statistics, 0.0f);
        Connect(AddInput(*network, 0, InputOf({})), product);
        Connect(product, normalization);
        Connect(normalization, network->AddOutputLayer(0));
        EXPECT_TRUE(Has(*network, LayerType::BatchNormalization)) << gamma;
    }
}

TEST(FoldScaleShift, ASmallFileCannotAskForMuchMemory)
{
    // A hundred products of the same weights, each of which would want a copy of its own.
    INetworkPtr network = INetwork::Create();
    const std::vector<float> values = Spread(size_t{64} * 64);
    IConnectableLayer* weights = AddFloatConstant(*network, TensorShape({64, 64}), values);
    IConnectableLayer* two = AddFloatConstant(*network, TensorShape(Dimensionality::Scalar), {2.0f});
    for (LayerBindingId i = 0; i < 100; ++i)
    {
        IConnectableLayer* product = network->AddFullyConnectedLayer(FullyConnectedDescriptor());
        IConnectableLayer* scaled =
            network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul));
        Connect(AddInput(*network, i, FloatInfo({1, 64})), product);
        Connect(weights, product, 1);
        Connect(product, scaled);
        Connect(two, scaled, 1);
        Connect(scaled, network->AddOutputLayer(i));
    }
    const std::vector<LayerType> types = FusedTypes(*network);
    EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::ElementwiseBinary), 99);
}

} // namespace tenon::test::fold_weights_test
