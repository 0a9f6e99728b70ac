// SPDX-License-Identifier: Apache-2.0
// Loops of BinaryInt8 that multiply in 16 bits and scale in float: products, squares and Prelu. Included by
// BinaryLoopsInt8.cpp after simd/Foreach.hpp, once for each target.
#if defined(TENON_BINARY_WIDENED_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_BINARY_WIDENED_INT8_INL
#undef TENON_BINARY_WIDENED_INT8_INL
#else
#define TENON_BINARY_WIDENED_INT8_INL
#endif

#include "backends/cpu/elementwise/BinaryInt8.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/LookupInt8-inl.hpp"

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

using TagInt16 = hn::Repartition<int16_t, TagUint8>;
using VecInt16 = hn::Vec<TagInt16>;

/// BinaryInt8::FloatMultiplier as vectors.
class FloatMultiplier
{
public:
    explicit FloatMultiplier(const BinaryInt8::FloatMultiplier& scale)
        : m_Factor(hn::Set(TagF32(), scale.m_Factor)),
          m_Offset(hn::BitCast(TagInt32(), hn::Set(TagF32(), scale.m_Offset))),
          m_OffsetXor(hn::Set(TagInt32(), scale.m_OffsetXor))
    {
    }

    HWY_INLINE VecF32 GetFactor() const { return m_Factor; }
    HWY_INLINE VecF32 GetOffset() const { return hn::BitCast(TagF32(), m_Offset); }
    /// The offset for a number of at most 16 bits and a sign that fills the upper 16 bits.
    HWY_INLINE VecF32 GetOffset(VecInt32 number) const
    {
        return hn::BitCast(TagF32(), hn::Xor(m_Offset, hn::And(number, m_OffsetXor)));
    }
    HWY_INLINE VecInt32 operator()(VecInt32 number) const
    {
        return Nearest(hn::MulAdd(hn::ConvertTo(TagF32(), number), m_Factor, GetOffset(number)));
    }

private:
    VecF32 m_Factor;
    VecInt32 m_Offset;
    VecInt32 m_OffsetXor;
};

/// Products of int16, scaled in float.
class FloatProduct
{
public:
    explicit FloatProduct(const BinaryInt8& numbers) : m_Scale(numbers.m_FloatProduct) {}

    HWY_INLINE VecInt16 operator()(VecInt16 a, VecInt16 b) const
    {
        const TagInt16 d;
        const VecInt16 low = hn::Mul(a, b);
        const VecInt16 high = hn::MulHigh(a, b);
        return NarrowPair(d, m_Scale(hn::BitCast(TagInt32(), hn::InterleaveLower(d, low, high))),
                          m_Scale(hn::BitCast(TagInt32(), hn::InterleaveUpper(d, low, high))));
    }

private:
    FloatMultiplier m_Scale;
};

/// Prelu: a if it is not negative, else a * b; each with a scale of its own.
class FloatPrelu
{
public:
    explicit FloatPrelu(const BinaryInt8& numbers) : m_Negative(numbers.m_FloatProduct), m_Positive(numbers.m_FloatA) {}

