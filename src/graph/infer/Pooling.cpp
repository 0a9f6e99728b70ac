// SPDX-License-Identifier: Apache-2.0
// Shape inference of pools. As in Arm NN, strides that are all 0 ask for one window, and the last window of a
// rounded-up output is dropped when it would start behind the input.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Pooling.hpp>

namespace tenon::infer
{

namespace
{

int64_t SlidePool(const InferContext& context, Window& window, int64_t input, OutputShapeRounding rounding)
{
    int64_t output = Slide(context, window, input);
    if (window.m_Scheme == PaddingScheme::Same)
    {
        return output;
    }
    const int64_t last = input + window.m_PadBefore + window.m_PadAfter - window.m_Filter;
    if (rounding == OutputShapeRounding::Ceiling && last % window.m_Stride != 0)
    {
        ++output;
    }
    if (output > 1 && (output - 1) * window.m_Stride >= input + window.m_PadBefore)
    {
        --output;
    }
    return output;
}

// The stride in place of stride 0: it is longer than any input, so that there is one window.
constexpr uint32_t OneWindow = 0x7fffffffU;

} // namespace

void InferPooling2d(InferContext& context)
{
    const Pooling2dDescriptor* descriptor = &context.Descriptor<Pooling2dDescriptor>();
    CheckRank(context, 0, 4);
    const ImageDims dims = GetImageDims(context, descriptor->m_DataLayout);
    if (descriptor->m_StrideX == 0 && descriptor->m_StrideY == 0)
    {
        auto& edited = context.Edit<Pooling2dDescriptor>();
        edited.m_StrideX = OneWindow;
        edited.m_StrideY = OneWindow;
        descriptor = &edited;
    }
    const Pooling2dDescriptor& d = *descriptor;
    Window height = {"height", d.m_PoolHeight, d.m_StrideY, 1, d.m_PaddingScheme, d.m_PadTop, d.m_PadBottom};
    Window width = {"width", d.m_PoolWidth, d.m_StrideX, 1, d.m_PaddingScheme, d.m_PadLeft, d.m_PadRight};
    TensorShape output = context.InputShape(0);
    output.SetDimensionSize(
        dims.m_Height, ToSize(context, SlidePool(context, height, output[dims.m_Height], d.m_OutputShapeRounding)));
    output.SetDimensionSize(dims.m_Width,
                            ToSize(context, SlidePool(context, width, output[dims.m_Width], d.m_OutputShapeRounding)));
    context.SetOutputShape(0, output);
    ResolvePaddings<Pooling2dDescriptor>(context, height, width);
}

void InferPooling3d(InferContext& context)
{
    const Pooling3dDescriptor* descriptor = &context.Descriptor<Pooling3dDescriptor>();
    CheckRank(context, 0, 5);
    const ImageDims dims = GetVolumeDims(context, descriptor->m_DataLayout);
    if (descriptor->m_StrideX == 0 && descriptor->m_StrideY == 0 && descriptor->m_StrideZ == 0)
    {
        auto& edited = context.Edit<Pooling3dDescriptor>();
        edited.m_StrideX = OneWindow;
        edited.m_StrideY = OneWindow;
        edited.m_StrideZ = OneWindow;
        descriptor = &edited;
    }
    const Pooling3dDescriptor& d = *descriptor;
    Window depth = {"depth", d.m_PoolDepth, d.m_StrideZ, 1, d.m_PaddingScheme, d.m_PadFront, d.m_PadBack};
    Window height = {"height", d.m_PoolHeight, d.m_StrideY, 1, d.m_PaddingScheme, d.m_PadTop, d.m_PadBottom};
    Window width = {"width", d.m_PoolWidth, d.m_StrideX, 1, d.m_PaddingScheme, d.m_PadLeft, d.m_PadRight};
    TensorShape output = context.InputShape(0);
    output.SetDimensionSize(dims.m_Depth,
                            ToSize(context, SlidePool(context, depth, output[dims.m_Depth], d.m_OutputShapeRounding)));
    output.SetDimensionSize(
        dims.m_Height, ToSize(context, SlidePool(context, height, output[dims.m_Height], d.m_OutputShapeRounding)));
    output.SetDimensionSize(dims.m_Width,
                            ToSize(context, SlidePool(context, width, output[dims.m_Width], d.m_OutputShapeRounding)));
    context.SetOutputShape(0, output);
    ResolvePaddings<Pooling3dDescriptor>(context, depth, height, width);
}

void InferMaxPool2dWithIndices(InferContext& context)
{
    CheckRank(context, 0, 4);
    const auto& pool = context.Descriptor<MaxPool2dWithIndicesDescriptor>();
    context.Check(pool.m_PaddingScheme == PaddingScheme::Same || pool.m_PaddingScheme == PaddingScheme::Valid,
                  "its paddings are explicit; the padding scheme must be Same or Valid");
    Window height = {"height", pool.m_PoolHeight, pool.m_StrideY, 1, pool.m_PaddingScheme, 0, 0};
    Window width = {"width", pool.m_PoolWidth, pool.m_StrideX, 1, pool.m_PaddingScheme, 0, 0};
    TensorShape output = context.InputShape(0);
    output.SetDimensionSize(1, ToSize(context, Slide(context, height, output[1])));
    output.SetDimensionSize(2, ToSize(context, Slide(context, width, output[2])));
    context.SetOutputShape(0, output);
    context.SetOutputShape(1, output);
}

void InferMaxUnpool2d(InferContext& context)
{
    CheckRank(context, 0, 4);
    const TensorShape& input = context.InputShape(0);
    context.Check(context.InputShape(1) == input, "input 1, the indices, has shape {}; it must be that of input 0, {}",
                  context.InputShape(1), input);
    const auto& pool = context.Descriptor<MaxUnpool2dDescriptor>();
    context.Check(pool.m_PoolHeight >= 1 && pool.m_PoolWidth >= 1 && pool.m_StrideY >= 1 && pool.m_StrideX >= 1,
                  "a pool of {} x {} elements by {} x {}: sizes and strides must be at least 1", pool.m_PoolHeight,
                  pool.m_PoolWidth, pool.m_StrideY, pool.m_StrideX);
    const auto enlarge = [&](unsigned int size, uint32_t window, uint32_t stride)
    {
        Multiply(context, size, stride); // the windows' reach
        return ToSize(context, Multiply(context, size, window));
    };
    TensorShape output = input;
    output.SetDimensionSize(1, enlarge(input[1], pool.m_PoolHeight, pool.m_StrideY));
    output.SetDimensionSize(2, enlarge(input[2], pool.m_PoolWidth, pool.m_StrideX));
    context.SetOutputShape(0, output);
}

} // namespace tenon::infer
