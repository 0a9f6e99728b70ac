// SPDX-License-Identifier: Apache-2.0
// AudioSpectrogram against the sum that defines the transform of each window.
#include "harness/OpTest.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

namespace tenon::test::audio_spectrogram_test
{

namespace
{

OpCase MakeCase(TestTensor input, uint32_t size, uint32_t stride, bool squared)
{
    AudioSpectrogramDescriptor descriptor;
    descriptor.m_WindowSize = size;
    descriptor.m_Stride = stride;
    descriptor.m_MagnitudeSquared = squared;
    const TensorShape& shape = input.m_Info.GetShape();
    const unsigned int samples = shape[0];
    const unsigned int channels = shape.GetNumDimensions() > 1 ? shape[1] : 1;
    const auto length = static_cast<unsigned int>(std::bit_ceil(size));
    const unsigned int windows = samples < size || stride == 0 ? 0 : (samples - size) / stride + 1;
    OpCase op;
    op.m_Name = input.m_Info.ToString() + ", windows of " + std::to_string(size) + " by " + std::to_string(stride);
    op.m_Type = LayerType::AudioSpectrogram;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {std::move(input)};
    op.m_Output = TensorInfo(TensorShape({channels, windows, length / 2 + 1}), DataType::Float32);
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        std::vector<double> values;
        for (unsigned int channel = 0; channel < channels; ++channel)
        {
            for (unsigned int window = 0; window < windows; ++window)
            {
                for (unsigned int k = 0; k <= length / 2; ++k)
                {
                    std::complex<double> sum = 0;
                    for (unsigned int i = 0; i < size; ++i)
                    {
                        const double hann = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * i / size);
                        const double turns = static_cast<double>(k * i % length) / length;
                        sum += in[0].At(window * stride + i, channel) * hann *
                               std::polar(1.0, -2.0 * std::numbers::pi * turns);
                    }
                    values.push_back(squared ? std::norm(sum) : std::abs(sum));
                }
            }
        }
        return values;
    };
    return op;
}

TestTensor Audio(const TensorShape& shape)
{
    return Random(TensorInfo(shape, DataType::Float32), 8, -1, 1);
}

} // namespace

ISA_TEST(AudioSpectrogram, WindowsOfAnySizeAndStride)
{
    for (const bool squared : {false, true})
    {
        CheckOp(MakeCase(Audio(TensorShape({8, 1})), 8, 1, squared));
        CheckOp(MakeCase(Audio(TensorShape({40, 3})), 8, 3, squared));
        CheckOp(MakeCase(Audio(TensorShape({100, 2})), 24, 10, squared)); // padded to 32
        CheckOp(MakeCase(Audio(TensorShape({50, 1})), 5, 20, squared));   // samples between windows are left out
        CheckOp(MakeCase(Audio(TensorShape({9, 1})), 2, 1, squared));
        CheckOp(MakeCase(Audio(TensorShape({2000, 2})), 480, 160, squared));
    }
}

ISA_TEST(AudioSpectrogram, TooFewSamples)
{
    CheckOp(MakeCase(Audio(TensorShape({7, 2})), 8, 1, false));
    CheckOp(MakeCase(Audio(TensorShape({0, 1})), 1U << 31, 1, false)); // no memory for such a window
    CheckOp(MakeCase(Audio(TensorShape({20, 0})), 8, 1, false));
}

// Results of TFLite.
ISA_TEST(AudioSpectrogram, ResultsOfTfLite)
{
    const TestTensor input = Values(TensorInfo(TensorShape({8, 1}), DataType::Float32), {-1, 0, 1, 0, -1, 0, 1, 0});
    OpCase op = MakeCase(input, 8, 1, true);
    op.m_Oracle = Expect(op.m_Output, {0, 1, 4, 1, 0});
    CheckOp(op);
}

ISA_TEST(AudioSpectrogram, RefusesWhatDoesNotFit)
{
    CheckUnsupported(MakeCase(Audio(TensorShape({8, 1})), 1, 1, false), SupportCode::UnsupportedParameters,
                     "at least 2");
    CheckUnsupported(MakeCase(Audio(TensorShape({8, 1})), 8, 0, false), SupportCode::UnsupportedParameters,
                     "at least 2");
    CheckRejectsShapes(MakeCase(Audio(TensorShape({8})), 8, 1, false), "do not fit together");
    OpCase op = MakeCase(Audio(TensorShape({9, 1})), 8, 1, false);
    op.m_Output.SetShape(TensorShape({1, 1, 5}));
    CheckRejectsShapes(op, "do not fit together");
    op.m_Output = TensorInfo(TensorShape({1, 2, 5}), DataType::Float16);
    CheckUnsupported(op, SupportCode::UnsupportedType, "output 0");
}

} // namespace tenon::test::audio_spectrogram_test