    HWY_INLINE VecInt16 operator()(VecInt16 a, VecInt16 b) const
    {
        const TagInt16 d;
        const VecInt16 isNegative = hn::ShiftRight<15>(a);
        const VecInt16 factor = hn::IfThenElse(hn::MaskFromVec(isNegative), b, hn::Set(d, 1));
        const VecInt16 low = hn::Mul(a, factor);
        const VecInt16 high = hn::MulHigh(a, factor);
        return NarrowPair(d, Scale(hn::InterleaveLower(d, low, high), hn::InterleaveLower(d, isNegative, isNegative)),
                          Scale(hn::InterleaveUpper(d, low, high), hn::InterleaveUpper(d, isNegative, isNegative)));
    }

private:
    HWY_INLINE VecInt32 Scale(VecInt16 product, VecInt16 isNegative) const
    {
        const auto negative = hn::MaskFromVec(hn::BitCast(TagF32(), isNegative));
        const VecInt32 number = hn::BitCast(TagInt32(), product);
        return Nearest(hn::MulAdd(hn::ConvertTo(TagF32(), number),
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
    explicit FloatSquare(const BinaryInt8& numbers) : m_A(numbers.m_FloatA), m_B(numbers.m_FloatB), m_Square(numbers) {}

    HWY_INLINE VecInt16 operator()(VecInt16 a, VecInt16 b) const
    {
        const VecInt16 difference = hn::Sub(Scale(a, m_A), Scale(b, m_B));
        return m_Square(difference, difference);
    }

private:
    static HWY_INLINE VecInt16 Scale(VecInt16 x, const FloatMultiplier& scale)
    {
        const TagInt16 d;
        const VecInt16 upper = hn::ShiftRight<15>(x);
        return NarrowPair(d, scale(hn::BitCast(TagInt32(), hn::InterleaveLower(d, x, upper))),
                          scale(hn::BitCast(TagInt32(), hn::InterleaveUpper(d, x, upper))));
    }

    FloatMultiplier m_A;
    FloatMultiplier m_B;
    FloatProduct m_Square;
};

/// Leaves the bytes that an operation gives.
class NoEpilogue
{
public:
    explicit NoEpilogue(const BinaryInt8&) {}

    HWY_INLINE VecUint8 operator()(VecUint8 result, VecUint8) const { return result; }
};

#if HWY_TARGET == HWY_AVX3
/// Takes the results of Prelu for a >= 0 from a table.
class PositiveFromTable
{
public:
    explicit PositiveFromTable(const BinaryInt8& numbers)
        : m_LookUp(numbers.m_PositiveTable->data()), m_Zero(hn::Set(TagUint8(), static_cast<uint8_t>(numbers.m_ZeroA)))
    {
    }

    HWY_INLINE VecUint8 operator()(VecUint8 result, VecUint8 a) const
    {
        return hn::IfThenElse(hn::Lt(a, m_Zero), result, m_LookUp(a));
    }

private:
    LookupInt8 m_LookUp;
    VecUint8 m_Zero;
};
#endif

/// Operations on int16 differences of bytes from their zero points, half of a vector of bytes at a time. `Epilogue`:
/// maps the results, as unsigned bytes, and a to the final results. `IsClamped`: a fused activation leaves less than
/// the type's range.
template <typename Operation, bool IsScalarB, typename Epilogue, bool IsClamped>
void RunClamped(const BinaryInt8& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    const TagUint8 d;
    const TagInt16 dWords;
    const Operation operation(numbers);
    const Epilogue epilogue(numbers);
    const VecInt16 zero = hn::Set(dWords, static_cast<int16_t>(numbers.m_ZeroOutput + numbers.m_SignXor));
    const VecInt16 zeroA = hn::Set(dWords, static_cast<int16_t>(numbers.m_ZeroA));
    const VecInt16 zeroB = hn::Set(dWords, static_cast<int16_t>(numbers.m_ZeroB));
    const VecUint8 signXor = hn::Set(d, numbers.m_SignXor);
    const VecUint8 least = hn::Set(d, numbers.m_Min);
    const VecUint8 most = hn::Set(d, numbers.m_Max);
    const VecInt16 fixed =
        hn::Sub(hn::Set(dWords, static_cast<int16_t>(static_cast<uint8_t>(*b ^ numbers.m_SignXor))), zeroB);
    MapPairs<false, IsScalarB>(
        d, a, b, out, count,
        [&](VecUint8 x, VecUint8 y) HWY_ATTR
        {
            const VecUint8 none = hn::Zero(d);
            x = hn::Xor(x, signXor);
            y = hn::Xor(y, signXor);
            const auto centre = [&](VecUint8 half, VecInt16 centreZero) HWY_ATTR
            { return hn::Sub(hn::BitCast(dWords, half), centreZero); };
            const VecInt16 low = operation(centre(hn::InterleaveLower(d, x, none), zeroA),
                                           IsScalarB ? fixed : centre(hn::InterleaveLower(d, y, none), zeroB));
            const VecInt16 high = operation(centre(hn::InterleaveUpper(d, x, none), zeroA),
                                            IsScalarB ? fixed : centre(hn::InterleaveUpper(d, y, none), zeroB));
            const VecUint8 joined = epilogue(JoinHalves(hn::SaturatedAdd(low, zero), hn::SaturatedAdd(high, zero)), x);
            return hn::Xor(IsClamped ? hn::Min(hn::Max(joined, least), most) : joined, signXor);
        });
}

template <typename Operation, bool IsScalarB, typename Epilogue = NoEpilogue>
void RunWidened(const BinaryInt8& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    (numbers.IsClamped() ? RunClamped<Operation, IsScalarB, Epilogue, true>
                         : RunClamped<Operation, IsScalarB, Epilogue, false>)(numbers, a, b, out, count);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
