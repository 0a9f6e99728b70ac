// SPDX-License-Identifier: Apache-2.0
// Rows of Fourier transforms, of audio features made of them, and of complex numbers.
#include "parsers/tflite/operators/Rows.hpp"

#include <cmath>

namespace tenon::tflite
{

namespace
{

void AddFft2d(const OperatorView& op, NetworkBuilder& builder, bool inverse)
{
    RealFft2dDescriptor descriptor;
    descriptor.m_Inverse = inverse;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddRealFft2dLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddComplexPart(const OperatorView& op, NetworkBuilder& builder, ComplexComponent component)
{
    const ComplexPartDescriptor descriptor(component);
    builder.Wire(op, builder.Network().AddComplexPartLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddRfft2d(const OperatorView& op, NetworkBuilder& builder)
{
    AddFft2d(op, builder, false);
}

void AddIrfft2d(const OperatorView& op, NetworkBuilder& builder)
{
    AddFft2d(op, builder, true);
}

void AddReal(const OperatorView& op, NetworkBuilder& builder)
{
    AddComplexPart(op, builder, ComplexComponent::Real);
}

void AddImag(const OperatorView& op, NetworkBuilder& builder)
{
    AddComplexPart(op, builder, ComplexComponent::Imaginary);
}

void AddComplexAbs(const OperatorView& op, NetworkBuilder& builder)
{
    AddComplexPart(op, builder, ComplexComponent::Magnitude);
}

void AddAudioSpectrogram(const OperatorView& op, NetworkBuilder& builder)
{
    AudioSpectrogramDescriptor descriptor;
    descriptor.m_WindowSize = op.Unsigned("window_size", 0, 2);
    descriptor.m_Stride = op.Unsigned("stride", 0, 1);
    descriptor.m_MagnitudeSquared = op.Bool("magnitude_squared", false);
    builder.Wire(op, builder.Network().AddAudioSpectrogramLayer(descriptor, op.LayerName().c_str()), {0});
}

/// Options that are absent have the values that TensorFlow gives them. TFLite takes whole frequencies only.
void AddMfcc(const OperatorView& op, NetworkBuilder& builder)
{
    MfccDescriptor descriptor;
    descriptor.m_UpperFrequencyLimit = std::trunc(op.Float("upper_frequency_limit", descriptor.m_UpperFrequencyLimit));
    descriptor.m_LowerFrequencyLimit = std::trunc(op.Float("lower_frequency_limit", descriptor.m_LowerFrequencyLimit));
    descriptor.m_FilterbankChannelCount =
        op.Unsigned("filterbank_channel_count", static_cast<int32_t>(descriptor.m_FilterbankChannelCount), 1);
    descriptor.m_DctCoefficientCount =
        op.Unsigned("dct_coefficient_count", static_cast<int32_t>(descriptor.m_DctCoefficientCount), 1);
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddMfccLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

} // namespace

Span<const OperatorRow> GetSignalRows()
{
    static constexpr OperatorRow rows[] = {
        {"COMPLEX_ABS", AddComplexAbs, 1, 1, 1, 1},
        {"IMAG", AddImag, 1, 1, 1, 1},
        {"REAL", AddReal, 1, 1, 1, 1},
        {"RFFT2D", AddRfft2d, 2, 2, 1, 1},
        {"AudioSpectrogram", AddAudioSpectrogram, 1, 1, 1, 1, IsCustom},
        {"Irfft2d", AddIrfft2d, 2, 2, 1, 1, IsCustom},
        {"Mfcc", AddMfcc, 2, 2, 1, 1, IsCustom},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
