// SPDX-License-Identifier: Apache-2.0
// FixedPointFft: Fourier transforms of real numbers in integers, with the roundings of Kiss FFT (kissfft, version 130),
// which TFLM's signal library uses. Used by SignalFft.
#pragma once

#include "backends/reference/kernels/Fft.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::ref
{

/// A complex number of a sign bit and fraction bits. Results wrap.
template <typename T>
struct FixedComplex
{
    T m_Real;
    T m_Imaginary;
};

/// T: int16_t or int32_t.
template <typename T>
class FixedPointFft
{
public:
    using Sample = FixedComplex<T>;

    /// Whether there is a transform of this length: it is even, and half of it is 2 or more without a prime factor
    /// above 5.
    static bool IsSupported(uint32_t length);

    /// Precondition: the length is supported.
    FixedPointFft(uint32_t length, FftDirection direction);

    /// The number of samples that `work` needs.
    size_t GetSize() const { return m_Size; }

    /// Gives the pairs of length / 2 + 1 frequencies, divided by the length. The direction must be Forward.
    void Forward(const T* numbers, Sample* work, T* frequencies) const;
    /// Gives the numbers, divided by the length. `packed`: memory for as many. The direction must be Backward.
    void Backward(const T* frequencies, T* packed, Sample* work, T* numbers) const;

private:
    /// A radix, and how many samples each of its parts has.
    struct Factor
    {
        size_t m_Radix;
        size_t m_Part;
    };

    /// Transforms every stride-th one of the pairs `in`. The results of the radix's parts are joined in `out`.
    void Run(Sample* out, const T* in, size_t stride, size_t level) const;
    void JoinTwo(Sample* out, size_t stride, size_t part) const;
    void JoinThree(Sample* out, size_t stride, size_t part) const;
    void JoinFour(Sample* out, size_t stride, size_t part) const;
    void JoinFive(Sample* out, size_t stride, size_t part) const;

    size_t m_Size; ///< of the complex transform: numbers 2 i and 2 i + 1 are a sample
    FftDirection m_Direction;
    std::vector<Factor> m_Factors;
    std::vector<Sample> m_Twiddles;
    std::vector<Sample> m_RealTwiddles; ///< between the complex transform and that of real numbers
};

extern template class FixedPointFft<int16_t>;
extern template class FixedPointFft<int32_t>;

} // namespace tenon::ref
