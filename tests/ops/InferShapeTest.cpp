// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: operations that rearrange, repeat or surround elements.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Vision.hpp>

namespace tenon::test::infer_shape_test
{

namespace
{

template <typename D>
D AsInputs(D descriptor = {})
{
    descriptor.m_ParametersAsInputs = true;
    return descriptor;
}

InferCases ReshapeCases()
{
    using enum LayerType;
    const auto to = [](const TensorShape& shape) { return ReshapeDescriptor(shape); };
    const auto open = [&](std::initializer_list<unsigned int> sizes, std::initializer_list<bool> known)
    { return to(TensorShape(sizes, known)); };
    const auto asInputs = AsInputs<ReshapeDescriptor>();
    return {
        Case(Reshape, "known", to({3, 4}), {T({2, 6})}).Gives({"[3,4]"}),
        Case(Reshape, "to scalar", to(TensorShape(Dimensionality::Scalar)), {T({1, 1})}).Gives({"[]"}),
        Case(Reshape, "from scalar", to({1, 1}), {T({})}).Gives({"[1,1]"}),
        Case(Reshape, "one open", open({3, 0}, {true, false}), {T({2, 6})}).Gives({"[3,4]"}).Resolves(to({3, 4})),
        Case(Reshape, "flat", to(TensorShape(Dimensionality::Specified)), {T({2, 6})})
            .Gives({"[12]"})
            .Resolves(to({12})),
        Case(Reshape, "input", asInputs, {T({2, 6}), P({4, -1})}).Gives({"[4,3]"}).Resolves(to({4, 3})),
        Case(Reshape, "empty input", asInputs, {T({1}), P64({})})
            .Gives({"[]"})
            .Resolves(to(TensorShape(Dimensionality::Scalar))),
        Case(Reshape, "zero with one open", asInputs, {T({4, 0}), P({2, -1, 2})})
            .Gives({"[2,0,2]"})
            .Resolves(to({2, 0, 2})),
        Case(Reshape, "zero in both with one open", asInputs, {T({4, 0}), P({0, -1})})
            .Gives({"[0,4]"})
            .Resolves(to({0, 4})),
        Case(Reshape, "zero to zero", to({0, 7}), {T({3, 0})}).Gives({"[0,7]"}),
        Case(Reshape, "zero beside huge", to({0}), {T({4000000000U, 4000000000U, 4000000000U, 0})}).Gives({"[0]"}),
        Case(Reshape, "other number", to({5, 2}), {T({2, 6})}).Rejects("number of elements differs"),
        Case(Reshape, "open does not divide", asInputs, {T({2, 6}), P({5, -1})}).Rejects("number of elements differs"),
        Case(Reshape, "two open", asInputs, {T({2, 6}), P({-1, -1})}).Rejects("more than one dimension open"),
        Case(Reshape, "negative", asInputs, {T({2, 6}), P({-2, -6})}).Rejects("-2"),
        Case(Reshape, "unknown rank", ReshapeDescriptor(), {T({2, 6})}).Rejects("rank of the target"),
        Case(Reshape, "rank 9", asInputs, {T({1}), P({1, 1, 1, 1, 1, 1, 1, 1, 1})}).Rejects("9 elements"),
    };
}

InferCases TransposeCases()
{
    using enum LayerType;
    const auto transpose = [](const PermutationVector& mappings) { return TransposeDescriptor(mappings); };
    const auto asInputs = AsInputs<TransposeDescriptor>();
    return {
        Case(Transpose, "source of each", transpose({0, 3, 1, 2}), {T({1, 2, 3, 4})}).Gives({"[1,4,2,3]"}),
        Case(Permute, "destination of each", PermuteDescriptor({0, 3, 1, 2}), {T({1, 2, 3, 4})}).Gives({"[1,3,4,2]"}),
        Case(Transpose, "scalar", TransposeDescriptor(), {T({})}).Gives({"[]"}),
        Case(Transpose, "rank 8", transpose({7, 6, 5, 4, 3, 2, 1, 0}), {T({1, 2, 3, 4, 5, 6, 7, 8})})
            .Gives({"[8,7,6,5,4,3,2,1]"}),
        Case(Transpose, "input", asInputs, {T({2, 3, 4}), P({-1, 0, 1})})
            .Gives({"[4,2,3]"})
            .Resolves(transpose({2, 0, 1})),
        Case(Transpose, "too short", transpose({1, 0}), {T({2, 3, 4})}).Rejects("mapping of 2"),
        Case(Permute, "too long", PermuteDescriptor({1, 0, 2}), {T({2, 3})}).Rejects("mapping of 3"),
        Case(Transpose, "input too short", asInputs, {T({2, 3, 4}), P({1, 0})}).Rejects("mapping of 2"),
        Case(Transpose, "input twice", asInputs, {T({2, 3}), P({1, -1})}).Rejects("dimension 1 twice"),
        Case(Transpose, "input outside", asInputs, {T({2, 3}), P({0, 2})}).Rejects("axis 2"),
    };
}

InferCases PadCases()
{
    using enum LayerType;
    const auto pad = [](std::vector<std::pair<unsigned int, unsigned int>> list,
                        PaddingMode mode = PaddingMode::Constant) { return PadDescriptor(list, 0, mode); };
    const auto asInputs = AsInputs<PadDescriptor>();
    const auto valueAsInput = Made<PadDescriptor>([](auto& d) { d.m_ValueAsInput = true; }, asInputs);
    return {
        Case(Pad, "each dimension", pad({{0, 1}, {2, 3}}), {T({4, 5})}).Gives({"[5,10]"}),
        Case(Pad, "scalar", pad({}), {T({})}).Gives({"[]"}),
        Case(Pad, "nothing becomes something", pad({{1, 1}}), {T({0})}).Gives({"[2]"}),
        Case(Pad, "input", asInputs, {T({4, 5}), Shaped<int32_t>({2, 2}, {0, 1, 2, 3})})
            .Gives({"[5,10]"})
            .Resolves(pad({{0, 1}, {2, 3}})),
        Case(Pad, "value", valueAsInput, {T({4}), Shaped<int64_t>({1, 2}, {1, 1}, DataType::Signed64), T({})})
            .Gives({"[6]"})
            .Resolves(Made<PadDescriptor>([](auto& d) { d.m_ValueAsInput = true; }, pad({{1, 1}}))),
        Case(Pad, "reflect", pad({{2, 2}}, PaddingMode::Reflect), {T({3})}).Gives({"[7]"}),
        Case(Pad, "symmetric", pad({{3, 3}}, PaddingMode::Symmetric), {T({3})}).Gives({"[9]"}),
        Case(Pad, "reflect nothing", pad({{0, 0}}, PaddingMode::Reflect), {T({0})}).Gives({"[0]"}),
        Case(Pad, "reflect more than there is", pad({{3, 0}}, PaddingMode::Reflect), {T({3})}).Rejects("mirror more"),
        Case(Pad, "symmetric more than there is", pad({{0, 4}}, PaddingMode::Symmetric), {T({3})})
            .Rejects("mirror more"),
        Case(Pad, "too few", pad({{0, 0}}), {T({3, 3})}).Rejects("paddings for 1 dimensions"),
        Case(Pad, "negative", asInputs, {T({4}), Shaped<int32_t>({1, 2}, {-1, 0})}).Rejects("{-1, 0}"),
        Case(Pad, "flat input", asInputs, {T({4}), P({1, 1})}).Rejects("[n,2]"),
        Case(Pad, "value of two elements", valueAsInput, {T({4}), Shaped<int32_t>({1, 2}, {1, 1}), T({2})})
            .Rejects("the value"),
        Case(Pad, "no value", valueAsInput, {T({4}), Shaped<int32_t>({1, 2}, {1, 1}), Absent()}).Rejects("input 2"),
        Case(Pad, "above 32 bits", pad({{0xffffffffU, 0xffffffffU}}), {T({4})}).Rejects("not in 0 to"),
    };
}

InferCases ResizeCases()
{
    using enum LayerType;
    const auto resize = [](uint32_t height, uint32_t width, bool alignCorners = false, bool halfPixel = false)
    {
        return Made<ResizeDescriptor>(
            [&](auto& d)
            {
                d.m_TargetHeight = height;
                d.m_TargetWidth = width;
                d.m_AlignCorners = alignCorners;
                d.m_HalfPixelCenters = halfPixel;
                d.m_DataLayout = DataLayout::NHWC;
            });
    };
    const auto asInputs = AsInputs(resize(0, 0));
    return {
        Case(Resize, "NHWC", resize(7, 8), {T({1, 2, 3, 4})}).Gives({"[1,7,8,4]"}),
        Case(Resize, "NCHW", Made<ResizeDescriptor>([](auto& d) { d.m_DataLayout = DataLayout::NCHW; }, resize(7, 8)),
             {T({1, 2, 3, 4})})
            .Gives({"[1,2,7,8]"}),
        Case(Resize, "input", asInputs, {T({1, 2, 3, 4}), P({7, 8})}).Gives({"[1,7,8,4]"}).Resolves(resize(7, 8)),
        Case(Resize, "to nothing", resize(0, 8), {T({1, 2, 3, 4})}).Rejects("at least 1"),
        Case(Resize, "from nothing", resize(7, 8), {T({1, 0, 3, 4})}).Rejects("no pixels"),
        Case(Resize, "both corners", resize(7, 8, true, true), {T({1, 2, 3, 4})}).Rejects("choose one"),
        Case(Resize, "three sizes", asInputs, {T({1, 2, 3, 4}), P({7, 8, 9})}).Rejects("3 elements"),
        Case(Resize, "negative size", asInputs, {T({1, 2, 3, 4}), P({7, -8})}).Rejects("-8"),
        Case(Resize, "rank 3", resize(7, 8), {T({2, 3, 4})}).Rejects("must have 4 dimensions"),
    };
}

InferCases RepeatCases()
{
    using enum LayerType;
    const auto tile = [](std::vector<uint32_t> multiples) { return TileDescriptor(std::move(multiples)); };
    const auto to = [](const TensorShape& shape) { return BroadcastToDescriptor(shape); };
    const auto valueAsInput = Made<FillDescriptor>([](auto& d) { d.m_ValueAsInput = true; });
    return {
        Case(Tile, "each dimension", tile({2, 1, 3}), {T({2, 3, 4})}).Gives({"[4,3,12]"}),
        Case(Tile, "zero times", tile({2, 0}), {T({2, 3})}).Gives({"[4,0]"}),
        Case(Tile, "input", AsInputs<TileDescriptor>(), {T({2, 3}), P64({2, 2})})
            .Gives({"[4,6]"})
            .Resolves(tile({2, 2})),
        Case(Tile, "too few", tile({2}), {T({2, 3})}).Rejects("1 multiples"),
        Case(Tile, "above 32 bits", tile({0x10000U}), {T({0x10000U})}).Rejects("not in 0 to"),
        Case(Tile, "negative", AsInputs<TileDescriptor>(), {T({2}), P({-1})}).Rejects("-1"),

        Case(BroadcastTo, "ones", to({2, 3, 4}), {T({3, 1})}).Gives({"[2,3,4]"}),
        Case(BroadcastTo, "to nothing", to({3, 0, 2}), {T({3, 1, 2})}).Gives({"[3,0,2]"}),
        Case(BroadcastTo, "input", AsInputs<BroadcastToDescriptor>(), {T({}), P({2, 2})})
            .Gives({"[2,2]"})
            .Resolves(to({2, 2})),
        Case(BroadcastTo, "shrink", to({1, 3}), {T({2, 3})}).Rejects("cannot be broadcast"),
        Case(BroadcastTo, "other size", to({4}), {T({3})}).Rejects("cannot be broadcast"),
        Case(BroadcastTo, "lower rank", to({3}), {T({1, 3})}).Rejects("cannot be broadcast"),
        Case(BroadcastTo, "unknown", to(TensorShape({2, 3}, {true, false})), {T({3})}).Rejects("not fully known"),

        Case(Fill, "shape", FillDescriptor(), {P({2, 0, 3})}).Gives({"[2,0,3]"}),
        Case(Fill, "scalar", FillDescriptor(), {P({})}).Gives({"[]"}),
        Case(Fill, "value", valueAsInput, {P64({2}), T({})}).Gives({"[2]"}),
        Case(Fill, "negative", FillDescriptor(), {P({2, -1})}).Rejects("-1"),
        Case(Fill, "several values", valueAsInput, {P({2}), T({2})}).Rejects("the value"),
        Case(Fill, "no value", valueAsInput, {P({2}), Absent()}).Rejects("input 1"),

        Case(ReverseV2, "same", NullDescriptor(), {T({2, 3}), T({1})}).Gives({"[2,3]"}),
        Case(ReverseV2, "axes of rank 2", NullDescriptor(), {T({2, 3}), T({1, 1})}).Rejects("flat"),
    };
}

} // namespace

static InferCases MakeShapeCases()
{
    InferCases all;
    for (const auto& cases : {ReshapeCases(), TransposeCases(), PadCases(), ResizeCases(), RepeatCases()})
    {
        all.insert(all.end(), cases.begin(), cases.end());
    }
    return all;
}

static const InferTable ShapeTable(MakeShapeCases);

} // namespace tenon::test::infer_shape_test
