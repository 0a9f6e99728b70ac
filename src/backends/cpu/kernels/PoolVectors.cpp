// SPDX-License-Identifier: Apache-2.0
// Windows of pools. Averages of integers round as the reference kernel's: half away from zero.
#include "backends/cpu/kernels/PoolVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <tenon/Types.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/PoolVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/kernels/PoolSlides-inl.hpp"
#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/Select-inl.hpp"
#include "backends/cpu/simd/Spans-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// One window of a row.
struct Window
{
    const void* m_First = nullptr;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_RowStride = 0;
    size_t m_PixelStride = 0;
    int32_t m_Padding = 0; ///< what padding adds to sums of integers
    int32_t m_Divisor = 0;
    int32_t m_HalfDivisor = 0;
    float m_Inverse = 0.0f; ///< of the divisor
};

template <typename T>
struct MaxPool
{
    static constexpr double InverseFactor = 1.0; // not used
    using Data = T;
    using Lane = T;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const Window&)
    {
        return hn::Set(d, std::numeric_limits<T>::lowest());
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> most, const T* values)
    {
        return GreaterOf(hn::LoadU(d, values), most); // NaN leaves what is there
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> most, const Window&, T* out)
    {
        hn::StoreU(most, d, out);
    }
};

/// Of numbers of 16 bits with a sign and, where all bits from `Infinity` on are set, no value but infinity or NaN.
template <int16_t Infinity>
struct HalfMaxPool
{
    static constexpr double InverseFactor = 1.0; // not used
    using Data = uint16_t;
    using Lane = int16_t;
    /// Integers in the order of the numbers, and back: those below zero are as negative as they are large.
    template <class D>
    static HWY_INLINE hn::Vec<D> Ordered(D d, hn::Vec<D> bits)
    {
        return hn::Xor(bits, hn::And(hn::ShiftRight<15>(bits), hn::Set(d, int16_t{0x7FFF})));
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const Window&)
    {
        return hn::Set(d, static_cast<int16_t>(-Infinity - 1)); // minus infinity
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> most, const uint16_t* values)
    {
        const auto bits = hn::BitCast(d, hn::LoadU(hn::RebindToUnsigned<D>(), values));
        const auto isNaN = hn::Gt(hn::And(bits, hn::Set(d, int16_t{0x7FFF})), hn::Set(d, Infinity));
        return hn::Max(most, hn::IfThenElse(isNaN, most, Ordered(d, bits))); // NaN leaves what is there
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> most, const Window&, uint16_t* out)
    {
        const hn::RebindToUnsigned<D> dOut;
        hn::StoreU(hn::BitCast(dOut, Ordered(d, most)), dOut, out);
    }
};

struct Bf16MeanPool
{
    static constexpr double InverseFactor = 1.0;
    using Data = uint16_t;
    using Lane = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const Window&)
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
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const Window& window, uint16_t* out)
    {
        const auto mean = hn::Mul(sum, hn::Set(d, window.m_Inverse));
        hn::StoreU(RoundToBf16(d, mean), hn::Rebind<uint16_t, D>(), out);
    }
};

template <bool Squares>
struct FloatMeanPool
{
    static constexpr double InverseFactor = 1.0;
    using Data = float;
    using Lane = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const Window&)
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
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const Window& window, float* out)
    {
        const auto mean = hn::Mul(sum, hn::Set(d, window.m_Inverse));
        hn::StoreU(Squares ? RootOf(mean) : mean, d, out);
    }
};

/// Sums of integers, of which means are made.
template <typename T>
struct IntegerSum
{
    using Data = T;
    using Lane = int32_t;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const Window& window)
    {
        return hn::Set(d, window.m_Padding);
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> sum, const T* values)
    {
        return hn::Add(sum, hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), values)));
    }
};

