// SPDX-License-Identifier: Apache-2.0
// Passes that find LayerNormalization and InstanceNormalization in the long forms that converters write.
#include "optimizer/passes/Formula.hpp"

namespace tenon::test::fold_normalization_test
{

using testing::ElementsAre;

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
    // The quotient alone may be one that subtracts no mean.
    const auto stays = [](const Formula& f)
    {
        const auto optimized = OptimizeFor(f.Get(), true);
        for (const auto& layer : static_cast<const OptimizedNetwork&>(*optimized).GetGraph().Layers())
        {
            EXPECT_FALSE(layer->GetType() == LayerType::LayerNormalization &&
                         layer->Descriptor<LayerNormalizationDescriptor>().m_SubtractMean);
        }
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

namespace
{

/// How Keras 3 writes a LayerNormalization: multiplied out. Null factors are left out.
struct MultipliedOut
{
    bool m_HasScale = true;
    bool m_HasBias = true;
    bool m_IsDifference = false; ///< bias - mean * s, in place of -mean * s + bias

    IConnectableLayer* Make(Formula& f, IConnectableLayer* x, unsigned int size, const std::vector<int32_t>& axes) const
    {
        IConnectableLayer* const mean = f.Mean(x, axes);
        IConnectableLayer* const variance = f.Mean(f.Binary(BinaryOperation::SqDiff, x, mean), axes);
        IConnectableLayer* s = f.Unary(UnaryOperation::Rsqrt, f.Add(variance, 0.001f));
        s = m_HasScale ? f.Mul(s, f.Constant(TensorShape({size}), Spread(size))) : s;
        IConnectableLayer* const bias = f.Constant(TensorShape({size}), Ramp(size, -1.0f, 0.25f));
        if (m_IsDifference)
        {
            return f.Add(f.Sub(bias, f.Mul(s, mean)), f.Mul(s, x));
        }
        IConnectableLayer* const shift = f.Mul(f.Unary(UnaryOperation::Neg, mean), s);
        return f.Add(f.Mul(x, s), m_HasBias ? f.Add(shift, bias) : shift);
    }
};

} // namespace

TEST(FoldLayerNormalization, MultipliedOut)
{
    const MultipliedOut forms[] = {{true, true}, {true, false}, {false, true}, {false, false}, {true, true, true}};
    for (const MultipliedOut& form : forms)
    {
        Formula f;
        f.Output(form.Make(f, f.Product(f.Input(), 8, 6), 6, {-1}));
        EXPECT_THAT(FusedTypes(f.Get()), ElementsAre(LayerType::FullyConnected, LayerType::LayerNormalization));
        ExpectSame(f.Get(), FloatInfo({2, 3, 8}), Shapes, Tolerance);
    }
}

TEST(FoldLayerNormalization, MultipliedOutOfAnotherKindStays)
{
    const auto stays = [](const Formula& f)
    {
        const std::vector<LayerType> types = FusedTypes(f.Get());
        EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::LayerNormalization), 0);
        ExpectSame(f.Get(), FloatInfo({2, 3, 8}), {{2, 3, 8}, {1, 8}}, Tolerance);
    };
    Formula unsure; // a last dimension of 1 would be repeated
    unsure.Output(MultipliedOut().Make(unsure, unsure.Input(), 8, {-1}));
    stays(unsure);
    Formula other; // two numbers for the scale
    IConnectableLayer* x = other.Product(other.Input(), 8, 6);
    IConnectableLayer* mean = other.Mean(x, {-1});
    IConnectableLayer* root = other.Unary(
        UnaryOperation::Rsqrt, other.Add(other.Mean(other.Binary(BinaryOperation::SqDiff, x, mean), {-1}), 0.001f));
    IConnectableLayer* shift = other.Mul(other.Unary(UnaryOperation::Neg, mean), other.Mul(root, 2.0f));
    other.Output(other.Add(other.Mul(x, root), shift));
    stays(other);
    Formula plus; // the mean is added, not subtracted
    x = plus.Product(plus.Input(), 8, 6);
    mean = plus.Mean(x, {-1});
    root = plus.Unary(UnaryOperation::Rsqrt,
                      plus.Add(plus.Mean(plus.Binary(BinaryOperation::SqDiff, x, mean), {-1}), 0.001f));
    plus.Output(plus.Add(plus.Mul(x, root), plus.Mul(mean, root)));
    stays(plus);
    Formula read; // the shift is wanted
    x = read.Product(read.Input(), 8, 6);
    mean = read.Mean(x, {-1});
    root = read.Unary(UnaryOperation::Rsqrt,
                      read.Add(read.Mean(read.Binary(BinaryOperation::SqDiff, x, mean), {-1}), 0.001f));
    shift = read.Mul(read.Unary(UnaryOperation::Neg, mean), root);
    read.Output(read.Add(read.Mul(x, root), shift));
    read.Output(shift, 1);
    const std::vector<LayerType> types = FusedTypes(read.Get());
    EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::LayerNormalization), 0);
}

} // namespace tenon::test::fold_normalization_test
