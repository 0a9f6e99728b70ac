// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: convolutions.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Convolution.hpp>

namespace tenon::test::infer_convolution_test
{

namespace
{

// A descriptor with NHWC data, strides and a padding scheme; `set` changes more.
template <typename D, typename Setter>
D Nhwc(uint32_t strideY, uint32_t strideX, PaddingScheme scheme, Setter&& set)
{
    D descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_StrideY = strideY;
    descriptor.m_StrideX = strideX;
    descriptor.m_PaddingScheme = scheme;
    set(descriptor);
    return descriptor;
}

// What Same or Valid become.
template <typename D>
D Padded(D descriptor, uint32_t top, uint32_t bottom, uint32_t left, uint32_t right)
{
    descriptor.m_PadTop = top;
    descriptor.m_PadBottom = bottom;
    descriptor.m_PadLeft = left;
    descriptor.m_PadRight = right;
    descriptor.m_PaddingScheme = PaddingScheme::Explicit;
    return descriptor;
}

InferCases Convolution2dCases()
{
    using enum LayerType;
    using D = Convolution2dDescriptor;
    using enum PaddingScheme;
    const auto nothing = [](D&) {};
    const auto plain = Nhwc<D>(1, 1, Explicit, nothing);
    const auto same = Nhwc<D>(2, 2, Same, nothing);
    const auto biased = Nhwc<D>(1, 1, Explicit, [](D& d) { d.m_BiasEnabled = true; });
    const auto dilated = Nhwc<D>(1, 1, Same,
                                 [](D& d)
                                 {
                                     d.m_DilationY = 2;
                                     d.m_DilationX = 3;
                                 });
    const auto huge = Nhwc<D>(1, 1, Same, [](D& d) { d.m_DilationY = 0xffffffffU; });
    return {
        Case(Convolution2d, "explicit", plain, {T({1, 5, 6, 2}), T({4, 3, 3, 2})}).Gives({"[1,3,4,4]"}),
        Case(Convolution2d, "paddings", Padded(plain, 1, 2, 3, 4), {T({1, 5, 6, 2}), T({4, 3, 3, 2})})
            .Gives({"[1,6,11,4]"}),
        Case(Convolution2d, "floor", Nhwc<D>(2, 3, Explicit, nothing), {T({1, 6, 9, 2}), T({4, 3, 3, 2})})
            .Gives({"[1,2,3,4]"}),
        Case(Convolution2d, "NCHW", Padded(D(), 1, 1, 0, 0), {T({2, 3, 7, 8}), T({5, 3, 3, 2})}).Gives({"[2,5,7,7]"}),
        Case(Convolution2d, "same odd", same, {T({1, 5, 7, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,3,4,1]"})
            .Resolves(Padded(same, 1, 1, 1, 1)),
        Case(Convolution2d, "same even puts more behind", same, {T({1, 224, 6, 1}), T({1, 3, 2, 1})})
            .Gives({"[1,112,3,1]"})
            .Resolves(Padded(same, 0, 1, 0, 0)),
        Case(Convolution2d, "same with stride above filter", Nhwc<D>(3, 3, Same, nothing),
             {T({1, 7, 6, 1}), T({1, 1, 2, 1})})
            .Gives({"[1,3,2,1]"})
            .Resolves(Padded(Nhwc<D>(3, 3, Same, nothing), 0, 0, 0, 0)),
        Case(Convolution2d, "same dilated", dilated, {T({1, 8, 8, 1}), T({1, 3, 2, 1})})
            .Gives({"[1,8,8,1]"})
            .Resolves(Padded(dilated, 2, 2, 1, 2)),
        Case(Convolution2d, "same of nothing", same, {T({1, 0, 4, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,0,2,1]"})
            .Resolves(Padded(same, 0, 0, 0, 1)),
        Case(Convolution2d, "wide paddings", Padded(plain, 9, 9, 9, 9), {T({1, 5, 5, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,21,21,1]"}),
        Case(Convolution2d, "valid", Nhwc<D>(2, 2, Valid, [](D& d) { d.m_PadTop = 9; }),
             {T({1, 5, 6, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,2,2,1]"})
            .Resolves(Padded(Nhwc<D>(2, 2, Valid, nothing), 0, 0, 0, 0)),
        Case(Convolution2d, "grouped", plain, {T({1, 3, 3, 6}), T({4, 3, 3, 3})}).Gives({"[1,1,1,4]"}),
        Case(Convolution2d, "no batch", plain, {T({0, 3, 3, 6}), T({4, 3, 3, 6})}).Gives({"[0,1,1,4]"}),
        Case(Convolution2d, "bias", biased, {T({1, 3, 3, 2}), T({4, 1, 1, 2}), T({4})}).Gives({"[1,3,3,4]"}),
        Case(Convolution2d, "bias of any rank", biased, {T({1, 3, 3, 2}), T({4, 1, 1, 2}), T({1, 4})})
            .Gives({"[1,3,3,4]"}),
        Case(Convolution2d, "bias left open", biased, {T({1, 3, 3, 2}), T({4, 1, 1, 2}), Absent()})
            .Gives({"[1,3,3,4]"}),

        Case(Convolution2d, "bias too short", biased, {T({1, 3, 3, 2}), T({4, 1, 1, 2}), T({3})}).Rejects("the bias"),
        Case(Convolution2d, "channels", plain, {T({1, 3, 3, 5}), T({4, 1, 1, 2})}).Rejects("5 channels"),
        Case(Convolution2d, "more filter channels", plain, {T({1, 3, 3, 2}), T({4, 1, 1, 4})}).Rejects("2 channels"),
        Case(Convolution2d, "groups", plain, {T({1, 3, 3, 6}), T({3, 1, 1, 3})}).Rejects("groups"),
        Case(Convolution2d, "filter larger", plain, {T({1, 2, 5, 1}), T({1, 3, 3, 1})})
            .Rejects("covers 3 elements along the height (size 3, dilation 1), but the input with its padding has only "
                     "2"),
        Case(Convolution2d, "dilated filter larger", Nhwc<D>(1, 1, Valid, [](D& d) { d.m_DilationX = 4; }),
             {T({1, 8, 8, 1}), T({1, 3, 3, 1})})
            .Rejects("along the width"),
        Case(Convolution2d, "empty filter", plain, {T({1, 5, 5, 1}), T({1, 0, 3, 1})}).Rejects("at least 1"),
        Case(Convolution2d, "stride 0", Nhwc<D>(0, 1, Same, nothing), {T({1, 5, 5, 1}), T({1, 3, 3, 1})})
            .Rejects("the stride along the height is 0"),
        Case(Convolution2d, "dilation 0", Nhwc<D>(1, 1, Explicit, [](D& d) { d.m_DilationX = 0; }),
             {T({1, 5, 5, 1}), T({1, 3, 3, 1})})
            .Rejects("the dilation along the width is 0"),
        Case(Convolution2d, "huge dilation", huge, {T({1, 5, 5, 1}), T({1, 5, 3, 1})}).Rejects("not in 0 to"),
        Case(Convolution2d, "larger than 62 bits", huge, {T({1, 5, 5, 1}), T({1, 0x80000000U, 3, 1})})
            .Rejects("too large"),
        Case(Convolution2d, "data of rank 3", plain, {T({5, 5, 1}), T({1, 3, 3, 1})}).Rejects("input 0"),
        Case(Convolution2d, "weights of rank 3", plain, {T({1, 5, 5, 1}), T({3, 3, 1})}).Rejects("input 1"),
        Case(Convolution2d, "layout", Made<D>([](D& d) { d.m_DataLayout = DataLayout::NDHWC; }),
             {T({1, 5, 5, 1}), T({1, 3, 3, 1})})
            .Rejects("NHWC or NCHW"),
    };
}

InferCases DepthwiseCases()
{
    using enum LayerType;
    using D = DepthwiseConvolution2dDescriptor;
    const auto nothing = [](D&) {};
    const auto plain = Nhwc<D>(1, 1, PaddingScheme::Explicit, nothing);
    const auto same = Nhwc<D>(2, 2, PaddingScheme::Same, nothing);
    return {
        Case(DepthwiseConvolution2d, "multiplier", plain, {T({1, 4, 5, 3}), T({1, 2, 3, 6})}).Gives({"[1,3,3,6]"}),
        Case(DepthwiseConvolution2d, "NCHW", D(), {T({1, 3, 4, 5}), T({1, 2, 3, 6})}).Gives({"[1,6,3,3]"}),
        Case(DepthwiseConvolution2d, "same", same, {T({1, 112, 112, 8}), T({1, 3, 3, 8})})
            .Gives({"[1,56,56,8]"})
            .Resolves(Padded(same, 0, 1, 0, 1)),
        Case(DepthwiseConvolution2d, "bias",
             Nhwc<D>(1, 1, PaddingScheme::Explicit, [](D& d) { d.m_BiasEnabled = true; }),
             {T({1, 4, 5, 3}), T({1, 2, 3, 6}), T({3})})
            .Rejects("the bias"),
        Case(DepthwiseConvolution2d, "no multiple", plain, {T({1, 4, 5, 3}), T({1, 2, 3, 7})}).Rejects("multiplier"),
        Case(DepthwiseConvolution2d, "first dimension", plain, {T({1, 4, 5, 3}), T({2, 2, 3, 3})})
            .Rejects("multiplier"),
        Case(DepthwiseConvolution2d, "no channels", plain, {T({1, 4, 5, 0}), T({1, 2, 3, 3})}).Rejects("0 channels"),
    };
}

InferCases Convolution3dCases()
{
    using enum LayerType;
    using D = Convolution3dDescriptor;
    const auto same = Made<D>(
        [](D& d)
        {
            d.m_StrideZ = 2;
            d.m_PaddingScheme = PaddingScheme::Same;
        });
    auto resolved = Padded(same, 1, 1, 0, 1);
    resolved.m_PadFront = 0;
    resolved.m_PadBack = 1;
    return {
        Case(Convolution3d, "explicit", Made<D>([](D& d) { d.m_PadBack = 1; }),
             {T({1, 4, 5, 6, 2}), T({2, 3, 3, 2, 7})})
            .Gives({"[1,4,3,4,7]"}),
        Case(Convolution3d, "same", same, {T({1, 4, 5, 6, 2}), T({3, 3, 2, 2, 7})})
            .Gives({"[1,2,5,6,7]"})
            .Resolves(resolved),
        Case(Convolution3d, "NCDHW", Made<D>([](D& d) { d.m_DataLayout = DataLayout::NCDHW; }),
             {T({1, 2, 4, 5, 6}), T({2, 3, 3, 2, 7})})
            .Gives({"[1,7,3,3,4]"}),
        Case(Convolution3d, "bias", Made<D>([](D& d) { d.m_BiasEnabled = true; }),
             {T({1, 4, 5, 6, 2}), T({2, 3, 3, 2, 7}), T({2})})
            .Rejects("the bias"),
        Case(Convolution3d, "channels", D(), {T({1, 4, 5, 6, 3}), T({2, 3, 3, 2, 7})}).Rejects("2 input channels"),
        Case(Convolution3d, "depth", D(), {T({1, 1, 5, 6, 2}), T({2, 3, 3, 2, 7})}).Rejects("along the depth"),
        Case(Convolution3d, "layout", Made<D>([](D& d) { d.m_DataLayout = DataLayout::NHWC; }),
             {T({1, 4, 5, 6, 2}), T({2, 3, 3, 2, 7})})
            .Rejects("NDHWC or NCDHW"),
    };
}

InferCases TransposeConvolutionCases()
{
    using enum LayerType;
    using D = TransposeConvolution2dDescriptor;
    using enum PaddingScheme;
    const auto nothing = [](D&) {};
    const auto sized = [](uint32_t stride, PaddingScheme scheme, std::vector<unsigned int> shape)
    {
        return Nhwc<D>(stride, stride, scheme,
                       [&](D& d)
                       {
                           d.m_OutputShapeEnabled = true;
                           d.m_OutputShape = std::move(shape);
                       });
    };
    const auto plain = Nhwc<D>(2, 2, Explicit, nothing);
    const auto same = Nhwc<D>(2, 2, Same, nothing);
    const auto valid = Nhwc<D>(2, 3, Valid, nothing);
    const D byInput = Nhwc<D>(2, 2, Same, [](D& d) { d.m_SameByInput = true; });
    D sizedByInput = sized(2, Same, {1, 5, 6, 1});
    sizedByInput.m_SameByInput = true;
    return {
        Case(TransposeConvolution2d, "explicit", plain, {T({1, 2, 3, 1}), T({4, 3, 3, 1})}).Gives({"[1,5,7,4]"}),
        Case(TransposeConvolution2d, "paddings", Padded(plain, 1, 0, 1, 1), {T({1, 2, 3, 1}), T({4, 3, 3, 1})})
            .Gives({"[1,4,5,4]"}),
        Case(TransposeConvolution2d, "NCHW", Made<D>([](D& d) { d.m_StrideX = d.m_StrideY = 1; }),
             {T({1, 2, 4, 5}), T({3, 2, 3, 3})})
            .Gives({"[1,3,6,7]"}),
        Case(TransposeConvolution2d, "same", same, {T({1, 2, 3, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,4,6,1]"})
            .Resolves(Padded(same, 0, 1, 0, 1)),
        Case(TransposeConvolution2d, "same with output shape", sized(2, Same, {1, 5, 6, 1}),
             {T({1, 3, 3, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,5,6,1]"})
            .Resolves(Padded(sized(2, Same, {1, 5, 6, 1}), 1, 1, 0, 1)),
        Case(TransposeConvolution2d, "output shape of smaller batch", sized(2, Explicit, {1, 6, 6, 1}),
             {T({2, 2, 2, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,6,6,1]"}),
        Case(TransposeConvolution2d, "valid", valid, {T({1, 2, 3, 1}), T({1, 3, 4, 1})})
            .Gives({"[1,5,10,1]"})
            .Resolves(Padded(valid, 0, 0, 0, 0)),
        Case(TransposeConvolution2d, "valid with output shape", sized(2, Valid, {1, 6, 6, 1}),
             {T({1, 2, 2, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,6,6,1]"})
            .Resolves(Padded(sized(2, Valid, {1, 6, 6, 1}), 0, 0, 0, 0)),
        Case(TransposeConvolution2d, "explicit with output shape", sized(2, Explicit, {1, 6, 6, 1}),
             {T({1, 2, 2, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,6,6,1]"}),
        Case(TransposeConvolution2d, "output shape as input",
             Nhwc<D>(2, 2, Same, [](D& d) { d.m_ParametersAsInputs = true; }),
             {T({1, 3, 3, 1}), T({1, 3, 3, 1}), Absent(), P({1, 5, 6, 1})})
            .Gives({"[1,5,6,1]"})
            .Resolves(Padded(sized(2, Same, {1, 5, 6, 1}), 1, 1, 0, 1)),
        // MediaPipe's Convolution2DTransposeBias (mediapipe 0.10.21) gives these sizes.
        Case(TransposeConvolution2d, "same by input", byInput, {T({1, 3, 4, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,5,8,1]"})
            .Resolves(Padded(byInput, 1, 1, 0, 1)),
        Case(TransposeConvolution2d, "same by input, small kernel", byInput, {T({1, 4, 4, 3}), T({2, 1, 1, 3})})
            .Gives({"[1,7,7,2]"})
            .Resolves(Padded(byInput, 0, 0, 0, 0)),
        Case(TransposeConvolution2d, "same by input, output shape", sizedByInput, {T({1, 3, 3, 1}), T({1, 3, 3, 1})})
            .Gives({"[1,5,6,1]"})
            .Resolves(Padded(sizedByInput, 1, 1, 0, 1)),
        Case(TransposeConvolution2d, "negative output shape as input",
             Nhwc<D>(2, 2, Same, [](D& d) { d.m_ParametersAsInputs = true; }),
             {T({1, 3, 3, 1}), T({1, 3, 3, 1}), Absent(), P({1, -5, 6, 1})})
            .Rejects("-5"),
        Case(TransposeConvolution2d, "no pixels", plain, {T({1, 0, 3, 1}), T({4, 3, 3, 1})}).Gives({"[1,0,7,4]"}),

        Case(TransposeConvolution2d, "stride 0", D(), {T({1, 1, 2, 3}), T({1, 1, 3, 3})}).Rejects("stride"),
        Case(TransposeConvolution2d, "channels", plain, {T({1, 2, 3, 1}), T({4, 3, 3, 2})}).Rejects("input channels"),
        Case(TransposeConvolution2d, "bias", Nhwc<D>(1, 1, Explicit, [](D& d) { d.m_BiasEnabled = true; }),
             {T({1, 2, 3, 1}), T({4, 3, 3, 1}), T({1})})
            .Rejects("the bias"),
        Case(TransposeConvolution2d, "paddings above output", Padded(plain, 4, 4, 0, 0),
             {T({1, 2, 3, 1}), T({4, 3, 3, 1})})
            .Rejects("leave nothing"),
        Case(TransposeConvolution2d, "output shape of rank 3", sized(2, Same, {5, 6, 1}),
             {T({1, 3, 3, 1}), T({1, 3, 3, 1})})
            .Rejects("[5,6,1]"),
        Case(TransposeConvolution2d, "output shape of other batch", sized(2, Same, {2, 5, 6, 1}),
             {T({1, 3, 3, 1}), T({1, 3, 3, 1})})
            .Rejects("batch"),
        Case(TransposeConvolution2d, "output shape of other channels", sized(2, Same, {1, 5, 6, 2}),
             {T({1, 3, 3, 1}), T({1, 3, 3, 1})})
            .Rejects("output channels"),
    };
}

InferCases TransposeConvolution3dCases()
{
    using enum LayerType;
    using D = TransposeConvolution3dDescriptor;
    const auto strided = Made<D>([](D& d) { d.m_StrideZ = d.m_StrideX = 2; });
    const auto fed = Made<D>(
        [](D& d)
        {
            d.m_StrideZ = 2;
            d.m_PaddingScheme = PaddingScheme::Same;
            d.m_ParametersAsInputs = true;
        });
    return {
        Case(TransposeConvolution3d, "explicit", strided, {T({1, 2, 3, 4, 2}), T({3, 2, 1, 5, 2})})
            .Gives({"[1,5,4,7,5]"}),
        Case(TransposeConvolution3d, "output shape as input", fed,
             {T({1, 2, 3, 4, 2}), T({3, 2, 1, 5, 2}), T({5}), P({1, 4, 3, 4, 5})})
            .Gives({"[1,4,3,4,5]"})
            .Resolves(Made<D>(
                [](D& d)
                {
                    d.m_StrideZ = 2;
                    d.m_PadBottom = d.m_PadBack = 1;
                    d.m_OutputShapeEnabled = true;
                    d.m_OutputShape = {1, 4, 3, 4, 5};
                })),
        Case(TransposeConvolution3d, "output shape of other channels", fed,
             {T({1, 2, 3, 4, 2}), T({3, 2, 1, 5, 2}), Absent(), P({1, 4, 3, 4, 6})})
            .Rejects("output channels"),
        Case(TransposeConvolution3d, "output shape of rank 4", fed,
             {T({1, 2, 3, 4, 2}), T({3, 2, 1, 5, 2}), Absent(), P({1, 4, 3, 4})})
            .Rejects("5 dimensions"),
        Case(TransposeConvolution3d, "channels", strided, {T({1, 2, 3, 4, 2}), T({3, 2, 1, 5, 3})})
            .Rejects("3 input channels"),
        Case(TransposeConvolution3d, "bias", Made<D>([](D& d) { d.m_BiasEnabled = true; }),
             {T({1, 2, 3, 4, 2}), T({3, 2, 1, 5, 2}), T({2})})
            .Rejects("the bias"),
    };
}

} // namespace

static InferCases MakeConvolutionCases()
{
    InferCases all = Convolution2dCases();
    for (const auto& cases :
         {DepthwiseCases(), Convolution3dCases(), TransposeConvolutionCases(), TransposeConvolution3dCases()})
    {
        all.insert(all.end(), cases.begin(), cases.end());
    }
    return all;
}

static const InferTable ConvolutionTable(MakeConvolutionCases);

} // namespace tenon::test::infer_convolution_test
