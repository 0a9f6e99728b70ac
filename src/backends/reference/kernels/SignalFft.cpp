// SPDX-License-Identifier: Apache-2.0
// SignalFft: the Fourier transform of real numbers along the last dimension, with interleaved frequencies, as TFLM's
// SignalRfft and SignalIrfft. Floats in double precision, integers bit for bit as TFLM.
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/DftLines.hpp"
#include "backends/reference/kernels/FixedPointFft.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Signal.hpp>

#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow SignalFftTypes[] = {
    backends::SameType({DataType::Float32, DataType::Signed16, DataType::Signed32})};

SupportResult CheckSignalFft(const LayerView& layer)
{
    const uint32_t length = layer.GetDescriptor<SignalFftDescriptor>().m_Length;
    const bool isFloat = layer.GetInput(0).GetDataType() == DataType::Float32;
    if (isFloat ? length >= 2 && length % 2 == 0 : FixedPointFft<int16_t>::IsSupported(length))
    {
        return SupportResult::Yes();
    }
    return SupportResult::No(SupportCode::UnsupportedParameters,
                             "a transform of length " + std::to_string(length) +
                                 (isFloat ? ": it must be even, and at least 2"
                                          : " in integers: it must be even, and half of it 2 or more without a prime "
                                            "factor above 5, as there are no results of others to compare with"));
}

template <typename T>
backends::Prepared MakeFixed(const ReshapeArgs& args, const SignalFftDescriptor& descriptor, size_t lines)
{
    using Fft = FixedPointFft<T>;
    const size_t length = descriptor.m_Length;
    const size_t last = args.GetInput(0).GetShape()[args.GetInput(0).GetShape().GetNumDimensions() - 1];
    auto fft = std::make_shared<const Fft>(descriptor.m_Length,
                                           descriptor.m_Inverse ? FftDirection::Backward : FftDirection::Forward);
    backends::Scratch task;
    const size_t numbersAt = task.Add<T>(length);
    const size_t samplesAt = task.Add<typename Fft::Sample>(fft->GetSize());
    backends::Scratch scratch;
    scratch.AddPerTask(task, std::min(lines, MaxTasks));
    const size_t taskBytes = task.GetBytes();
    const auto run = [fft = std::move(fft), lines, length, last, numbersAt, samplesAt, taskBytes,
                      isInverse = descriptor.m_Inverse](const ExecuteArgs& execute)
    {
        const auto transform = [&](size_t number, size_t begin, size_t end)
        {
            auto* const memory = static_cast<std::byte*>(execute.m_Scratch) + number * taskBytes;
            auto* const numbers = reinterpret_cast<T*>(memory + numbersAt);
            auto* const samples = reinterpret_cast<typename Fft::Sample*>(memory + samplesAt);
            for (size_t line = begin; line < end; ++line)
            {
                const T* const in = execute.GetInput<T>(0) + line * last;
                if (isInverse)
                {
                    fft->Backward(in, numbers, samples, execute.GetOutput<T>(0) + line * length);
                }
                else
                {
                    std::fill(std::copy_n(in, last, numbers), numbers + length, T{});
                    fft->Forward(numbers, samples, execute.GetOutput<T>(0) + line * (length + 2));
                }
            }
        };
        RunTasks(*execute.m_Parallel, lines, transform);
    };
    return backends::Prepared(run, scratch.GetBytes());
}

backends::Prepared PrepareSignalFft(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SignalFftDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    const uint64_t length = descriptor.m_Length;
    const bool fits = rank >= 1 && output.GetNumDimensions() == rank &&
                      CountElements(input, 0, rank - 1) == CountElements(output, 0, rank - 1) &&
                      output[rank - 1] == (descriptor.m_Inverse ? length : length + 2) &&
                      (descriptor.m_Inverse ? input[rank - 1] == length + 2 : input[rank - 1] <= length);
    if (!fits)
    {
        throw LayerValidationException("a transform of length " + std::to_string(length) + " from " + input.ToString() +
                                       " to " + output.ToString() + ": the shapes do not fit together");
    }
    const size_t lines = CountElements(input, 0, rank - 1);
    if (lines == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const DataType type = args.GetInput(0).GetDataType();
    if (type == DataType::Signed16)
    {
        return MakeFixed<int16_t>(args, descriptor, lines);
    }
    if (type == DataType::Signed32)
    {
        return MakeFixed<int32_t>(args, descriptor, lines);
    }
    const size_t frequencies = descriptor.m_Length / 2 + 1;
    DftPlan plan;
    plan.m_Fft = std::make_shared<const AnyFft>(descriptor.m_Length);
    plan.m_Outer = lines;
    plan.m_Inner = 1;
    plan.m_Length = descriptor.m_Length;
    plan.m_SizeIn = descriptor.m_Inverse ? frequencies : input[rank - 1];
    plan.m_SizeOut = descriptor.m_Inverse ? descriptor.m_Length : frequencies;
    plan.m_PartsIn = descriptor.m_Inverse ? 2 : 1;
    plan.m_PartsOut = descriptor.m_Inverse ? 1 : 2;
    plan.m_IsInverse = descriptor.m_Inverse;
    plan.m_IsMirrored = descriptor.m_Inverse;
    return MakeDft<float>(plan);
}

} // namespace

extern const backends::Kernel RefSignalFftKernel = {"RefSignalFft", SignalFftTypes, PrepareSignalFft, CheckSignalFft};

} // namespace tenon::ref
