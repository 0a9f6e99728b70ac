// SPDX-License-Identifier: Apache-2.0
// Windows of pools. Averages of bytes round as the reference kernel's: half away from zero.
#include "backends/cpu/kernels/PoolVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <tenon/Types.hpp>

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/PoolVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Spans-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

template <typename T>
struct MaxPool
{
    using Data = T;
    using Lane = T;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const PoolWindow&)
    {
        return hn::Set(d, std::numeric_limits<T>::lowest());
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> most, const T* values)
    {
        return hn::Max(hn::LoadU(d, values), most); // in this order: NaN leaves what is there
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> most, const PoolWindow&, T* out)
    {
        hn::StoreU(most, d, out);
    }
};

template <bool Squares>
struct FloatMeanPool
{
    using Data = float;
    using Lane = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const PoolWindow&)
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
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const PoolWindow& window, float* out)
    {
        const auto mean = hn::Div(sum, hn::Set(d, static_cast<float>(window.m_Divisor)));
        hn::StoreU(Squares ? hn::Sqrt(mean) : mean, d, out);
    }
};

template <typename T>
struct ByteMeanPool
{
    using Data = T;
    using Lane = int32_t;
    template <class D>
    static HWY_INLINE hn::Vec<D> First(D d, const PoolWindow& window)
    {
        return hn::Set(d, window.m_Padding);
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Step(D d, hn::Vec<D> sum, const T* values)
    {
        return hn::Add(sum, hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), values)));
    }
    template <class D>
    static HWY_INLINE void Finish(D d, hn::Vec<D> sum, const PoolWindow& window, T* out)
    {
        // Exact: numerator and divisor, and their sum, fit 24 bits, so that no quotient below an integer rounds to it.
        const hn::RebindToFloat<D> dFloat;
        const auto half = hn::Set(d, static_cast<int32_t>(window.m_Divisor / 2));
        const auto away = hn::IfThenElse(hn::Gt(sum, hn::Zero(d)), half, hn::Neg(half));
        const auto quotient =
            hn::Div(hn::ConvertTo(dFloat, hn::Add(sum, away)), hn::Set(dFloat, static_cast<float>(window.m_Divisor)));
        const hn::Rebind<T, D> dBytes;
        hn::StoreU(hn::DemoteTo(dBytes, hn::ConvertTo(d, quotient)), dBytes, out);
    }
};

/// `Vectors` vectors of channels from channel c on.
template <typename Pool, size_t Vectors, class D>
HWY_INLINE void PoolVectors(D d, const PoolWindow& window, size_t c, typename Pool::Data* out)
{
    using T = typename Pool::Data;
    constexpr size_t Lanes = hn::MaxLanes(D());
    hn::Vec<D> acc[Vectors];
    HWY_UNROLL(4)
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
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                acc[v] = Pool::Step(d, acc[v], pixel + v * Lanes);
            }
        }
    }
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        Pool::Finish(d, acc[v], window, out + c + v * Lanes);
    }
}

template <typename Pool>
void PoolChannels(const PoolWindow& window, size_t channels, void* out)
{
    using T = typename Pool::Data;
    using Lane = typename Pool::Lane;
    constexpr size_t Lanes = HWY_LANES(Lane);
    T* to = static_cast<T*>(out);
    size_t c = 0;
    for (; c + 4 * Lanes <= channels; c += 4 * Lanes)
    {
        PoolVectors<Pool, 4>(hn::CappedTag<Lane, Lanes>(), window, c, to);
    }
    if (c == channels)
    {
        return;
    }
    Cover<Lane>(channels - c, [&](auto d, size_t i) { PoolVectors<Pool, 1>(d, window, c + i, to); });
}

PoolFunctions MakePoolFunctions()
{
    PoolFunctions functions;
    constexpr auto Max = static_cast<size_t>(PoolingAlgorithm::Max);
    constexpr auto Average = static_cast<size_t>(PoolingAlgorithm::Average);
    constexpr auto L2 = static_cast<size_t>(PoolingAlgorithm::L2);
    static_assert(Max < 2 && Average < 2 && L2 == 2);
    functions.m_Float[Max] = PoolChannels<MaxPool<float>>;
    functions.m_Float[Average] = PoolChannels<FloatMeanPool<false>>;
    functions.m_Float[L2] = PoolChannels<FloatMeanPool<true>>;
    functions.m_Signed[Max] = PoolChannels<MaxPool<int8_t>>;
    functions.m_Signed[Average] = PoolChannels<ByteMeanPool<int8_t>>;
    functions.m_Unsigned[Max] = PoolChannels<MaxPool<uint8_t>>;
    functions.m_Unsigned[Average] = PoolChannels<ByteMeanPool<uint8_t>>;
    return functions;
}

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
