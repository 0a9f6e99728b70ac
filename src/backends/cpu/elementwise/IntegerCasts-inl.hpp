// SPDX-License-Identifier: Apache-2.0
// Casts from and to Booleans, and between integers of 32 and 64 bits. Included by ConversionLoops.cpp after
// simd/Foreach.hpp, once for each target.
#if defined(TENON_INTEGER_CASTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_INTEGER_CASTS_INL
#undef TENON_INTEGER_CASTS_INL
#else
#define TENON_INTEGER_CASTS_INL
#endif

#include "backends/cpu/elementwise/ConversionLoops.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Any 8-bit type to 0 and 1: Booleans, or numbers of any 8-bit type.
void BytesToOnes(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const auto one = hn::Set(TagUint8(), uint8_t{1});
    MapEach(TagUint8(), static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out), count,
            [&](VecUint8 x) HWY_ATTR { return hn::Min(x, one); });
}

/// Booleans to 32 bits.
template <typename Out>
void FromBoolean(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const hn::Rebind<uint8_t, TagInt32> d;
    const auto one = hn::Set(d, uint8_t{1});
    MapEach(d, static_cast<const uint8_t*>(in), static_cast<Out*>(out), count,
            [&](auto x) HWY_ATTR
            {
                const VecInt32 number = hn::PromoteTo(TagInt32(), hn::Min(x, one));
                if constexpr (std::is_same_v<Out, float>)
                {
                    return hn::ConvertTo(TagF32(), number);
                }
                else
                {
                    return number;
                }
            });
}

/// 32-bit numbers to Booleans. Floats are tested by bits: only 0 and -0 are false. NaN and subnormal numbers are true,
/// whatever the processor's float mode is.
template <typename In>
void ToBoolean(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const TagInt32 d;
    const size_t lanes = hn::Lanes(d);
    const auto* from = static_cast<const int32_t*>(in);
    auto* to = static_cast<uint8_t*>(out);
    const VecInt32 one = hn::Set(d, 1);
    const auto isNotZero = [&](VecInt32 x) HWY_ATTR
    {
        const VecInt32 bits = std::is_same_v<In, float> ? hn::Add(x, x) : x;
        return hn::IfThenZeroElse(hn::Eq(bits, hn::Zero(d)), one);
    };
    size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes)
    {
        const VecUint8 joined =
            JoinInOrder(isNotZero(hn::LoadU(d, from + i)), isNotZero(hn::LoadU(d, from + i + lanes)),
                        isNotZero(hn::LoadU(d, from + i + 2 * lanes)), isNotZero(hn::LoadU(d, from + i + 3 * lanes)));
        hn::StoreU(joined, TagUint8(), to + i);
    }
    MapEach(d, from + i, to + i, count - i,
            [&](VecInt32 x) HWY_ATTR { return hn::DemoteTo(hn::Rebind<uint8_t, TagInt32>(), isNotZero(x)); });
}

/// 64-bit integers to their lower 32 bits.
void NarrowInts(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const TagInt32 d;
    const hn::Repartition<int64_t, TagInt32> dWide;
    const size_t lanes = hn::Lanes(d);
    const auto* from = static_cast<const int64_t*>(in);
    auto* to = static_cast<int32_t*>(out);
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        const VecInt32 lower = hn::BitCast(d, hn::LoadU(dWide, from + i));
        const VecInt32 upper = hn::BitCast(d, hn::LoadU(dWide, from + i + lanes / 2));
        hn::StoreU(hn::ConcatEven(d, upper, lower), d, to + i);
    }
    for (; i < count; ++i)
    {
        to[i] = static_cast<int32_t>(from[i]);
    }
}

void WidenInts(const void* in, void* out, size_t count, const QuantizeParameters&)
{
    const hn::Repartition<int64_t, TagInt32> dWide;
    MapEach(hn::Half<TagInt32>(), static_cast<const int32_t*>(in), static_cast<int64_t*>(out), count,
            [&](auto x) HWY_ATTR { return hn::PromoteTo(dWide, x); });
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
