// SPDX-License-Identifier: Apache-2.0
// Loops of BinaryInt8 that multiply in 16 bits and scale in float: products, squares and Prelu. Included by
// BinaryLoopsInt8.cpp after simd/Foreach.hpp, once for each target.
#if defined(TENON_BYTE_HALVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_BYTE_HALVES_INL
#undef TENON_BYTE_HALVES_INL
#else
#define TENON_BYTE_HALVES_INL
#endif

#include "backends/cpu/elementwise/BinaryInt8.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/LookupInt8-inl.hpp"

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

using WordTag = hn::Repartition<int16_t, ByteTag>;
using Words = hn::Vec<WordTag>;

/// BinaryInt8::FloatMultiplier as vectors.
class FloatMultiplier
{
public:
    explicit FloatMultiplier(const ByteBinary::FloatMultiplier& scale)
        : m_Factor(hn::Set(FloatTag(), scale.m_Factor)),
          m_Offset(hn::BitCast(IntTag(), hn::Set(FloatTag(), scale.m_Offset))),
          m_OffsetFlip(hn::Set(IntTag(), scale.m_OffsetFlip))
    {
    }

    HWY_INLINE Floats GetFactor() const { return m_Factor; }
    HWY_INLINE Floats GetOffset() const { return hn::BitCast(FloatTag(), m_Offset); }
    /// The offset for a number of at most 16 bits and a sign that fills the upper 16 bits.
    HWY_INLINE Floats GetOffset(Ints number) const
    {
        return hn::BitCast(FloatTag(), hn::Xor(m_Offset, hn::And(number, m_OffsetFlip)));
    }
    HWY_INLINE Ints operator()(Ints number) const
    {
        return Nearest(hn::MulAdd(hn::ConvertTo(FloatTag(), number), m_Factor, GetOffset(number)));
    }

private:
    Floats m_Factor;
    Ints m_Offset;
    Ints m_OffsetFlip;
};

/// Products of int16, scaled in float.
class FloatProduct
{
public:
    explicit FloatProduct(const ByteBinary& numbers) : m_Scale(numbers.m_FloatProduct) {}

    HWY_INLINE Words operator()(Words a, Words b) const
    {
        const WordTag d;
        const Words low = hn::Mul(a, b);
        const Words high = hn::MulHigh(a, b);
        return NarrowPair(d, m_Scale(hn::BitCast(IntTag(), hn::InterleaveLower(d, low, high))),
                          m_Scale(hn::BitCast(IntTag(), hn::InterleaveUpper(d, low, high))));
    }

private:
    FloatMultiplier m_Scale;
};

/// Prelu: a if it is not negative, else a * b; each with a scale of its own.
class FloatPrelu
{
public:
    explicit FloatPrelu(const ByteBinary& numbers) : m_Negative(numbers.m_FloatProduct), m_Positive(numbers.m_FloatA) {}

    HWY_INLINE Words operator()(Words a, Words b) const
    {
        const WordTag d;
        const Words isNegative = hn::ShiftRight<15>(a);
        const Words factor = hn::IfThenElse(hn::MaskFromVec(isNegative), b, hn::Set(d, 1));
        const Words low = hn::Mul(a, factor);
        const Words high = hn::MulHigh(a, factor);
        return NarrowPair(d, Scale(hn::InterleaveLower(d, low, high), hn::InterleaveLower(d, isNegative, isNegative)),
                          Scale(hn::InterleaveUpper(d, low, high), hn::InterleaveUpper(d, isNegative, isNegative)));
    }

private:
    HWY_INLINE Ints Scale(Words product, Words isNegative) const
    {
        const auto negative = hn::MaskFromVec(hn::BitCast(FloatTag(), isNegative));
        const Ints number = hn::BitCast(IntTag(), product);
        return Nearest(hn::MulAdd(hn::ConvertTo(FloatTag(), number),
                                  hn::IfThenElse(negative, m_Negative.GetFactor(), m_Positive.GetFactor()),
                                  hn::IfThenElse(negative, m_Negative.GetOffset(number), m_Positive.GetOffset())));
    }

    FloatMultiplier m_Negative;
    FloatMultiplier m_Positive;
};

/// Squares of differences: each input is scaled to 15 bits and a sign first.
class FloatSquare
{
public:
    explicit FloatSquare(const ByteBinary& numbers) : m_A(numbers.m_FloatA), m_B(numbers.m_FloatB), m_Square(numbers) {}

