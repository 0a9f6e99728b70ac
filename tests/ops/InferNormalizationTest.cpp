// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: normalizations and softmax.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Normalization.hpp>

namespace tenon::test::infer_normalization_test
{

static InferCases MakeNormalizationCases()
{
    using enum LayerType;
    const auto softmax = [](int axis) { return Made<SoftmaxDescriptor>([&](auto& d) { d.m_Axis = axis; }); };
    const auto layer = [](int axis) { return Made<LayerNormalizationDescriptor>([&](auto& d) { d.m_Axis = axis; }); };
    const auto withLayout = [](auto descriptor, DataLayout layout)
    {
        descriptor.m_DataLayout = layout;
        return descriptor;
    };
    const BatchNormalizationDescriptor batch;
    return {
        Case(Softmax, "last axis", softmax(-1), {T({2, 3})}).Gives({"[2,3]"}).Resolves(softmax(1)),
        Case(Softmax, "axis 0", softmax(0), {T({2, 3})}).Gives({"[2,3]"}),
        Case(Softmax, "axis too large", softmax(2), {T({2, 3})}).Rejects("axis 2"),
        Case(Softmax, "scalar", softmax(-1), {T({})}).Rejects("axis -1"),
        Case(LogSoftmax, "axis -2", softmax(-2), {T({2, 3})}).Gives({"[2,3]"}).Resolves(softmax(0)),
        Case(LogSoftmax, "axis -3", softmax(-3), {T({2, 3})}).Rejects("axis -3"),

        Case(BatchNormalization, "NCHW", batch, {T({1, 3, 8, 9}), T({3}), T({3}), T({3}), T({3})}).Gives({"[1,3,8,9]"}),
        Case(BatchNormalization, "NHWC", withLayout(batch, DataLayout::NHWC),
             {T({1, 8, 9, 3}), T({3}), T({3}), T({3}), T({3})})
            .Gives({"[1,8,9,3]"}),
        Case(BatchNormalization, "NHWC of rank 2", withLayout(batch, DataLayout::NHWC),
             {T({8, 3}), T({3}), T({3}), T({3}), T({3})})
            .Gives({"[8,3]"}),
        Case(BatchNormalization, "mean of other size", batch, {T({1, 3, 8, 9}), T({9}), T({3}), T({3}), T({3})})
            .Rejects("the mean"),
        Case(BatchNormalization, "gamma of other size", batch, {T({1, 3, 8, 9}), T({3}), T({3}), T({3}), T({2})})
            .Rejects("the gamma"),
        Case(BatchNormalization, "no channels", batch, {T({3}), T({3}), T({3}), T({3}), T({3})})
            .Rejects("no dimension of channels"),

        Case(InstanceNormalization, "same", InstanceNormalizationDescriptor(), {T({1, 3, 8, 9})}).Gives({"[1,3,8,9]"}),
        Case(InstanceNormalization, "rank 3", InstanceNormalizationDescriptor(), {T({3, 8, 9})})
            .Rejects("must have 4 dimensions"),
        Case(InstanceNormalization, "layout", withLayout(InstanceNormalizationDescriptor(), DataLayout::NDHWC),
             {T({1, 3, 8, 9})})
            .Rejects("NHWC or NCHW"),
        Case(L2Normalization, "NHWC of rank 1", withLayout(L2NormalizationDescriptor(), DataLayout::NHWC), {T({9})})
            .Gives({"[9]"}),
        Case(L2Normalization, "NCHW of rank 1", L2NormalizationDescriptor(), {T({9})})
            .Rejects("no dimension of channels"),
        Case(LayerNormalization, "last axis", layer(-1), {T({2, 3, 4}), T({1, 4}), T({1})})
            .Gives({"[2,3,4]"})
            .Resolves(layer(2)),
        Case(LayerNormalization, "axis 1", layer(1), {T({2, 3, 4}), T({3, 4}), T({3, 4})}).Gives({"[2,3,4]"}),
        Case(LayerNormalization, "scale of other sizes", LayerNormalizationDescriptor(), {T({2, 3, 4}), T({4, 1})})
            .Rejects("the scale, has shape [4,1]"),
        Case(LayerNormalization, "bias of more dimensions", LayerNormalizationDescriptor(), {T({4}), T({4}), T({1, 4})})
            .Rejects("the bias, has shape [1,4]"),
        Case(LayerNormalization, "no dimension", LayerNormalizationDescriptor(), {T({})}).Rejects("axis"),
        Case(Normalization, "same", NormalizationDescriptor(), {T({1, 3, 8, 9})}).Gives({"[1,3,8,9]"}),
        Case(Normalization, "rank 5", NormalizationDescriptor(), {T({1, 1, 3, 8, 9})})
            .Rejects("must have 4 dimensions"),
    };
}

static const InferTable NormalizationTable(MakeNormalizationCases);

} // namespace tenon::test::infer_normalization_test
