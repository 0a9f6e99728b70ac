// SPDX-License-Identifier: Apache-2.0
// Passes that find HardSwish, GELU, Softmax and affine functions in the long forms that converters write.
#include "optimizer/passes/Formula.hpp"

#include <functional>

namespace tenon::test::fold_patterns_test
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

ActivationFunction FunctionOf(const Formula& formula)
{
    return DescriptorOf(formula).m_Function;
}

} // namespace

TEST(FoldHardSwish, InAnyOrderOfItsFactors)
{
    const std::function<IConnectableLayer*(Formula&, IConnectableLayer*, IConnectableLayer*)> forms[] = {
        [](Formula& f, auto* x, auto* ramp) { return f.Div(f.Mul(x, ramp), 6.0f); },
        [](Formula& f, auto* x, auto* ramp) { return f.Mul(x, f.Mul(ramp, 1.0f / 6.0f)); },
        [](Formula& f, auto* x, auto* ramp) { return f.Mul(f.Div(ramp, 6.0f), x); },
        [](Formula& f, auto* x, auto* ramp) { return f.Mul(f.Mul(x, 0.16666667f), ramp); },
    };
    for (const auto& form : forms)
    {
        for (const bool isMaxMin : {true, false})
        {
            Formula f;
            IConnectableLayer* in = f.Input();
            IConnectableLayer* x = f.Mul(in, in); // a product itself
            IConnectableLayer* sum = f.Add(x, 3.0f);
            IConnectableLayer* ramp =
                isMaxMin ? f.Binary(BinaryOperation::Minimum, f.Binary(BinaryOperation::Maximum, sum, f.Scalar(0.0f)),
                                    f.Scalar(6.0f))
                         : f.Activation(sum, ActivationFunction::BoundedReLu, 6.0f, 0.0f);
            f.Output(form(f, x, ramp));
            ExpectBecomes(f, {LayerType::ElementwiseBinary, LayerType::Activation});
            EXPECT_EQ(FunctionOf(f), ActivationFunction::HardSwish);
        }
    }
}

