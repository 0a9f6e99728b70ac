// SPDX-License-Identifier: Apache-2.0
// The loops that quantize floats.
#include "backends/cpu/elementwise/Conversions.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/Quantize.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/simd/Bytes-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/Select-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// The stored numbers next to x / scale, halves away from zero. NaN becomes the zero point.
template <typename Out>
void Quantize(const void* in, void* out, size_t count, const QuantizeNumbers& numbers)
{
    const FloatTag d;
    const Floats scale = hn::Set(d, numbers.m_Scale);
    const Ints zero = hn::Set(IntTag(), numbers.m_ZeroPoint);
    const Floats half = hn::Set(d, 0x1.fffffep-2f); // just below: what is below a half must not be rounded up
    // What is added to the zero point; Highway's DemoteTo does not saturate what is far outside of the type.
    const Floats low = hn::Set(d, static_cast<float>(std::numeric_limits<Out>::min() - numbers.m_ZeroPoint));
    const Floats high = hn::Set(d, static_cast<float>(std::numeric_limits<Out>::max() - numbers.m_ZeroPoint));
    MapEach(d, static_cast<const float*>(in), static_cast<Out*>(out), count,
            [&](Floats x) HWY_ATTR
            {
                const Floats steps = Quotient(x, scale);
                const Floats moved = hn::Add(steps, hn::CopySign(half, steps));
                const Floats bounded = hn::Max(low, hn::Min(high, moved));
                const Floats number = hn::IfThenZeroElse(hn::IsNaN(steps), bounded);
                return hn::DemoteTo(hn::Rebind<Out, FloatTag>(), hn::Add(Truncated(number), zero));
            });
}

/// The same for bytes, of vectors without a division: of 13 bits after the point, in integers. A product with the
/// reciprocal of the scale is off by less than one of its last bits where it counts: unless it is as near to a half, or
/// no number, what is cut off leaves the same number. Vectors of which one is are divided.
template <typename Out>
void QuantizeBytes(const void* in, void* out, size_t count, const QuantizeNumbers& numbers)
{
    const FloatTag d;
    const IntTag dInt;
    constexpr size_t Lanes = hn::MaxLanes(FloatTag());
    constexpr size_t Step = 4 * Lanes;
    constexpr bool IsSigned = std::is_signed_v<Out>;
    constexpr int Bits = 13;
    constexpr float One = 1 << Bits;
    const auto* from = static_cast<const float*>(in);
    auto* to = static_cast<Out*>(out);
    size_t i = 0;
    // Else the reciprocal may be infinite or lose bits.
    if (numbers.m_Scale > 0x1p-100f && numbers.m_Scale < 0x1p100f)
    {
        const Floats reciprocal = hn::Set(d, One / numbers.m_Scale);
        // A half above the zero point, as bits are cut off. Half a bit more takes what is less than a bit away from
        // where the number changes to the bits 0 and 1.
        const float zero = static_cast<float>(numbers.m_ZeroPoint + (IsSigned ? 128 : 0));
        const Floats offset = hn::Set(d, (zero + 0.5f) * One + 0.5f);
        const Ints bitsButLast = hn::Set(dInt, (1 << Bits) - 2);
        const Bytes flip = hn::Set(ByteTag(), static_cast<uint8_t>(IsSigned ? 0x80 : 0));
        // What is no number, or does not fit, has bits of zero as well, or those of the greatest integer.
        const auto scale = [&](const float* x) HWY_ATTR
        { return Nearest(hn::MulAdd(hn::LoadU(d, x), reciprocal, offset)); };
        for (; i + Step <= count; i += Step)
        {
            const Ints x0 = scale(from + i);
            const Ints x1 = scale(from + i + Lanes);
            const Ints x2 = scale(from + i + 2 * Lanes);
            const Ints x3 = scale(from + i + 3 * Lanes);
            const Ints least = hn::Min(hn::Min(hn::And(x0, bitsButLast), hn::And(x1, bitsButLast)),
                                       hn::Min(hn::And(x2, bitsButLast), hn::And(x3, bitsButLast)));
            if (hn::AllFalse(dInt, hn::Eq(least, hn::Zero(dInt))))
            {
                const Bytes joined = JoinInOrder(hn::ShiftRight<Bits>(x0), hn::ShiftRight<Bits>(x1),
                                                 hn::ShiftRight<Bits>(x2), hn::ShiftRight<Bits>(x3));
                hn::StoreU(hn::Xor(joined, flip), ByteTag(), reinterpret_cast<uint8_t*>(to + i));
            }
            else
            {
                Quantize<Out>(from + i, to + i, Step, numbers);
            }
        }
    }
    Quantize<Out>(from + i, to + i, count - i, numbers);
}

ConversionLoop FindQuantizeLoop(DataType to)
{
    switch (to)
    {
    case DataType::QAsymmU8: return QuantizeBytes<uint8_t>;
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return QuantizeBytes<int8_t>;
    case DataType::QSymmS16: return Quantize<int16_t>;
    default: return nullptr;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

ConversionLoop FindQuantize(DataType to)
{
    return TENON_CHOOSE(FindQuantizeLoop)(to);
}

} // namespace tenon::cpu
#endif
