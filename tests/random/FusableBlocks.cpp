// SPDX-License-Identifier: Apache-2.0
// See FusableNetwork.hpp. Here: normalizations, attentions, products, convolutions, and layers that join and cut.
#include "random/FusableNetwork.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::test
{

namespace
{

constexpr size_t MostElementsOfBlock = 40000;

TensorInfo Float()
{
    return TensorInfo(TensorShape(), DataType::Float32);
}

} // namespace

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
    const auto addEpsilon = [&]
    { mean = Binary(BinaryOperation::Add, mean, Constant(TensorShape({1}), DataType::Float32, {0.5, 0.5})); };
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
    const Tensor squares = OneIn(2) ? Binary(BinaryOperation::Mul, input, input)
                                    : Activate(input, ActivationFunction::Square);
    Tensor result = Normalize(input, Average(squares, OneIn(2), OneIn(2)));
    result = MaybeView(result);
    Binary(BinaryOperation::Mul, result, Constant(TensorShape({result.IsFree(result.Rank() - 1) ? 1U
                                                               : result.Shape()[result.Rank() - 1]}),
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
    const Tensor mean = Average(input, true, OneIn(2));
    const Tensor centred = Binary(BinaryOperation::Sub, input, mean);
    const Tensor squares = OneIn(2)   ? Binary(BinaryOperation::SqDiff, input, mean)
                           : OneIn(2) ? Binary(BinaryOperation::Mul, centred, centred)
                                      : Activate(centred, ActivationFunction::Square);
    const Tensor result = Normalize(centred, Average(squares, OneIn(2), OneIn(2)));
    const TensorShape channels({input.Shape()[input.Rank() - 1]});
    const Tensor scaled =
        Binary(BinaryOperation::Mul, result, Constant(channels, DataType::Float32, {-2.0, 2.0}));
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
    const Tensor made = Finish(m_Case.m_Network->AddLayerNormalizationLayer(descriptor, NextName("norm").c_str()),
                               {input, Constant(channels, DataType::Float32, {-2.0, 2.0}),
                                Constant(channels, DataType::Float32, {-1.0, 1.0})},
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
    const size_t work = size_t{m_Batch[0]} * heads * queries * keys * depth * 2;
    const size_t workOfOther = size_t{m_Batch[1]} * heads * queries * keys * depth * 2;
    if (std::max(work, workOfOther) > 1500000)
    {
        return false;
    }
    m_Work += work;
    INetwork& network = *m_Case.m_Network;
    const Tensor q = Chain(FloatInput(Batched({heads, queries, depth}), 1.0), Roll(2));
    const Tensor k = FloatInput(Batched({heads, keys, depth}), 1.0);
    const Tensor v = OneIn(3) ? k : FloatInput(Batched({heads, keys, depth}), 1.0);
    if (q.Rank() != 4 || q.m_Shapes != Batched({heads, queries, depth}))
    {
        return false;
    }
    const double most = std::max(q.m_Bound, 1.0) * depth;
    Tensor scores = Finish(network.AddBatchMatMulLayer(BatchMatMulDescriptor(false, true), NextName("scores").c_str()),
                           {q, k}, Float(), false, most);
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
        const TensorShape mask = isReshaped ? OneOf({TensorShape({queries, keys}), TensorShape({keys})})
                                            : OneOf({TensorShape({1, 1, queries, keys}), TensorShape({keys}),
                                                     TensorShape({heads, 1, keys})});
        const Tensor given = !isReshaped && OneIn(2) ? FloatInput(Batched({1, 1, keys}), 4.0)
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
bool FusableNetwork::Strips()
{
    if (!OneIn(2))
    {
        return false; // seldom, as it takes long
    }
    const unsigned int heads = 4 + Roll(5);
    const unsigned int rows = 256;
    const unsigned int depth = 2 + Roll(3);
    RunShapes shapes{TensorShape({heads, rows, depth}), TensorShape({OneIn(2) ? 2U : heads + 1, rows, depth})};
    if (m_Work > 200000 || std::find(m_Made.begin(), m_Made.end(), "Strips") != m_Made.end())
    {
        return false;
    }
    INetwork& network = *m_Case.m_Network;
    const Tensor x = FloatInput(shapes, 1.0);
    const Tensor scores =
        Finish(network.AddBatchMatMulLayer(BatchMatMulDescriptor(false, true), NextName("scores").c_str()), {x, x},
               Float(), false, depth);
    Tensor between = Binary(BinaryOperation::Mul, scores,
                            Constant(OneIn(2) ? TensorShape({1}) : TensorShape({rows, 1}), DataType::Float32,
                                     {0.125, 1.0}));
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
    const double most = 1.0 / std::sqrt(static_cast<double>(depth));
    std::vector<Tensor> inputs{input, Constant(descriptor.m_TransposeWeightMatrix ? TensorShape({columns, depth})
                                                                                  : TensorShape({depth, columns}),
                                               DataType::Float32, {-most, most})};
    if (descriptor.m_BiasEnabled)
    {
        inputs.push_back(Constant(TensorShape({columns}), DataType::Float32, {-1.0, 1.0}));
    }
    Tensor made = Finish(m_Case.m_Network->AddFullyConnectedLayer(descriptor, NextName("product").c_str()), inputs,
                         Float(), false, input.m_Bound * most * depth + 1.0);
    if (OneIn(4))
    {
        made = RandomActivation(made);
    }
    Tensor other = input;
    if (!isSquare)
    {
        const Tensor* const same = Find([&](const Tensor& t)
                                        { return t.m_Type == DataType::Float32 && t.IsSameShape(made); });
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

// Images

FusableNetwork::Tensor FusableNetwork::Image()
{
    const Tensor* const found =
        Find([](const Tensor& t)
             {
                 return t.m_Type == DataType::Float32 && t.Rank() == 4 && t.m_Bound < 20.0 && t.Shape()[1] > 2 &&
                        t.Shape()[2] > 2 && t.Shape()[3] <= 32 && !t.IsFree(3) && t.Elements() < 20000;
             });
    if (found != nullptr && OneIn(2))
    {
        return *found;
    }
    const unsigned int size = 3 + Roll(12);
    const unsigned int batch = std::min(m_Batch[0], 3U);
    const RunShapes shapes{TensorShape({batch, size, size + 2, OneOf({3U, 8U, 16U})}), TensorShape()};
    RunShapes both{shapes[0], shapes[0]};
    both[1].SetDimensionSize(OneIn(2) ? 0 : 1, both[0][0] + 3 + Roll(8));
    return FloatInput(both, 2.0);
}

FusableNetwork::Tensor FusableNetwork::Convolve(const Tensor& image, unsigned int channels, bool isDepthwise)
{
    INetwork& network = *m_Case.m_Network;
    const unsigned int depth = image.Shape()[3];
    const unsigned int kernel = OneOf({1U, 3U});
    const double terms = static_cast<double>(kernel * kernel) * (isDepthwise ? 1.0 : depth);
    const ValueRange range{-1.0 / std::sqrt(terms), 1.0 / std::sqrt(terms)};
    const double bound = image.m_Bound * std::sqrt(terms) + 1.0;
    m_Work += image.Elements() / depth * channels * static_cast<size_t>(terms) / 2;
    const auto fill = [&](auto& descriptor)
    {
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_PaddingScheme = PaddingScheme::Same;
        descriptor.m_BiasEnabled = OneIn(2);
        std::vector<Tensor> inputs{image, Constant(isDepthwise ? TensorShape({1, kernel, kernel, depth})
                                                               : TensorShape({channels, kernel, kernel, depth}),
                                                   DataType::Float32, range)};
        if (descriptor.m_BiasEnabled)
        {
            inputs.push_back(Constant(TensorShape({isDepthwise ? depth : channels}), DataType::Float32, {-1.0, 1.0}));
        }
        return inputs;
    };
    if (isDepthwise)
    {
        DepthwiseConvolution2dDescriptor descriptor;
        const std::vector<Tensor> inputs = fill(descriptor);
        return Finish(network.AddDepthwiseConvolution2dLayer(descriptor, NextName("depthwise").c_str()), inputs,
                      Float(), false, bound);
    }
    Convolution2dDescriptor descriptor;
    const std::vector<Tensor> inputs = fill(descriptor);
    return Finish(network.AddConvolution2dLayer(descriptor, NextName("convolution").c_str()), inputs, Float(), false,
                  bound);
}

FusableNetwork::Tensor FusableNetwork::Pool(const Tensor& image)
{
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = OneIn(2) ? PoolingAlgorithm::Max : PoolingAlgorithm::Average;
    descriptor.m_PoolWidth = descriptor.m_PoolHeight = 3;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    return Finish(m_Case.m_Network->AddPooling2dLayer(descriptor, NextName("pool").c_str()), {image}, Float(), false,
                  image.m_Bound);
}

FusableNetwork::Tensor FusableNetwork::Join(const std::vector<Tensor>& parts, unsigned int axis)
{
    OriginsDescriptor descriptor(static_cast<uint32_t>(parts.size()), parts[0].Rank());
    descriptor.SetConcatAxis(axis);
    return Move(m_Case.m_Network->AddConcatLayer(descriptor, NextName("join").c_str()), parts);
}

bool FusableNetwork::ConvolutionBlock()
{
    const Tensor image = Image();
    Tensor made = image;
    for (unsigned int i = 0, layers = 1 + Roll(3); i < layers; ++i)
    {
        const bool isDepthwise = OneIn(3);
        const unsigned int channels = isDepthwise || OneIn(2) ? made.Shape()[3] : OneOf({8U, 16U});
        const Tensor before = made;
        made = Convolve(made, channels, isDepthwise);
        if (OneIn(3))
        {
            made = Activate(made, OneOf({ActivationFunction::ReLu, ActivationFunction::TanH}));
        }
        if (made.IsSameShape(before) && OneIn(2))
        {
            made = OneIn(2) ? Binary(BinaryOperation::Add, made, before) : Binary(BinaryOperation::Add, before, made);
        }
        if (OneIn(2))
        {
            made = Activate(made, ActivationFunction::BoundedReLu, 6.0f, 0.0f);
        }
        made = Limit(made);
    }
    if (OneIn(3))
    {
        made = Pool(made);
    }
    Chain(made, Roll(4));
    return true;
}

/// The channels of convolutions and pools joined, which these may write in place.
bool FusableNetwork::JoinedConvolutions()
{
    const Tensor image = Image();
    std::vector<Tensor> parts;
    for (unsigned int i = 0, count = 2 + Roll(3); i < count; ++i)
    {
        switch (Roll(4))
        {
        case 0: parts.push_back(Pool(image)); break;
        case 1: parts.push_back(Convolve(image, image.Shape()[3], true)); break;
        case 2:
            parts.push_back(Activate(Convolve(image, OneOf({4U, 8U, 16U}), false), ActivationFunction::ReLu));
            break;
        default: parts.push_back(Convolve(image, OneOf({4U, 8U, 16U}), false));
        }
    }
    if (OneIn(6))
    {
        parts.push_back(parts[0]); // twice
    }
    const Tensor made = Limit(Join(parts, 3));
    Chain(OneIn(2) ? Pool(made) : made, Roll(4));
    return true;
}

// Joining and cutting

/// Equal parts of a dimension, each with a chain of its own, and some of them together again.
bool FusableNetwork::SplitAndJoin()
{
    const Tensor* const found = FindFloat(MostElementsOfBlock);
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = *found;
    std::vector<std::pair<unsigned int, unsigned int>> ways; // axis and number of parts
    for (unsigned int axis = 0; axis < input.Rank(); ++axis)
    {
        for (unsigned int count = 2; count <= 4; ++count)
        {
            if (input.m_Shapes[0][axis] % count == 0 && input.m_Shapes[1][axis] % count == 0)
            {
                ways.emplace_back(axis, count);
            }
        }
    }
    if (ways.empty())
    {
        return false;
    }
    const auto [axis, count] = ways[Roll(static_cast<unsigned int>(ways.size()))];
    ViewsDescriptor descriptor(count, input.Rank());
    descriptor.m_ParametersAsInputs = true;
    const size_t first = m_Tensors.size();
    IConnectableLayer* const layer = m_Case.m_Network->AddSplitterLayer(descriptor, NextName("split").c_str());
    RunShapes shapes = input.m_Shapes;
    for (TensorShape& shape : shapes)
    {
        shape.SetDimensionSize(axis, shape[axis] / count);
    }
    input.m_Slot->Connect(layer->GetInputSlot(0));
    Ints({static_cast<int32_t>(axis)}, TensorShape({1})).m_Slot->Connect(layer->GetInputSlot(1));
    for (unsigned int i = 0; i < count; ++i)
    {
        AddMade(layer->GetOutputSlot(i), shapes, TypeOf(input), input.m_IsExact, input.m_Bound);
    }
    std::vector<Tensor> parts(m_Tensors.begin() + static_cast<std::ptrdiff_t>(first), m_Tensors.end());
    for (Tensor& part : parts)
    {
        const Tensor made = Chain(part, Roll(4));
        part = made.IsSameShape(part) ? made : part;
    }
    if (OneIn(2))
    {
        Chain(Join(parts, axis), Roll(3));
    }
    return true;
}

/// Whole stretches of memory: rows joined, cut out and stacked.
bool FusableNetwork::Rows()
{
    const Tensor* const found = Find([](const Tensor& t)
                                     { return t.Rank() >= 2 && t.Elements() < MostElementsOfBlock; });
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = *found;
    INetwork& network = *m_Case.m_Network;
    Tensor made = input;
    switch (Roll(4))
    {
    case 0: made = Join({input, input}, Roll(input.Rank())); break;
    case 1:
    {
        const Tensor* const other = Find(
            [&](const Tensor& t)
            { return t.m_Type == input.m_Type && t.IsSameShape(input) && TypeOf(t).IsTypeSpaceMatch(TypeOf(input)); });
        const Tensor second = *other; // itself at least
        if (input.Rank() < 5 && OneIn(2))
        {
            StackDescriptor descriptor;
            descriptor.m_Axis = Roll(2) * input.Rank();
            descriptor.m_NumInputs = 2;
            made = Move(network.AddStackLayer(descriptor, NextName("stack").c_str()), {input, second});
        }
        else
        {
            made = Join({input, second}, Roll(2) * (input.Rank() - 1));
        }
        break;
    }
    default:
    {
        StridedSliceDescriptor descriptor;
        const unsigned int cut = Roll(input.Rank());
        for (unsigned int axis = 0; axis < input.Rank(); ++axis)
        {
            const unsigned int least = std::min(input.m_Shapes[0][axis], input.m_Shapes[1][axis]);
            const bool isCut = axis == cut && least > 1;
            const bool isToEnd = !isCut || OneIn(2);
            descriptor.m_Begin.push_back(isCut && isToEnd ? 1 : 0);
            descriptor.m_End.push_back(isToEnd ? 0 : static_cast<int>(least / 2));
            descriptor.m_Stride.push_back(isCut && OneIn(4) ? 2 : 1);
            descriptor.m_EndMask |= isToEnd ? 1 << axis : 0;
        }
        made = Move(network.AddStridedSliceLayer(descriptor, NextName("slice").c_str()), {input});
    }
    }
    if (made.m_Type == DataType::Float32 && made.m_Bound < 1e3)
    {
        Chain(made, Roll(4));
    }
    return true;
}

bool FusableNetwork::Moves()
{
    const Tensor* const found = Find([](const Tensor& t)
                                     { return t.Rank() >= 2 && t.Elements() < MostElementsOfBlock; });
    if (found == nullptr)
    {
        return false;
    }
    const Tensor input = *found;
    INetwork& network = *m_Case.m_Network;
    std::vector<unsigned int> order(input.Rank());
    for (unsigned int i = 0; i < order.size(); ++i)
    {
        order[i] = i;
    }
    std::swap(order[Roll(input.Rank())], order[Roll(input.Rank())]);
    const PermutationVector mappings(order.data(), static_cast<unsigned int>(order.size()));
    Tensor made = Move(network.AddTransposeLayer(TransposeDescriptor(mappings), NextName("transpose").c_str()), {input});
    if (made.m_Type != DataType::Float32 || made.m_Bound > 1e3)
    {
        return true;
    }
    made = Chain(made, Roll(4));
    if (OneIn(2) && made.Rank() == order.size()) // and back
    {
        made = Move(network.AddTransposeLayer(TransposeDescriptor(mappings), NextName("transpose").c_str()), {made});
        Chain(made, Roll(3));
    }
    return true;
}

} // namespace tenon::test
