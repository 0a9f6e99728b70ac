// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: TFLite's and StableHLO's operators of no larger family.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Indexing.hpp>
#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Random.hpp>

#include <limits>

namespace tenon::test::infer_miscellaneous_test
{

namespace
{

using enum LayerType;
using Numbers = std::vector<uint32_t>;

CaseInput OfType(CaseInput input, DataType type)
{
    input.m_Info.SetDataType(type);
    return input;
}

StablehloGatherDescriptor MakeGather(Numbers offsetDims, Numbers collapsed, Numbers map, uint32_t vectorDim,
                                     Numbers sizes)
{
    StablehloGatherDescriptor descriptor;
    descriptor.m_OffsetDims = std::move(offsetDims);
    descriptor.m_CollapsedSliceDims = std::move(collapsed);
    descriptor.m_StartIndexMap = std::move(map);
    descriptor.m_IndexVectorDim = vectorDim;
    descriptor.m_SliceSizes = std::move(sizes);
    return descriptor;
}

StablehloScatterDescriptor MakeScatter(Numbers windowDims, Numbers inserted, Numbers map, uint32_t vectorDim)
{
    StablehloScatterDescriptor descriptor;
    descriptor.m_UpdateWindowDims = std::move(windowDims);
    descriptor.m_InsertedWindowDims = std::move(inserted);
    descriptor.m_ScatterDimsToOperandDims = std::move(map);
    descriptor.m_IndexVectorDim = vectorDim;
    return descriptor;
}

StablehloPadDescriptor MakePad(std::vector<int32_t> low, std::vector<int32_t> high, std::vector<int32_t> interior)
{
    StablehloPadDescriptor descriptor;
    descriptor.m_EdgeLow = std::move(low);
    descriptor.m_EdgeHigh = std::move(high);
    descriptor.m_Interior = std::move(interior);
    return descriptor;
}

ReduceWindowDescriptor MakeWindows(Numbers sizes, Numbers strides, Numbers dilations)
{
    ReduceWindowDescriptor descriptor;
    descriptor.m_WindowSizes = std::move(sizes);
    descriptor.m_Strides = std::move(strides);
    descriptor.m_Dilations = std::move(dilations);
    return descriptor;
}

DilateDescriptor MakeDilations(Numbers dilations)
{
    DilateDescriptor descriptor;
    descriptor.m_Dilations = std::move(dilations);
    return descriptor;
}

InferCases ElementCases()
{
    const NullDescriptor none;
    const auto addN = [](uint32_t count) { return Made<AddNDescriptor>([&](auto& d) { d.m_NumInputs = count; }); };
    const auto bucketize = [](std::vector<float> boundaries)
    { return Made<BucketizeDescriptor>([&](auto& d) { d.m_Boundaries = std::move(boundaries); }); };
    const auto fake = [](float min, float max, uint32_t bits)
    {
        return Made<FakeQuantizationDescriptor>(
            [&](auto& d)
            {
                d.m_Min = min;
                d.m_Max = max;
                d.m_NumBits = bits;
            });
    };
    constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
    const CaseInput bytes = OfType(T({256}), DataType::QAsymmS8);
    return {
        Case(AddN, "three", addN(3), {T({2, 3}), T({2, 3}), T({2, 3})}).Gives({"[2,3]"}),
        Case(AddN, "unequal", addN(2), {T({2, 3}), T({3})}).Rejects("one shape"),
        Case(AddN, "missing", addN(2), {T({2, 3}), Absent()}).Rejects("input 1 is not connected"),

        Case(Bitcast, "same size", none, {T({2, 3})}).Gives({"[2,3]"}), // the declared output is Float32 too
        Case(Bitcast, "smaller elements", none, {OfType(T({2, 3}), DataType::Float64)}).Gives({"[2,3,2]"}),
        Case(Bitcast, "larger elements", none, {OfType(T({2, 4}), DataType::Signed8)}).Gives({"[2]"}),
        Case(Bitcast, "not enough", none, {OfType(T({2, 3}), DataType::Signed8)}).Rejects("must have 4 elements"),
        Case(Bitcast, "scalar", none, {OfType(T({}), DataType::Signed8)}).Rejects("last dimension"),
        Case(Bitcast, "rank 9", none, {OfType(T({1, 1, 1, 1, 1, 1, 1, 1}), DataType::Float64)}).Rejects("8 dimensions"),
        Case(Bitcast, "nibbles", none, {OfType(T({8}), DataType::QSymmS4)}).Rejects("4-bit"),

        Case(Bucketize, "ascending", bucketize({-1, 0, 0, 5}), {T({2, 3})}).Gives({"[2,3]"}),
        Case(Bucketize, "none", bucketize({}), {T({})}).Gives({"[]"}),
        Case(Bucketize, "descending", bucketize({1, 0}), {T({2})}).Rejects("boundary 1 is 0"),
        Case(Bucketize, "NaN", bucketize({NaN}), {T({2})}).Rejects("boundary 0"),

        Case(FakeQuantization, "other bits", fake(0, 1, 16), {T({1, 2})}).Gives({"[1,2]"}),
        Case(FakeQuantization, "empty range", fake(1, 1, 8), {T({1})}).Rejects("empty or not finite"),
        Case(FakeQuantization, "NaN", fake(NaN, 1, 8), {T({1})}).Rejects("empty or not finite"),
        Case(FakeQuantization, "too many bits", fake(0, 1, 17), {T({1})}).Rejects("2 to 16"),

        Case(Roll, "two axes", none, {T({2, 3}), T({2}), T({2})}).Gives({"[2,3]"}),
        Case(Roll, "scalars", none, {T({2, 3}), T({}), T({})}).Gives({"[2,3]"}),
        Case(Roll, "unequal", none, {T({2, 3}), T({2}), T({1})}).Rejects("one shift for each axis"),
        Case(Roll, "not flat", none, {T({2, 3}), T({2, 1}), T({2, 1})}).Rejects("flat"),

        Case(Table, "bytes", none, {OfType(T({2, 3}), DataType::QAsymmS8), bytes}).Gives({"[2,3]"}),
        Case(Table, "shorts", none, {OfType(T({2}), DataType::QSymmS16), T({513})}).Gives({"[2]"}),
        Case(Table, "wrong size", none, {OfType(T({2}), DataType::QSymmS16), bytes}).Rejects("513 entries"),

        Case(ZerosLike, "same", none, {T({2, 0})}).Gives({"[2,0]"}),
    };
}

InferCases RandomCases()
{
    const RngBitGeneratorDescriptor philox;
    const auto threeFry = Made<RngBitGeneratorDescriptor>([](auto& d) { d.m_Algorithm = RngAlgorithm::ThreeFry; });
    const TensorShape declared({4, 5});
    return {
        Case(Multinomial, "samples", MultinomialDescriptor(), {T({2, 3}), Shaped({}, std::vector<int32_t>{7})})
            .Gives({"[2,7]"}),
        Case(Multinomial, "rank 1", MultinomialDescriptor(), {T({2}), P({7})}).Rejects("2 dimensions"),
        Case(Multinomial, "negative", MultinomialDescriptor(), {T({2, 3}), P({-1})}).Rejects("-1"),
        Case(Multinomial, "no classes", MultinomialDescriptor(), {T({2, 0}), P({7})}).Rejects("no classes"),

        Case(Random, "shape", RandomDescriptor(), {P({2, 0, 3})}).Gives({"[2,0,3]"}),
        Case(Random, "scalar", RandomDescriptor(), {P({})}).Gives({"[]"}),
        Case(Random, "negative", RandomDescriptor(), {P({2, -3})}).Rejects("-3"),

        Case(RngBitGenerator, "philox", philox, {T({3})}).Declares({{}, declared}).Gives({"[3]", "[4,5]"}),
        Case(RngBitGenerator, "threefry", threeFry, {T({2})}).Declares({{}, declared}).Gives({"[2]", "[4,5]"}),
        Case(RngBitGenerator, "state of 3", threeFry, {T({3})}).Declares({{}, declared}).Rejects("state"),
        Case(RngBitGenerator, "nothing declared", philox, {T({2})}).Rejects("output 1 is not declared"),
    };
}

InferCases SpreadCases()
{
    const auto dilateByInput = Made<DilateDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    const auto windowByInput = Made<ReduceWindowDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    const CaseInput value = T({});
    constexpr uint32_t Largest = std::numeric_limits<uint32_t>::max();
    return {
        Case(Dilate, "two", MakeDilations({2, 3}), {T({3, 4}), value}).Gives({"[5,10]"}),
        Case(Dilate, "nothing", MakeDilations({2, 3}), {T({0, 1}), value}).Gives({"[0,1]"}),
        Case(Dilate, "scalar", MakeDilations({}), {T({}), value}).Gives({"[]"}),
        Case(Dilate, "by input", dilateByInput, {T({3, 4}), value, P({2, 3})})
            .Gives({"[5,10]"})
            .Resolves(MakeDilations({2, 3})),
        Case(Dilate, "zero", dilateByInput, {T({3, 4}), value, P({2, 0})}).Rejects("at least 1"),
        Case(Dilate, "negative", dilateByInput, {T({3, 4}), value, P({2, -1})}).Rejects("-1"),
        Case(Dilate, "too few", MakeDilations({2}), {T({3, 4}), value}).Rejects("1 dilations"),
        Case(Dilate, "two values", MakeDilations({2}), {T({3}), T({2})}).Rejects("value"),
        Case(Dilate, "too large", MakeDilations({Largest}), {T({Largest}), value}).Rejects("too large"),

        Case(ReduceWindow, "plain", MakeWindows({2, 2}, {1, 1}, {1, 1}), {T({3, 3}), value}).Gives({"[2,2]"}),
        Case(ReduceWindow, "rounds down", MakeWindows({3}, {2}, {1}), {T({114}), value}).Gives({"[56]"}),
        Case(ReduceWindow, "dilated", MakeWindows({2, 3}, {2, 1}, {2, 2}), {T({5, 5}), value}).Gives({"[2,1]"}),
        Case(ReduceWindow, "too large", MakeWindows({2}, {1}, {5}), {T({5}), value}).Gives({"[0]"}),
        Case(ReduceWindow, "by input", windowByInput, {T({5}), value, P64({2}), P64({2}), P64({3})})
            .Gives({"[1]"})
            .Resolves(MakeWindows({2}, {2}, {3})),
        Case(ReduceWindow, "no stride", MakeWindows({2}, {0}, {1}), {T({5}), value}).Rejects("strides"),
        Case(ReduceWindow, "too few", MakeWindows({2}, {1}, {1}), {T({5, 5}), value}).Rejects("1 window sizes"),
        Case(ReduceWindow, "two values", MakeWindows({2}, {1}, {1}), {T({5}), T({2})}).Rejects("start from"),

        Case(StablehloPad, "all", MakePad({1, -1}, {0, 2}, {2, 0}), {T({3, 4}), value}).Gives({"[8,5]"}),
        Case(StablehloPad, "cut away", MakePad({-2, 0}, {-2, 0}, {0, 0}), {T({3, 4}), value}).Gives({"[0,0]"}),
        Case(StablehloPad, "from nothing", MakePad({2}, {2}, {3}), {T({0}), value}).Gives({"[4]"}),
        Case(StablehloPad, "negative interior", MakePad({0}, {0}, {-1}), {T({3}), value}).Rejects("negative"),
        Case(StablehloPad, "too few", MakePad({0}, {0}, {0}), {T({3, 3}), value}).Rejects("do not fit"),
        Case(StablehloPad, "two values", MakePad({0}, {0}, {0}), {T({3}), T({2})}).Rejects("value"),
    };
}

InferCases IndexCases()
{
    const StablehloGatherDescriptor slices = MakeGather({2, 3}, {0}, {1, 0}, 2, {1, 2, 2});
    const CaseInput data = T({3, 4, 2});
    const CaseInput indices = T({2, 3, 2});
    return {
        Case(StablehloGather, "slices", slices, {data, indices}).Gives({"[2,3,2,2]"}),
        Case(StablehloGather, "offsets first", MakeGather({0, 2}, {0}, {1, 0}, 2, {1, 2, 2}), {data, indices})
            .Gives({"[2,2,2,3]"}),
        Case(StablehloGather, "vectors first", MakeGather({1}, {0}, {1, 0}, 0, {1, 5}), {T({3, 6}), T({2, 7})})
            .Gives({"[7,5]"}),
        Case(StablehloGather, "single indices", MakeGather({1}, {0}, {0}, 1, {1, 5}), {T({3, 6}), T({7})})
            .Gives({"[7,5]"}),
        Case(StablehloGather, "vector dim", MakeGather({2, 3}, {0}, {1, 0}, 4, {1, 2, 2}), {data, indices})
            .Rejects("index_vector_dim 4"),
        Case(StablehloGather, "vector length", MakeGather({2, 3}, {0}, {1}, 2, {1, 2, 2}), {data, indices})
            .Rejects("2 entries for 1"),
        Case(StablehloGather, "map", MakeGather({2, 3}, {0}, {1, 3}, 2, {1, 2, 2}), {data, indices})
            .Rejects("dimension 3"),
        Case(StablehloGather, "twice", MakeGather({2, 3}, {0}, {1, 1}, 2, {1, 2, 2}), {data, indices})
            .Rejects("there twice"),
        Case(StablehloGather, "slice too large", MakeGather({2, 3}, {0}, {1, 0}, 2, {1, 5, 2}), {data, indices})
            .Rejects("5 elements"),
        Case(StablehloGather, "collapsed", MakeGather({2, 3}, {0}, {1, 0}, 2, {2, 2, 2}), {data, indices})
            .Rejects("in place of 1"),
        Case(StablehloGather, "slice sizes", MakeGather({2, 3}, {0}, {1, 0}, 2, {1, 2}), {data, indices})
            .Rejects("2 slice sizes"),
        Case(StablehloGather, "offset count", MakeGather({2}, {0}, {1, 0}, 2, {1, 2, 2}), {data, indices})
            .Rejects("offset_dims"),
        Case(StablehloGather, "offset order", MakeGather({3, 2}, {0}, {1, 0}, 2, {1, 2, 2}), {data, indices})
            .Rejects("ascending"),
        Case(StablehloGather, "offset range", MakeGather({2, 4}, {0}, {1, 0}, 2, {1, 2, 2}), {data, indices})
            .Rejects("dimension 4"),
        Case(StablehloGather, "rank 9", MakeGather({7, 8}, {0}, {1, 0}, 7, {1, 2, 2}),
             {data, T({1, 1, 1, 1, 1, 1, 1, 2})})
            .Rejects("rank 9"),

        Case(StablehloScatter, "windows", MakeScatter({2, 3}, {0}, {1, 0}, 2), {data, indices, T({2, 3, 2, 2})})
            .Gives({"[3,4,2]"}),
        Case(StablehloScatter, "single elements", MakeScatter({}, {0}, {0}, 1), {T({5}), T({3}), T({3})})
            .Gives({"[5]"}),
        Case(StablehloScatter, "batch", MakeScatter({2, 3}, {0}, {1, 0}, 2), {data, indices, T({2, 4, 2, 2})})
            .Rejects("a window for each"),
        Case(StablehloScatter, "window rank", MakeScatter({2, 3}, {}, {1, 0}, 2), {data, indices, T({2, 3, 2, 2})})
            .Rejects("do not make up the rank"),
        Case(StablehloScatter, "window range", MakeScatter({2, 4}, {0}, {1, 0}, 2), {data, indices, T({2, 3, 2, 2})})
            .Rejects("dimension 4"),
        Case(StablehloScatter, "map", MakeScatter({2, 3}, {0}, {1, 7}, 2), {data, indices, T({2, 3, 2, 2})})
            .Rejects("dimension 7"),
    };
}

} // namespace

static InferCases MakeMiscellaneousCases()
{
    InferCases all;
    for (const InferCases& cases : {ElementCases(), RandomCases(), SpreadCases(), IndexCases()})
    {
        all.insert(all.end(), cases.begin(), cases.end());
    }
    return all;
}

static const InferTable MiscellaneousTable(MakeMiscellaneousCases);

} // namespace tenon::test::infer_miscellaneous_test
