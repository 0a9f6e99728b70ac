// SPDX-License-Identifier: Apache-2.0
// Mfcc against its definition: triangles on the mel scale, logarithms, cosines; and what is refused.
#include "harness/OpTest.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace tenon::test::mfcc_test
{

namespace
{

double Mel(double hertz)
{
    return 1127.0 * std::log(1.0 + hertz / 700.0);
}

/// How much of frequency i goes to a channel: a triangle from one channel's middle to that of the next but one.
double GetShare(const MfccDescriptor& d, double hertz, unsigned int channel)
{
    const double low = Mel(static_cast<double>(d.m_LowerFrequencyLimit));
    const double spacing = (Mel(static_cast<double>(d.m_UpperFrequencyLimit)) - low) / (d.m_FilterbankChannelCount + 1);
    return std::max(0.0, 1.0 - std::abs((Mel(hertz) - low) / spacing - (channel + 1.0)));
}

std::vector<double> Transform(const MfccDescriptor& d, const RealTensor& in, unsigned int c, unsigned int w)
{
    const unsigned int frequencies = in.Dim(2);
    const double step = 0.5 * d.m_SampleRate / (frequencies - 1);
    std::vector<double> logs;
    for (unsigned int channel = 0; channel < d.m_FilterbankChannelCount; ++channel)
    {
        double sum = 0;
        for (unsigned int i = 1; i < frequencies; ++i)
        {
            const bool isHeard = i >= std::floor(1.5 + static_cast<double>(d.m_LowerFrequencyLimit) / step) &&
                                 i * step <= static_cast<double>(d.m_UpperFrequencyLimit);
            sum += isHeard ? std::sqrt(in.At(c, w, i)) * GetShare(d, i * step, channel) : 0.0;
        }
        logs.push_back(std::log(std::max(sum, 1e-12)));
    }
    std::vector<double> result;
    const double length = d.m_FilterbankChannelCount;
    for (unsigned int i = 0; i < d.m_DctCoefficientCount; ++i)
    {
        double sum = 0;
        for (unsigned int j = 0; j < d.m_FilterbankChannelCount; ++j)
        {
            sum += logs[j] * std::cos(std::numbers::pi / length * i * (j + 0.5));
        }
        result.push_back(sum * std::sqrt(2.0 / length));
    }
    return result;
}

OpCase MakeCase(TestTensor input, const MfccDescriptor& d)
{
    OpCase op;
    op.m_Name = input.m_Info.ToString();
    op.m_Type = LayerType::Mfcc;
    op.m_Descriptor = MakeDescriptor(d);
    const TensorShape shape = input.m_Info.GetShape();
    op.m_Output = TensorInfo(TensorShape({shape[0], shape[1], d.m_DctCoefficientCount}), DataType::Float32);
    op.m_Inputs = {std::move(input)};
    op.m_Oracle = [d, shape](const std::vector<RealTensor>& in)
    {
        std::vector<double> values;
        for (unsigned int i = 0; i < shape[0] * shape[1]; ++i)
        {
            const std::vector<double> own = Transform(d, in[0], i / shape[1], i % shape[1]);
            values.insert(values.end(), own.begin(), own.end());
        }
        return values;
    };
    op.m_Absolute = 1e-5;
    return op;
}

MfccDescriptor At(uint32_t rate, float lower = 20.0f, float upper = 4000.0f, uint32_t channels = 40,
                  uint32_t coefficients = 13)
{
    MfccDescriptor d;
    d.m_SampleRate = rate;
    d.m_LowerFrequencyLimit = lower;
    d.m_UpperFrequencyLimit = upper;
    d.m_FilterbankChannelCount = channels;
    d.m_DctCoefficientCount = coefficients;
    return d;
}

TestTensor Spectrogram(const TensorShape& shape)
{
    return Random(TensorInfo(shape, DataType::Float32), 9, 0, 10);
}

} // namespace

ISA_TEST(Mfcc, AnyParameters)
{
    CheckOp(MakeCase(Spectrogram(TensorShape({1, 1, 513})), At(22050)));
    CheckOp(MakeCase(Spectrogram(TensorShape({2, 20, 257})), At(16000)));
    CheckOp(MakeCase(Spectrogram(TensorShape({1, 3, 257})), At(16000, 300.0f, 8000.0f, 24, 24))); // up to the last one
    CheckOp(MakeCase(Spectrogram(TensorShape({1, 3, 65})), At(8000, 0.0f, 4000.0f, 200, 50))); // triangles without any
    CheckOp(MakeCase(Spectrogram(TensorShape({1, 1, 9})), At(8000, 3990.0f, 4000.0f, 1, 1)));  // nothing is heard
    CheckOp(MakeCase(Spectrogram(TensorShape({1, 1, 2})), At(44100, 20.0f, 22050.0f, 5, 5)));
    CheckOp(MakeCase(Spectrogram(TensorShape({0, 4, 513})), At(22050)));
}

// Results of TFLite for a spectrogram of 1, 2, 3, ...
ISA_TEST(Mfcc, ResultsOfTfLite)
{
    std::vector<double> ramp(513);
    for (size_t i = 0; i < ramp.size(); ++i)
    {
        ramp[i] = static_cast<double>(i + 1);
    }
    OpCase op = MakeCase(Values(TensorInfo(TensorShape({1, 1, 513}), DataType::Float32), ramp), At(22050));
    op.m_Oracle =
        Expect(op.m_Output, {29.13970072, -6.41568601, -0.61903012, -0.96778652, -0.26819878, -0.40907028, -0.15614748,
                             -0.23203119, -0.10481487, -0.1543029, -0.0769791, -0.10806114, -0.06047613});
    op.m_Absolute = 1e-3;
    CheckOp(op);
}

ISA_TEST(Mfcc, RefusesWhatDoesNotFit)
{
    const auto input = [] { return Spectrogram(TensorShape({1, 2, 257})); };
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    CheckUnsupported(MakeCase(input(), At(0)), SupportCode::UnsupportedParameters, "sample rate");
    CheckRejectsShapes(MakeCase(input(), At(7000)), "half the sample rate");
    CheckUnsupported(MakeCase(input(), At(16000, 4000.0f, 4000.0f)), SupportCode::UnsupportedParameters, "limits");
    CheckUnsupported(MakeCase(input(), At(16000, -1.0f)), SupportCode::UnsupportedParameters, "limits");
    CheckUnsupported(MakeCase(input(), At(16000, std::nanf(""))), SupportCode::UnsupportedParameters, "limits");
    CheckUnsupported(MakeCase(input(), At(16000, 20.0f, Infinity)), SupportCode::UnsupportedParameters, "limits");
    CheckUnsupported(MakeCase(input(), At(16000, 20.0f, 4000.0f, 12, 13)), SupportCode::UnsupportedParameters,
                     "no more coefficients");
    CheckUnsupported(MakeCase(input(), At(16000, 20.0f, 4000.0f, 1U << 31, 13)), SupportCode::UnsupportedParameters,
                     "at most 65536");
    CheckUnsupported(MakeCase(input(), At(16000, 20.0f, 4000.0f, 12, 0)), SupportCode::UnsupportedParameters,
                     "at least 1");
    CheckRejectsShapes(MakeCase(Spectrogram(TensorShape({1, 2, 1})), At(16000)), "at least 2 frequencies");
    OpCase op = MakeCase(input(), At(16000));
    op.m_Output.SetShape(TensorShape({1, 2, 14}));
    CheckRejectsShapes(op, "do not fit together");
}

} // namespace tenon::test::mfcc_test
