// SPDX-License-Identifier: Apache-2.0
// Shape inference of convolutions. Weights have the data's layout with the output channels in front, but for depthwise
// and 3D convolutions, which have one layout of weights each (see Descriptors.hpp). A bias may be left unconnected.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

namespace tenon::infer
{

namespace
{

constexpr size_t Bias = 2;

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

// Of Convolution2d and DepthwiseConvolution2d, once the weights are understood.
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
    if (window.m_Scheme == PaddingScheme::Same)
    {
        // The paddings are those of the convolution that would make this layer's input out of its output.
        const int64_t output = wanted >= 0 ? wanted : Multiply(context, input, window.m_Stride);
        Window forward = window;
        Slide(context, forward, output);
        window.m_PadBefore = forward.m_PadBefore;
        window.m_PadAfter = forward.m_PadAfter;
        return output;
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

    Window depth = {"depth",
                    weights[0],
                    descriptor.m_StrideZ,
                    descriptor.m_DilationZ,
                    descriptor.m_PaddingScheme,
                    descriptor.m_PadFront,
                    descriptor.m_PadBack};
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
    const auto& descriptor = context.Descriptor<TransposeConvolution2dDescriptor>();
    const ImageDims dims = GetImageDims(context, descriptor.m_DataLayout);
    CheckRank(context, 0, 4);
    CheckRank(context, 1, 4);
    const TensorShape& input = context.InputShape(0);
    const TensorShape& weights = context.InputShape(1);
    context.Check(weights[dims.m_Channels] == input[dims.m_Channels],
                  "weights {} have {} input channels, but input 0 has {}", weights, weights[dims.m_Channels],
                  input[dims.m_Channels]);
    CheckElements(context, Bias, "bias", weights[0]);

    const std::vector<unsigned int>& wanted = descriptor.m_OutputShape;
    const bool isWanted = descriptor.m_OutputShapeEnabled;
    // A smaller batch leaves the rest of the input unused; models of that kind run in TFLite.
    context.Check(!isWanted || (wanted.size() == 4 && wanted[0] <= input[0] && wanted[dims.m_Channels] == weights[0]),
                  "the output shape [{}] does not fit input 0 of shape {} and weights {}: it must have 4 dimensions, "
                  "a batch within that of the input and the output channels of the weights",
                  fmt::join(wanted, ","), input, weights);
    Window height = MakeHeightWindow(descriptor, weights[dims.m_Height], 1);
    Window width = MakeWidthWindow(descriptor, weights[dims.m_Width], 1);
    const int64_t outputHeight =
        SlideBack(context, height, input[dims.m_Height], isWanted ? int64_t{wanted[dims.m_Height]} : -1);
    const int64_t outputWidth =
        SlideBack(context, width, input[dims.m_Width], isWanted ? int64_t{wanted[dims.m_Width]} : -1);
    TensorShape output = input;
    output.SetDimensionSize(0, isWanted ? wanted[0] : input[0]);
    output.SetDimensionSize(dims.m_Channels, weights[0]);
    output.SetDimensionSize(dims.m_Height, ToSize(context, outputHeight));
    output.SetDimensionSize(dims.m_Width, ToSize(context, outputWidth));
    context.SetOutputShape(0, output);
    ResolvePaddings<TransposeConvolution2dDescriptor>(context, height, width);
}

} // namespace tenon::infer
