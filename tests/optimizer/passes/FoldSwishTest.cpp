// SPDX-License-Identifier: Apache-2.0
// Passes that find SiLU, Mish, hard swish by way of a hard sigmoid, RMS normalization and products with a bias in the
// forms of ONNX exporters.
#include "optimizer/passes/Formula.hpp"

#include <functional>

namespace tenon::test::fold_swish_test
{

using testing::ElementsAre;

namespace
{

ActivationDescriptor DescriptorOf(const Formula& formula)
{
    const auto optimized = OptimizeFor(formula.Get(), true);
    for (const auto& layer : static_cast<const OptimizedNetwork&>(*optimized).GetGraph().Layers())
    {
        if (layer->GetType() == LayerType::Activation)
        {
            return layer->Descriptor<ActivationDescriptor>();
        }
    }
    throw std::runtime_error("no activation");
}

using Layers = std::vector<LayerType>;

} // namespace

TEST(FoldSwish, InBothOrders)
{
    for (const bool isFirst : {true, false})
    {
        Formula f;
        IConnectableLayer* x = f.Input();
        IConnectableLayer* gate = f.Activation(x, ActivationFunction::Sigmoid);
        f.Output(isFirst ? f.Mul(x, gate) : f.Mul(gate, x));
        ExpectBecomes(f, {LayerType::Activation});
        EXPECT_EQ(DescriptorOf(f), ActivationDescriptor(ActivationFunction::Swish, 1.0f));
    }
}

TEST(FoldSwish, WithAFactorInTheGate)
{
    Formula f;
    IConnectableLayer* x = f.Input(FloatInfo({2, 3, 8}));
    f.Output(f.Mul(x, f.Activation(f.Mul(f.Product(x, 8, 8), 1.702f), ActivationFunction::Sigmoid)));
    EXPECT_EQ(FusedTypes(f.Get()).size(), 3u); // another tensor's gate
    Formula own;
    x = own.Product(own.Input(), 8, 8);
    own.Output(own.Mul(x, own.Activation(own.Mul(x, 1.702f), ActivationFunction::Sigmoid)));
    ExpectBecomes(own, {LayerType::FullyConnected, LayerType::Activation});
    EXPECT_EQ(DescriptorOf(own), ActivationDescriptor(ActivationFunction::Swish, 1.702f));
}

TEST(FoldSwish, Mish)
{
    Formula f;
    IConnectableLayer* x = f.Input();
    f.Output(f.Mul(x, f.Activation(f.Activation(x, ActivationFunction::SoftReLu), ActivationFunction::TanH, 1, 1)));
    ExpectBecomes(f, {LayerType::Activation});
    EXPECT_EQ(DescriptorOf(f), ActivationDescriptor(ActivationFunction::Mish));
}

TEST(FoldSwish, GateThatOthersReadStays)
{
    Formula f;
    IConnectableLayer* x = f.Input();
    IConnectableLayer* gate = f.Activation(x, ActivationFunction::Sigmoid);
    f.Output(f.Mul(x, gate));
    f.Output(gate, 1);
    EXPECT_THAT(FusedTypes(f.Get()), ElementsAre(LayerType::Activation, LayerType::ElementwiseBinary));
}

TEST(FoldHardSwish, ByWayOfAHardSigmoid)
{
    const std::function<IConnectableLayer*(Formula&, IConnectableLayer*)> forms[] = {
        [](Formula& f, auto* x)
        {
            return f.Activation(f.Activation(x, ActivationFunction::Linear, 1.0f / 6.0f, 0.5f),
                                ActivationFunction::BoundedReLu, 1.0f, 0.0f);
        },
        [](Formula& f, auto* x)
        { return f.Activation(f.Add(f.Mul(x, 1.0f / 6.0f), 0.5f), ActivationFunction::BoundedReLu, 1.0f, 0.0f); },
        [](Formula& f, auto* x)
        { return f.Activation(f.Div(f.Add(x, 3.0f), 6.0f), ActivationFunction::BoundedReLu, 1.0f, 0.0f); }};
    for (const auto& form : forms)
    {
        Formula f;
        IConnectableLayer* x = f.Product(f.Input(), 8, 8);
        f.Output(f.Mul(x, form(f, x)));
        ExpectBecomes(f, {LayerType::FullyConnected, LayerType::Activation});
        EXPECT_EQ(DescriptorOf(f).m_Function, ActivationFunction::HardSwish);
    }
    // HardSigmoid of other parameters, which are ONNX's defaults.
    Formula other;
    IConnectableLayer* x = other.Product(other.Input(), 8, 8);
    other.Output(other.Mul(x, other.Activation(other.Activation(x, ActivationFunction::Linear, 0.2f, 0.5f),
                                               ActivationFunction::BoundedReLu, 1.0f, 0.0f)));
    EXPECT_EQ(FusedTypes(other.Get()).size(), 4u);
}

TEST(FoldLayerNormalization, RootMeanSquare)
{
    using F = Formula;
    const std::function<IConnectableLayer*(F&, IConnectableLayer*)> squares[] = {
        [](F& f, auto* x) { return f.Mul(x, x); },
        [](F& f, auto* x) { return f.Binary(BinaryOperation::Power, x, f.Scalar(2.0f)); },
        [](F& f, auto* x) { return f.Activation(x, ActivationFunction::Square); }};
    const std::function<IConnectableLayer*(F&, IConnectableLayer*, IConnectableLayer*)> quotients[] = {
        [](F& f, auto* x, auto* sum) { return f.Div(x, f.Unary(UnaryOperation::Sqrt, sum)); },
        [](F& f, auto* x, auto* sum) { return f.Mul(x, f.Unary(UnaryOperation::Rsqrt, sum)); },
        [](F& f, auto* x, auto* sum) { return f.Mul(f.Div(f.Scalar(1.0f), f.Unary(UnaryOperation::Sqrt, sum)), x); }};
    for (const auto& square : squares)
    {
        for (const auto& quotient : quotients)
        {
            F f;
            IConnectableLayer* x = f.Product(f.Input(), 8, 6);
            IConnectableLayer* normal = quotient(f, x, f.Add(f.Mean(square(f, x), {-1}), 0.001f));
            f.Output(f.Mul(f.Constant(TensorShape({6}), Spread(6)), normal));
            ExpectBecomes(f, {LayerType::FullyConnected, LayerType::LayerNormalization});
        }
    }
}

TEST(FoldFullyConnected, ProductsWithABias)
{
    for (const bool isTransposed : {true, false})
    {
        for (const TensorShape& shape : {TensorShape({6}), TensorShape({1, 6})})
        {
            INetworkPtr network = INetwork::Create();
            IConnectableLayer* product = network->AddBatchMatMulLayer(BatchMatMulDescriptor(false, isTransposed));
            Connect(AddInput(*network, 0, FloatInfo({2, 3, 8})), product);
            Connect(AddFloatConstant(*network, isTransposed ? TensorShape({6, 8}) : TensorShape({8, 6}), Spread(48)),
                    product, 1);
            IConnectableLayer* sum =
                network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add));
            Connect(product, sum, isTransposed ? 1 : 0);
            Connect(AddFloatConstant(*network, shape, Spread(6)), sum, isTransposed ? 0 : 1);
            Connect(sum, network->AddOutputLayer(0));
            EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::FullyConnected));
            ExpectSame(*network, FloatInfo({2, 3, 8}), Shapes, Tolerance);
        }
    }
}

TEST(FoldFullyConnected, OtherSumsStay)
{
    // A sum that adds rows or dimensions, and one with one number.
    for (const TensorShape& shape : {TensorShape({3, 6}), TensorShape({1, 1, 1, 1, 6}), TensorShape({1})})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* product = network->AddBatchMatMulLayer(BatchMatMulDescriptor());
        Connect(AddInput(*network, 0, FloatInfo({2, 3, 8})), product);
        Connect(AddFloatConstant(*network, {8, 6}, Spread(48)), product, 1);
        IConnectableLayer* sum = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add));
        Connect(product, sum);
        Connect(AddFloatConstant(*network, shape, Spread(shape.GetNumElements())), sum, 1);
        Connect(sum, network->AddOutputLayer(0));
        EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::BatchMatMul, LayerType::ElementwiseBinary));
    }
}

} // namespace tenon::test::fold_swish_test
