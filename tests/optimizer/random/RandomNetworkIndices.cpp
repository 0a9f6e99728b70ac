// SPDX-License-Identifier: Apache-2.0
// The makers of RandomNetwork whose layers read indices or shapes as values, choose elements, or give shapes that only
// a run knows.
#include "optimizer/random/RandomNetwork.hpp"
#include "optimizer/random/RandomShapes.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::test
{

namespace
{

constexpr float AnyInteger = 4e9f; // a bound that keeps floats made of them from being read on

std::vector<uint32_t> CountFrom(uint32_t first, unsigned int count)
{
    std::vector<uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

} // namespace

RandomNetwork::Tensor RandomNetwork::Reshaped(const Tensor& input, const TensorShape& shape)
{
    Move(m_Network->AddReshapeLayer(ReshapeDescriptor(shape), m_Name.c_str()), input);
    return m_Tensors.back();
}

// Shapes as values

TENON_RANDOM_KIND(RankOf)
{
    const Tensor input = *Find([](const Tensor&) { return true; });
    FinishAs(m_Network->AddRankLayer(m_Name.c_str()), {input},
             {{TensorShape(Dimensionality::Scalar), DataType::Signed32}});
    Tensor rank{m_Unread.back(), TensorShape(Dimensionality::Scalar), DataType::Signed32, true, 8.0f};
    Reshaped(rank, TensorShape({1}));
    return true;
}

TENON_RANDOM_KIND(ShapeAsValues)
{
    const Tensor input = *Find([](const Tensor&) { return true; });
    FinishAs(m_Network->AddShapeLayer(m_Name.c_str()), {input},
             {{TensorShape({input.m_Shape.GetNumDimensions()}), DataType::Signed32, true, 1e4f}});
    return true;
}

TENON_RANDOM_KIND(BroadcastArgs)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const TensorShape length({input.m_Shape.GetNumDimensions()});
    FinishAs(m_Network->AddShapeLayer(m_Name.c_str()), {input}, {{length, DataType::Signed32, true, 1e4f}});
    const Tensor shape = m_Tensors.back();
    FinishAs(m_Network->AddBroadcastArgsLayer(m_Name.c_str()), {Ints({1}, TensorShape({1})), shape},
             {{length, DataType::Signed32, true, 1e4f}});
    const Tensor broadcast = m_Tensors.back();
    BroadcastToDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    FinishAs(m_Network->AddBroadcastToLayer(descriptor, m_Name.c_str()),
             {Constant(TensorShape({1}), 2.0f, true), broadcast}, {{input.m_Shape, DataType::Float32, true, 2.0f}});
    return true;
}

TENON_RANDOM_KIND(Fill)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    FinishAs(m_Network->AddShapeLayer(m_Name.c_str()), {input},
             {{TensorShape({input.m_Shape.GetNumDimensions()}), DataType::Signed32, true, 1e4f}});
    const Tensor shape = m_Tensors.back();
    FinishAs(m_Network->AddFillLayer(FillDescriptor(1.5f), m_Name.c_str()), {shape},
             {{input.m_Shape, DataType::Float32, true, 1.5f}});
    return true;
}

TENON_RANDOM_KIND(Range)
{
    const unsigned int count = 2 + Roll(4);
    const auto number = [&](int32_t value) { return Ints({value}, TensorShape({1})); };
    FinishAs(m_Network->AddRangeLayer(m_Name.c_str()),
             {number(1), number(static_cast<int32_t>(1 + 2 * count)), number(2)},
             {{TensorShape({count}), DataType::Signed32, true, 16.0f}});
    return true;
}

TENON_RANDOM_KIND(OneHot)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::Signed32 && t.m_Shape.GetNumDimensions() < 4; });
    const Tensor indices = x != nullptr ? *x : Ints({0, 2, 3}, TensorShape({3}));
    std::vector<unsigned int> sizes = SizesOf(indices.m_Shape);
    sizes.push_back(3);
    FinishAs(m_Network->AddOneHotLayer(OneHotDescriptor(), m_Name.c_str()),
             {indices, Ints({3}, TensorShape({1})), Constant(TensorShape({1}), 2.0f, true),
              Constant(TensorShape({1}), 2.0f, true)},
             {{ShapeOf(sizes), DataType::Float32, true, 2.0f}});
    return true;
}

