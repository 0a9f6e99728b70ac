// SPDX-License-Identifier: Apache-2.0
// Passes that find HardSwish, GELU, Softmax and LayerNormalization in the long forms that converters write.
#include "optimizer/Fusing.hpp"

#include <functional>

namespace tenon::test
{

using testing::ElementsAre;

namespace
{

constexpr double Tolerance = 2e-5;

/// A network that is written as a formula.
class Formula
{
public:
    Formula() : m_Network(INetwork::Create()) {}

    IConnectableLayer* Input(const TensorInfo& info = FloatInfo({2, 3, 8})) { return AddInput(*m_Network, 0, info); }
    IConnectableLayer* Constant(const TensorShape& shape, const std::vector<float>& values)
    {
        return AddFloatConstant(*m_Network, shape, values);
    }
    IConnectableLayer* Scalar(float value) { return Constant(TensorShape(Dimensionality::Scalar), {value}); }

    IConnectableLayer* Binary(BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b)
    {
        IConnectableLayer* layer = m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation));
        Connect(a, layer);
        Connect(b, layer, 1);
        return layer;
    }
    IConnectableLayer* Mul(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Mul, a, b); }
    IConnectableLayer* Mul(IConnectableLayer* a, float b) { return Mul(a, Scalar(b)); }
    IConnectableLayer* Div(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Div, a, b); }
    IConnectableLayer* Div(IConnectableLayer* a, float b) { return Div(a, Scalar(b)); }
    IConnectableLayer* Add(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Add, a, b); }
    IConnectableLayer* Add(IConnectableLayer* a, float b) { return Add(a, Scalar(b)); }
    IConnectableLayer* Sub(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Sub, a, b); }

    IConnectableLayer* Unary(UnaryOperation operation, IConnectableLayer* a)
    {
        return After(a, m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation)));
    }
    IConnectableLayer* Activation(IConnectableLayer* in, ActivationFunction function, float a = 0.0f, float b = 0.0f)
    {
        return After(in, m_Network->AddActivationLayer(ActivationDescriptor(function, a, b)));
    }
    IConnectableLayer* Reduce(IConnectableLayer* in, ReduceOperation operation, uint32_t axis, bool keepDims = true)
    {
        ReduceDescriptor descriptor;
        descriptor.m_ReduceOperation = operation;
        descriptor.m_vAxis = {axis};
        descriptor.m_KeepDims = keepDims;
        return After(in, m_Network->AddReduceLayer(descriptor));
    }
    /// With axes that may count from the end.
    IConnectableLayer* Mean(IConnectableLayer* in, const std::vector<int32_t>& axes, bool keepDims = true)
    {
        MeanDescriptor descriptor;
        descriptor.m_KeepDims = keepDims;
        descriptor.m_ParametersAsInputs = true;
        IConnectableLayer* layer = After(in, m_Network->AddMeanLayer(descriptor));
        const TensorShape shape({static_cast<unsigned int>(axes.size())});
        Connect(AddOwnedConstant(*m_Network, TensorInfo(shape, DataType::Signed32), axes), layer, 1);
        return layer;
    }
    IConnectableLayer* Product(IConnectableLayer* in, unsigned int inputs, unsigned int outputs)
    {
        FullyConnectedDescriptor descriptor;
        descriptor.m_KeepDims = true;
        IConnectableLayer* layer = After(in, m_Network->AddFullyConnectedLayer(descriptor));
        Connect(Constant(TensorShape({inputs, outputs}), Spread(size_t{inputs} * outputs)), layer, 1);
        return layer;
    }
    IConnectableLayer* Reshape(IConnectableLayer* in, const TensorShape& shape)
    {
        return After(in, m_Network->AddReshapeLayer(ReshapeDescriptor(shape)));
    }

    void Output(IConnectableLayer* layer, LayerBindingId id = 0) { Connect(layer, m_Network->AddOutputLayer(id)); }
    const INetwork& Get() const { return *m_Network; }

private:
    static IConnectableLayer* After(IConnectableLayer* in, IConnectableLayer* layer)
    {
        Connect(in, layer);
        return layer;
    }

    INetworkPtr m_Network;
};

const std::vector<TensorShape> Shapes = {{2, 3, 8}, {1, 8}, {4, 1, 2, 8}};

void ExpectBecomes(const Formula& formula, const std::vector<LayerType>& types,
                   const std::vector<TensorShape>& shapes = Shapes)
{
    EXPECT_EQ(FusedTypes(formula.Get()), types);
    ExpectSame(formula.Get(), FloatInfo({2, 3, 8}), shapes, Tolerance);
}

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