    HWY_INLINE Words operator()(Words a, Words b) const
    {
        const Words difference = hn::Sub(Scale(a, m_A), Scale(b, m_B));
        return m_Square(difference, difference);
    }

private:
    static HWY_INLINE Words Scale(Words x, const FloatMultiplier& scale)
    {
        const WordTag d;
        const Words upper = hn::ShiftRight<15>(x);
        return NarrowPair(d, scale(hn::BitCast(IntTag(), hn::InterleaveLower(d, x, upper))),
                          scale(hn::BitCast(IntTag(), hn::InterleaveUpper(d, x, upper))));
    }

    FloatMultiplier m_A;
    FloatMultiplier m_B;
    FloatProduct m_Square;
};

/// Leaves the bytes that an operation gives.
class AsTheyAre
{
public:
    explicit AsTheyAre(const ByteBinary&) {}

    HWY_INLINE Bytes operator()(Bytes result, Bytes) const { return result; }
};

#if HWY_TARGET == HWY_AVX3
/// Takes the results of Prelu for a >= 0 from a table.
class FromTable
{
public:
    explicit FromTable(const ByteBinary& numbers)
        : m_LookUp(numbers.m_PositiveTable->data()), m_Zero(hn::Set(ByteTag(), static_cast<uint8_t>(numbers.m_ZeroA)))
    {
    }

    HWY_INLINE Bytes operator()(Bytes result, Bytes a) const
    {
        return hn::IfThenElse(hn::Lt(a, m_Zero), result, m_LookUp(a));
    }

private:
    ByteLookup m_LookUp;
    Bytes m_Zero;
};
#endif

/// Operations on int16 differences of bytes from their zero points, half of a vector of bytes at a time. `Epilogue`:
/// maps the results, as unsigned bytes, and a to the final results. `IsClamped`: a fused activation leaves less than
/// the type's range.
template <typename Operation, bool IsFixed, typename Finish, bool IsClamped>
void RunClamped(const ByteBinary& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    const ByteTag d;
    const WordTag dWords;
    const Operation operation(numbers);
    const Finish finish(numbers);
    const Words zero = hn::Set(dWords, static_cast<int16_t>(numbers.m_ZeroOutput + numbers.m_Flip));
    const Words zeroA = hn::Set(dWords, static_cast<int16_t>(numbers.m_ZeroA));
    const Words zeroB = hn::Set(dWords, static_cast<int16_t>(numbers.m_ZeroB));
    const Bytes flip = hn::Set(d, numbers.m_Flip);
    const Bytes least = hn::Set(d, numbers.m_Min);
    const Bytes most = hn::Set(d, numbers.m_Max);
    const Words fixed =
        hn::Sub(hn::Set(dWords, static_cast<int16_t>(static_cast<uint8_t>(*b ^ numbers.m_Flip))), zeroB);
    MapPairs<false, IsFixed>(
        d, a, b, out, count,
        [&](Bytes x, Bytes y) HWY_ATTR
        {
            const Bytes none = hn::Zero(d);
            x = hn::Xor(x, flip);
            y = hn::Xor(y, flip);
            const auto centre = [&](Bytes half, Words centreZero) HWY_ATTR
            { return hn::Sub(hn::BitCast(dWords, half), centreZero); };
            const Words low = operation(centre(hn::InterleaveLower(d, x, none), zeroA),
                                        IsFixed ? fixed : centre(hn::InterleaveLower(d, y, none), zeroB));
            const Words high = operation(centre(hn::InterleaveUpper(d, x, none), zeroA),
                                         IsFixed ? fixed : centre(hn::InterleaveUpper(d, y, none), zeroB));
            const Bytes joined = finish(JoinHalves(hn::SaturatedAdd(low, zero), hn::SaturatedAdd(high, zero)), x);
            return hn::Xor(IsClamped ? hn::Min(hn::Max(joined, least), most) : joined, flip);
        });
}

template <typename Operation, bool IsFixed, typename Finish = AsTheyAre>
void RunHalves(const ByteBinary& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    (numbers.IsClamped() ? RunClamped<Operation, IsFixed, Finish, true>
                         : RunClamped<Operation, IsFixed, Finish, false>)(numbers, a, b, out, count);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