// Random numbers, which are the same in every run

TENON_RANDOM_KIND(RandomNumbers)
{
    RandomDescriptor descriptor;
    descriptor.m_Seed = Roll(3);
    descriptor.m_Seed2 = 7;
    FinishAs(m_Network->AddRandomLayer(descriptor, m_Name.c_str()), {Ints({2, 3, 4}, TensorShape({3}))},
             {{TensorShape({2, 3, 4})}});
    return true;
}

TENON_RANDOM_KIND(RandomBits)
{
    const std::vector<uint64_t> state = {1 + Roll(3), 5};
    RngBitGeneratorDescriptor descriptor;
    descriptor.m_Algorithm = Flip() ? RngAlgorithm::Philox : RngAlgorithm::ThreeFry;
    const TensorInfo info({2}, DataType::Unsigned64, 0.0f, 0, true);
    FinishAs(m_Network->AddRngBitGeneratorLayer(descriptor, m_Name.c_str()), {AddBytes(info, state.data())},
             {{TensorShape({2}), DataType::Unsigned64, true, AnyInteger},
              {TensorShape({2, 3}), DataType::Signed32, true, AnyInteger}});
    return true;
}

TENON_RANDOM_KIND(Multinomial)
{
    const Tensor* x = FindFloat(true, 2);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    MultinomialDescriptor descriptor;
    descriptor.m_Seed = 3;
    FinishAs(m_Network->AddMultinomialLayer(descriptor, m_Name.c_str()), {input, Ints({3}, TensorShape({1}))},
             {{TensorShape({input.m_Shape[0], 3}), DataType::Signed32, true, 1e4f}});
    return true;
}

// Slices by index

TENON_RANDOM_KIND(UpdateSlice)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    const TensorShape update = Resized(input.m_Shape, rank - 1, 1);
    FinishAs(m_Network->AddDynamicUpdateSliceLayer(m_Name.c_str()),
             {input, Constant(update, 2.0f, true), Ints(std::vector<int32_t>(rank, 1), TensorShape({rank}))},
             {{input.m_Shape, DataType::Float32, input.m_IsExact, std::max(input.m_Bound, 2.0f)}});
    return true;
}

TENON_RANDOM_KIND(GatherNd)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const auto last = static_cast<int32_t>(input.m_Shape[0] - 1);
    FinishAs(m_Network->AddGatherNdLayer(m_Name.c_str()), {input, Ints({last, 0, last}, TensorShape({3, 1}))},
             {{Resized(input.m_Shape, 0, 3), DataType::Float32, input.m_IsExact, input.m_Bound}});
    return true;
}

TENON_RANDOM_KIND(GatherElements)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int axis = Roll(input.m_Shape.GetNumDimensions());
    const TensorShape shape = Resized(input.m_Shape, axis, 2);
    std::vector<int32_t> indices(shape.GetNumElements());
    std::generate(indices.begin(), indices.end(), [&] { return -static_cast<int32_t>(Roll(2)); });
    FinishAs(m_Network->AddGatherElementsLayer(GatherElementsDescriptor(static_cast<int32_t>(axis)), m_Name.c_str()),
             {input, Ints(indices, shape)}, {{shape, DataType::Float32, input.m_IsExact, input.m_Bound}});
    return true;
}

TENON_RANDOM_KIND(GatherFree)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    StablehloGatherDescriptor descriptor;
    descriptor.m_OffsetDims = CountFrom(1, rank - 1);
    descriptor.m_CollapsedSliceDims = {0};
    descriptor.m_StartIndexMap = {0};
    descriptor.m_IndexVectorDim = 1;
    descriptor.m_SliceSizes = SizesOf(Resized(input.m_Shape, 0, 1));
    FinishAs(m_Network->AddStablehloGatherLayer(descriptor, m_Name.c_str()),
             {input, Ints({0, static_cast<int32_t>(input.m_Shape[0] - 1)}, TensorShape({2, 1}))},
             {{Resized(input.m_Shape, 0, 2), DataType::Float32, input.m_IsExact, input.m_Bound}});
    return true;
}

