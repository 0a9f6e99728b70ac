// SPDX-License-Identifier: Apache-2.0
// Floats quantized to bytes while a hybrid product runs, for sources that are compiled for each target (Foreach.hpp).
// Part of Tiles8.cpp; included once a target.
#if defined(TENON_CPU_QUANTIZE8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_QUANTIZE8_INL
#undef TENON_CPU_QUANTIZE8_INL
#else
#define TENON_CPU_QUANTIZE8_INL
#endif

#include "backends/cpu/gemm/bytes/Tiles8.hpp"
#include "backends/cpu/simd/Steps-inl.hpp"

#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// See Engine8::m_Quantize.
template <typename T>
void QuantizeValues(const float* values, size_t count, const QuantizeSteps8& steps, T* quantized)
{
    const hn::ScalableTag<float> d;
    const hn::Rebind<int32_t, decltype(d)> dInt;
    const hn::Rebind<T, decltype(d)> dOut;
    const size_t lanes = hn::Lanes(d);
    const auto least = hn::Set(d, static_cast<float>(steps.m_Lowest - steps.m_ZeroPoint));
    const auto most = hn::Set(d, static_cast<float>(127 - steps.m_ZeroPoint));
    // Bytes that are written may be anything's: what is read here is not read again after each of them.
    const auto inverse = hn::Set(d, steps.m_Inverse);
    // Bytes that are cut off where they no longer fit int8 are what flipping their highest bit gives.
    const auto zeroPoint = hn::Set(dInt, steps.m_ZeroPoint + (HWY_TARGET == HWY_AVX3 ? steps.m_Flip : 0));
    [[maybe_unused]] const auto flip = hn::Set(hn::Rebind<int8_t, decltype(d)>(), static_cast<int8_t>(steps.m_Flip));
    const auto quantize = [=](Floats value) HWY_ATTR
    {
        if constexpr (std::is_same_v<T, float>)
        {
            return QuantizedToFloats(value, inverse, least, most);
        }
        else
        {
            const auto clamped = StepsOf(value, inverse, least, most);
#if HWY_TARGET == HWY_AVX3
            // They fit uint8 or int8, so that nothing has to be saturated.
            const __m512i whole = _mm512_add_epi32(_mm512_cvttps_epi32(clamped.raw), zeroPoint.raw);
            return hn::Vec<decltype(dOut)>{_mm512_cvtepi32_epi8(whole)};
#else
            return hn::Xor(hn::DemoteTo(dOut, hn::Add(hn::ConvertTo(dInt, clamped), zeroPoint)), flip);
#endif
        }
    };
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        hn::StoreU(quantize(hn::LoadU(d, values + i)), dOut, quantized + i);
    }
    if (i < count)
    {
        HWY_ALIGN T some[HWY_MAX_BYTES / sizeof(float)];
        hn::StoreU(quantize(LoadSome(values + i, count - i)), dOut, some);
        std::memcpy(quantized + i, some, (count - i) * sizeof(T));
    }
}

/// See Engine8::m_FindRange.
FloatRange FindRange(const float* values, size_t count)
{
    const hn::ScalableTag<float> d;
    const size_t lanes = hn::Lanes(d);
    constexpr size_t Chains = 4; // each waits for its own last comparison only
    Floats low[Chains], high[Chains];
    HWY_UNROLL(4)
    for (size_t c = 0; c < Chains; ++c)
    {
        low[c] = hn::Zero(d);
        high[c] = hn::Zero(d);
    }
    const auto add = [&](size_t chain, Floats value) HWY_ATTR
    {
        low[chain] = LessOf(value, low[chain]);
        high[chain] = GreaterOf(value, high[chain]);
    };
    size_t i = 0;
    for (; i + Chains * lanes <= count; i += Chains * lanes)
    {
        HWY_UNROLL(4)
        for (size_t c = 0; c < Chains; ++c)
        {
            add(c, hn::LoadU(d, values + i + c * lanes));
        }
    }
    for (; i < count; i += lanes)
    {
        add(0, LoadSome(values + i, count - i));
    }
    return {hn::GetLane(hn::MinOfLanes(d, hn::Min(hn::Min(low[0], low[1]), hn::Min(low[2], low[3])))),
            hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(high[0], high[1]), hn::Max(high[2], high[3]))))};
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