template <typename T>
struct ByteMeanPool : IntegerSum<T>
{
    /// Above one by more than rounding takes away: a multiple of the divisor gives no less than its quotient.
    static constexpr double InverseFactor = 1.0 + 3.0 / (1 << 24);
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const Window& window, T* out)
    {
        // The inverse is too large by so little that no quotient of less than MostTaps bytes comes to the next integer.
        const hn::RebindToFloat<D> dFloat;
        const auto half = hn::Set(d, window.m_HalfDivisor);
        const auto away = hn::IfThenElse(hn::Gt(sum, hn::Zero(d)), half, hn::Neg(half));
        const auto quotient = hn::Mul(hn::ConvertTo(dFloat, hn::Add(sum, away)), hn::Set(dFloat, window.m_Inverse));
        const hn::Rebind<T, D> dBytes;
        hn::StoreU(hn::DemoteTo(dBytes, hn::ConvertTo(d, quotient)), dBytes, out);
    }
};

struct ShortMeanPool : IntegerSum<int16_t>
{
    static constexpr double InverseFactor = 1.0;
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const Window& window, int16_t* out)
    {
        // Sums of less than MostTaps numbers have 28 bits, quotients 15: in float they are wrong by less than one,
        // which the remainder shows.
        const hn::RebindToFloat<D> dFloat;
        const auto divisor = hn::Set(d, window.m_Divisor);
        const auto sign = hn::ShiftRight<31>(sum);
        const auto magnitude = hn::Add(hn::Sub(hn::Xor(sum, sign), sign), hn::Set(d, window.m_HalfDivisor));
        const auto guess =
            hn::ConvertTo(d, hn::Mul(hn::ConvertTo(dFloat, magnitude), hn::Set(dFloat, window.m_Inverse)));
        const auto rest = hn::Sub(magnitude, hn::Mul(guess, divisor));
        const auto isLess = hn::VecFromMask(d, hn::Lt(rest, divisor)); // -1 where it is, and so it should be
        const auto quotient = hn::Add(hn::Add(guess, hn::Set(d, 1)), hn::Add(isLess, hn::ShiftRight<31>(rest)));
        const hn::Rebind<int16_t, D> dShorts;
        hn::StoreU(hn::DemoteTo(dShorts, hn::Sub(hn::Xor(quotient, sign), sign)), dShorts, out);
    }
};

/// `Vectors` vectors of channels from channel c on.
template <typename Pool, size_t Vectors, class D>
HWY_INLINE void PoolVectors(D d, const Window& window, size_t c, typename Pool::Data* out)
{
    using T = typename Pool::Data;
    constexpr size_t Lanes = hn::MaxLanes(D());
    hn::Vec<D> acc[Vectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        acc[v] = Pool::First(d, window);
    }
    const T* row = static_cast<const T*>(window.m_First) + c;
    for (size_t y = 0; y < window.m_Rows; ++y, row += window.m_RowStride)
    {
        const T* pixel = row;
        for (size_t x = 0; x < window.m_Columns; ++x, pixel += window.m_PixelStride)
        {
            HWY_UNROLL(8)
            for (size_t v = 0; v < Vectors; ++v)
            {
                acc[v] = Pool::Step(d, acc[v], pixel + v * Lanes);
            }
        }
    }
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        Pool::Finish(d, acc[v], window, out + c + v * Lanes);
    }
}

template <typename Pool>
HWY_INLINE void PoolWindow(const Window& window, size_t channels, typename Pool::Data* out)
{
    using Lane = typename Pool::Lane;
    constexpr size_t Lanes = HWY_LANES(Lane);
    size_t c = 0;
    if constexpr (std::is_same_v<Pool, FloatMeanPool<false>>)
    {
        // Those of whole images wait for memory, which is read faster the longer its pieces are.
        for (; c + 8 * Lanes <= channels; c += 8 * Lanes)
        {
            PoolVectors<Pool, 8>(hn::CappedTag<Lane, Lanes>(), window, c, out);
        }
    }
    for (; c + 4 * Lanes <= channels; c += 4 * Lanes)
    {
        PoolVectors<Pool, 4>(hn::CappedTag<Lane, Lanes>(), window, c, out);
    }
    if (c != channels)
    {
        Cover<Lane>(channels - c, [&](auto d, size_t i) { PoolVectors<Pool, 1>(d, window, c + i, out); });
    }
}

