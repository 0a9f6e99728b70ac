// SPDX-License-Identifier: Apache-2.0
// Loops that quantize floats and loops that requantize integers. See ConversionLoops.hpp.
#include "backends/cpu/elementwise/ConversionLoops.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/QuantizeLoops.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/FixedPointToInt8-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Rounds to nearest. NaN and numbers outside of int32 become numbers without any sure bit of FixedPointToInt8: -2^31
/// or 0. Arm's conversion makes 2^31 - 1 of large ones, in which all bits are sure.
HWY_INLINE VecInt32 NearestOrUnsure(VecF32 x)
{
    const VecInt32 nearest = Nearest(x);
    if constexpr (HWY_ARCH_X86)
    {
        return nearest;
    }
    else
    {
        const VecInt32 saturated = hn::Set(TagInt32(), std::numeric_limits<int32_t>::max());
        return hn::IfThenZeroElse(hn::Eq(nearest, saturated), nearest);
    }
}

/// round(x / scale) + zero, half away from zero. Quotients outside of int32, and NaN, count as -2^31, and the sum with
/// the zero point wraps, as in the reference kernel: the result is the type's minimum or maximum. `IsHalfEven`: half to
/// even, and NaN becomes the minimum.
template <typename Out, bool IsHalfEven>
void Quantize(const void* in, void* out, size_t count, const QuantizeParameters& numbers)
{
    const TagF32 d;
    const VecF32 scale = hn::Set(d, numbers.m_Scale);
    const VecInt32 zero = hn::Set(TagInt32(), numbers.m_ZeroPoint);
    const VecF32 half = hn::Set(d, 0x1.fffffep-2f); // numbers just below a half must not be rounded up
    // The bounds before the zero point is added. Highway's DemoteTo does not saturate numbers far outside of the type.
    const VecF32 low = hn::Set(d, static_cast<float>(std::numeric_limits<Out>::min() - numbers.m_ZeroPoint));
    const VecF32 high = hn::Set(d, static_cast<float>(std::numeric_limits<Out>::max() - numbers.m_ZeroPoint));
    const VecF32 limit = hn::Set(d, 0x1p31f);
    const VecF32 outside = numbers.m_ZeroPoint < 0 ? high : low;
    MapEach(d, static_cast<const float*>(in), static_cast<Out*>(out), count,
            [&](VecF32 x) HWY_ATTR
            {
                const VecF32 steps = Quotient(x, scale);
                if constexpr (IsHalfEven)
                {
                    const VecF32 bounded = LessOf(GreaterOf(steps, low), high);
                    return hn::DemoteTo(hn::Rebind<Out, TagF32>(), hn::Add(Nearest(bounded), zero));
                }
                const VecF32 moved = hn::Add(steps, hn::CopySign(half, steps));
                const auto fits = hn::Lt(hn::Abs(moved), limit);
                const VecF32 bounded = hn::IfThenElse(fits, hn::Max(low, hn::Min(high, moved)), outside);
                return hn::DemoteTo(hn::Rebind<Out, TagF32>(), hn::Add(Truncated(bounded), zero));
            });
}