namespace
{

enum class SquareForm
{
    SqDiff,
    Mul,
    Square
};

/// (x - mean) / sqrt(variance + 0.001)
IConnectableLayer* Normalize(Formula& f, IConnectableLayer* x, const std::vector<int32_t>& axes, SquareForm form,
                             bool isQuotient, float epsilon = 0.001f)
{
    IConnectableLayer* mean = f.Mean(x, axes);
    IConnectableLayer* difference = f.Sub(x, mean);
    IConnectableLayer* square = form == SquareForm::SqDiff ? f.Binary(BinaryOperation::SqDiff, x, mean)
                                : form == SquareForm::Mul  ? f.Mul(difference, difference)
                                                           : f.Activation(difference, ActivationFunction::Square);
    IConnectableLayer* sum = f.Add(f.Mean(square, axes), epsilon);
    return isQuotient ? f.Div(difference, f.Unary(UnaryOperation::Sqrt, sum))
                      : f.Mul(difference, f.Unary(UnaryOperation::Rsqrt, sum));
}

} // namespace

TEST(FoldLayerNormalization, EveryForm)
{
    for (const SquareForm form : {SquareForm::SqDiff, SquareForm::Mul, SquareForm::Square})
    {
        for (const bool isQuotient : {true, false})
        {
            Formula f;
            f.Output(Normalize(f, f.Input(), {-1}, form, isQuotient));
            ExpectBecomes(f, {LayerType::LayerNormalization});
            Formula two;
            two.Output(Normalize(two, two.Input(), {-1, -2}, form, isQuotient));
            ExpectBecomes(two, {LayerType::LayerNormalization});
        }
    }
}

TEST(FoldLayerNormalization, ScaleAndBiasWhereTheSizeIsSure)
{
    for (const bool isSure : {true, false})
    {
        Formula f;
        IConnectableLayer* x = f.Input();
        if (isSure)
        {
            x = f.Product(x, 8, 6);
        }
        const unsigned int size = isSure ? 6 : 8;
        IConnectableLayer* normal = Normalize(f, x, {-1}, SquareForm::SqDiff, false);
        IConnectableLayer* scaled = f.Mul(normal, f.Constant(TensorShape({size}), Spread(size)));
        f.Output(f.Add(f.Constant(TensorShape({size}), Spread(size)), scaled));
        const std::vector<LayerType> types = FusedTypes(f.Get());
        if (isSure)
        {
            EXPECT_THAT(types, ElementsAre(LayerType::FullyConnected, LayerType::LayerNormalization));
        }
        else
        {
            // A last dimension of 1 would be repeated.
            EXPECT_THAT(types, ElementsAre(LayerType::LayerNormalization, LayerType::ElementwiseBinary,
                                           LayerType::ElementwiseBinary));
        }
        ExpectSame(f.Get(), FloatInfo({2, 3, 8}),
                   isSure ? Shapes : std::vector<TensorShape>{{2, 3, 8}, {2, 3, 1}, {1, 8}}, Tolerance);
    }
}

TEST(FoldLayerNormalization, AxesFromTheFrontAreRightForEveryRank)
{
    for (const bool isSure : {true, false})
    {
        Formula f;
        IConnectableLayer* x = f.Input();
        f.Output(Normalize(f, isSure ? f.Reshape(x, TensorShape({2, 3, 8})) : x, {2}, SquareForm::SqDiff, true));
        const std::vector<LayerType> types = FusedTypes(f.Get());
        EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::LayerNormalization), 1);
        // Of four dimensions it is the third alone that is normalized.
        ExpectSame(f.Get(), FloatInfo({2, 3, 8}),
                   isSure ? std::vector<TensorShape>{{2, 3, 8}, {6, 8}}
                          : std::vector<TensorShape>{{2, 3, 8}, {2, 1, 3, 8}, {2, 3, 4, 2, 5}},
                   Tolerance);
    }
    Formula two;
    two.Output(Normalize(two, two.Input(), {1, 2}, SquareForm::Mul, false));
    ExpectBecomes(two, {LayerType::LayerNormalization}, {{2, 3, 8}, {4, 3, 2, 5}});
}

TEST(FoldLayerNormalization, ScaleAndBiasWhereTheRankIsTheRuns)
{
    // Positions give the last size, but not the rank, as in a language model.
    Formula f;
    IConnectableLayer* x = f.Add(f.Input(), f.Constant(TensorShape({1, 3, 8}), Spread(24)));
    IConnectableLayer* normal = Normalize(f, x, {2}, SquareForm::SqDiff, false);
    IConnectableLayer* scaled = f.Mul(normal, f.Constant(TensorShape({8}), Spread(8)));
    f.Output(f.Add(scaled, f.Constant(TensorShape({8}), Spread(8))));
    ExpectBecomes(f, {LayerType::ElementwiseBinary, LayerType::LayerNormalization},
                  {{2, 3, 8}, {1, 8}, {2, 4, 3, 8}, {5, 1, 3, 1}});
}

