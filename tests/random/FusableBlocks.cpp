// SPDX-License-Identifier: Apache-2.0
// See FusableNetwork.hpp. Here: normalizations, attentions and products.
#include "random/FusableNetwork.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenon::test
{

// Normalizations

/// The mean over the last dimension, as a Mean or as a sum and a quotient.
FusableNetwork::Tensor FusableNetwork::Average(const Tensor& input, bool keepDims, bool asSum)
{
    const unsigned int last = input.Rank() - 1;
    INetwork& network = *m_Case.m_Network;
    if (!asSum)
    {
        return Finish(network.AddMeanLayer(MeanDescriptor({last}, keepDims), NextName("mean").c_str()), {input},
                      Float(), false, input.m_Bound);
    }
    ReduceDescriptor descriptor;
    descriptor.m_vAxis = {last};
    descriptor.m_KeepDims = keepDims;
    const double count = input.Shape()[last];
    const Tensor sum = Finish(network.AddReduceLayer(descriptor, NextName("sum").c_str()), {input}, Float(), false,
                              input.m_Bound * count);
    Tensor mean = Binary(BinaryOperation::Div, sum, Constant(TensorShape({1}), DataType::Float32, {count, count}));
    m_Tensors.back().m_Bound = mean.m_Bound = input.m_Bound;
    return mean;
}

/// The input divided by the root of the mean of squares, whose last dimension is there or gone.
FusableNetwork::Tensor FusableNetwork::Normalize(const Tensor& input, const Tensor& squares)
{
    const unsigned int rank = input.Rank();
    Tensor mean = squares;
    const bool isEpsilonFirst = OneIn(2);
    const auto addEpsilon = [&] {
        mean = Binary(BinaryOperation::Add, mean, Constant(TensorShape({1}), DataType::Float32, {0.5, 0.5}));
    };
    if (isEpsilonFirst)
    {
        addEpsilon();
    }
    if (mean.Rank() < rank)
    {
        RunShapes shapes = input.m_Shapes;
        for (TensorShape& shape : shapes)
        {
            shape.SetDimensionSize(rank - 1, 1);
        }
        ExpandDimsDescriptor descriptor;
        descriptor.m_Axis = -1;
        mean = OneIn(2) ? Reshape(mean, shapes)
                        : Move(m_Case.m_Network->AddExpandDimsLayer(descriptor, NextName("view").c_str()), {mean});
    }
    if (!isEpsilonFirst)
    {
        addEpsilon();
    }
    Tensor result;
    if (OneIn(2))
    {
        Tensor factor = Unary(mean, UnaryOperation::Rsqrt);
        m_Tensors.back().m_Bound = factor.m_Bound = 1.5;
        result = OneIn(2) ? Binary(BinaryOperation::Mul, input, factor) : Binary(BinaryOperation::Mul, factor, input);
    }
    else
    {
        result = Binary(BinaryOperation::Div, input, Unary(mean, UnaryOperation::Sqrt));
    }
    return result;
}

bool FusableNetwork::RmsNormalization()
{
    const Tensor* const found =
        Find([](const Tensor& t)
             { return t.m_Type == DataType::Float32 && t.Rank() > 1 && !t.IsFree(t.Rank() - 1) && t.m_Bound < 1e3; });
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = Limit(MaybeView(Tensor(*found)));
    if (input.Rank() < 2 || input.IsFree(input.Rank() - 1))
    {
        return true; // a view all the same
    }
    const Tensor squares =
        OneIn(2) ? Binary(BinaryOperation::Mul, input, input) : Activate(input, ActivationFunction::Square);
    Tensor result = Normalize(input, Average(squares, OneIn(2), OneIn(2)));
    result = MaybeView(result);
    Binary(BinaryOperation::Mul, result,
           Constant(TensorShape({result.IsFree(result.Rank() - 1) ? 1U : result.Shape()[result.Rank() - 1]}),
                    DataType::Float32, {-2.0, 2.0}));
    return true;
}

bool FusableNetwork::LayerNormalizationLongForm()
{
    const Tensor* const found = Find(
        [](const Tensor& t)
        {
            return t.m_Type == DataType::Float32 && t.Rank() > 1 && !t.IsFree(t.Rank() - 1) &&
                   t.Shape()[t.Rank() - 1] > 1 && t.m_Bound < 1e3;
        });
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = Limit(Tensor(*found));
    const bool isUsual = OneIn(2); // as converters write it
    const Tensor mean = Average(input, true, !isUsual && OneIn(2));
    const Tensor centred = Binary(BinaryOperation::Sub, input, mean);
    const Tensor squares = OneIn(2)   ? Binary(BinaryOperation::SqDiff, input, mean)
                           : OneIn(2) ? Binary(BinaryOperation::Mul, centred, centred)
                                      : Activate(centred, ActivationFunction::Square);
    const Tensor result = isUsual ? Binary(BinaryOperation::Mul, centred,
                                           Unary(Binary(BinaryOperation::Add, Average(squares, true, false),
                                                        Constant(TensorShape({1}), DataType::Float32, {0.5, 0.5})),
                                                 UnaryOperation::Rsqrt))
                                  : Normalize(centred, Average(squares, OneIn(2), OneIn(2)));
    const TensorShape channels({input.Shape()[input.Rank() - 1]});
    const Tensor scaled = Binary(BinaryOperation::Mul, result, Constant(channels, DataType::Float32, {-2.0, 2.0}));
    Binary(BinaryOperation::Add, OneIn(4) ? View(scaled) : scaled,
           Constant(TensorShape({1}), DataType::Float32, {-1.0, 1.0}));
    return true;
}

bool FusableNetwork::LayerNormalizationLayer()
{
    const Tensor* const found = Find(
        [](const Tensor& t)
        {
            return t.m_Type == DataType::Float32 && t.Rank() > 1 && !t.IsFree(t.Rank() - 1) &&
                   t.Shape()[t.Rank() - 1] > 4 && t.m_Bound < 100.0;
        });
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = *found;
    LayerNormalizationDescriptor descriptor;
    descriptor.m_Epsilon = 0.5f;
    const TensorShape channels({input.Shape()[input.Rank() - 1]});
    const Tensor made = Finish(
        m_Case.m_Network->AddLayerNormalizationLayer(descriptor, NextName("norm").c_str()),
        {input, Constant(channels, DataType::Float32, {-2.0, 2.0}), Constant(channels, DataType::Float32, {-1.0, 1.0})},
        Float(), false, 30.0);
    Chain(made, Roll(4));
    return true;
}

bool FusableNetwork::SoftmaxLayer()
{
    const Tensor* const found = FindFloat();
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = Chain(Limit(Tensor(*found)), Roll(3));
    SoftmaxDescriptor descriptor;
    descriptor.m_Axis = OneIn(3) ? static_cast<int>(Roll(input.Rank())) : -1;
    const Tensor made = Finish(m_Case.m_Network->AddSoftmaxLayer(descriptor, NextName("softmax").c_str()), {input},
                               Float(), false, 1.0);
    Chain(made, Roll(3));
    return true;
}

// Attentions and products

bool FusableNetwork::Attention()
{
    const unsigned int heads = OneOf({1U, 2U, 4U, 8U});
    const unsigned int queries = OneOf({1U, 7U, 16U, 32U, 40U});
    const unsigned int keys = OneIn(2) ? queries : OneOf({8U, 33U, 64U});
    const unsigned int depth = OneOf({4U, 8U, 20U});
    const std::array<unsigned int, NumRuns> batches{1 + Roll(4), 5 + Roll(4)};
    const bool isFirstLarge = OneIn(2);
    const auto batched = [&](std::initializer_list<unsigned int> sizes)
    {
        RunShapes shapes;
        for (size_t run = 0; run < NumRuns; ++run)
        {
            std::vector<unsigned int> all{batches[isFirstLarge ? 1 - run : run]};
            all.insert(all.end(), sizes);
            shapes[run] = TensorShape(static_cast<unsigned int>(all.size()), all.data());
        }
        return shapes;
    };
    const size_t work = size_t{batches[1]} * heads * queries * keys * depth * 2;
    if (work > 1200000)
    {
        return false;
    }
    m_Work += work / 2;
    INetwork& network = *m_Case.m_Network;
    Tensor q = FloatInput(batched({heads, queries, depth}), 1.0);
    if (OneIn(2))
    {
        q = RandomUnary(q);
    }
    const Tensor k = FloatInput(batched({heads, keys, depth}), 1.0);
    const Tensor v = OneIn(3) ? k : FloatInput(batched({heads, keys, depth}), 1.0);
    const double max = std::max(q.m_Bound, 1.0) * depth;
    Tensor scores = Finish(network.AddBatchMatMulLayer(BatchMatMulDescriptor(false, true), NextName("scores").c_str()),
                           {q, k}, Float(), false, max);
    if (OneIn(2))
    {
        scores = Binary(BinaryOperation::Mul, scores, Constant(TensorShape({1}), DataType::Float32, {0.125, 0.5}));
    }
    const RunShapes whole = scores.m_Shapes;
    const bool isReshaped = OneIn(3);
    if (isReshaped)
    {
        RunShapes merged;
        for (size_t run = 0; run < NumRuns; ++run)
        {
            merged[run] = TensorShape({whole[run][0] * heads, queries, keys});
        }
        scores = Reshape(scores, merged);
    }
    if (OneIn(2))
    {
        const TensorShape mask =
            isReshaped
                ? OneOf({TensorShape({queries, keys}), TensorShape({keys})})
                : OneOf({TensorShape({1, 1, queries, keys}), TensorShape({keys}), TensorShape({heads, 1, keys})});
        const Tensor given = !isReshaped && OneIn(2) ? FloatInput(batched({1, 1, keys}), 4.0)
                                                     : Constant(mask, DataType::Float32, {-4.0, 4.0});
        scores = OneIn(2) ? Binary(BinaryOperation::Add, scores, given) : Binary(BinaryOperation::Add, given, scores);
    }
    SoftmaxDescriptor descriptor;
    descriptor.m_Beta = OneOf({1.0f, 0.5f});
    Tensor weights =
        Finish(network.AddSoftmaxLayer(descriptor, NextName("softmax").c_str()), {scores}, Float(), false, 1.0);
    if (isReshaped)
    {
        weights = Reshape(weights, whole);
    }
    else if (OneIn(4))
    {
        weights = Reshape(weights, whole); // the same shape
    }
    const Tensor made = Finish(network.AddBatchMatMulLayer(BatchMatMulDescriptor(), NextName("attention").c_str()),
                               {weights, v}, Float(), false, v.m_Bound);
    Chain(made, Roll(4));
    return true;
}

/// Products of matrices with layers between them that no workload has all of, in tensors that are cut into strips.
bool FusableNetwork::TiledLayers()
{
    if (!OneIn(2))
    {
        return false; // seldom, as it takes long
    }
    const unsigned int heads = 4 + Roll(5);
    const unsigned int rows = 256;
    const unsigned int depth = 2 + Roll(3);
    RunShapes shapes{TensorShape({heads, rows, depth}), TensorShape({OneIn(2) ? 2U : heads + 1, rows, depth})};
    if (m_Work > 200000 || std::find(m_Made.begin(), m_Made.end(), "TiledLayers") != m_Made.end())
    {
        return false;
    }
    INetwork& network = *m_Case.m_Network;
    const Tensor x = FloatInput(shapes, 1.0);
    const Tensor scores =
        Finish(network.AddBatchMatMulLayer(BatchMatMulDescriptor(false, true), NextName("scores").c_str()), {x, x},
               Float(), false, depth);
    Tensor between =
        Binary(BinaryOperation::Mul, scores,
               Constant(OneIn(2) ? TensorShape({1}) : TensorShape({rows, 1}), DataType::Float32, {0.125, 1.0}));
    if (OneIn(2))
    {
        RunShapes split = between.m_Shapes;
        for (TensorShape& shape : split)
        {
            shape = TensorShape({shape[0], 1, rows, rows});
        }
        const RunShapes whole = between.m_Shapes;
        between = Reshape(between, split);
        between = Reshape(Activate(between, ActivationFunction::TanH), whole);
    }
    const Tensor weights = Finish(network.AddSoftmaxLayer(SoftmaxDescriptor(), NextName("softmax").c_str()), {between},
                                  Float(), false, 1.0);
    const Tensor made = Finish(network.AddBatchMatMulLayer(BatchMatMulDescriptor(), NextName("product").c_str()),
                               {weights, x}, Float(), false, 1.0);
    Chain(made, Roll(3));
    m_Work += 400000;
    return true;
}

/// A product of rows, and the sum with what was there before.
bool FusableNetwork::Residual()
{
    const Tensor* const found = Find(
        [&](const Tensor& t)
        {
            return t.m_Type == DataType::Float32 && t.Rank() >= 2 && !t.IsFree(t.Rank() - 1) && t.m_Bound < 100.0 &&
                   t.Elements() * t.Shape()[t.Rank() - 1] < 600000;
        });
    if (found == nullptr)
    {
        return false;
    }
    Tensor input = *found;
    const unsigned int depth = input.Shape()[input.Rank() - 1];
    m_Work += input.Elements() * depth / 2;
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = OneIn(2);
    descriptor.m_BiasEnabled = OneIn(2);
    descriptor.m_KeepDims = true;
    const bool isSquare = !OneIn(4);
    const unsigned int columns = isSquare ? depth : OneOf({16U, 64U});
    const double max = 1.0 / std::sqrt(static_cast<double>(depth));
    std::vector<Tensor> inputs{input, Constant(descriptor.m_TransposeWeightMatrix ? TensorShape({columns, depth})
                                                                                  : TensorShape({depth, columns}),
                                               DataType::Float32, {-max, max})};
    if (descriptor.m_BiasEnabled)
    {
        inputs.push_back(Constant(TensorShape({columns}), DataType::Float32, {-1.0, 1.0}));
    }
    Tensor made = Finish(m_Case.m_Network->AddFullyConnectedLayer(descriptor, NextName("product").c_str()), inputs,
                         Float(), false, input.m_Bound * max * depth + 1.0);
    if (OneIn(4))
    {
        made = RandomActivation(made);
    }
    Tensor other = input;
    if (!isSquare)
    {
        const Tensor* const same =
            Find([&](const Tensor& t) { return t.m_Type == DataType::Float32 && t.IsSameShape(made); });
        other = *same; // itself at least
    }
    if (OneIn(4)) // both in another shape
    {
        RunShapes shapes;
        if (Merge(made, shapes))
        {
            made = Reshape(made, shapes);
            other = Reshape(other, shapes);
        }
    }
    made = OneIn(2) ? Binary(BinaryOperation::Add, made, other) : Binary(BinaryOperation::Add, other, made);
    Chain(made.m_Bound > 40.0 ? Limit(made) : OneIn(2) ? RandomActivation(made) : made, Roll(3));
    return true;
}

} // namespace tenon::test
