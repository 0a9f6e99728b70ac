// SPDX-License-Identifier: Apache-2.0
// The operations of windows by type and algorithm. Averages of integers round half away from zero, or by
// RequantizationMode::FloatHalfEven, as the reference kernel's. The members of an operation:
//   Data, Lane         the types of elements and of accumulators
//   SetDivisor         sets the numbers of a window that depend on its divisor
//   First, Step        the start value of a window, and the accumulator with one more element
//   Finish             stores the result
//   Slides             whether columns may be combined on their own and joined, see SlideVectors
//   IsMax              whether an element may count twice without a change of the result
// For sources with Foreach.hpp.
#if defined(TENON_POOL_OPERATIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_POOL_OPERATIONS_INL
#undef TENON_POOL_OPERATIONS_INL
#else
#define TENON_POOL_OPERATIONS_INL
#endif

#include "backends/cpu/pool/PoolVectors.hpp"
#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/HalfEven-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// One window of a row.
struct PooledWindow
{
    const void* m_First = nullptr;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_RowStride = 0;
    size_t m_PixelStride = 0;
    int32_t m_Padding = 0; ///< the contribution of padding to sums of integers
    int32_t m_Divisor = 0;
    int32_t m_HalfDivisor = 0;
    float m_Inverse = 0.0f; ///< about 1 / m_Divisor
    bool m_RoundsHalfToEven = false;
    int32_t m_ZeroPoints = 0; ///< half to even: of all elements
    float m_Factor = 0.0f;    ///< likewise: of sums
    int32_t m_ZeroOutput = 0; ///< likewise

    /// `inverse`: the inverse of the divisor, times the divisor.
    HWY_INLINE void SetDivisor(size_t divisor, double inverse)
    {
        m_Divisor = static_cast<int32_t>(divisor);
        m_HalfDivisor = static_cast<int32_t>(divisor / 2);
        m_Inverse = static_cast<float>(inverse / static_cast<double>(divisor));
    }
};

template <typename T>
struct MaxPool
{
    static constexpr bool Slides = std::is_integral_v<T>; // floats: of -0 and +0 the first one in row order counts
    static constexpr bool IsMax = true;
    using Data = T;
    using Lane = T;
    static HWY_INLINE void SetDivisor(const PoolRow&, size_t, PooledWindow&) {}
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const PooledWindow&)
    {
        return hn::Set(d, std::numeric_limits<T>::lowest());
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> maximum, const T* values)
    {
        return GreaterOf(hn::LoadU(d, values), maximum); // NaN is passed over
    }
    template <class V>
    static HWY_INLINE V Join(V a, V b)
    {
        return hn::Max(a, b);
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> maximum, const PooledWindow&, T* out)
    {
        hn::StoreU(maximum, d, out);
    }
};

/// Maxima of bfloat16 or float16, by the bit pattern of infinity. Patterns above it are NaN.
template <int16_t Infinity>
struct MaxPool16BitFloat
{
    static constexpr bool Slides = false;
    using Data = uint16_t;
    using Lane = int16_t;
    static HWY_INLINE void SetDivisor(const PoolRow&, size_t, PooledWindow&) {}
    /// Maps bit patterns to integers in the order of the numbers, and back: the other bits of a negative number are
    /// inverted.
    template <class D>
    static HWY_INLINE hn::Vec<D> Ordered(D d, hn::Vec<D> bits)
    {
        return hn::Xor(bits, hn::And(hn::ShiftRight<15>(bits), hn::Set(d, int16_t{0x7FFF})));
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const PooledWindow&)
    {
        return hn::Set(d, static_cast<int16_t>(-Infinity - 1)); // minus infinity
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> maximum, const uint16_t* values)
    {
        const auto bits = hn::BitCast(d, hn::LoadU(hn::RebindToUnsigned<D>(), values));
        const auto isNaN = hn::Gt(hn::And(bits, hn::Set(d, int16_t{0x7FFF})), hn::Set(d, Infinity));
        return hn::Max(maximum, hn::IfThenElse(isNaN, maximum, Ordered(d, bits))); // NaN is passed over
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> maximum, const PooledWindow&, uint16_t* out)
    {
        const hn::RebindToUnsigned<D> dOut;
        hn::StoreU(hn::BitCast(dOut, Ordered(d, maximum)), dOut, out);
    }
};

/// The shared part of sums.
struct SumPool
{
    static constexpr bool Slides = true;
    static constexpr bool IsMax = false;
    static HWY_INLINE void SetDivisor(const PoolRow&, size_t divisor, PooledWindow& window)
    {
        window.SetDivisor(divisor, 1.0);
    }
    template <class V>
    static HWY_INLINE V Join(V a, V b)
    {
        return hn::Add(a, b);
    }
};