TEST(FoldLayerNormalization, HeightAndWidthOfAnImage)
{
    for (const std::vector<int32_t>& axes : {std::vector<int32_t>{1, 2}, std::vector<int32_t>{-2, -3}})
    {
        Formula f;
        IConnectableLayer* x = f.Reshape(f.Input(), TensorShape({2, 2, 4, 3}));
        f.Output(Normalize(f, x, axes, SquareForm::SqDiff, true));
        ExpectBecomes(f, {LayerType::Reshape, LayerType::InstanceNormalization}, {{2, 3, 8}});
    }
    Formula unsure; // of a run's four dimensions they may be height and width, of three not
    unsure.Output(Normalize(unsure, unsure.Input(), {-2, -3}, SquareForm::SqDiff, true));
    EXPECT_GT(FusedTypes(unsure.Get()).size(), 4u);
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

namespace
{

struct ScaledForm
{
    TensorShape m_Shape = {1, 6, 8};
    std::vector<int32_t> m_Axes = {0, 2};
    float m_Shift = 0.0f;
    std::vector<int32_t> m_OtherAxes = {}; ///< of the variance; empty: the same
};

/// x * s + (shift - mean * s), s = 1 / sqrt(variance + 0.001), of what is reshaped first.
void NormalizeByScale(Formula& f, const ScaledForm& form)
{
    const TensorShape& shape = form.m_Shape;
    const TensorShape rows({shape[0], shape[1], 1});
    IConnectableLayer* x = f.Reshape(f.Input(FloatInfo({shape.GetNumElements()})), shape);
    IConnectableLayer* mean = f.Mean(x, form.m_Axes, false);
    IConnectableLayer* square = f.Binary(BinaryOperation::SqDiff, x, f.Reshape(mean, rows));
    IConnectableLayer* variance = f.Mean(square, form.m_OtherAxes.empty() ? form.m_Axes : form.m_OtherAxes, false);
    IConnectableLayer* scale = f.Unary(UnaryOperation::Rsqrt, f.Add(variance, 0.001f));
    IConnectableLayer* shift = f.Sub(f.Scalar(form.m_Shift), f.Mul(mean, scale));
    f.Output(f.Add(f.Mul(x, f.Reshape(scale, rows)), f.Reshape(shift, rows)));
}

} // namespace

TEST(FoldScaledNormalization, WhatKerasWrites)
{
    for (const float shift : {0.0f, 0.75f})
    {
        for (const auto& axes : {std::vector<int32_t>{0, 2}, {2, 0}, {-1, 0}, {2}})
        {
            Formula f;
            const bool isOfOneRow = axes.size() == 1;
            NormalizeByScale(f, {isOfOneRow ? TensorShape({2, 3, 8}) : TensorShape({1, 6, 8}), axes, shift});
            if (isOfOneRow)
            {
                ExpectBecomes(f, {LayerType::Reshape, LayerType::LayerNormalization}, {{2, 3, 8}, {6, 8}});
            }
            else
            {
                ExpectBecomes(f, {LayerType::Reshape, LayerType::LayerNormalization}, {{2, 3, 8}, {1, 48}});
            }
        }
    }
}

TEST(FoldScaledNormalization, WhatIsNoneStays)
{
    // Columns, and a variance of columns beside a mean of rows.
    for (const ScaledForm& form : {ScaledForm{{1, 8, 8}, {0, 1}}, ScaledForm{{1, 8, 8}, {0, 2}, 0.0f, {0, 1}}})
    {
        Formula f;
        NormalizeByScale(f, form);
        const std::vector<LayerType> types = FusedTypes(f.Get());
        EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::LayerNormalization), 0);
    }
}

TEST(FoldLayerNormalization, WhatIsNoneStays)
{
    const auto stays = [](const Formula& f)
    {
        const std::vector<LayerType> types = FusedTypes(f.Get());
        EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::LayerNormalization), 0);
    };
    Formula inner; // not the last dimension
    inner.Output(Normalize(inner, inner.Input(), {-2}, SquareForm::SqDiff, true));
    stays(inner);
    Formula negative;
    negative.Output(Normalize(negative, negative.Input(), {-1}, SquareForm::Mul, true, -0.5f));
    stays(negative);
    Formula read; // the mean is wanted
    IConnectableLayer* x = read.Input();
    IConnectableLayer* mean = read.Mean(x, {-1});
    IConnectableLayer* difference = read.Sub(x, mean);
    IConnectableLayer* sum = read.Add(read.Mean(read.Mul(difference, difference), {-1}), 0.001f);
    read.Output(read.Div(difference, read.Unary(UnaryOperation::Sqrt, sum)));
    read.Output(mean, 1);
    stays(read);
    Formula axes; // two different ones
    IConnectableLayer* y = axes.Input();
    IConnectableLayer* centred = axes.Sub(y, axes.Mean(y, {-1}));
    IConnectableLayer* other = axes.Add(axes.Mean(axes.Mul(centred, centred), {-1, -2}), 0.001f);
    axes.Output(axes.Div(centred, axes.Unary(UnaryOperation::Sqrt, other)));
    stays(axes);
}

} // namespace tenon::test