template <typename Pool>
void PoolWindows(const PoolRow& row)
{
    using T = typename Pool::Data;
    const T* in = static_cast<const T*>(row.m_In);
    T* out = static_cast<T*>(row.m_Out);
    Window window;
    window.m_Rows = row.m_Y.m_Count;
    window.m_RowStride = row.m_RowStride;
    window.m_PixelStride = row.m_PixelStride;
    size_t divisor = 0;
    for (size_t i = 0; i < row.m_Windows; ++i, out += row.m_OutPixelStride)
    {
        const PoolSpan x = row.m_X[i];
        window.m_Columns = x.m_Count;
        const size_t inside = window.m_Rows * window.m_Columns;
        if (inside == 0)
        {
            std::fill_n(out, row.m_Channels, static_cast<T>(row.m_ZeroPoint)); // padding alone: real zeros
            continue;
        }
        const size_t counted = row.m_Y.m_Divisor * x.m_Divisor;
        if (counted != divisor)
        {
            divisor = counted;
            window.m_Divisor = static_cast<int32_t>(divisor);
            window.m_HalfDivisor = static_cast<int32_t>(divisor / 2);
            window.m_Inverse = static_cast<float>(Pool::InverseFactor / static_cast<double>(divisor));
        }
        window.m_Padding = static_cast<int32_t>(counted - inside) * row.m_ZeroPoint;
        window.m_First = in + x.m_First * row.m_PixelStride;
        PoolWindow<Pool>(window, row.m_Channels, out);
    }
}

template <typename T>
void PoolLargest(const PoolRow& row)
{
    const PoolFunction slide = ChooseSlide<T>(row);
    if (slide == nullptr)
    {
        PoolWindows<MaxPool<T>>(row);
        return;
    }
    slide(row);
    PoolRow others = row;
    others.m_Windows = row.m_Even.m_Begin;
    PoolWindows<MaxPool<T>>(others);
    others.m_X += row.m_Even.m_End;
    others.m_Windows = row.m_Windows - row.m_Even.m_End;
    others.m_Out = static_cast<T*>(row.m_Out) + row.m_Even.m_End * row.m_OutPixelStride;
    PoolWindows<MaxPool<T>>(others);
}

PoolFunctions MakePoolFunctions()
{
    PoolFunctions functions;
    constexpr auto Max = static_cast<size_t>(PoolingAlgorithm::Max);
    constexpr auto Average = static_cast<size_t>(PoolingAlgorithm::Average);
    constexpr auto L2 = static_cast<size_t>(PoolingAlgorithm::L2);
    static_assert(Max < 2 && Average < 2 && L2 == 2);
    functions.m_Float[Max] = PoolWindows<MaxPool<float>>;
    functions.m_Float[Average] = PoolWindows<FloatMeanPool<false>>;
    functions.m_Float[L2] = PoolWindows<FloatMeanPool<true>>;
    functions.m_BFloat16[Max] = PoolWindows<HalfMaxPool<0x7F80>>;
    functions.m_BFloat16[Average] = PoolWindows<Bf16MeanPool>;
    functions.m_Float16[Max] = PoolWindows<HalfMaxPool<0x7C00>>;
    functions.m_Signed[Max] = PoolLargest<int8_t>;
    functions.m_Signed[Average] = PoolWindows<ByteMeanPool<int8_t>>;
    functions.m_Unsigned[Max] = PoolLargest<uint8_t>;
    functions.m_Unsigned[Average] = PoolWindows<ByteMeanPool<uint8_t>>;
    functions.m_Short[Max] = PoolLargest<int16_t>;
    functions.m_Short[Average] = PoolWindows<ShortMeanPool>;
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const PoolFunctions& GetPoolFunctions()
{
    static const PoolFunctions functions = TENON_CHOOSE(MakePoolFunctions)();
    return functions;
}

} // namespace tenon::cpu
#endif
