// SPDX-License-Identifier: Apache-2.0
// Quantization of float data for hybrid layers at run time: range, and float to int8.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/pack/QuantizeLoopsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/QuantizeF32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// See MicrokernelsInt8::m_Quantize and m_QuantizeToFloats.
template <typename T>
void QuantizeValues(const float* values, size_t count, const QuantizeParametersInt8& steps, T* quantized)
{
    const hn::ScalableTag<float> d;
    const hn::Rebind<int32_t, decltype(d)> dInt;
    const hn::Rebind<T, decltype(d)> dOut;
    const size_t lanes = hn::Lanes(d);
    const auto least = hn::Set(d, static_cast<float>(steps.m_Lowest - steps.m_ZeroPoint));
    const auto most = hn::Set(d, static_cast<float>(127 - steps.m_ZeroPoint));
    // A store to the output might change the parameters for all the compiler knows: copies are not loaded again after
    // each store.
    const auto inverse = hn::Set(d, steps.m_Inverse);
    // For values beyond int8, truncation to eight bits gives the same as XOR 0x80.
    const auto zeroPoint = hn::Set(dInt, steps.m_ZeroPoint + (HWY_TARGET == HWY_AVX3 ? steps.m_SignXor : 0));
    [[maybe_unused]] const auto signXor =
        hn::Set(hn::Rebind<int8_t, decltype(d)>(), static_cast<int8_t>(steps.m_SignXor));
    const auto quantize = [=](VecF32 value) HWY_ATTR
    {
        if constexpr (std::is_same_v<T, float>)
        {
            return QuantizedAsF32(value, inverse, least, most);
        }
        else
        {
            const auto clamped = StepsOf(value, inverse, least, most);
#if HWY_TARGET == HWY_AVX3
            // Values fit uint8 or int8, so no saturation is needed.
            const __m512i whole = _mm512_add_epi32(_mm512_cvttps_epi32(clamped.raw), zeroPoint.raw);
            return hn::Vec<decltype(dOut)>{_mm512_cvtepi32_epi8(whole)};
#else
            return hn::Xor(hn::DemoteTo(dOut, hn::Add(hn::ConvertTo(dInt, clamped), zeroPoint)), signXor);
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

/// See MicrokernelsInt8::m_Quantize. On x86 four vectors at a time: where the scale is that of the range by FindRange,
/// values saturate to their bounds, or one step beyond.
void QuantizeToBytes(const float* values, size_t count, const QuantizeParametersInt8& steps, int8_t* quantized)
{
    size_t i = 0;
#if HWY_ARCH_X86
    const TagF32 d;
    const hn::Repartition<int16_t, TagUint8> dInt16;
    const size_t lanes = hn::Lanes(d);
    const VecF32 inverse = hn::Set(d, steps.m_Inverse);
    const auto zeroPoint = hn::Set(dInt16, static_cast<int16_t>(steps.m_ZeroPoint + 128)); // of unsigned bytes
    const VecUint8 lowest = hn::Set(TagUint8(), static_cast<uint8_t>(steps.m_Lowest + 128));
    const VecUint8 signXor = hn::Set(TagUint8(), static_cast<uint8_t>(steps.m_SignXor ^ 0x80));
    // NaN become the lowest integer, and the lowest byte. So would values that are infinite only because the inverse
    // is.
    const size_t whole = steps.m_Inverse < 0x1p120f ? count / (4 * lanes) * (4 * lanes) : 0;
    const auto number = [&](size_t v) HWY_ATTR
    { return Truncated(UnboundedStepsOf(hn::LoadU(d, values + i + v * lanes), inverse)); };
    for (; i < whole; i += 4 * lanes)
    {
        const VecUint8 bytes = InOrder(JoinQuarters(number(0), number(1), number(2), number(3), zeroPoint));
        hn::StoreU(hn::Xor(hn::Max(bytes, lowest), signXor), TagUint8(), reinterpret_cast<uint8_t*>(quantized + i));
    }
#endif
    QuantizeValues(values + i, count - i, steps, quantized + i);
}

/// See MicrokernelsInt8::m_FindRange.
FloatRange FindRange(const float* values, size_t count)
{
    const hn::ScalableTag<float> d;
    const size_t lanes = hn::Lanes(d);
    constexpr size_t Chains = 4; // each waits for its own last comparison only
    VecF32 low[Chains], high[Chains];
    HWY_UNROLL(4)
    for (size_t c = 0; c < Chains; ++c)
    {
        low[c] = hn::Zero(d);
        high[c] = hn::Zero(d);
    }
    const auto add = [&](size_t chain, VecF32 value) HWY_ATTR
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

void FillQuantizeLoops(MicrokernelsInt8& microkernels)
{
    microkernels.m_FindRange = FindRange;
    microkernels.m_Quantize = QuantizeToBytes;
    microkernels.m_QuantizeToFloats = QuantizeValues<float>;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseQuantizeLoops(MicrokernelsInt8& microkernels)
{
    TENON_CHOOSE(FillQuantizeLoops)(microkernels);
}

} // namespace tenon::cpu
#endif
