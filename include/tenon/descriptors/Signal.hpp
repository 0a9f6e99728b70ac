// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that transform signals into frequencies and back.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>

namespace tenon
{

/// AudioSpectrogram (Tenon): the magnitude of each frequency in windows that slide over audio, as in TensorFlow. The
/// input is [samples, channels], the output [channels, windows, n / 2 + 1], where n is the power of two from the
/// window's size up. A window is weighted by a periodic Hann function and padded with zeros to n samples.
struct AudioSpectrogramDescriptor : detail::Described<AudioSpectrogramDescriptor>
{
    uint32_t m_WindowSize = 0;       ///< samples; at least 2
    uint32_t m_Stride = 0;           ///< samples from one window to the next; at least 1
    bool m_MagnitudeSquared = false; ///< squares of the magnitudes in place of the magnitudes

    template <typename V>
    static void Visit(V&& v)
    {
        v("WindowSize", &AudioSpectrogramDescriptor::m_WindowSize);
        v("Stride", &AudioSpectrogramDescriptor::m_Stride);
        v("MagnitudeSquared", &AudioSpectrogramDescriptor::m_MagnitudeSquared);
    }
};

/// Mfcc (Tenon): mel-frequency cepstral coefficients of a spectrogram of squared magnitudes, as in TensorFlow.
/// [channels, windows, frequencies] becomes [channels, windows, m_DctCoefficientCount].
/// With m_ParametersAsInputs input 1, one element, is the sample rate.
struct MfccDescriptor : detail::Described<MfccDescriptor>
{
    uint32_t m_SampleRate = 0;             ///< of the audio, in Hz
    float m_UpperFrequencyLimit = 4000.0f; ///< Hz; at most half the sample rate
    float m_LowerFrequencyLimit = 20.0f;   ///< Hz
    uint32_t m_FilterbankChannelCount = 40;
    uint32_t m_DctCoefficientCount = 13; ///< at most m_FilterbankChannelCount
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("SampleRate", &MfccDescriptor::m_SampleRate);
        v("UpperFrequencyLimit", &MfccDescriptor::m_UpperFrequencyLimit);
        v("LowerFrequencyLimit", &MfccDescriptor::m_LowerFrequencyLimit);
        v("FilterbankChannelCount", &MfccDescriptor::m_FilterbankChannelCount);
        v("DctCoefficientCount", &MfccDescriptor::m_DctCoefficientCount);
        v("ParametersAsInputs", &MfccDescriptor::m_ParametersAsInputs);
    }
};

/// RealFft2d (Tenon): the Fourier transform of real numbers over the last two dimensions, Float32 to Complex64, or
/// back. It gives m_Height x (m_Width / 2 + 1) frequencies; the others mirror them. The inverse takes the same
/// frequencies and divides by m_Height * m_Width. Input elements beyond these sizes are ignored; missing ones count as
/// zero. With m_ParametersAsInputs input 1 holds height and width.
struct RealFft2dDescriptor : detail::Described<RealFft2dDescriptor>
{
    uint32_t m_Height = 1; ///< of the real side; a power of two
    uint32_t m_Width = 1;  ///< of the real side; a power of two
    bool m_Inverse = false;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Height", &RealFft2dDescriptor::m_Height);
        v("Width", &RealFft2dDescriptor::m_Width);
        v("Inverse", &RealFft2dDescriptor::m_Inverse);
        v("ParametersAsInputs", &RealFft2dDescriptor::m_ParametersAsInputs);
    }
};

/// Dft (Tenon): the discrete Fourier transform along an axis, of any length. The last dimension holds the parts of
/// numbers: 1 of real numbers, 2 of complex ones, the real part first. Elements beyond the length are ignored; missing
/// ones count as zero. The inverse divides by the length. With m_Onesided a transform takes real numbers and gives the
/// frequencies 0 to length / 2, as the others mirror them; an inverse takes these and gives real numbers. With
/// m_ParametersAsInputs input 1, one element, is the length.
struct DftDescriptor : detail::Described<DftDescriptor>
{
    int32_t m_Axis = 1;    ///< not the last dimension; negative counts from the end
    uint32_t m_Length = 0; ///< of the side that is not halved. 0: as the axis has it; of an inverse by m_Onesided
                           ///< 2 * (size - 1)
    bool m_Inverse = false;
    bool m_Onesided = false;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &DftDescriptor::m_Axis);
        v("Length", &DftDescriptor::m_Length);
        v("Inverse", &DftDescriptor::m_Inverse);
        v("Onesided", &DftDescriptor::m_Onesided);
        v("ParametersAsInputs", &DftDescriptor::m_ParametersAsInputs);
    }
};

/// ComplexPart (Tenon): one part of each complex number. Complex64 gives Float32, Complex128 gives Float64.
struct ComplexPartDescriptor : detail::Described<ComplexPartDescriptor>
{
    ComplexPartDescriptor() = default;
    ComplexPartDescriptor(ComplexComponent component) : m_Component(component) {}

    ComplexComponent m_Component = ComplexComponent::Real;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Component", &ComplexPartDescriptor::m_Component);
    }
};

} // namespace tenon
