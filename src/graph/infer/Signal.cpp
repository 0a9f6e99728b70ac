// SPDX-License-Identifier: Apache-2.0
// Shape inference of Fourier transforms, of layers that use them, and of complex numbers.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <bit>
#include <limits>

namespace tenon::infer
{

void InferAudioSpectrogram(InferContext& context)
{
    const auto& descriptor = context.Descriptor<AudioSpectrogramDescriptor>();
    CheckRank(context, 0, 2);
    context.Check(descriptor.m_WindowSize >= 2 && descriptor.m_Stride >= 1,
                  "a window of {} samples, a stride of {}: they must be at least 2 and 1", descriptor.m_WindowSize,
                  descriptor.m_Stride);
    const int64_t samples = context.InputShape(0)[0];
    const int64_t last = samples - descriptor.m_WindowSize; // where the last window could start
    const auto length = static_cast<int64_t>(std::bit_ceil(uint64_t{descriptor.m_WindowSize}));
    ShapeBuilder output(context);
    output.Add(context.InputShape(0)[1]);
    output.Add(last < 0 ? 0 : last / descriptor.m_Stride + 1);
    output.Add(length / 2 + 1);
    context.SetOutputShape(0, output.Shape());
}

void InferComplexPart(InferContext& context)
{
    context.SetOutputShape(0, context.InputShape(0));
}

void InferDft(InferContext& context)
{
    const auto& descriptor = context.Descriptor<DftDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    context.Check(rank >= 2, "input 0 has shape {}, but it must have at least 2 dimensions", input);
    const unsigned int parts = input[rank - 1];
    context.Check(parts == 1 || parts == 2,
                  "the last dimension of input 0 of shape {} must be 1, of real numbers, or 2, of complex ones", input);
    const unsigned int axis = context.CanonicalAxis(descriptor.m_Axis, rank);
    context.Check(axis != rank - 1, "axis {} is the last dimension of input 0 of shape {}, that of the numbers' parts",
                  descriptor.m_Axis, input);
    const bool isHalfIn = descriptor.m_Onesided && descriptor.m_Inverse;
    const bool isHalfOut = descriptor.m_Onesided && !descriptor.m_Inverse;
    context.Check(!descriptor.m_Onesided || parts == (isHalfIn ? 2U : 1U),
                  "input 0 has shape {}; with Onesided the last dimension is {}", input,
                  isHalfIn ? "2 of an inverse, which takes frequencies" : "1, as the numbers must be real");
    int64_t length = descriptor.m_Length;
    if (descriptor.m_ParametersAsInputs)
    {
        const std::vector<int64_t> values = context.Values(1);
        context.Check(values.size() == 1, "input 1, the length, has {} elements in place of 1", values.size());
        length = values[0];
        context.Check(length >= 1, "input 1, the length, is {}, but must be at least 1", length);
    }
    else if (length == 0)
    {
        length = isHalfIn ? 2 * (int64_t{input[axis]} - 1) : int64_t{input[axis]};
        context.Check(length >= 1, "dimension {} of input 0 of shape {} gives a transform of length {}", axis, input,
                      length);
    }
    const unsigned int size = ToSize(context, length);
    TensorShape output = input;
    output.SetDimensionSize(axis, isHalfOut ? size / 2 + 1 : size);
    output.SetDimensionSize(rank - 1, isHalfIn ? 1 : 2);
    context.SetOutputShape(0, output);
    if (descriptor.m_Axis < 0 || descriptor.m_Length != size || descriptor.m_ParametersAsInputs)
    {
        auto& edited = context.Edit<DftDescriptor>();
        edited.m_Axis = static_cast<int32_t>(axis);
        edited.m_Length = size;
        edited.m_ParametersAsInputs = false;
    }
}

void InferMfcc(InferContext& context)
{
    if (context.Descriptor<MfccDescriptor>().m_ParametersAsInputs)
    {
        const std::vector<int64_t> values = context.Values(1);
        context.Check(values.size() == 1, "input 1, the sample rate, has {} elements in place of 1", values.size());
        context.Check(values[0] >= 1 && values[0] <= std::numeric_limits<int32_t>::max(),
                      "input 1, the sample rate, is {}, which is not in 1 to {}", values[0],
                      std::numeric_limits<int32_t>::max());
        auto& edited = context.Edit<MfccDescriptor>();
        edited.m_SampleRate = static_cast<uint32_t>(values[0]);
        edited.m_ParametersAsInputs = false;
    }
    CheckRank(context, 0, 3);
    TensorShape output = context.InputShape(0);
    output.SetDimensionSize(2, context.Descriptor<MfccDescriptor>().m_DctCoefficientCount);
    context.SetOutputShape(0, output);
}

void InferRealFft2d(InferContext& context)
{
    if (context.Descriptor<RealFft2dDescriptor>().m_ParametersAsInputs)
    {
        const std::vector<unsigned int> lengths = ValuesAsSizes(context, 1);
        context.Check(lengths.size() == 2, "input 1, height and width of the transform, has {} elements in place of 2",
                      lengths.size());
        auto& edited = context.Edit<RealFft2dDescriptor>();
        edited.m_Height = lengths[0];
        edited.m_Width = lengths[1];
        edited.m_ParametersAsInputs = false;
    }
    const auto& descriptor = context.Descriptor<RealFft2dDescriptor>();
    const unsigned int rank = context.InputShape(0).GetNumDimensions();
    context.Check(rank >= 2, "input 0 has shape {}, but it must have at least 2 dimensions", context.InputShape(0));
    context.Check(std::has_single_bit(descriptor.m_Height) && std::has_single_bit(descriptor.m_Width),
                  "a transform of {} x {}: height and width must be powers of two", descriptor.m_Height,
                  descriptor.m_Width);
    TensorShape output = context.InputShape(0);
    output.SetDimensionSize(rank - 2, descriptor.m_Height);
    output.SetDimensionSize(rank - 1, descriptor.m_Inverse ? descriptor.m_Width : descriptor.m_Width / 2 + 1);
    context.SetOutputShape(0, output);
}

} // namespace tenon::infer
