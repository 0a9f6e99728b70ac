// SPDX-License-Identifier: Apache-2.0
// See FixedPointFft.hpp. Each butterfly divides its inputs by its radix first, so that sums stay in range.
#include "backends/reference/kernels/FixedPointFft.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace tenon::ref
{

namespace
{

constexpr std::array<size_t, 4> Radices = {4, 2, 3, 5};

template <typename T>
constexpr int64_t One = std::numeric_limits<T>::max();

template <typename T>
T Round(int64_t product)
{
    constexpr int Bits = std::numeric_limits<T>::digits;
    return static_cast<T>((product + (int64_t{1} << (Bits - 1))) >> Bits);
}

/// A product of two numbers.
template <typename T>
T Multiply(T a, T b)
{
    return Round<T>(int64_t{a} * b);
}

template <typename T>
FixedComplex<T> Make(int64_t real, int64_t imaginary)
{
    return {static_cast<T>(real), static_cast<T>(imaginary)};
}

template <typename T>
FixedComplex<T> operator+(FixedComplex<T> a, FixedComplex<T> b)
{
    return Make<T>(int64_t{a.m_Real} + b.m_Real, int64_t{a.m_Imaginary} + b.m_Imaginary);
}

template <typename T>
FixedComplex<T> operator-(FixedComplex<T> a, FixedComplex<T> b)
{
    return Make<T>(int64_t{a.m_Real} - b.m_Real, int64_t{a.m_Imaginary} - b.m_Imaginary);
}

template <typename T>
FixedComplex<T> operator*(FixedComplex<T> a, FixedComplex<T> b)
{
    return {Round<T>(int64_t{a.m_Real} * b.m_Real - int64_t{a.m_Imaginary} * b.m_Imaginary),
            Round<T>(int64_t{a.m_Real} * b.m_Imaginary + int64_t{a.m_Imaginary} * b.m_Real)};
}

template <typename T>
FixedComplex<T> Divide(FixedComplex<T> a, int64_t divisor)
{
    const int64_t factor = One<T> / divisor;
    return {Round<T>(a.m_Real * factor), Round<T>(a.m_Imaginary * factor)};
}

/// -i * a
template <typename T>
FixedComplex<T> TurnBack(FixedComplex<T> a)
{
    return Make<T>(a.m_Imaginary, -int64_t{a.m_Real});
}

template <typename T>
FixedComplex<T> Conjugate(FixedComplex<T> a)
{
    return Make<T>(a.m_Real, -int64_t{a.m_Imaginary});
}

template <typename T>
FixedComplex<T> Load(const T* pairs, size_t i)
{
    return {pairs[2 * i], pairs[2 * i + 1]};
}

template <typename T>
void Store(FixedComplex<T> sample, T* pairs, size_t i)
{
    pairs[2 * i] = sample.m_Real;
    pairs[2 * i + 1] = sample.m_Imaginary;
}

/// Half of the sum: int adds numbers of 16 bits, and wraps those of 32.
template <typename T>
T HalfOf(int64_t sum)
{
    return static_cast<T>(static_cast<int32_t>(sum) >> 1);
}

template <typename T>
FixedComplex<T> Unit(double radians)
{
    constexpr auto Scale = static_cast<double>(One<T>);
    return {static_cast<T>(std::floor(0.5 + Scale * std::cos(radians))),
            static_cast<T>(std::floor(0.5 + Scale * std::sin(radians)))};
}

} // namespace

template <typename T>
bool FixedPointFft<T>::IsSupported(uint32_t length)
{
    uint32_t rest = length / 2;
    for (const uint32_t prime : {2U, 3U, 5U})
    {
        while (rest != 0 && rest % prime == 0)
        {
            rest /= prime;
        }
    }
    return length % 2 == 0 && length >= 4 && rest == 1;
}

template <typename T>
FixedPointFft<T>::FixedPointFft(uint32_t length, FftDirection direction) : m_Size(length / 2), m_Direction(direction)
{
    const double sign = direction == FftDirection::Forward ? -1 : 1;
    const auto size = static_cast<double>(m_Size);
    m_Twiddles.reserve(m_Size);
    for (size_t i = 0; i < m_Size; ++i)
    {
        m_Twiddles.push_back(Unit<T>(sign * 2 * std::numbers::pi * static_cast<double>(i) / size));
    }
    m_RealTwiddles.reserve(m_Size / 2);
    for (size_t i = 1; i <= m_Size / 2; ++i)
    {
        m_RealTwiddles.push_back(Unit<T>(sign * std::numbers::pi * (static_cast<double>(i) / size + 0.5)));
    }
    size_t rest = m_Size;
    for (const size_t radix : Radices)
    {
        for (; rest % radix == 0; rest /= radix)
        {
            m_Factors.push_back({radix, rest / radix});
        }
    }
}

template <typename T>
void FixedPointFft<T>::Run(Sample* out, const T* in, size_t stride, size_t level) const
{
    const auto [radix, part] = m_Factors[level];
    for (size_t i = 0; i < radix; ++i)
    {
        if (part == 1)
        {
            out[i] = Load(in, i * stride);
        }
        else
        {
            Run(out + i * part, in + 2 * i * stride, stride * radix, level + 1);
        }
    }
    switch (radix)
    {
    case 2: JoinTwo(out, stride, part); break;
    case 3: JoinThree(out, stride, part); break;
    case 4: JoinFour(out, stride, part); break;
    default: JoinFive(out, stride, part); break;
    }
}

template <typename T>
void FixedPointFft<T>::JoinTwo(Sample* out, size_t stride, size_t part) const
{
    for (size_t k = 0; k < part; ++k)
    {
        const Sample a = Divide(out[k], 2);
        const Sample b = Divide(out[k + part], 2) * m_Twiddles[k * stride];
        out[k] = a + b;
        out[k + part] = a - b;
    }
}

template <typename T>
void FixedPointFft<T>::JoinThree(Sample* out, size_t stride, size_t part) const
{
    const T sine = m_Twiddles[stride * part].m_Imaginary;
    for (size_t k = 0; k < part; ++k)
    {
        const Sample a = Divide(out[k], 3);
        const Sample b = Divide(out[k + part], 3) * m_Twiddles[k * stride];
        const Sample c = Divide(out[k + 2 * part], 3) * m_Twiddles[2 * k * stride];
        const Sample sum = b + c;
        const Sample difference = b - c;
        const Sample middle =
            Make<T>(int64_t{a.m_Real} - (sum.m_Real >> 1), int64_t{a.m_Imaginary} - (sum.m_Imaginary >> 1));
        const Sample turned =
            TurnBack(Sample{Multiply(difference.m_Real, sine), Multiply(difference.m_Imaginary, sine)});
        out[k] = a + sum;
        out[k + part] = middle - turned;
        out[k + 2 * part] = middle + turned;
    }
}

template <typename T>
void FixedPointFft<T>::JoinFour(Sample* out, size_t stride, size_t part) const
{
    for (size_t k = 0; k < part; ++k)
    {
        const Sample a = Divide(out[k], 4);
        const Sample b = Divide(out[k + part], 4) * m_Twiddles[k * stride];
        const Sample c = Divide(out[k + 2 * part], 4) * m_Twiddles[2 * k * stride];
        const Sample d = Divide(out[k + 3 * part], 4) * m_Twiddles[3 * k * stride];
        const Sample even = a + c;
        const Sample odd = b + d;
        const Sample evenDifference = a - c;
        const Sample turned = TurnBack(b - d);
        const bool isForward = m_Direction == FftDirection::Forward;
        out[k] = even + odd;
        out[k + 2 * part] = even - odd;
        out[k + part] = isForward ? evenDifference + turned : evenDifference - turned;
        out[k + 3 * part] = isForward ? evenDifference - turned : evenDifference + turned;
    }
}

template <typename T>
void FixedPointFft<T>::JoinFive(Sample* out, size_t stride, size_t part) const
{
    const Sample first = m_Twiddles[stride * part];
    const Sample second = m_Twiddles[2 * stride * part];
    for (size_t k = 0; k < part; ++k)
    {
        const auto twisted = [&](size_t i) { return Divide(out[k + i * part], 5) * m_Twiddles[i * k * stride]; };
        const Sample a = Divide(out[k], 5);
        const Sample b = twisted(1);
        const Sample c = twisted(2);
        const Sample d = twisted(3);
        const Sample e = twisted(4);
        const Sample outerSum = b + e;
        const Sample outerDifference = b - e;
        const Sample innerSum = c + d;
        const Sample innerDifference = c - d;
        /// a + x * cosine of the first sum + cosine of the second one
        const auto mix = [&](T ofOuter, T ofInner)
        {
            return Make<T>(int64_t{a.m_Real} + Multiply(outerSum.m_Real, ofOuter) + Multiply(innerSum.m_Real, ofInner),
                           int64_t{a.m_Imaginary} + Multiply(outerSum.m_Imaginary, ofOuter) +
                               Multiply(innerSum.m_Imaginary, ofInner));
        };
        const Sample near = mix(first.m_Real, second.m_Real);
        const Sample nearTurned = Make<T>(int64_t{Multiply(outerDifference.m_Imaginary, first.m_Imaginary)} +
                                              Multiply(innerDifference.m_Imaginary, second.m_Imaginary),
                                          -int64_t{Multiply(outerDifference.m_Real, first.m_Imaginary)} -
                                              Multiply(innerDifference.m_Real, second.m_Imaginary));
        const Sample far = mix(second.m_Real, first.m_Real);
        const Sample farTurned = Make<T>(int64_t{Multiply(innerDifference.m_Imaginary, first.m_Imaginary)} -
                                             Multiply(outerDifference.m_Imaginary, second.m_Imaginary),
                                         int64_t{Multiply(outerDifference.m_Real, second.m_Imaginary)} -
                                             Multiply(innerDifference.m_Real, first.m_Imaginary));
        out[k] = Make<T>(int64_t{a.m_Real} + outerSum.m_Real + innerSum.m_Real,
                         int64_t{a.m_Imaginary} + outerSum.m_Imaginary + innerSum.m_Imaginary);
        out[k + part] = near - nearTurned;
        out[k + 4 * part] = near + nearTurned;
        out[k + 2 * part] = far + farTurned;
        out[k + 3 * part] = far - farTurned;
    }
}

template <typename T>
void FixedPointFft<T>::Forward(const T* numbers, Sample* work, T* frequencies) const
{
    Run(work, numbers, 1, 0);
    const Sample constant = Divide(work[0], 2);
    Store(Make<T>(int64_t{constant.m_Real} + constant.m_Imaginary, 0), frequencies, 0);
    Store(Make<T>(int64_t{constant.m_Real} - constant.m_Imaginary, 0), frequencies, m_Size);
    for (size_t k = 1; k <= m_Size / 2; ++k)
    {
        const Sample a = Divide(work[k], 2);
        const Sample b = Divide(Conjugate(work[m_Size - k]), 2);
        const Sample sum = a + b;
        const Sample twisted = (a - b) * m_RealTwiddles[k - 1];
        const auto half = [](int64_t real, int64_t imaginary) { return Sample{HalfOf<T>(real), HalfOf<T>(imaginary)}; };
        Store(half(int64_t{sum.m_Real} + twisted.m_Real, int64_t{sum.m_Imaginary} + twisted.m_Imaginary), frequencies,
              k);
        Store(half(int64_t{sum.m_Real} - twisted.m_Real, int64_t{twisted.m_Imaginary} - sum.m_Imaginary), frequencies,
              m_Size - k);
    }
}

template <typename T>
void FixedPointFft<T>::Backward(const T* frequencies, T* packed, Sample* work, T* numbers) const
{
    const int64_t first = frequencies[0];
    const int64_t last = frequencies[2 * m_Size];
    Store(Divide(Make<T>(first + last, first - last), 2), packed, 0);
    for (size_t k = 1; k <= m_Size / 2; ++k)
    {
        const Sample a = Divide(Load(frequencies, k), 2);
        const Sample b = Divide(Conjugate(Load(frequencies, m_Size - k)), 2);
        const Sample even = a + b;
        const Sample odd = (a - b) * m_RealTwiddles[k - 1];
        Store(even + odd, packed, k);
        Store(Conjugate(even - odd), packed, m_Size - k);
    }
    Run(work, packed, 1, 0);
    for (size_t i = 0; i < m_Size; ++i)
    {
        Store(work[i], numbers, i);
    }
}

template class FixedPointFft<int16_t>;
template class FixedPointFft<int32_t>;

} // namespace tenon::ref
