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

/// SignalFft (Tenon): the Fourier transform of real numbers along the last dimension, as TFLM's SignalRfft and
/// SignalIrfft. The frequencies 0 to m_Length / 2 are pairs of numbers, the real part first. A transform takes up to
/// m_Length numbers; missing ones count as zero. The inverse of floats divides by m_Length. Integers are computed in
/// fixed point, as by Kiss FFT: both directions divide by m_Length, and half of it has no prime factor above 5.
struct SignalFftDescriptor : detail::Described<SignalFftDescriptor>
{
    uint32_t m_Length = 0; ///< even; of integers 4 or more
    bool m_Inverse = false;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Length", &SignalFftDescriptor::m_Length);
        v("Inverse", &SignalFftDescriptor::m_Inverse);
    }
};

/// SignalFeature (Tenon): features of audio in integers, as TFLM's signal library computes them. By m_Function, inputs
/// and outputs are
///   Window      samples [..., n] and weights [n], Signed16 -> the same, (sample * weight) >> m_Shift, saturated
///   AutoScale   samples, Signed16 -> the same, shifted left; and the number of bits, Signed32, one element
///   Energy      frequencies [2 n], Signed16 -> [n], Unsigned32; zeros outside of m_Start to m_End
///   FilterBank  energies [n], Unsigned32; weights and unweights [w], and for each channel and one in front of them the
///               start among the energies, that among the weights, and the width, Signed16 [channels + 1] -> sums
///               [channels], Unsigned64
///   SquareRoot  energies, Unsigned64; a number of bits, Signed32, one element -> roots >> bits, Unsigned32
///   Gain        channels and their noise, Unsigned32; gains [125], Signed16: a value and two coefficients for each
///               power of two of the noise -> channels, Unsigned32; the product with the gain is shifted by m_Shift
///   Log         channels, Unsigned32 -> m_Scale * log(channel << m_Shift), Signed16, saturated
struct SignalFeatureDescriptor : detail::Described<SignalFeatureDescriptor>
{
    SignalFeatureFunction m_Function = SignalFeatureFunction::Window;
    uint32_t m_Shift = 0; ///< of Window and Log at most 31, of Gain at most 63
    uint32_t m_Start = 0;
    uint32_t m_End = 0; ///< one past the last
    uint32_t m_Scale = 1;

    uint32_t GetNumInputs() const
    {
        switch (m_Function)
        {
        case SignalFeatureFunction::FilterBank: return 6;
        case SignalFeatureFunction::Gain: return 3;
        case SignalFeatureFunction::Window:
        case SignalFeatureFunction::SquareRoot: return 2;
        default: return 1;
        }
    }
    uint32_t GetNumOutputs() const { return m_Function == SignalFeatureFunction::AutoScale ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &SignalFeatureDescriptor::m_Function);
        v("Shift", &SignalFeatureDescriptor::m_Shift);
        v("Start", &SignalFeatureDescriptor::m_Start);
        v("End", &SignalFeatureDescriptor::m_End);
        v("Scale", &SignalFeatureDescriptor::m_Scale);
    }
};

/// SpectralSubtraction (Tenon): channels [n] less their noise, an average over time that input 1 brings and output 1
/// gives on, as TFLM's SignalFilterBankSpectralSubtraction. Unsigned32. Factors have m_Bits fraction bits.
struct SpectralSubtractionDescriptor : detail::Described<SpectralSubtractionDescriptor>
{
    uint32_t m_Smoothing = 0; ///< factor of the signal in the noise of channels 0, 2, ...
    uint32_t m_OneMinusSmoothing = 0;
    uint32_t m_AlternateSmoothing = 0; ///< the same of channels 1, 3, ...
    uint32_t m_AlternateOneMinusSmoothing = 0;
    uint32_t m_SmoothingBits = 0;      ///< fraction bits of the noise, at most 31
    uint32_t m_Bits = 0;               ///< at most 63
    uint32_t m_MinSignalRemaining = 0; ///< factor of the signal below which no result falls
    bool m_Clamping = false;           ///< the noise does not exceed the signal in later runs either

    template <typename V>
    static void Visit(V&& v)
    {
        v("Smoothing", &SpectralSubtractionDescriptor::m_Smoothing);
        v("OneMinusSmoothing", &SpectralSubtractionDescriptor::m_OneMinusSmoothing);
        v("AlternateSmoothing", &SpectralSubtractionDescriptor::m_AlternateSmoothing);
        v("AlternateOneMinusSmoothing", &SpectralSubtractionDescriptor::m_AlternateOneMinusSmoothing);
        v("SmoothingBits", &SpectralSubtractionDescriptor::m_SmoothingBits);
        v("Bits", &SpectralSubtractionDescriptor::m_Bits);
        v("MinSignalRemaining", &SpectralSubtractionDescriptor::m_MinSignalRemaining);
        v("Clamping", &SpectralSubtractionDescriptor::m_Clamping);
    }
};

/// SignalFrames (Tenon): frames of a signal that goes on from run to run, as TFLM's signal library makes them. Input 1
/// is the end of the signal so far, and output 1 what input 1 is to be in the next run; both are zeros at first, and
/// have the type of the data. Likewise input 2 and output 3, a count, Signed32, one element, of Cut and Stack, whose
/// output 2, Boolean, one element, tells whether all frames of output 0 are complete. By m_Function, the data are
///   Cut         samples [..., n], Signed16, where n is a multiple of m_FrameStep -> frames [..., n / m_FrameStep,
///               m_FrameSize]. The end of the signal is [..., m_FrameSize], or if frames are not prefilled, m_FrameSize
///               rounded up to a multiple of m_FrameStep
///   Stack       a frame [n], Signed16 -> m_FrameSize frames [n * m_FrameSize], each m_FrameStep-th time. The end of
///               the signal is of the same shape
///   OverlapAdd  frames [..., frames, n], Signed16 or Float32 -> their sums [..., frames * m_FrameStep]; integers
///               saturate. The end of the signal is [..., n]
struct SignalFramesDescriptor : detail::Described<SignalFramesDescriptor>
{
    SignalFramesFunction m_Function = SignalFramesFunction::Cut;
    uint32_t m_FrameSize = 1;   ///< Cut: samples; Stack: frames
    uint32_t m_FrameStep = 1;   ///< Cut and OverlapAdd: samples; Stack: frames, at most m_FrameSize
    bool m_Prefill = false;     ///< Cut: zeros in front of the first sample complete the first frames
    uint32_t m_LeftContext = 0; ///< Stack: how often the first frame is repeated, below m_FrameSize

    uint32_t GetNumInputs() const { return m_Function == SignalFramesFunction::OverlapAdd ? 2 : 3; }
    uint32_t GetNumOutputs() const { return m_Function == SignalFramesFunction::OverlapAdd ? 2 : 4; }
    /// Samples of the end of the signal that Cut reads.
    uint64_t GetReach() const
    {
        return m_Prefill || m_FrameStep == 0 ? m_FrameSize
                                             : (uint64_t{m_FrameSize} + m_FrameStep - 1) / m_FrameStep * m_FrameStep;
    }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &SignalFramesDescriptor::m_Function);
        v("FrameSize", &SignalFramesDescriptor::m_FrameSize);
        v("FrameStep", &SignalFramesDescriptor::m_FrameStep);
        v("Prefill", &SignalFramesDescriptor::m_Prefill);
        v("LeftContext", &SignalFramesDescriptor::m_LeftContext);
    }
};

} // namespace tenon
