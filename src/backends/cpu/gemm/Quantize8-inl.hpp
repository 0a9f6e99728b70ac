// SPDX-License-Identifier: Apache-2.0
// Floats quantized to bytes while a hybrid product runs, for sources that are compiled for each target (Foreach.hpp).
// Part of Tiles8.cpp; included once a target.
#if defined(TENON_CPU_QUANTIZE8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_QUANTIZE8_INL
#undef TENON_CPU_QUANTIZE8_INL
#else
#define TENON_CPU_QUANTIZE8_INL
#endif

#include "backends/cpu/gemm/Tiles8.hpp"
#include "backends/cpu/simd/Floats-inl.hpp"
#include "backends/reference/kernels/HybridInput.hpp"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Bytes of values * inverse, rounded half away from zero as the reference kernels do it, plus the zero point; NaN
/// become `lowest`.
void QuantizeValues(const float* values, size_t count, float inverse, float zeroPoint, float lowest, int8_t* bytes)
{
    const hn::ScalableTag<float> d;
    const hn::Rebind<int32_t, decltype(d)> dInt;
    const hn::Rebind<int8_t, decltype(d)> dByte;
    const size_t lanes = hn::Lanes(d);
    const auto quantize = [&](auto value)
    {
        const auto steps = hn::Mul(value, hn::Set(d, inverse));
        // The half is added in float, as there.
        const auto half = hn::CopySign(hn::Set(d, 0.5f), steps);
        const auto rounded = hn::Add(hn::Trunc(hn::Add(steps, half)), hn::Set(d, zeroPoint));
        const auto least = hn::Set(d, lowest);
        const auto bounded = hn::IfThenElse(hn::Gt(rounded, least), hn::Min(rounded, hn::Set(d, 127.0f)), least);
        return hn::DemoteTo(dByte, hn::ConvertTo(dInt, bounded));
    };
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        hn::StoreU(quantize(hn::LoadU(d, values + i)), dByte, bytes + i);
    }
    if (i < count)
    {
        HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)] = {};
        int8_t quantized[HWY_MAX_BYTES / sizeof(float)];
        std::memcpy(some, values + i, (count - i) * sizeof(float));
        hn::StoreU(quantize(hn::Load(d, some)), dByte, quantized);
        std::memcpy(bytes + i, quantized, count - i);
    }
}

/// The least and the most of the values, 0 among them; NaN do not count.
void FindRange(const float* values, size_t count, float& least, float& most)
{
    const hn::ScalableTag<float> d;
    const size_t lanes = hn::Lanes(d);
    auto low = hn::Zero(d);
    auto high = hn::Zero(d);
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        const auto value = hn::LoadU(d, values + i);
        low = hn::IfThenElse(hn::Lt(value, low), value, low);
        high = hn::IfThenElse(hn::Gt(value, high), value, high);
    }
    least = hn::GetLane(hn::MinOfLanes(d, low));
    most = hn::GetLane(hn::MaxOfLanes(d, high));
    for (; i < count; ++i)
    {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
}

FloatScale Quantize(const float* values, size_t count, bool isAsymmetric, int8_t* bytes)
{
    float least = 0.0f;
    float most = 0.0f;
    FindRange(values, count, least, most);
    const float range = std::max(-least, most);
    if (isAsymmetric ? least == most : range == 0.0f)
    {
        std::memset(bytes, 0, count);
        return {};
    }
    if (!isAsymmetric)
    {
        QuantizeValues(values, count, 127.0f / range, 0.0f, -127.0f, bytes);
        return {range / 127.0f, 0};
    }
    const ref::AsymmetricScale scale = ref::FindAsymmetricScale(least, most);
    QuantizeValues(values, count, 1.0f / scale.m_Scale, static_cast<float>(scale.m_ZeroPoint), -128.0f, bytes);
    return {scale.m_Scale, scale.m_ZeroPoint};
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