TENON_RANDOM_KIND(ScatterNd)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const Tensor updates = Constant(Resized(input.m_Shape, 0, 1), 2.0f, true);
    const bool intoTensor = Flip();
    std::vector<int32_t> sizes;
    for (const unsigned int size : SizesOf(input.m_Shape))
    {
        sizes.push_back(static_cast<int32_t>(size));
    }
    const Tensor target = intoTensor ? input : Ints(sizes, TensorShape({static_cast<unsigned int>(sizes.size())}));
    FinishAs(m_Network->AddScatterNdLayer(ScatterNdDescriptor(ScatterNdFunction::Update, intoTensor), m_Name.c_str()),
             {target, Ints({static_cast<int32_t>(input.m_Shape[0] - 1)}, TensorShape({1, 1})), updates},
             {{input.m_Shape, DataType::Float32, input.m_IsExact || !intoTensor, std::max(input.m_Bound, 2.0f)}});
    return true;
}

TENON_RANDOM_KIND(ScatterElements)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int axis = Roll(input.m_Shape.GetNumDimensions());
    const TensorShape shape = Resized(input.m_Shape, axis, 2);
    std::vector<int32_t> indices(shape.GetNumElements());
    std::generate(indices.begin(), indices.end(), [&] { return -static_cast<int32_t>(Roll(2)); });
    const ScatterElementsDescriptor descriptor(static_cast<int32_t>(axis),
                                               Flip() ? ScatterNdFunction::Update : ScatterNdFunction::Max);
    FinishAs(m_Network->AddScatterElementsLayer(descriptor, m_Name.c_str()),
             {input, Ints(indices, shape), Constant(shape, 2.0f, true)},
             {{input.m_Shape, DataType::Float32, input.m_IsExact, std::max(input.m_Bound, 2.0f)}});
    return true;
}

TENON_RANDOM_KIND(ScatterFree)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    StablehloScatterDescriptor descriptor;
    descriptor.m_Function = ScatterNdFunction::Max;
    descriptor.m_UpdateWindowDims = CountFrom(1, input.m_Shape.GetNumDimensions() - 1);
    descriptor.m_InsertedWindowDims = {0};
    descriptor.m_ScatterDimsToOperandDims = {0};
    descriptor.m_IndexVectorDim = 1;
    FinishAs(m_Network->AddStablehloScatterLayer(descriptor, m_Name.c_str()),
             {input, Ints({0}, TensorShape({1, 1})), Constant(Resized(input.m_Shape, 0, 1), 2.0f, true)},
             {{input.m_Shape, DataType::Float32, input.m_IsExact, std::max(input.m_Bound, 2.0f)}});
    return true;
}

TENON_RANDOM_KIND(LookUp)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    FinishAs(m_Network->AddEmbeddingLookupLayer(m_Name.c_str()),
             {Ints({static_cast<int32_t>(input.m_Shape[0] - 1), 0}, TensorShape({2})), input},
             {{Resized(input.m_Shape, 0, 2), DataType::Float32, input.m_IsExact, input.m_Bound}});
    return true;
}

TENON_RANDOM_KIND(LookUpBags)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    EmbeddingLookupSparseDescriptor descriptor;
    descriptor.m_Combiner = Flip() ? EmbeddingCombiner::Sum : EmbeddingCombiner::Mean;
    const auto last = static_cast<int32_t>(input.m_Shape[0] - 1);
    FinishAs(m_Network->AddEmbeddingLookupSparseLayer(descriptor, m_Name.c_str()),
             {Ints({last, 0, 0}, TensorShape({3})), Ints({0, 0, 0, 1, 1, 0}, TensorShape({3, 2})),
              Ints({2, 2}, TensorShape({2})), AddFloats(TensorShape({3}), {1.0f, 0.5f, 2.0f}, true, 2.0f), input},
             {{Resized(input.m_Shape, 0, 2), DataType::Float32, false, input.m_Bound * 3.0f}});
    return true;
}

TENON_RANDOM_KIND(LookUpKeys)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const Tensor* found = FindType(DataType::Signed32, 1);
    const Tensor wanted = found != nullptr ? *found : Ints({1, 4}, TensorShape({2}));
    std::vector<int32_t> keys(input.m_Shape[0]);
    std::iota(keys.begin(), keys.end(), 1);
    const unsigned int count = wanted.m_Shape[0];
    FinishAs(m_Network->AddHashtableLookupLayer(m_Name.c_str()),
             {wanted, Ints(keys, TensorShape({input.m_Shape[0]})), input},
             {{Resized(input.m_Shape, 0, count), DataType::Float32, input.m_IsExact, input.m_Bound},
              {TensorShape({count}), DataType::Boolean, true, 1.0f}});
    return true;
}

