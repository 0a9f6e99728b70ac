// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: pools.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Pooling.hpp>

namespace tenon::test::infer_pooling_test
{

namespace
{

Pooling2dDescriptor Pool(uint32_t size, uint32_t stride, PaddingScheme scheme = PaddingScheme::Explicit)
{
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolWidth = size;
    descriptor.m_PoolHeight = size;
    descriptor.m_StrideX = stride;
    descriptor.m_StrideY = stride;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = scheme;
    return descriptor;
}

Pooling2dDescriptor Padded(Pooling2dDescriptor descriptor, uint32_t top, uint32_t bottom, uint32_t left, uint32_t right)
{
    descriptor.m_PadTop = top;
    descriptor.m_PadBottom = bottom;
    descriptor.m_PadLeft = left;
    descriptor.m_PadRight = right;
    descriptor.m_PaddingScheme = PaddingScheme::Explicit;
    return descriptor;
}

Pooling2dDescriptor Ceiling(Pooling2dDescriptor descriptor)
{
    descriptor.m_OutputShapeRounding = OutputShapeRounding::Ceiling;
    return descriptor;
}

Pooling3dDescriptor Pool3d(uint32_t size, uint32_t stride, PaddingScheme scheme = PaddingScheme::Explicit)
{
    Pooling3dDescriptor descriptor;
    descriptor.m_PoolWidth = size;
    descriptor.m_PoolHeight = size;
    descriptor.m_PoolDepth = size;
    descriptor.m_StrideX = stride;
    descriptor.m_StrideY = stride;
    descriptor.m_StrideZ = stride;
    descriptor.m_PaddingScheme = scheme;
    return descriptor;
}

} // namespace

static InferCases MakePoolingCases()
{
    using enum LayerType;
    using enum PaddingScheme;
    const auto nchw = Made<Pooling2dDescriptor>([](auto& d) { d.m_DataLayout = DataLayout::NCHW; }, Pool(2, 2));
    const auto same3d = Pool3d(2, 1, Same);
    const auto resolved3d = Made<Pooling3dDescriptor>(
        [](auto& d)
        {
            d.m_PadBack = d.m_PadBottom = d.m_PadRight = 1;
            d.m_PaddingScheme = Explicit;
        },
        same3d);
    const auto global = Made<Pooling2dDescriptor>([](auto& d) { d.m_StrideX = d.m_StrideY = 0x7fffffffU; }, Pool(5, 0));
    const auto global3d =
        Made<Pooling3dDescriptor>([](auto& d) { d.m_StrideX = d.m_StrideY = d.m_StrideZ = 0x7fffffffU; }, Pool3d(2, 0));
    return {
        Case(Pooling2d, "floor", Pool(2, 2), {T({1, 5, 6, 3})}).Gives({"[1,2,3,3]"}),
        Case(Pooling2d, "ceiling", Ceiling(Pool(2, 2)), {T({1, 5, 6, 3})}).Gives({"[1,3,3,3]"}),
        Case(Pooling2d, "ceiling drops a window behind the input", Ceiling(Padded(Pool(2, 3), 0, 1, 0, 1)),
             {T({1, 3, 4, 1})})
            .Gives({"[1,1,2,1]"}),
        Case(Pooling2d, "NCHW", nchw, {T({1, 3, 4, 6})}).Gives({"[1,3,2,3]"}),
        Case(Pooling2d, "paddings", Padded(Pool(3, 2), 1, 1, 0, 2), {T({1, 5, 6, 1})}).Gives({"[1,3,3,1]"}),
        Case(Pooling2d, "same", Pool(2, 2, Same), {T({1, 5, 6, 1})})
            .Gives({"[1,3,3,1]"})
            .Resolves(Padded(Pool(2, 2), 0, 1, 0, 0)),
        Case(Pooling2d, "same with pool above input", Pool(4, 1, Same), {T({1, 2, 3, 1})})
            .Gives({"[1,2,3,1]"})
            .Resolves(Padded(Pool(4, 1), 1, 2, 1, 2)),
        Case(Pooling2d, "valid", Pool(2, 1, Valid), {T({1, 2, 3, 1})}).Gives({"[1,1,2,1]"}).Resolves(Pool(2, 1)),
        Case(Pooling2d, "global", Pool(5, 0), {T({1, 5, 5, 8})}).Gives({"[1,1,1,8]"}).Resolves(global),
        Case(Pooling2d, "global rounding up", Ceiling(Pool(5, 0)), {T({1, 7, 5, 8})})
            .Gives({"[1,1,1,8]"})
            .Resolves(Ceiling(global)),
        Case(Pooling2d, "pool larger", Pool(3, 1), {T({1, 2, 5, 1})}).Rejects("along the height"),
        Case(Pooling2d, "pool 0", Pool(0, 1), {T({1, 2, 5, 1})}).Rejects("filter or pool is 0"),
        Case(Pooling2d, "one stride 0", Made<Pooling2dDescriptor>([](auto& d) { d.m_StrideX = 0; }, Pool(2, 1)),
             {T({1, 2, 5, 1})})
            .Rejects("the stride along the width is 0"),
        Case(Pooling2d, "rank 3", Pool(2, 1), {T({4, 5, 1})}).Rejects("must have 4 dimensions"),

        Case(Pooling3d, "explicit",
             Made<Pooling3dDescriptor>([](auto& d) { d.m_DataLayout = DataLayout::NDHWC; }, Pool3d(2, 2)),
             {T({1, 4, 5, 6, 7})})
            .Gives({"[1,2,2,3,7]"}),
        Case(Pooling3d, "same", same3d, {T({1, 7, 4, 5, 6})}).Gives({"[1,7,4,5,6]"}).Resolves(resolved3d),
        Case(Pooling3d, "global", Pool3d(2, 0), {T({1, 7, 2, 2, 2})}).Gives({"[1,7,1,1,1]"}).Resolves(global3d),
        Case(Pooling3d, "pool larger", Pool3d(3, 1), {T({1, 1, 3, 3, 2})}).Rejects("along the width"),
        Case(Pooling3d, "rank 4", Pool3d(3, 1), {T({1, 3, 3, 3})}).Rejects("must have 5 dimensions"),
    };
}

static const InferTable PoolingTable(MakePoolingCases);

} // namespace tenon::test::infer_pooling_test
