// SPDX-License-Identifier: Apache-2.0
// View origins and sizes of Concat and Splitter, equality of descriptors, and CreateDescriptorForConcatenation.

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tenon::descriptors_test
{
namespace
{

TEST(OriginsDescriptor, KeepsOriginsOnceSet)
{
    OriginsDescriptor descriptor(3, 2);
    EXPECT_EQ(descriptor.GetNumViews(), 3U);
    EXPECT_EQ(descriptor.GetNumDimensions(), 2U);
    EXPECT_EQ(descriptor.GetNumInputs(), 3U);
    EXPECT_EQ(descriptor.GetConcatAxis(), 1U);
    EXPECT_FALSE(descriptor.HasOrigins());
    EXPECT_EQ(descriptor.GetViewOrigin(2)[1], 0U);
    EXPECT_EQ(descriptor.SetViewOriginCoord(1, 0, 0), Status::Success);
    EXPECT_EQ(descriptor, OriginsDescriptor(3, 2));
    EXPECT_EQ(descriptor.SetViewOriginCoord(2, 1, 9), Status::Success);
    EXPECT_TRUE(descriptor.HasOrigins());
    EXPECT_EQ(descriptor.GetViewOrigin(2)[1], 9U);
    EXPECT_EQ(descriptor.GetViewOrigin(2)[0], 0U);
    EXPECT_EQ(descriptor.GetViewOrigin(1)[1], 0U);
    EXPECT_NE(descriptor, OriginsDescriptor(3, 2));
}

TEST(OriginsDescriptor, RefusesWhatIsOutOfRange)
{
    OriginsDescriptor descriptor(3, 2);
    EXPECT_EQ(descriptor.SetViewOriginCoord(3, 0, 1), Status::Failure);
    EXPECT_EQ(descriptor.SetViewOriginCoord(0, 2, 1), Status::Failure);
    EXPECT_FALSE(descriptor.HasOrigins());
    EXPECT_THROW(descriptor.GetViewOrigin(3), InvalidArgumentException);
    EXPECT_THROW(OriginsDescriptor(1, 9), InvalidArgumentException);
    EXPECT_THROW(OriginsDescriptor().GetViewOrigin(0), InvalidArgumentException);
    // So many views cost nothing before one is set.
    EXPECT_EQ(OriginsDescriptor(0xffffffffU, 8).GetViewOrigin(0xfffffffeU)[7], 0U);
}

TEST(ViewsDescriptor, KeepsSizesAndAxis)
{
    ViewsDescriptor descriptor(2, 3);
    EXPECT_EQ(descriptor.GetNumOutputs(), 2U);
    EXPECT_FALSE(descriptor.HasAxis());
    descriptor.SetAxis(-1);
    EXPECT_TRUE(descriptor.HasAxis());
    EXPECT_EQ(descriptor.GetAxis(), -1);
    EXPECT_EQ(descriptor.SetViewSize(1, 2, 7), Status::Success);
    EXPECT_EQ(descriptor.SetViewOriginCoord(1, 0, 4), Status::Success);
    EXPECT_EQ(descriptor.GetViewSizes(1)[2], 7U);
    EXPECT_EQ(descriptor.GetViewSizes(0)[2], 0U);
    EXPECT_EQ(descriptor.GetViewOrigin(1)[0], 4U);
    EXPECT_TRUE(descriptor.GetOrigins().HasOrigins());
    EXPECT_EQ(descriptor.SetViewSize(2, 0, 1), Status::Failure);
    EXPECT_EQ(descriptor.SetViewSize(0, 3, 1), Status::Failure);
    EXPECT_THROW(descriptor.GetViewSizes(2), InvalidArgumentException);
    EXPECT_THROW(ViewsDescriptor(1, 9), InvalidArgumentException);
}

TEST(CreateDescriptorForConcatenation, SetsAxisAndOrigins)
{
    const std::vector<TensorShape> shapes = {{2, 3}, {2, 0}, {2, 5}, {2, 1}};
    const OriginsDescriptor descriptor = CreateDescriptorForConcatenation(shapes.begin(), shapes.end(), 1);
    EXPECT_EQ(descriptor.GetNumViews(), 4U);
    EXPECT_EQ(descriptor.GetNumDimensions(), 2U);
    EXPECT_EQ(descriptor.GetConcatAxis(), 1U);
    EXPECT_EQ(descriptor.GetViewOrigin(1)[1], 3U);
    EXPECT_EQ(descriptor.GetViewOrigin(2)[1], 3U);
    EXPECT_EQ(descriptor.GetViewOrigin(3)[1], 8U);
    EXPECT_EQ(descriptor.GetViewOrigin(3)[0], 0U);
}

TEST(CreateDescriptorForConcatenation, LeavesOriginsOutWhereSizesAreUnknown)
{
    const std::vector<TensorShape> shapes = {{2, 3}, TensorShape({2, 0}, {true, false}), {2, 5}};
    const OriginsDescriptor descriptor = CreateDescriptorForConcatenation(shapes.begin(), shapes.end(), 1);
    EXPECT_EQ(descriptor.GetNumViews(), 3U);
    EXPECT_FALSE(descriptor.HasOrigins());
    const std::vector<TensorShape> open = {TensorShape({0, 3}, {false, true}), {2, 5}};
    EXPECT_EQ(CreateDescriptorForConcatenation(open.begin(), open.end(), 1).GetViewOrigin(1)[1], 3U);
}

TEST(CreateDescriptorForConcatenation, RefusesShapesThatDoNotFit)
{
    const auto create = [](std::vector<TensorShape> shapes, unsigned int axis)
    { return CreateDescriptorForConcatenation(shapes.begin(), shapes.end(), axis); };
    EXPECT_THROW(create({}, 0), InvalidArgumentException);
    EXPECT_THROW(create({{2, 3}}, 2), InvalidArgumentException);
    EXPECT_THROW(create({{2, 3}, {3, 3}}, 1), InvalidArgumentException);
    EXPECT_THROW(create({{2, 3}, {2, 3, 1}}, 1), InvalidArgumentException);
    EXPECT_THROW(create({{2, 3}, TensorShape()}, 1), InvalidArgumentException);
    EXPECT_THROW(create({{0xffffffffU}, {1}, {1}}, 0), InvalidArgumentException);
}

TEST(Descriptors, CompareAllFields)
{
    ActivationDescriptor a(ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    ActivationDescriptor b = a;
    EXPECT_EQ(a, b);
    b.m_A = 1.0f;
    EXPECT_NE(a, b);
    EXPECT_TRUE(NullDescriptor().IsNull());
    EXPECT_FALSE(a.IsNull());
    EXPECT_EQ(NullDescriptor(), NullDescriptor());

    ReshapeDescriptor open(TensorShape({2, 0}, {true, false}));
    EXPECT_NE(open, ReshapeDescriptor(TensorShape({2, 0})));
    TransposeDescriptor transpose(PermutationVector({1, 0}));
    EXPECT_NE(transpose, TransposeDescriptor(PermutationVector({0, 1})));
}

} // namespace
} // namespace tenon::descriptors_test