TENON_RANDOM_KIND(SparseToDense)
{
    const Tensor* x = FindFloat(false, 1);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int count = input.m_Shape[0];
    std::vector<int32_t> places(count);
    std::iota(places.begin(), places.end(), 1);
    FinishAs(m_Network->AddSparseToDenseLayer(m_Name.c_str()),
             {Ints(places, TensorShape({count, 1})), Ints({static_cast<int32_t>(count + 2)}, TensorShape({1})), input,
              Constant(TensorShape({1}), 2.0f, true)},
             {{TensorShape({count + 2}), DataType::Float32, input.m_IsExact, std::max(input.m_Bound, 2.0f)}});
    return true;
}

TENON_RANDOM_KIND(SumSegments)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int count = input.m_Shape[0];
    std::vector<int32_t> numbers(count);
    for (unsigned int i = 0; i < count; ++i)
    {
        numbers[i] = static_cast<int32_t>(i / 2);
    }
    FinishAs(m_Network->AddSegmentSumLayer(m_Name.c_str()), {input, Ints(numbers, TensorShape({count}))},
             {{Resized(input.m_Shape, 0, (count + 1) / 2), DataType::Float32, false, input.m_Bound * 2.0f}});
    return true;
}

TENON_RANDOM_KIND(ReduceSegments)
{
    const Tensor* x = FindFloat();
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int count = input.m_Shape[0];
    std::vector<int32_t> numbers(count);
    std::generate(numbers.begin(), numbers.end(), [&] { return static_cast<int32_t>(Roll(3)) - 1; });
    FinishAs(m_Network->AddUnsortedSegmentLayer(UnsortedSegmentDescriptor(), m_Name.c_str()),
             {input, Ints(numbers, TensorShape({count})), Ints({2}, TensorShape({1}))},
             {{Resized(input.m_Shape, 0, 2), DataType::Float32, false, input.m_Bound * static_cast<float>(count)}});
    return true;
}

// What chooses

TENON_RANDOM_KIND(TopK)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int axis = Roll(input.m_Shape.GetNumDimensions());
    const unsigned int count = std::min(2U, input.m_Shape[axis]);
    const TensorShape shape = Resized(input.m_Shape, axis, count);
    TopKDescriptor descriptor;
    descriptor.m_Axis = static_cast<int32_t>(axis);
    descriptor.m_Largest = Flip();
    FinishAs(m_Network->AddTopKLayer(descriptor, m_Name.c_str()),
             {input, Ints({static_cast<int32_t>(count)}, TensorShape({1}))},
             {{shape, DataType::Float32, true, input.m_Bound}, {shape, DataType::Signed32, true, 1e4f}});
    return true;
}

TENON_RANDOM_KIND(WhereNotZero)
{
    const Tensor* x = Find([](const Tensor& t)
                           { return t.m_Type == DataType::Boolean || (t.m_Type == DataType::Float32 && t.m_IsExact); });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int rank = input.m_Shape.GetNumDimensions();
    const TensorShape unknown({0, rank}, {false, true});
    FinishAs(m_Network->AddWhereLayer(m_Name.c_str()), {input}, {{unknown, DataType::Signed64}});
    const Tensor places{m_Unread.back(), unknown, DataType::Signed64, true, 0.0f};
    FinishAs(m_Network->AddCastLayer(m_Name.c_str()), {places}, {{unknown}});
    const Tensor floats{m_Unread.back(), unknown, DataType::Float32, true, 0.0f};
    ReduceDescriptor sum;
    sum.m_ReduceOperation = ReduceOperation::Sum;
    sum.m_vAxis = {0};
    sum.m_KeepDims = true;
    FinishAs(m_Network->AddReduceLayer(sum, m_Name.c_str()), {floats},
             {{TensorShape({1, rank}), DataType::Float32, false, AnyInteger}});
    return true;
}