/// The same for 8-bit types, without a division in most vectors. The error of a product with the reciprocal of the
/// scale is below one unit of FixedPointToInt8's last bit, where it matters. Vectors with an uncertain number, such as
/// a half, or NaN are divided.
template <typename Out, bool IsHalfEven>
void QuantizeBytes(const void* in, void* out, size_t count, const QuantizeParameters& numbers)
{
    const TagF32 d;
    constexpr size_t Quarter = FixedPointToInt8::QuarterLanes;
    constexpr size_t Step = FixedPointToInt8::Lanes;
    constexpr bool IsSigned = std::is_signed_v<Out>;
    constexpr int OffBits = 1;
    const auto* from = static_cast<const float*>(in);
    auto* to = static_cast<Out*>(out);
    size_t i = 0;
    // With other scales the reciprocal may be infinite or lose bits.
    if (numbers.m_Scale > 0x1p-100f && numbers.m_Scale < 0x1p100f)
    {
        const VecF32 reciprocal = hn::Set(d, FixedPointToInt8::One / numbers.m_Scale);
        const float zero = static_cast<float>(numbers.m_ZeroPoint + (IsSigned ? 128 : 0));
        const VecF32 offset = hn::Set(d, (zero + 0.5f) * FixedPointToInt8::One + FixedPointToInt8::GetOffset(OffBits));
        const VecInt32 sureBits = hn::Set(TagInt32(), FixedPointToInt8::GetSureBits(OffBits));
        const VecUint8 signXor = hn::Set(TagUint8(), static_cast<uint8_t>(IsSigned ? 0x80 : 0));
        const auto scale = [&](const float* x) HWY_ATTR
        { return NearestOrUnsure(hn::MulAdd(hn::LoadU(d, x), reciprocal, offset)); };
        for (; i + Step <= count; i += Step)
        {
            const FixedPointToInt8 bytes(scale(from + i), scale(from + i + Quarter), scale(from + i + 2 * Quarter),
                                         scale(from + i + 3 * Quarter));
            if (bytes.HasAll(sureBits))
            {
                hn::StoreU(hn::Xor(bytes.Join(), signXor), TagUint8(), reinterpret_cast<uint8_t*>(to + i));
            }
            else
            {
                Quantize<Out, IsHalfEven>(from + i, to + i, Step, numbers);
            }
        }
    }
    Quantize<Out, IsHalfEven>(from + i, to + i, count - i, numbers);
}

template <bool IsHalfEven>
ConversionLoop FindQuantizeLoopOf(DataType to)
{
    switch (to)
    {
    case DataType::QAsymmU8: return QuantizeBytes<uint8_t, IsHalfEven>;
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return QuantizeBytes<int8_t, IsHalfEven>;
    case DataType::QSymmS16: return Quantize<int16_t, IsHalfEven>;
    default: return nullptr;
    }
}

ConversionLoop FindQuantizeLoop(DataType to, RequantizationMode mode)
{
    return mode == RequantizationMode::FloatHalfEven ? FindQuantizeLoopOf<true>(to) : FindQuantizeLoopOf<false>(to);
}

template <typename In, typename Out>
void Requantize(const void* in, void* out, size_t count, const RequantizeParameters& numbers)
{
    using Tag = hn::ScalableTag<int32_t>;
    const Tag d;
    const BoundedMultiplier<Tag> multiply(numbers.m_Multiplier); // 16-bit differences are small enough
    const auto inputZero = hn::Set(d, numbers.m_InputZeroPoint);
    const auto outputZero = hn::Set(d, numbers.m_OutputZeroPoint);
    const auto minimum = hn::Set(d, int32_t{std::numeric_limits<Out>::min()});
    const auto maximum = hn::Set(d, int32_t{std::numeric_limits<Out>::max()});
    MapEach(hn::Rebind<In, Tag>(), static_cast<const In*>(in), static_cast<Out*>(out), count,
            [&](auto x) HWY_ATTR
            {
                const auto value = hn::Sub(hn::PromoteTo(d, x), inputZero);
                const auto stored = hn::Add(multiply(value), outputZero);
                return hn::DemoteTo(hn::Rebind<Out, Tag>(), hn::Min(hn::Max(stored, minimum), maximum));
            });
}

template <typename In>
RequantizeLoop FindRequantizeFrom(DataType to)
{
    switch (to)
    {
    case DataType::QAsymmU8: return Requantize<In, uint8_t>;
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return Requantize<In, int8_t>;
    case DataType::QSymmS16: return Requantize<In, int16_t>;
    default: return nullptr;
    }
}

RequantizeLoop FindRequantizeLoop(DataType from, DataType to)
{
    switch (from)
    {
    case DataType::QAsymmU8: return FindRequantizeFrom<uint8_t>(to);
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return FindRequantizeFrom<int8_t>(to);
    case DataType::QSymmS16: return FindRequantizeFrom<int16_t>(to);
    default: return nullptr;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

ConversionLoop FindQuantize(DataType to, RequantizationMode mode)
{
    return TENON_CHOOSE(FindQuantizeLoop)(to, mode);
}

RequantizeLoop FindRequantize(DataType from, DataType to)
{
    return TENON_CHOOSE(FindRequantizeLoop)(from, to);
}

} // namespace tenon::cpu
#endif