TEST(FoldHardSwish, OtherConstantsAndReadersStay)
{
    for (const float divisor : {5.0f, 6.001f, 0.0f}) // the last one makes an infinite factor, which is near nothing
    {
        Formula f;
        IConnectableLayer* x = f.Input();
        f.Output(f.Div(f.Mul(x, f.Activation(f.Add(x, 3.0f), ActivationFunction::BoundedReLu, 6.0f, 0.0f)), divisor));
        EXPECT_GT(FusedTypes(f.Get()).size(), 1u);
    }
    Formula other; // of another tensor
    IConnectableLayer* x = other.Input();
    IConnectableLayer* y = other.Unary(UnaryOperation::Abs, x);
    other.Output(
        other.Div(other.Mul(x, other.Activation(other.Add(y, 3.0f), ActivationFunction::BoundedReLu, 6, 0)), 6.0f));
    EXPECT_GT(FusedTypes(other.Get()).size(), 2u);

    Formula read;
    IConnectableLayer* z = read.Input();
    IConnectableLayer* ramp = read.Activation(read.Add(z, 3.0f), ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    read.Output(read.Div(read.Mul(z, ramp), 6.0f));
    read.Output(ramp, 1);
    EXPECT_GT(FusedTypes(read.Get()).size(), 2u);
}

TEST(FoldHardSwish, LayersThatAreToRunElsewhereStay)
{
    Formula f;
    IConnectableLayer* x = f.Input();
    IConnectableLayer* ramp = f.Activation(f.Add(x, 3.0f), ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    ramp->BackendSelectionHint(Optional<BackendId>(BackendId("CpuRef")));
    f.Output(f.Div(f.Mul(x, ramp), 6.0f));
    EXPECT_GT(FusedTypes(f.Get()).size(), 2u);
}

TEST(FoldGelu, TheTanhForms)
{
    constexpr float Root = 0.7978845608f;
    const auto tanh = [](Formula& f, IConnectableLayer* in)
    { return f.Activation(in, ActivationFunction::TanH, 1.0f, 1.0f); };
    const std::function<IConnectableLayer*(Formula&, IConnectableLayer*)> cubes[] = {
        [](Formula& f, auto* x) { return f.Add(x, f.Mul(f.Mul(f.Mul(x, x), x), 0.044715f)); },
        [](Formula& f, auto* x)
        { return f.Add(f.Mul(f.Binary(BinaryOperation::Power, x, f.Scalar(3.0f)), 0.044715f), x); },
        [](Formula& f, auto* x)
        { return f.Add(x, f.Mul(f.Mul(f.Activation(x, ActivationFunction::Square), 0.044715f), x)); },
        [](Formula& f, auto* x) { return f.Mul(x, f.Add(f.Mul(f.Mul(x, x), 0.044715f), 1.0f)); },
    };
    for (const auto& cube : cubes)
    {
        for (const bool halfFirst : {true, false})
        {
            Formula f;
            IConnectableLayer* x = f.Input();
            IConnectableLayer* plus = f.Add(tanh(f, f.Mul(cube(f, x), Root)), 1.0f);
            f.Output(halfFirst ? f.Mul(f.Mul(x, 0.5f), plus) : f.Mul(x, f.Mul(plus, 0.5f)));
            ExpectBecomes(f, {LayerType::Activation});
            EXPECT_EQ(FunctionOf(f), ActivationFunction::Gelu);
        }
    }
    Formula wrong;
    IConnectableLayer* x = wrong.Input();
    IConnectableLayer* inner = wrong.Mul(wrong.Add(x, wrong.Mul(wrong.Mul(wrong.Mul(x, x), x), 0.045f)), Root);
    wrong.Output(wrong.Mul(wrong.Mul(x, 0.5f), wrong.Add(tanh(wrong, inner), 1.0f)));
    EXPECT_GT(FusedTypes(wrong.Get()).size(), 4u);
}

TEST(FoldGelu, TheExactForms)
{
    constexpr float Root = 1.41421356f;
    for (const bool divides : {true, false})
    {
        for (const bool halfFirst : {true, false})
        {
            Formula f;
            IConnectableLayer* x = f.Input();
            IConnectableLayer* inner = divides ? f.Div(x, Root) : f.Mul(x, 1.0f / Root);
            IConnectableLayer* plus = f.Add(f.Unary(UnaryOperation::Erf, inner), 1.0f);
            f.Output(halfFirst ? f.Mul(f.Mul(x, 0.5f), plus) : f.Mul(x, f.Mul(plus, 0.5f)));
            ExpectBecomes(f, {LayerType::Activation});
            EXPECT_EQ(DescriptorOf(f), ActivationDescriptor(ActivationFunction::Gelu, 0.0f, 0.0f));
        }
    }
    Formula other; // erf of another tensor
    IConnectableLayer* x = other.Input();
    IConnectableLayer* y = other.Unary(UnaryOperation::Abs, x);
    other.Output(other.Mul(other.Mul(x, 0.5f), other.Add(other.Unary(UnaryOperation::Erf, other.Div(y, Root)), 1.0f)));
    EXPECT_GT(FusedTypes(other.Get()).size(), 4u);
    Formula scale; // erf(x)
    IConnectableLayer* z = scale.Input();
    scale.Output(scale.Mul(scale.Mul(z, 0.5f), scale.Add(scale.Unary(UnaryOperation::Erf, z), 1.0f)));
    EXPECT_GT(FusedTypes(scale.Get()).size(), 3u);
}

TEST(FoldSoftmax, AlongOneAxis)
{
    const auto make = [](Formula& f, uint32_t axisOfMax, uint32_t axisOfSum, bool keepDims)
    {
        IConnectableLayer* x = f.Input();
        IConnectableLayer* power =
            f.Unary(UnaryOperation::Exp, f.Sub(x, f.Reduce(x, ReduceOperation::Max, axisOfMax, keepDims)));
        IConnectableLayer* result = f.Div(power, f.Reduce(power, ReduceOperation::Sum, axisOfSum, keepDims));
        f.Output(result);
        return power;
    };
    for (const uint32_t axis : {0U, 1U, 2U})
    {
        Formula f;
        make(f, axis, axis, true);
        ExpectBecomes(f, {LayerType::Softmax}, {{2, 3, 8}, {4, 1, 2, 8}});
    }
    Formula mixed;
    make(mixed, 1, 2, true);
    EXPECT_EQ(FusedTypes(mixed.Get()).size(), 5u);
    Formula read;
    read.Output(make(read, 1, 1, true), 1);
    EXPECT_EQ(FusedTypes(read.Get()).size(), 5u);
}

TEST(FoldMulAdd, BecomesABatchNormalization)
{
    const auto make = [](BinaryOperation last, bool isProductFirst)
    {
        Formula f;
        // A product by itself, which a layer with weights could not take.
        IConnectableLayer* x = f.Unary(UnaryOperation::Abs, f.Product(f.Input(), 8, 6));
        IConnectableLayer* product = f.Mul(f.Constant(TensorShape({6}), Spread(6)), x);
        IConnectableLayer* shift = f.Constant(TensorShape({6}), Spread(6));
        f.Output(isProductFirst ? f.Binary(last, product, shift) : f.Binary(last, shift, product));
        return f;
    };
    const std::vector<LayerType> folded = {LayerType::FullyConnected, LayerType::ElementwiseUnary,
                                           LayerType::BatchNormalization};
    ExpectBecomes(make(BinaryOperation::Add, true), folded);
    ExpectBecomes(make(BinaryOperation::Add, false), folded);
    ExpectBecomes(make(BinaryOperation::Sub, true), folded);
    EXPECT_EQ(FusedTypes(make(BinaryOperation::Sub, false).Get()).size(), 4u);
}

TEST(FoldMulAdd, WhatMayBroadcastStays)
{
    Formula unsure; // a last dimension of 1 would be repeated
    IConnectableLayer* x = unsure.Mul(unsure.Input(), unsure.Constant(TensorShape({8}), Spread(8)));
    unsure.Output(unsure.Add(x, unsure.Constant(TensorShape({8}), Spread(8))));
    EXPECT_EQ(FusedTypes(unsure.Get()).size(), 2u);
    ExpectSame(unsure.Get(), FloatInfo({2, 3, 8}), {{2, 3, 8}, {2, 3, 1}}, Tolerance);

    Formula read; // the product is wanted
    IConnectableLayer* y = read.Unary(UnaryOperation::Abs, read.Product(read.Input(), 8, 6));
    IConnectableLayer* product = read.Mul(y, read.Constant(TensorShape({6}), Spread(6)));
    read.Output(read.Add(product, read.Constant(TensorShape({6}), Spread(6))));
    read.Output(product, 1);
    EXPECT_EQ(FusedTypes(read.Get()).size(), 4u);
}

} // namespace tenon::test::fold_patterns_test
