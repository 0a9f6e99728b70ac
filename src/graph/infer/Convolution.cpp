// SPDX-License-Identifier: Apache-2.0
// Shape inference of convolutions. Weights have the data's layout with the output channels in front, but for depthwise
// and 3D convolutions, which have one layout of weights each (see descriptors/Convolution.hpp). A bias may be left
// unconnected.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>

namespace tenon::infer
{

namespace
{

constexpr size_t Bias = 2;
constexpr size_t OutputShape = 3; // of transposed convolutions

template <typename D>
Window MakeHeightWindow(const D& descriptor, unsigned int filter, unsigned int dilation)
{
    return {"height",
            filter,
            descriptor.m_StrideY,
            dilation,
            descriptor.m_PaddingScheme,
            descriptor.m_PadTop,
            descriptor.m_PadBottom};
}

template <typename D>
Window MakeWidthWindow(const D& descriptor, unsigned int filter, unsigned int dilation)
{
    return {"width",
            filter,
            descriptor.m_StrideX,
            dilation,
            descriptor.m_PaddingScheme,
            descriptor.m_PadLeft,
            descriptor.m_PadRight};
}

template <typename D>
Window MakeDepthWindow(const D& descriptor, unsigned int filter)
{
    return {"depth",
            filter,
            descriptor.m_StrideZ,
            descriptor.m_DilationZ,
            descriptor.m_PaddingScheme,
            descriptor.m_PadFront,
            descriptor.m_PadBack};
}

// Infers the output of Convolution2d and DepthwiseConvolution2d from the sizes that the weights give.
template <typename D>
void InferSliding2d(InferContext& context, const D& descriptor, const ImageDims& dims, unsigned int filterHeight,
                    unsigned int filterWidth, unsigned int outputChannels)
{
    CheckElements(context, Bias, "bias", outputChannels);
    Window height = MakeHeightWindow(descriptor, filterHeight, descriptor.m_DilationY);
    Window width = MakeWidthWindow(descriptor, filterWidth, descriptor.m_DilationX);
    TensorShape output = context.InputShape(0);
    output.SetDimensionSize(dims.m_Channels, outputChannels);
    output.SetDimensionSize(dims.m_Height, ToSize(context, Slide(context, height, output[dims.m_Height])));
    output.SetDimensionSize(dims.m_Width, ToSize(context, Slide(context, width, output[dims.m_Width])));
    context.SetOutputShape(0, output);
    ResolvePaddings<D>(context, height, width);
}

// Output size of one dimension of a transposed convolution; sets the paddings. `wanted` is the size that the
// descriptor gives, or negative where it gives none.
int64_t SlideBack(const InferContext& context, Window& window, int64_t input, int64_t wanted)
{
    const int64_t extent = GetFilterExtent(context, window);
    const bool isByInput = window.m_IsSameByInput && wanted < 0;
    if (window.m_Scheme == PaddingScheme::Same && !isByInput)
    {
        // The paddings are those of the convolution that would make this layer's input out of its output.
        const int64_t output = wanted >= 0 ? wanted : Multiply(context, input, window.m_Stride);
        Window forward = window;
        Slide(context, forward, output);
        window.m_PadBefore = forward.m_PadBefore;
        window.m_PadAfter = forward.m_PadAfter;
        return output;
    }
    if (window.m_Scheme == PaddingScheme::Same)
    {
        const int64_t pads = input == 0 ? 0 : std::max<int64_t>(extent - 1 - (input - 1) % window.m_Stride, 0);
        window.m_PadBefore = pads / 2;
        window.m_PadAfter = pads - window.m_PadBefore;
    }
    if (window.m_Scheme == PaddingScheme::Valid)
    {
        window.m_PadBefore = 0;
        window.m_PadAfter = 0;
    }
    if (wanted >= 0)
    {
        return wanted;
    }
    const int64_t spread = input == 0 ? 0 : Multiply(context, input - 1, window.m_Stride) + extent;
    const int64_t output = spread - window.m_PadBefore - window.m_PadAfter;
    context.Check(output >= 0, "the paddings {} and {} along the {} leave nothing of an output of {}",
                  window.m_PadBefore, window.m_PadAfter, window.m_What, spread);
    return output;
}

/// Sets one dimension of a transposed convolution's output.
void SetSlidBack(const InferContext& context, Window& window, unsigned int dim, const std::vector<unsigned int>* wanted,
                 TensorShape& output)
{
    const int64_t size =
        SlideBack(context, window, context.InputShape(0)[dim], wanted != nullptr ? int64_t{(*wanted)[dim]} : -1);
    output.SetDimensionSize(dim, ToSize(context, size));
}

/// The output shape that a transposed convolution is asked for; null where it gives none.
template <typename D>
const std::vector<unsigned int>* WantedShape(InferContext& context, unsigned int rank, unsigned int channelsDim,
                                             unsigned int outputChannels)
{
    if (context.Descriptor<D>().m_ParametersAsInputs)
    {
        D& edited = context.Edit<D>();
        edited.m_OutputShape = ValuesAsSizes(context, OutputShape);
        edited.m_OutputShapeEnabled = true;
        edited.m_ParametersAsInputs = false;
    }
    const D& descriptor = context.Descriptor<D>();
    if (!descriptor.m_OutputShapeEnabled)
    {
        return nullptr;
    }
    const std::vector<unsigned int>& wanted = descriptor.m_OutputShape;
    const TensorShape& input = context.InputShape(0);
    // A smaller batch leaves the rest of the input unused; models of that kind run in TFLite.
    context.Check(wanted.size() == rank && wanted[0] <= input[0] && wanted[channelsDim] == outputChannels,
                  "the output shape [{}] does not fit input 0 of shape {} and weights {}: it must have {} dimensions, "
                  "a batch within that of the input and the output channels of the weights",
                  fmt::join(wanted, ","), input, context.InputShape(1), rank);
    return &descriptor.m_OutputShape;
}

} // namespace

void InferConvolution2d(InferContext& context)
{
    const auto& descriptor = context.Descriptor<Convolution2dDescriptor>();
    const ImageDims dims = GetImageDims(context, descriptor.m_DataLayout);
    CheckRank(context, 0, 4);
    CheckRank(context, 1, 4);
    const TensorShape& weights = context.InputShape(1);
    const unsigned int channels = context.InputShape(0)[dims.m_Channels];
    const unsigned int filterChannels = weights[dims.m_Channels];
    const unsigned int groups = filterChannels == 0 ? 0 : channels / filterChannels;
    context.Check(channels == groups * filterChannels && (groups == 0 ? filterChannels == 0 : weights[0] % groups == 0),
                  "weights {} do not fit input 0 of {} channels: they must have as many input channels, or for a "
                  "grouped convolution a divisor of that, and a multiple of the number of groups as output channels",
                  weights, channels);
    InferSliding2d(context, descriptor, dims, weights[dims.m_Height], weights[dims.m_Width], weights[0]);
}

void InferConvolution3d(InferContext& context)
{
    const auto& descriptor = context.Descriptor<Convolution3dDescriptor>();
    const ImageDims dims = GetVolumeDims(context, descriptor.m_DataLayout);
    CheckRank(context, 0, 5);
    CheckRank(context, 1, 5);
    const TensorShape& weights = context.InputShape(1);
    context.Check(weights[3] == context.InputShape(0)[dims.m_Channels],
                  "weights {} have {} input channels, but input 0 has {}", weights, weights[3],
                  context.InputShape(0)[dims.m_Channels]);
    CheckElements(context, Bias, "bias", weights[4]);

    Window depth = MakeDepthWindow(descriptor, weights[0]);
    Window height = MakeHeightWindow(descriptor, weights[1], descriptor.m_DilationY);
    Window width = MakeWidthWindow(descriptor, weights[2], descriptor.m_DilationX);
    TensorShape output = context.InputShape(0);
    output.SetDimensionSize(dims.m_Channels, weights[4]);
    output.SetDimensionSize(dims.m_Depth, ToSize(context, Slide(context, depth, output[dims.m_Depth])));
    output.SetDimensionSize(dims.m_Height, ToSize(context, Slide(context, height, output[dims.m_Height])));
    output.SetDimensionSize(dims.m_Width, ToSize(context, Slide(context, width, output[dims.m_Width])));
    context.SetOutputShape(0, output);
    ResolvePaddings<Convolution3dDescriptor>(context, depth, height, width);
}

void InferDepthwiseConvolution2d(InferContext& context)
{
    const auto& descriptor = context.Descriptor<DepthwiseConvolution2dDescriptor>();
    const ImageDims dims = GetImageDims(context, descriptor.m_DataLayout);
    CheckRank(context, 0, 4);
    CheckRank(context, 1, 4);
    const TensorShape& weights = context.InputShape(1);
    const unsigned int channels = context.InputShape(0)[dims.m_Channels];
    context.Check(
        weights[0] == 1 && (channels == 0 ? weights[3] == 0 : weights[3] % channels == 0),
        "weights {} do not fit input 0 of {} channels: they must be [1, height, width, channels * multiplier]", weights,
        channels);
    InferSliding2d(context, descriptor, dims, weights[1], weights[2], weights[3]);
}

void InferTransposeConvolution2d(InferContext& context)
{
    using D = TransposeConvolution2dDescriptor;
    const ImageDims dims = GetImageDims(context, context.Descriptor<D>().m_DataLayout);
    CheckRank(context, 0, 4);
    CheckRank(context, 1, 4);
    const TensorShape& input = context.InputShape(0);
    const TensorShape& weights = context.InputShape(1);
    context.Check(weights[dims.m_Channels] == input[dims.m_Channels],
                  "weights {} have {} input channels, but input 0 has {}", weights, weights[dims.m_Channels],
                  input[dims.m_Channels]);
    CheckElements(context, Bias, "bias", weights[0]);

    const std::vector<unsigned int>* wanted = WantedShape<D>(context, 4, dims.m_Channels, weights[0]);
    const D& resolved = context.Descriptor<D>();
    Window height = MakeHeightWindow(resolved, weights[dims.m_Height], 1);
    Window width = MakeWidthWindow(resolved, weights[dims.m_Width], 1);
    height.m_IsSameByInput = width.m_IsSameByInput = resolved.m_SameByInput;
    TensorShape output = input;
    output.SetDimensionSize(0, wanted != nullptr ? (*wanted)[0] : input[0]);
    output.SetDimensionSize(dims.m_Channels, weights[0]);
    SetSlidBack(context, height, dims.m_Height, wanted, output);
    SetSlidBack(context, width, dims.m_Width, wanted, output);
    context.SetOutputShape(0, output);
    ResolvePaddings<D>(context, height, width);
}

void InferTransposeConvolution3d(InferContext& context)
{
    using D = TransposeConvolution3dDescriptor;
    const ImageDims dims = GetVolumeDims(context, context.Descriptor<D>().m_DataLayout);
    CheckRank(context, 0, 5);
    CheckRank(context, 1, 5);
    const TensorShape& input = context.InputShape(0);
    const TensorShape& weights = context.InputShape(1);
    context.Check(weights[4] == input[dims.m_Channels], "weights {} have {} input channels, but input 0 has {}",
                  weights, weights[4], input[dims.m_Channels]);
    CheckElements(context, Bias, "bias", weights[3]);

    const std::vector<unsigned int>* wanted = WantedShape<D>(context, 5, dims.m_Channels, weights[3]);
    const D& resolved = context.Descriptor<D>();
    Window depth = MakeDepthWindow(resolved, weights[0]);
    Window height = MakeHeightWindow(resolved, weights[1], resolved.m_DilationY);
    Window width = MakeWidthWindow(resolved, weights[2], resolved.m_DilationX);
    TensorShape output = input;
    output.SetDimensionSize(0, wanted != nullptr ? (*wanted)[0] : input[0]);
    output.SetDimensionSize(dims.m_Channels, weights[3]);
    SetSlidBack(context, depth, dims.m_Depth, wanted, output);
    SetSlidBack(context, height, dims.m_Height, wanted, output);
    SetSlidBack(context, width, dims.m_Width, wanted, output);
    context.SetOutputShape(0, output);
    ResolvePaddings<D>(context, depth, height, width);
}

} // namespace tenon::infer
