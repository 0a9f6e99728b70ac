// SPDX-License-Identifier: Apache-2.0
// See Fft.hpp.
#include "backends/reference/kernels/Fft.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace tenon::ref
{

namespace
{

/// exp(-2 pi i k / length) for k in [0, count).
std::vector<Complex> MakeTwiddles(size_t length, size_t count)
{
    std::vector<Complex> twiddles(count);
    for (size_t k = 0; k < count; ++k)
    {
        const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
        twiddles[k] = {std::cos(angle), std::sin(angle)};
    }
    return twiddles;
}

/// a * i
Complex TimesI(Complex a)
{
    return {-a.m_Imaginary, a.m_Real};
}

} // namespace

ComplexFft::ComplexFft(size_t length) : m_Length(length), m_Twiddles(MakeTwiddles(length, length / 2)) {}

void ComplexFft::Run(Complex* data, FftDirection direction) const
{
    // Each element moves to the index with its bits in reverse order.
    size_t reversed = 0;
    for (size_t i = 0; i < m_Length; ++i)
    {
        if (i < reversed)
        {
            std::swap(data[i], data[reversed]);
        }
        size_t bit = m_Length / 2; // adds one to `reversed`, from its highest bit down
        while (bit != 0 && (reversed & bit) != 0)
        {
            reversed ^= bit;
            bit /= 2;
        }
        reversed |= bit;
    }
    // Pairs of transforms of length `half` make one of twice that length.
    for (size_t half = 1; half < m_Length; half *= 2)
    {
        const size_t step = m_Length / (2 * half);
        for (size_t first = 0; first < m_Length; first += 2 * half)
        {
            for (size_t k = 0; k < half; ++k)
            {
                Complex& low = data[first + k];
                Complex& high = data[first + k + half];
                const Complex twiddle = m_Twiddles[k * step];
                const Complex product = high * (direction == FftDirection::Forward ? twiddle : Conjugate(twiddle));
                high = low - product;
                low = low + product;
            }
        }
    }
}

AnyFft::AnyFft(size_t length)
    : m_Length(length), m_Size(std::has_single_bit(length) ? length : std::bit_ceil(2 * length - 1)), m_Fft(m_Size)
{
    if (m_Size == m_Length)
    {
        return;
    }
    m_Chirp.resize(m_Length);
    m_Filter.resize(m_Size);
    const double scale = 1.0 / static_cast<double>(m_Size);
    size_t square = 0; // k^2 modulo 2 n, which gives the same angle
    for (size_t k = 0; k < m_Length; ++k)
    {
        const double angle = -std::numbers::pi * static_cast<double>(square) / static_cast<double>(m_Length);
        m_Chirp[k] = {std::cos(angle), std::sin(angle)};
        const Complex conjugate = {m_Chirp[k].m_Real * scale, -m_Chirp[k].m_Imaginary * scale};
        m_Filter[k] = conjugate;
        m_Filter[k == 0 ? 0 : m_Size - k] = conjugate;
        square = (square + 2 * k + 1) % (2 * m_Length);
    }
    m_Fft.Run(m_Filter.data(), FftDirection::Forward);
}

void AnyFft::Run(Complex* data, FftDirection direction) const
{
    if (m_Chirp.empty())
    {
        m_Fft.Run(data, direction);
        return;
    }
    // The backward transform is the conjugate of the forward one of conjugates.
    const auto conjugateIfBackward = [direction](Complex a)
    { return direction == FftDirection::Forward ? a : Conjugate(a); };
    for (size_t k = 0; k < m_Length; ++k)
    {
        data[k] = conjugateIfBackward(data[k]) * m_Chirp[k];
    }
    std::fill(data + m_Length, data + m_Size, Complex());
    m_Fft.Run(data, FftDirection::Forward);
    for (size_t k = 0; k < m_Size; ++k)
    {
        data[k] = data[k] * m_Filter[k];
    }
    m_Fft.Run(data, FftDirection::Backward);
    for (size_t k = 0; k < m_Length; ++k)
    {
        data[k] = conjugateIfBackward(data[k] * m_Chirp[k]);
    }
}

RealFft::RealFft(size_t length)
    : m_Length(length), m_Half(std::max<size_t>(length / 2, 1)), m_Twiddles(MakeTwiddles(length, length / 4 + 1))
{
}

void RealFft::Forward(Complex* data) const
{
    if (m_Length == 1)
    {
        data[0].m_Imaginary = 0.0;
        return;
    }
    const size_t half = m_Length / 2;
    m_Half.Run(data, FftDirection::Forward);
    data[half] = data[0];
    // The transform is E + i O, where E and O are the transforms of even and odd numbers. E[half - k] is the conjugate
    // of E[k]; the same holds for O.
    for (size_t k = 0; k <= half / 2; ++k)
    {
        const Complex a = data[k];
        const Complex b = Conjugate(data[half - k]);
        const Complex even = a + b;
        const Complex odd = TimesI(b - a) * m_Twiddles[k];
        const Complex low = even + odd;
        const Complex high = Conjugate(even - odd);
        data[k] = {0.5 * low.m_Real, 0.5 * low.m_Imaginary};
        data[half - k] = {0.5 * high.m_Real, 0.5 * high.m_Imaginary};
    }
}

void RealFft::Backward(Complex* data) const
{
    data[0].m_Imaginary = 0.0;
    if (m_Length == 1)
    {
        return;
    }
    const size_t half = m_Length / 2;
    data[half].m_Imaginary = 0.0;
    for (size_t k = 0; k <= half / 2; ++k)
    {
        const Complex a = data[k];
        const Complex b = Conjugate(data[half - k]);
        const Complex even = a + b;
        const Complex odd = TimesI((a - b) * Conjugate(m_Twiddles[k]));
        data[k] = even + odd;
        data[half - k] = Conjugate(even - odd);
    }
    m_Half.Run(data, FftDirection::Backward);
}

} // namespace tenon::ref
