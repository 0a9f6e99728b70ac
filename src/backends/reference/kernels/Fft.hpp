// SPDX-License-Identifier: Apache-2.0
// Fast Fourier transforms in double precision and in place. Set up in prepare steps, run per inference. Used by
// AudioSpectrogram, Dft and RealFft2d.
#pragma once

#include <cstddef>
#include <vector>

namespace tenon::ref
{

/// A frequency or complex sample. (std::complex would check each product for infinities.)
struct Complex
{
    double m_Real = 0.0;
    double m_Imaginary = 0.0;

    friend Complex operator+(Complex a, Complex b) { return {a.m_Real + b.m_Real, a.m_Imaginary + b.m_Imaginary}; }
    friend Complex operator-(Complex a, Complex b) { return {a.m_Real - b.m_Real, a.m_Imaginary - b.m_Imaginary}; }
    friend Complex operator*(Complex a, Complex b)
    {
        return {a.m_Real * b.m_Real - a.m_Imaginary * b.m_Imaginary,
                a.m_Real * b.m_Imaginary + a.m_Imaginary * b.m_Real};
    }
    friend Complex Conjugate(Complex a) { return {a.m_Real, -a.m_Imaginary}; }
};

enum class FftDirection
{
    Forward, ///< sum over n of x[n] * exp(-2 pi i k n / length)
    Backward ///< the same with +2 pi i; not divided by the length
};

/// A transform of complex numbers.
class ComplexFft
{
public:
    /// `length`: a power of two.
    explicit ComplexFft(size_t length);

    void Run(Complex* data, FftDirection direction) const;

private:
    size_t m_Length;
    std::vector<Complex> m_Twiddles; ///< exp(-2 pi i k / length) for the first half of the circle
};

/// A transform of complex numbers of any length n. If n is no power of two, it is a convolution with a chirp, by
/// transforms of a power of two from 2 n - 1 up (L. Bluestein, 1970).
class AnyFft
{
public:
    /// `length`: at least 1.
    explicit AnyFft(size_t length);

    /// The number of elements that `data` needs: the transform is in the first ones.
    size_t GetSize() const { return m_Size; }

    void Run(Complex* data, FftDirection direction) const;

private:
    size_t m_Length;
    size_t m_Size;
    ComplexFft m_Fft;              ///< of m_Size
    std::vector<Complex> m_Chirp;  ///< exp(-pi i k^2 / length); empty: the length is a power of two
    std::vector<Complex> m_Filter; ///< the transform of the conjugates around index 0, divided by m_Size
};

/// A transform of real numbers. Only the frequencies 0 to length / 2 are kept: the others mirror them.
class RealFft
{
public:
    /// `length`: a power of two.
    explicit RealFft(size_t length);

    /// The number of elements that `data` needs.
    size_t GetNumFrequencies() const { return m_Length / 2 + 1; }

    /// Real numbers 2 i and 2 i + 1 as the real and the imaginary part of data[i] become frequencies.
    void Forward(Complex* data) const;
    /// The inverse transform; results are `length` times as large. Imaginary parts of the first and last frequency are
    /// ignored, because transforms of real numbers do not have them.
    void Backward(Complex* data) const;

private:
    size_t m_Length;
    ComplexFft m_Half;               ///< transform of the even numbers and i times the odd ones
    std::vector<Complex> m_Twiddles; ///< exp(-2 pi i k / length) for the first quarter of the circle, ends included
};

} // namespace tenon::ref