struct MeanPoolBf16 : SumPool
{
    using Data = uint16_t;
    using Lane = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const PooledWindow&)
    {
        return hn::Zero(d);
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> sum, const uint16_t* values)
    {
        const hn::RebindToUnsigned<D> dWords;
        const auto words = hn::PromoteTo(dWords, hn::LoadU(hn::Rebind<uint16_t, D>(), values));
        return hn::Add(sum, hn::BitCast(d, hn::ShiftLeft<16>(words)));
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const PooledWindow& window, uint16_t* out)
    {
        const auto mean = hn::Mul(sum, hn::Set(d, window.m_Inverse));
        hn::StoreU(RoundToBf16(d, mean), hn::Rebind<uint16_t, D>(), out);
    }
};

template <bool Squares>
struct MeanPoolF32 : SumPool
{
    using Data = float;
    using Lane = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const PooledWindow&)
    {
        return hn::Zero(d);
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> sum, const float* values)
    {
        const auto v = hn::LoadU(d, values);
        return hn::Add(sum, Squares ? hn::Mul(v, v) : v);
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const PooledWindow& window, float* out)
    {
        const auto mean = hn::Mul(sum, hn::Set(d, window.m_Inverse));
        hn::StoreU(Squares ? RootOf(mean) : mean, d, out);
    }
};

/// Means of integers. FixedPoint: a class with the inverse of the divisor and the division.
template <typename T, class FixedPoint>
struct IntegerMeanPool : SumPool
{
    using Data = T;
    using Lane = int32_t;
    static HWY_INLINE void SetDivisor(const PoolRow& row, size_t divisor, PooledWindow& window)
    {
        window.m_RoundsHalfToEven = row.m_RoundsHalfToEven;
        if (!row.m_RoundsHalfToEven)
        {
            window.SetDivisor(divisor, FixedPoint::Inverse);
            return;
        }
        const ref::HalfEvenMean mean(row.m_Input, row.m_Output, divisor);
        window.m_ZeroPoints = static_cast<int32_t>(mean.GetZeroPoints());
        window.m_Factor = mean.GetFactor();
        window.m_ZeroOutput = mean.GetZeroOutput();
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const PooledWindow& window)
    {
        return hn::Set(d, window.m_Padding);
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> sum, const T* values)
    {
        return hn::Add(sum, hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), values)));
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const PooledWindow& window, T* out)
    {
        const hn::Rebind<T, D> dOut;
        if (window.m_RoundsHalfToEven)
        {
            const auto difference = hn::Sub(sum, hn::Set(d, window.m_ZeroPoints));
            hn::StoreU(ToStoredHalfEven(dOut, difference, window.m_Factor, window.m_ZeroOutput), dOut, out);
            return;
        }
        hn::StoreU(hn::DemoteTo(dOut, FixedPoint::Divide(d, sum, window)), dOut, out);
    }
};

struct DivisionInt8
{
    /// The inverse is too large by more than it is rounded down, so a multiple of the divisor gives no less than its
    /// quotient.
    static constexpr double Inverse = 1.0 + 3.0 / (1 << 24);
    template <class D>
    static HWY_INLINE hn::Vec<D> Divide(D d, hn::Vec<D> sum, const PooledWindow& window)
    {
        // The error of the inverse is so small that no quotient of a sum of fewer than MaxTaps elements reaches the
        // next integer.
        const hn::RebindToFloat<D> dFloat;
        const auto half = hn::Set(d, window.m_HalfDivisor);
        const auto away = hn::IfThenElse(hn::Gt(sum, hn::Zero(d)), half, hn::Neg(half));
        return hn::ConvertTo(d, hn::Mul(hn::ConvertTo(dFloat, hn::Add(sum, away)), hn::Set(dFloat, window.m_Inverse)));
    }
};

struct DivisionInt16
{
    static constexpr double Inverse = 1.0;
    template <class D>
    static HWY_INLINE hn::Vec<D> Divide(D d, hn::Vec<D> sum, const PooledWindow& window)
    {
        // Sums of fewer than MaxTaps elements have 28 bits, quotients 15: the float quotient is off by less than one,
        // and the remainder corrects it.
        const hn::RebindToFloat<D> dFloat;
        const auto divisor = hn::Set(d, window.m_Divisor);
        const auto sign = hn::ShiftRight<31>(sum);
        const auto magnitude = hn::Add(hn::Sub(hn::Xor(sum, sign), sign), hn::Set(d, window.m_HalfDivisor));
        const auto guess =
            hn::ConvertTo(d, hn::Mul(hn::ConvertTo(dFloat, magnitude), hn::Set(dFloat, window.m_Inverse)));
        const auto rest = hn::Sub(magnitude, hn::Mul(guess, divisor));
        const auto isLess = hn::VecFromMask(d, hn::Lt(rest, divisor)); // -1 if less, as it should be
        const auto quotient = hn::Add(hn::Add(guess, hn::Set(d, 1)), hn::Add(isLess, hn::ShiftRight<31>(rest)));
        return hn::Sub(hn::Xor(quotient, sign), sign);
    }
};

template <typename T>
using MeanPoolInt8 = IntegerMeanPool<T, DivisionInt8>;
using MeanPoolInt16 = IntegerMeanPool<int16_t, DivisionInt16>;

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
