// SPDX-License-Identifier: Apache-2.0
// AudioSpectrogram: magnitudes, or their squares, of the frequencies in windows of audio. The algorithm is
// TensorFlow's: a window is weighted by a periodic Hann function, padded with zeros to a power of two and transformed
// in double precision.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/Fft.hpp"
#include "backends/reference/kernels/RunTasks.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Signal.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeRow SpectrogramTypes[] = {backends::SameType(DataType::Float32)};

struct Spectrogram
{
    size_t m_Channels = 0;
    size_t m_NumWindows = 0; ///< windows of one channel
    size_t m_Stride = 0;     ///< samples
    bool m_IsSquared = false;
    std::vector<double> m_Weights; ///< weights of the samples in a window
    RealFft m_Fft;

    /// Transforms one window from `in`, whose samples are m_Channels apart.
    void Run(const float* in, Complex* work, float* out) const
    {
        const size_t frequencies = m_Fft.GetNumFrequencies();
        std::fill_n(work, frequencies, Complex());
        for (size_t i = 0; i < m_Weights.size(); ++i)
        {
            const double sample = static_cast<double>(in[i * m_Channels]) * m_Weights[i];
            (i % 2 == 0 ? work[i / 2].m_Real : work[i / 2].m_Imaginary) = sample;
        }
        m_Fft.Forward(work);
        for (size_t i = 0; i < frequencies; ++i)
        {
            const auto square =
                static_cast<float>(work[i].m_Real * work[i].m_Real + work[i].m_Imaginary * work[i].m_Imaginary);
            out[i] = m_IsSquared ? square : std::sqrt(square);
        }
    }
};

std::vector<double> MakeHannWindow(size_t size)
{
    std::vector<double> weights(size);
    for (size_t i = 0; i < size; ++i)
    {
        const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size);
        weights[i] = 0.5 - 0.5 * std::cos(angle);
    }
    return weights;
}

SupportResult CheckSpectrogram(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<AudioSpectrogramDescriptor>();
    if (descriptor.m_WindowSize < 2 || descriptor.m_Stride < 1)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its windows are of " + std::to_string(descriptor.m_WindowSize) + " samples, " +
                                     std::to_string(descriptor.m_Stride) +
                                     " apart: they must have at least 2, and the next one start at least 1 later");
    }
    return SupportResult::Yes();
}

void CheckShapes(const ReshapeArgs& args, const AudioSpectrogramDescriptor& descriptor, uint64_t length)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const std::string what = "windows of " + std::to_string(descriptor.m_WindowSize) + " samples, " +
                             std::to_string(descriptor.m_Stride) + " apart, from " + input.ToString() + " to " +
                             output.ToString();
    bool fits = input.GetNumDimensions() == 2 && output.GetNumDimensions() == 3;
    if (fits)
    {
        const uint64_t windows =
            input[0] < descriptor.m_WindowSize ? 0 : (input[0] - descriptor.m_WindowSize) / descriptor.m_Stride + 1;
        fits = output[0] == input[1] && output[1] == windows && output[2] == length / 2 + 1;
    }
    if (!fits)
    {
        throw LayerValidationException(what + ": the shapes do not fit together");
    }
}

Prepared PrepareSpectrogram(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<AudioSpectrogramDescriptor>();
    const uint64_t length = std::bit_ceil(uint64_t{descriptor.m_WindowSize});
    CheckShapes(args, descriptor, length);
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {}; // returned before memory for windows is allocated, which may be longer than
                                          // all samples
    }
    const Spectrogram s = {output[0],
                           output[1],
                           descriptor.m_Stride,
                           descriptor.m_MagnitudeSquared,
                           MakeHannWindow(descriptor.m_WindowSize),
                           RealFft(static_cast<size_t>(length))};
    const size_t count = s.m_Channels * s.m_NumWindows;
    const size_t frequencies = s.m_Fft.GetNumFrequencies();
    Scratch scratch;
    scratch.Add<Complex>(std::min(count, MaxTasks), frequencies);
    const auto run = [s, count, frequencies](const ExecuteArgs& execute)
    {
        const auto windows = [&](size_t task, size_t begin, size_t end)
        {
            Complex* work = static_cast<Complex*>(execute.m_Scratch) + task * frequencies;
            for (size_t i = begin; i < end; ++i)
            {
                const size_t first = i % s.m_NumWindows * s.m_Stride;
                s.Run(execute.GetInput<float>(0) + first * s.m_Channels + i / s.m_NumWindows, work,
                      execute.GetOutput<float>(0) + i * frequencies);
            }
        };
        RunTasks(*execute.m_Parallel, count, windows);
    };
    return Prepared(run, scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefAudioSpectrogramKernel = {"RefAudioSpectrogram", SpectrogramTypes, PrepareSpectrogram,
                                                           CheckSpectrogram};

} // namespace tenon::ref
