// SPDX-License-Identifier: Apache-2.0
// Shape inference of the layers of TFLM's signal library.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Signal.hpp>

namespace tenon::infer
{

namespace
{

/// The last size of input 0. Fails for a scalar.
unsigned int LastSize(const InferContext& context)
{
    const TensorShape& input = context.InputShape(0);
    context.Check(input.GetNumDimensions() >= 1, "input 0 is a scalar; it must have a dimension of samples");
    return input[input.GetNumDimensions() - 1];
}

TensorShape WithLast(const TensorShape& shape, unsigned int size)
{
    TensorShape result = shape;
    result.SetDimensionSize(shape.GetNumDimensions() - 1, size);
    return result;
}

void CheckSame(const InferContext& context, size_t input, const char* what, const TensorShape& expected)
{
    context.Check(context.InputShape(input) == expected, "input {}, {}, has shape {}; it must be {}", input, what,
                  context.InputShape(input), expected);
}

void InferFilterBank(InferContext& context)
{
    for (size_t i = 0; i < context.NumInputs(); ++i)
    {
        CheckRank(context, i, 1);
    }
    CheckSame(context, 2, "the unweights", context.InputShape(1));
    CheckSame(context, 4, "the starts among the weights", context.InputShape(3));
    CheckSame(context, 5, "the widths", context.InputShape(3));
    context.Check(context.InputShape(3)[0] >= 1,
                  "input 3, the starts, is empty; it must have one for each channel and one more");
    context.SetOutputShape(0, TensorShape({context.InputShape(3)[0] - 1}));
}

void InferEnergy(InferContext& context, const SignalFeatureDescriptor& descriptor)
{
    CheckRank(context, 0, 1);
    const unsigned int numbers = context.InputShape(0)[0];
    context.Check(numbers % 2 == 0, "input 0 has {} numbers; frequencies must have two each", numbers);
    context.Check(descriptor.m_Start <= descriptor.m_End && descriptor.m_End <= numbers / 2,
                  "energies {} to {} are wanted of {} frequencies; they must be a part of them", descriptor.m_Start,
                  descriptor.m_End, numbers / 2);
    context.SetOutputShape(0, TensorShape({numbers / 2}));
}

void InferCut(InferContext& context, const SignalFramesDescriptor& descriptor)
{
    const unsigned int samples = LastSize(context);
    const TensorShape& input = context.InputShape(0);
    const uint32_t size = descriptor.m_FrameSize;
    const uint32_t step = descriptor.m_FrameStep;
    context.Check(size >= 1 && step >= 1, "frames of {} samples by {}: size and step must be at least 1", size, step);
    context.Check(!descriptor.m_Prefill || size >= step,
                  "prefilled frames of {} samples by {}: the step must not exceed the size", size, step);
    context.Check(samples % step == 0, "input 0 of shape {} has {} samples; they must be a multiple of the step, {}",
                  input, samples, step);
    const TensorShape end = WithLast(input, ToSize(context, static_cast<int64_t>(descriptor.GetReach())));
    CheckSame(context, 1, "the end of the signal", end);
    CheckElements(context, 2, "count", 1);
    ShapeBuilder output(context);
    output.AddRange(input, 0, input.GetNumDimensions() - 1);
    output.Add(samples / step);
    output.Add(size);
    context.SetOutputShape(0, output.Shape());
    context.SetOutputShape(1, end);
}

void InferStack(InferContext& context, const SignalFramesDescriptor& descriptor)
{
    CheckRank(context, 0, 1);
    const uint32_t size = descriptor.m_FrameSize;
    const uint32_t step = descriptor.m_FrameStep;
    context.Check(size >= 1 && step >= 1 && step <= size && descriptor.m_LeftContext < size,
                  "stacks of {} frames by {}, {} of them repeated: size and step must be at least 1, neither the step "
                  "above the size nor the repeated ones",
                  size, step, descriptor.m_LeftContext);
    const TensorShape stack({ToSize(context, Multiply(context, LastSize(context), size))});
    CheckSame(context, 1, "the end of the signal", stack);
    CheckElements(context, 2, "count", 1);
    context.SetOutputShape(0, stack);
    context.SetOutputShape(1, stack);
}

void InferOverlapAdd(InferContext& context, const SignalFramesDescriptor& descriptor)
{
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    context.Check(rank >= 2, "input 0 has shape {}; it must be [..., frames, samples]", input);
    context.Check(descriptor.m_FrameStep >= 1 && descriptor.m_FrameStep <= input[rank - 1],
                  "frames of {} samples by {}: the step must be at least 1, and not above the size", input[rank - 1],
                  descriptor.m_FrameStep);
    ShapeBuilder end(context);
    end.AddRange(input, 0, rank - 2);
    end.Add(input[rank - 1]);
    CheckSame(context, 1, "the end of the signal", end.Shape());
    ShapeBuilder output(context);
    output.AddRange(input, 0, rank - 2);
    output.Add(Multiply(context, input[rank - 2], descriptor.m_FrameStep));
    context.SetOutputShape(0, output.Shape());
    context.SetOutputShape(1, end.Shape());
}

} // namespace

void InferSignalFeature(InferContext& context)
{
    CheckAllConnected(context);
    const auto& descriptor = context.Descriptor<SignalFeatureDescriptor>();
    const TensorShape& input = context.InputShape(0);
    switch (descriptor.m_Function)
    {
    case SignalFeatureFunction::FilterBank: InferFilterBank(context); return;
    case SignalFeatureFunction::Energy: InferEnergy(context, descriptor); return;
    case SignalFeatureFunction::Window: CheckSame(context, 1, "the window", TensorShape({LastSize(context)})); break;
    case SignalFeatureFunction::SquareRoot: CheckElements(context, 1, "number of bits", 1); break;
    case SignalFeatureFunction::Gain:
        CheckSame(context, 1, "the noise", input);
        CheckSame(context, 2, "the gains", TensorShape({125}));
        break;
    case SignalFeatureFunction::AutoScale: context.SetOutputShape(1, TensorShape(Dimensionality::Scalar)); break;
    case SignalFeatureFunction::Log: break;
    }
    context.SetOutputShape(0, input);
}

void InferSignalFft(InferContext& context)
{
    const auto& descriptor = context.Descriptor<SignalFftDescriptor>();
    const uint32_t length = descriptor.m_Length;
    context.Check(length >= 2 && length % 2 == 0, "a transform of length {}: it must be even, and at least 2", length);
    const unsigned int last = LastSize(context);
    const unsigned int numbers = ToSize(context, int64_t{length} + 2); // of all frequencies
    context.Check(descriptor.m_Inverse ? last == numbers : last <= length,
                  "input 0 of shape {} does not fit a transform of length {}: its last size must be {}{}",
                  context.InputShape(0), length, descriptor.m_Inverse ? numbers : length,
                  descriptor.m_Inverse ? "" : " or less");
    context.SetOutputShape(0, WithLast(context.InputShape(0), descriptor.m_Inverse ? length : numbers));
}

void InferSignalFrames(InferContext& context)
{
    CheckAllConnected(context);
    const auto& descriptor = context.Descriptor<SignalFramesDescriptor>();
    if (descriptor.m_Function == SignalFramesFunction::OverlapAdd)
    {
        InferOverlapAdd(context, descriptor);
        return;
    }
    context.SetOutputShape(2, TensorShape(Dimensionality::Scalar));
    context.SetOutputShape(3, context.InputShape(2));
    if (descriptor.m_Function == SignalFramesFunction::Cut)
    {
        InferCut(context, descriptor);
    }
    else
    {
        InferStack(context, descriptor);
    }
}

void InferSpectralSubtraction(InferContext& context)
{
    CheckRank(context, 0, 1);
    CheckSame(context, 1, "the noise", context.InputShape(0));
    context.SetOutputShape(0, context.InputShape(0));
    context.SetOutputShape(1, context.InputShape(0));
}

} // namespace tenon::infer