TENON_RANDOM_KIND(Distinct)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int count = input.m_Shape.GetNumElements();
    const Tensor flat = Reshaped(input, TensorShape({count}));
    const TensorShape unknown({0}, {false});
    FinishAs(m_Network->AddUniqueLayer(UniqueDescriptor(), m_Name.c_str()), {flat},
             {{unknown}, {TensorShape({count}), DataType::Signed32, true, 1e4f}});
    const Tensor values{m_Unread.back(), unknown, DataType::Float32, true, input.m_Bound};
    FinishAs(m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg), m_Name.c_str()),
             {values}, {{unknown}});
    const Tensor negated{m_Unread.back(), unknown, DataType::Float32, true, input.m_Bound};
    ReduceDescriptor largest;
    largest.m_ReduceOperation = ReduceOperation::Max;
    largest.m_vAxis = {0};
    largest.m_KeepDims = true;
    FinishAs(m_Network->AddReduceLayer(largest, m_Name.c_str()), {negated},
             {{TensorShape({1}), DataType::Float32, true, input.m_Bound}});
    return true;
}

TENON_RANDOM_KIND(SelectBoxes)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr || x->m_Shape.GetNumElements() % 4 != 0)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int count = input.m_Shape.GetNumElements() / 4;
    const Tensor boxes = Reshaped(input, TensorShape({count, 4}));
    ReduceDescriptor largest;
    largest.m_ReduceOperation = ReduceOperation::Max;
    largest.m_vAxis = {1};
    FinishAs(m_Network->AddReduceLayer(largest, m_Name.c_str()), {boxes},
             {{TensorShape({count}), DataType::Float32, true, input.m_Bound}});
    const Tensor scores = m_Tensors.back();
    NonMaxSuppressionDescriptor descriptor;
    descriptor.m_Soft = Flip();
    std::vector<Tensor> inputs = {boxes, scores, Ints({3}, TensorShape({1})), Scalar(0.5f), Scalar(-1.0f)};
    std::vector<Made> outputs = {{TensorShape({3}), DataType::Signed32, true, 1e4f}};
    if (descriptor.m_Soft)
    {
        inputs.push_back(Scalar(0.5f));
        outputs.push_back({TensorShape({3}), DataType::Float32, false, input.m_Bound});
    }
    outputs.push_back({TensorShape(Dimensionality::Scalar), DataType::Signed32});
    FinishAs(m_Network->AddNonMaxSuppressionLayer(descriptor, m_Name.c_str()), inputs, outputs);
    return true;
}

TENON_RANDOM_KIND(DetectBoxes)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr || x->m_Shape.GetNumElements() % 4 != 0 || x->m_Bound > 16.0f)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int count = input.m_Shape.GetNumElements() / 4;
    const Tensor boxes = Reshaped(input, TensorShape({1, count, 4}));
    std::vector<float> anchors(size_t{count} * 4); // whose heights and widths may not be negative
    std::generate(anchors.begin(), anchors.end(), [&] { return static_cast<float>(1 + Roll(8)) / 4.0f; });
    DetectionPostProcessDescriptor descriptor;
    descriptor.m_MaxDetections = 3;
    descriptor.m_NumClasses = 2;
    descriptor.m_UseRegularNms = Flip();
    descriptor.m_DetectionsPerClass = 2;
    descriptor.m_NmsScoreThreshold = 0.25f;
    descriptor.m_NmsIouThreshold = 0.5f;
    descriptor.m_ScaleX = descriptor.m_ScaleY = 10.0f;
    descriptor.m_ScaleW = descriptor.m_ScaleH = 5.0f;
    const float bound = 1000.0f;
    FinishAs(m_Network->AddDetectionPostProcessLayer(descriptor, m_Name.c_str()),
             {boxes, Constant(TensorShape({1, count, 3}), 2.0f, true),
              AddFloats(TensorShape({count, 4}), anchors, true, 2.0f)},
             {{TensorShape({1, 3, 4}), DataType::Float32, false, bound},
              {TensorShape({1, 3}), DataType::Float32, true, 2.0f},
              {TensorShape({1, 3}), DataType::Float32, true, 2.0f},
              {TensorShape({1}), DataType::Float32, true, 3.0f}});
    return true;
}

} // namespace tenon::test
