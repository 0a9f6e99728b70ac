// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: Slice and StridedSlice.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <limits>

namespace tenon::test::infer_slice_test
{

namespace
{

using D = StridedSliceDescriptor;

D Strided(std::vector<int> begin, std::vector<int> end, std::vector<int> stride)
{
    return D(begin, end, stride);
}

template <typename Setter>
D With(D descriptor, Setter&& set)
{
    set(descriptor);
    return descriptor;
}

InferCases StridedCases()
{
    constexpr LayerType type = LayerType::StridedSlice;
    constexpr int lowest = std::numeric_limits<int>::min();
    constexpr int highest = std::numeric_limits<int>::max();
    const auto asInputs = With(D(), [](D& d) { d.m_ParametersAsInputs = true; });
    const auto mask = [](int32_t D::*field, int32_t bits, D descriptor)
    {
        descriptor.*field = bits;
        return descriptor;
    };
    return {
        Case(type, "plain", Strided({1, 0}, {3, 2}, {1, 1}), {T({4, 5})})
            .Gives({"[2,2]"})
            .Resolves(Strided({1, 0}, {3, 2}, {1, 1})),
        Case(type, "negative indices", Strided({-3}, {-1}, {1}), {T({4})})
            .Gives({"[2]"})
            .Resolves(Strided({1}, {3}, {1})),
        Case(type, "outside is the edge", Strided({-10}, {10}, {1}), {T({4})})
            .Gives({"[4]"})
            .Resolves(Strided({0}, {4}, {1})),
        Case(type, "extremes", Strided({lowest}, {highest}, {highest}), {T({4})})
            .Gives({"[1]"})
            .Resolves(Strided({0}, {4}, {highest})),
        Case(type, "extremes backward", Strided({highest}, {lowest}, {lowest}), {T({4})})
            .Gives({"[1]"})
            .Resolves(Strided({3}, {-1}, {lowest})),
        Case(type, "stride 2", Strided({0}, {4}, {2}), {T({5})}).Gives({"[2]"}).Resolves(Strided({0}, {4}, {2})),
        Case(type, "stride 3 with rest", Strided({1}, {5}, {3}), {T({5})})
            .Gives({"[2]"})
            .Resolves(Strided({1}, {5}, {3})),
        Case(type, "backward", Strided({-1}, {-5}, {-1}), {T({4})}).Gives({"[4]"}).Resolves(Strided({3}, {-1}, {-1})),
        Case(type, "backward to an index", Strided({3}, {0}, {-1}), {T({4})})
            .Gives({"[3]"})
            .Resolves(Strided({3}, {0}, {-1})),
        Case(type, "backward stride 3", Strided({4}, {-9}, {-3}), {T({5})})
            .Gives({"[2]"})
            .Resolves(Strided({4}, {-1}, {-3})),
        Case(type, "nothing", Strided({3}, {1}, {1}), {T({4})}).Gives({"[0]"}).Resolves(Strided({0}, {0}, {1})),
        Case(type, "nothing backward", Strided({1}, {3}, {-1}), {T({4})})
            .Gives({"[0]"})
            .Resolves(Strided({0}, {0}, {1})),
        Case(type, "of nothing", Strided({0}, {4}, {-1}), {T({0})}).Gives({"[0]"}).Resolves(Strided({0}, {0}, {1})),
        Case(type, "fewer entries than dimensions", Strided({1}, {2}, {1}), {T({3, 4})})
            .Gives({"[1,4]"})
            .Resolves(Strided({1, 0}, {2, 4}, {1, 1})),
        Case(type, "scalar", Strided({}, {}, {}), {T({})}).Gives({"[]"}).Resolves(Strided({}, {}, {})),
        Case(type, "begin mask", mask(&D::m_BeginMask, 1, Strided({2}, {3}, {1})), {T({4})})
            .Gives({"[3]"})
            .Resolves(Strided({0}, {3}, {1})),
        Case(type, "end mask", mask(&D::m_EndMask, 1, Strided({2}, {3}, {1})), {T({4})})
            .Gives({"[2]"})
            .Resolves(Strided({2}, {4}, {1})),
        Case(type, "both masks backward", With(Strided({1}, {2}, {-1}), [](D& d) { d.m_BeginMask = d.m_EndMask = 1; }),
             {T({4})})
            .Gives({"[4]"})
            .Resolves(Strided({3}, {-1}, {-1})),
        Case(type, "shrink", mask(&D::m_ShrinkAxisMask, 1, Strided({1, 0}, {9, 2}, {1, 1})), {T({3, 4})})
            .Gives({"[2]"})
            .Resolves(Strided({1, 0}, {2, 2}, {1, 1})),
        Case(type, "shrink last element", mask(&D::m_ShrinkAxisMask, 1, Strided({-1}, {0}, {1})), {T({4})})
            .Gives({"[]"})
            .Resolves(Strided({3}, {4}, {1})),
        Case(type, "shrink backward", mask(&D::m_ShrinkAxisMask, 1, Strided({-2}, {-3}, {-1})), {T({4})})
            .Gives({"[]"})
            .Resolves(Strided({2}, {3}, {1})),
        Case(type, "shrink with begin mask",
             With(Strided({2}, {3}, {1}), [](D& d) { d.m_ShrinkAxisMask = d.m_BeginMask = 1; }), {T({4})})
            .Gives({"[]"})
            .Resolves(Strided({0}, {1}, {1})),
        Case(type, "new axis", mask(&D::m_NewAxisMask, 0b101, Strided({9, 1, 9}, {9, 3, 9}, {9, 1, 9})), {T({4, 5})})
            .Gives({"[1,2,1,5]"})
            .Resolves(Strided({1, 0}, {3, 5}, {1, 1})),
        Case(type, "new axis wins over shrink",
             With(Strided({0}, {1}, {1}), [](D& d) { d.m_NewAxisMask = d.m_ShrinkAxisMask = 1; }), {T({4})})
            .Gives({"[1,4]"})
            .Resolves(Strided({0}, {4}, {1})),
        Case(type, "ellipsis in the middle", mask(&D::m_EllipsisMask, 0b010, Strided({1, 9, 0}, {2, 9, 1}, {1, 0, 1})),
             {T({3, 4, 5, 6})})
            .Gives({"[1,4,5,1]"})
            .Resolves(Strided({1, 0, 0, 0}, {2, 4, 5, 1}, {1, 1, 1, 1})),
        Case(type, "ellipsis of nothing", mask(&D::m_EllipsisMask, 0b010, Strided({1, 9, 0}, {2, 9, 1}, {1, 1, 1})),
             {T({3, 4})})
            .Gives({"[1,1]"})
            .Resolves(Strided({1, 0}, {2, 1}, {1, 1})),
        Case(type, "ellipsis and new axis",
             With(Strided({0, 0, 1}, {0, 0, 2}, {1, 1, 1}),
                  [](D& d)
                  {
                      d.m_EllipsisMask = 0b001;
                      d.m_NewAxisMask = 0b011;
                  }),
             {T({2, 3, 4})})
            .Gives({"[2,3,1,1]"})
            .Resolves(Strided({0, 0, 1}, {2, 3, 2}, {1, 1, 1})),
        Case(type, "masks count entries, not dimensions",
             With(Strided({0, 0, 1}, {0, 0, 1}, {1, 1, 1}),
                  [](D& d)
                  {
                      d.m_EllipsisMask = 0b001;
                      d.m_EndMask = 0b100;
                      d.m_ShrinkAxisMask = 0b010;
                  }),
             {T({2, 3, 4})})
            .Gives({"[2,3]"})
            .Resolves(Strided({0, 0, 1}, {2, 1, 4}, {1, 1, 1})),
        Case(type, "offset", With(Strided({-3, 1}, {2, 2}, {1, 1}), [](D& d) { d.m_Offset = true; }), {T({4, 5})})
            .Gives({"[2,2]"})
            .Resolves(Strided({1, 1}, {3, 3}, {1, 1})),
        Case(type, "offset backward", With(Strided({2}, {-3}, {-1}), [](D& d) { d.m_Offset = true; }), {T({4})})
            .Gives({"[3]"})
            .Resolves(Strided({2}, {-1}, {-1})),
        Case(type, "offset behind the edge", With(Strided({2}, {3}, {1}), [](D& d) { d.m_Offset = true; }), {T({4})})
            .Gives({"[3]"})
            .Resolves(Strided({2}, {5}, {1})),
        Case(type, "offset of 32 bits", With(Strided({0}, {lowest}, {-1000000000}), [](D& d) { d.m_Offset = true; }),
             {T({1})})
            .Gives({"[3]"})
            .Resolves(Strided({0}, {lowest}, {-1000000000})),
        Case(type, "offset above 32 bits", With(Strided({2}, {highest}, {1000000000}), [](D& d) { d.m_Offset = true; }),
             {T({4})})
            .Gives({"[3]"})
            .Resolves(Strided({2}, {highest}, {1000000000})),
        Case(type, "offset with end mask",
             With(Strided({-1}, {-3}, {-1}),
                  [](D& d)
                  {
                      d.m_Offset = true;
                      d.m_EndMask = 1;
                  }),
             {T({3})})
            .Gives({"[3]"})
            .Resolves(Strided({2}, {-1}, {-1})),
        Case(type, "ellipsis and entries without a dimension",
             With(Strided({1, 1, 1, 1, 1, 1}, {3, 3, 3, 3, 3, 3}, {1, 1, 1, 1, 1, 1}),
                  [](D& d)
                  {
                      d.m_EllipsisMask = 0b000001;
                      d.m_NewAxisMask = 0b000110;
                  }),
             {T({1, 1})})
            .Gives({"[1,1,1,0]"})
            .Resolves(Strided({0, 0}, {1, 0}, {1, 1})),
        Case(type, "inputs", asInputs, {T({4, 5}), P({1, 0}), P({-1, 4}), P({1, 2})})
            .Gives({"[2,2]"})
            .Resolves(Strided({1, 0}, {3, 4}, {1, 2})),
        Case(type, "wide inputs", asInputs,
             {T({4}), P64({std::numeric_limits<int64_t>::max()}), P64({std::numeric_limits<int64_t>::min()}),
              P64({std::numeric_limits<int64_t>::min()})})
            .Gives({"[1]"})
            .Resolves(Strided({3}, {-1}, {lowest})),

        Case(type, "stride 0", Strided({0}, {1}, {0}), {T({4})}).Rejects("the stride of entry 0 is 0"),
        Case(type, "too many entries", Strided({0, 0}, {1, 1}, {1, 1}), {T({4})}).Rejects("2 entries"),
        Case(type, "unequal lengths", Strided({0}, {1, 1}, {1}), {T({4, 5})}).Rejects("as many of each"),
        Case(type, "two ellipses", mask(&D::m_EllipsisMask, 0b11, Strided({0, 0}, {1, 1}, {1, 1})), {T({4, 5})})
            .Rejects("one ellipsis"),
        Case(type, "index behind", mask(&D::m_ShrinkAxisMask, 1, Strided({4}, {5}, {1})), {T({4})}).Rejects("index 4"),
        Case(type, "index of nothing", mask(&D::m_ShrinkAxisMask, 1, Strided({0}, {1}, {1})), {T({0})})
            .Rejects("index 0"),
        Case(type, "index in front backward", mask(&D::m_ShrinkAxisMask, 1, Strided({-9}, {0}, {-1})), {T({4})})
            .Rejects("index -9"),
        Case(type, "rank 9", mask(&D::m_NewAxisMask, 1, Strided({0}, {0}, {1})), {T({1, 1, 1, 1, 1, 1, 1, 1})})
            .Rejects("more than 8"),
        Case(type, "dimension above 31 bits", Strided({0}, {1}, {1}), {T({0x80000000U})}).Rejects("too large"),
        Case(type, "no strides", asInputs, {T({4}), P({0}), P({1}), Absent()}).Rejects("input 3"),
    };
}

InferCases PlainSliceCases()
{
    constexpr LayerType type = LayerType::Slice;
    const auto slice = [](std::vector<unsigned int> begin, std::vector<unsigned int> size)
    { return SliceDescriptor(begin, size); };
    const auto asInputs = Made<SliceDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    return {
        Case(type, "box", slice({1, 0}, {2, 5}), {T({4, 5})}).Gives({"[2,5]"}),
        Case(type, "nothing at the end", slice({4}, {0}), {T({4})}).Gives({"[0]"}),
        Case(type, "scalar", slice({}, {}), {T({})}).Gives({"[]"}),
        Case(type, "inputs", asInputs, {T({4, 5}), P({1, 2}), P64({2, -1})})
            .Gives({"[2,3]"})
            .Resolves(slice({1, 2}, {2, 3})),
        Case(type, "behind the end", slice({3}, {2}), {T({4})}).Rejects("2 elements from 3"),
        Case(type, "overflow", slice({0xffffffffU}, {0xffffffffU}), {T({4})}).Rejects("4294967295"),
        Case(type, "too few", slice({0}, {1}), {T({4, 5})}).Rejects("1 begins"),
        Case(type, "negative begin", asInputs, {T({4}), P({-1}), P({1})}).Rejects("-1"),
        Case(type, "size -2", asInputs, {T({4}), P({0}), P({-2})}).Rejects("-2"),
        Case(type, "begin behind the end", asInputs, {T({4}), P({5}), P({-1})}).Rejects("-1"),
        Case(type, "inputs of other length", asInputs, {T({4, 5}), P({0}), P({1, -1})}).Rejects("-1"),
    };
}

} // namespace

static InferCases MakeSliceCases()
{
    InferCases all = StridedCases();
    const InferCases plain = PlainSliceCases();
    all.insert(all.end(), plain.begin(), plain.end());
    return all;
}

static const InferTable SliceTable(MakeSliceCases);

} // namespace tenon::test::infer_slice_test
