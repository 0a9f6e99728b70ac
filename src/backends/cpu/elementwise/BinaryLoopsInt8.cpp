// SPDX-License-Identifier: Apache-2.0
// The loops that BinaryInt8 chooses from, once for each target.
//   exact:   bytes -> quarters of int32 -> 64-bit fixed-point multiplication -> bytes
//   float:   bytes -> quarters of int32 -> float multiply-add -> nearest integer -> bytes
//   real:    bytes -> quarters of int32 -> floats, scaled -> operation -> division by the scale -> nearest integer ->
//   bytes widened: bytes -> halves of int16 -> 16-bit product (low and high part) -> float scale -> bytes
// Results are biased by 128 for int8 (XOR 0x80), clamped to a fused activation, and biased back.
#include "backends/cpu/elementwise/BinaryLoopsInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/BinaryLoopsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/LookupInt8-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

// Widened loops: they multiply in 16 bits and scale in float. Products, squares and Prelu.

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
    const VecUint8 minimum = hn::Set(d, numbers.m_Min);
    const VecUint8 maximum = hn::Set(d, numbers.m_Max);
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
            return hn::Xor(IsClamped ? hn::Min(hn::Max(joined, minimum), maximum) : joined, signXor);
        });
}

template <typename Operation, bool IsScalarB, typename Epilogue = NoEpilogue>
void RunWidened(const BinaryInt8& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    (numbers.IsClamped() ? RunClamped<Operation, IsScalarB, Epilogue, true>
                         : RunClamped<Operation, IsScalarB, Epilogue, false>)(numbers, a, b, out, count);
}

namespace
{

// An operation has two steps, Second(b) and First(a, second). Second is computed once if b is one element. Operations
// with AddsZero add the output's zero point in int32, where it wraps as in the reference kernels. For the other
// operations Run adds it in int16, saturating. Run also adds the bias of 128 for signed types, saturating.

/// Exact sums and squares: both inputs are scaled, added (Squares: the sum is squared), and scaled to the output.
/// `LeftShift`: the left shift of the inputs before scaling.
template <int LeftShift, bool Squares>
class ExactSum
{
public:
    static constexpr bool AddsZero = true;

    explicit ExactSum(const BinaryInt8& numbers)
        : m_A(numbers.m_A), m_B(numbers.m_B), m_Sum(numbers.m_Sum), m_ZeroA(hn::Set(TagInt32(), numbers.m_ZeroA)),
          m_ZeroB(hn::Set(TagInt32(), numbers.m_ZeroB)), m_ZeroOutput(hn::Set(TagInt32(), numbers.m_ZeroOutput)),
          m_SignA(hn::Set(TagInt32(), numbers.m_NegatesA ? -1 : 0)),
          m_SignB(hn::Set(TagInt32(), numbers.m_NegatesB ? -1 : 0))
    {
    }

    HWY_INLINE VecInt32 Second(VecInt32 b) const { return Scale(b, m_B, m_ZeroB, m_SignB); }
    HWY_INLINE VecInt32 ScaledFirst(VecInt32 a) const { return Scale(a, m_A, m_ZeroA, m_SignA); }
    HWY_INLINE VecInt32 Sum(VecInt32 scaledFirst, VecInt32 second) const
    {
        const VecInt32 sum = hn::Add(scaledFirst, second);
        return hn::Add(m_Sum(Squares ? hn::Mul(sum, sum) : sum), m_ZeroOutput);
    }
    HWY_INLINE VecInt32 First(VecInt32 a, VecInt32 second) const { return Sum(ScaledFirst(a), second); }

private:
    static HWY_INLINE VecInt32 Scale(VecInt32 x, const BoundedMultiplier<TagInt32>& multiplier, VecInt32 zero,
                                     VecInt32 sign)
    {
        const VecInt32 scaled = multiplier(hn::ShiftLeft<LeftShift>(hn::Sub(x, zero)));
        return hn::Sub(hn::Xor(scaled, sign), sign); // negated where the sign is -1
    }

    BoundedMultiplier<TagInt32> m_A;
    BoundedMultiplier<TagInt32> m_B;
    BoundedMultiplier<TagInt32> m_Sum;
    VecInt32 m_ZeroA;
    VecInt32 m_ZeroB;
    VecInt32 m_ZeroOutput;
    VecInt32 m_SignA;
    VecInt32 m_SignB;
};

class FloatSum
{
public:
    static constexpr bool AddsZero = false;

    explicit FloatSum(const BinaryInt8& numbers)
        : m_A(hn::Set(TagF32(), numbers.m_FactorA)), m_B(hn::Set(TagF32(), numbers.m_FactorB)),
          m_Offset(hn::Set(TagF32(), numbers.m_Offset))
    {
    }

    HWY_INLINE VecF32 Second(VecInt32 b) const { return hn::MulAdd(hn::ConvertTo(TagF32(), b), m_B, m_Offset); }
    HWY_INLINE VecInt32 First(VecInt32 a, VecF32 second) const
    {
        return Nearest(hn::MulAdd(hn::ConvertTo(TagF32(), a), m_A, second));
    }

private:
    VecF32 m_A;
    VecF32 m_B;
    VecF32 m_Offset;
};

class ExactProduct
{
public:
    static constexpr bool AddsZero = true;

    explicit ExactProduct(const BinaryInt8& numbers)
        : m_Product(numbers.m_Product), m_ZeroA(hn::Set(TagInt32(), numbers.m_ZeroA)),
          m_ZeroB(hn::Set(TagInt32(), numbers.m_ZeroB)), m_ZeroOutput(hn::Set(TagInt32(), numbers.m_ZeroOutput))
    {
    }

    HWY_INLINE VecInt32 Second(VecInt32 b) const { return hn::Sub(b, m_ZeroB); }
    HWY_INLINE VecInt32 First(VecInt32 a, VecInt32 second) const
    {
        return hn::Add(m_Product(hn::Mul(hn::Sub(a, m_ZeroA), second)), m_ZeroOutput);
    }

private:
    BoundedMultiplier<TagInt32> m_Product;
    VecInt32 m_ZeroA;
    VecInt32 m_ZeroB;
    VecInt32 m_ZeroOutput;
};

/// Exact Prelu: m_A * a for a >= 0, else m_Product * (a * b).
class ExactPrelu
{
public:
    static constexpr bool AddsZero = true;

    explicit ExactPrelu(const BinaryInt8& numbers)
        : m_Positive(numbers.m_A), m_Negative(numbers.m_Product), m_ZeroA(hn::Set(TagInt32(), numbers.m_ZeroA)),
          m_ZeroB(hn::Set(TagInt32(), numbers.m_ZeroB)), m_ZeroOutput(hn::Set(TagInt32(), numbers.m_ZeroOutput))
    {
    }

    HWY_INLINE VecInt32 Second(VecInt32 b) const { return hn::Sub(b, m_ZeroB); }
    HWY_INLINE VecInt32 First(VecInt32 a, VecInt32 second) const
    {
        const VecInt32 value = hn::Sub(a, m_ZeroA);
        const auto isNegative = hn::Lt(value, hn::Zero(TagInt32()));
        const VecInt32 scaled = hn::IfThenElse(isNegative, m_Negative(hn::Mul(value, second)), m_Positive(value));
        return hn::Add(scaled, m_ZeroOutput);
    }

private:
    BoundedMultiplier<TagInt32> m_Positive;
    BoundedMultiplier<TagInt32> m_Negative;
    VecInt32 m_ZeroA;
    VecInt32 m_ZeroB;
    VecInt32 m_ZeroOutput;
};

// The operations of RealNumbers. Real numbers may be infinite, but are not NaN.

struct RealSum
{
    static HWY_INLINE VecF32 Apply(VecF32 a, VecF32 b) { return hn::Add(a, b); }
};

struct RealSquare
{
    static HWY_INLINE VecF32 Apply(VecF32 a, VecF32 b)
    {
        const VecF32 sum = hn::Add(a, b);
        return hn::Mul(sum, sum);
    }
};

struct RealProduct
{
    static HWY_INLINE VecF32 Apply(VecF32 a, VecF32 b) { return hn::Mul(a, b); }
};

struct RealQuotient
{
    static HWY_INLINE VecF32 Apply(VecF32 a, VecF32 b) { return Quotient(a, b); }
};

struct RealInverse
{
    static HWY_INLINE VecF32 Apply(VecF32 a, VecF32 b) { return Quotient(b, a); }
};

struct RealMaximum
{
    static HWY_INLINE VecF32 Apply(VecF32 a, VecF32 b) { return GreaterOf(a, b); }
};

struct RealMinimum
{
    static HWY_INLINE VecF32 Apply(VecF32 a, VecF32 b) { return LessOf(a, b); }
};

/// RequantizationMode::FloatHalfEven by its definition: `OfReals` on the real numbers of both inputs, and a division by
/// the output's scale, each step rounded to float.
template <typename OfReals>
class RealNumbers
{
public:
    static constexpr bool AddsZero = false;

    explicit RealNumbers(const BinaryInt8& numbers)
        : m_ScaleA(hn::Set(TagF32(), numbers.m_ScaleA)), m_ScaleB(hn::Set(TagF32(), numbers.m_ScaleB)),
          m_ScaleOutput(hn::Set(TagF32(), numbers.m_ScaleOutput)),
          m_ZeroA(hn::Set(TagF32(), static_cast<float>(numbers.m_ZeroA))),
          m_ZeroB(hn::Set(TagF32(), static_cast<float>(numbers.m_ZeroB)))
    {
    }

    HWY_INLINE VecF32 Second(VecInt32 b) const { return ToReal(b, m_ZeroB, m_ScaleB); }
    HWY_INLINE VecInt32 First(VecInt32 a, VecF32 second) const
    {
        const VecF32 steps = Quotient(OfReals::Apply(ToReal(a, m_ZeroA, m_ScaleA), second), m_ScaleOutput);
        // More steps than a byte has values: they saturate with any zero point. NaN becomes the lower bound.
        const VecF32 bound = hn::Set(TagF32(), 256.0f);
        return Nearest(LessOf(GreaterOf(steps, hn::Neg(bound)), bound));
    }

private:
    static HWY_INLINE VecF32 ToReal(VecInt32 stored, VecF32 zero, VecF32 scale)
    {
        return hn::Mul(hn::Sub(hn::ConvertTo(TagF32(), stored), zero), scale); // the difference is exact
    }

    VecF32 m_ScaleA;
    VecF32 m_ScaleB;
    VecF32 m_ScaleOutput;
    VecF32 m_ZeroA;
    VecF32 m_ZeroB;
};

template <typename Operation, bool IsScalarB>
void Run(const BinaryInt8& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    const TagUint8 d;
    const hn::Repartition<int16_t, TagUint8> d16;
    const Operation operation(numbers);
    const Quarters quarters;
    const int32_t zeroOutput = Operation::AddsZero ? 0 : numbers.m_ZeroOutput;
    const auto zero = hn::Set(d16, static_cast<int16_t>(zeroOutput + numbers.m_SignXor));
    const VecUint8 signXor = hn::Set(d, numbers.m_SignXor);
    const VecUint8 minimum = hn::Set(d, numbers.m_Min);
    const VecUint8 maximum = hn::Set(d, numbers.m_Max);
    const auto fixed = operation.Second(hn::Set(TagInt32(), int32_t{static_cast<uint8_t>(*b ^ numbers.m_SignXor)}));
    MapPairs<false, IsScalarB>(
        d, a, b, out, count,
        [&](VecUint8 x, VecUint8 y) HWY_ATTR
        {
            x = hn::Xor(x, signXor);
            y = hn::Xor(y, signXor);
            const auto second = [&](VecInt32 quarter) HWY_ATTR
            { return IsScalarB ? fixed : operation.Second(quarter); };
            const VecInt32 q0 = operation.First(quarters.Get<0>(x), second(quarters.template Get<0>(y)));
            const VecInt32 q1 = operation.First(quarters.Get<1>(x), second(quarters.template Get<1>(y)));
            const VecInt32 q2 = operation.First(quarters.Get<2>(x), second(quarters.template Get<2>(y)));
            const VecInt32 q3 = operation.First(quarters.Get<3>(x), second(quarters.template Get<3>(y)));
            const VecUint8 joined = JoinQuarters(q0, q1, q2, q3, zero);
            return hn::Xor(hn::Min(hn::Max(joined, minimum), maximum), signXor);
        });
}

/// The results of all pairs, see BinaryInt8::AllPairs. Each byte is scaled once instead of once for each pair.
template <typename Operation>
void SumAllPairs(const BinaryInt8& numbers, uint8_t* results)
{
    constexpr size_t Values = 256;
    const TagInt32 d;
    const TagUint8 d8;
    const size_t lanes = hn::Lanes(d);
    const Operation sum(numbers);
    const Quarters quarters;
    const VecUint8 signXor = hn::Set(d8, numbers.m_SignXor);
    HWY_ALIGN int32_t first[Values];
    HWY_ALIGN int32_t second[Values]; // the four quarters of each vector of bytes
    for (size_t i = 0; i < Values; i += lanes)
    {
        const VecInt32 values = hn::Xor(hn::Iota(d, static_cast<int32_t>(i)), hn::Set(d, int32_t{numbers.m_SignXor}));
        hn::Store(sum.ScaledFirst(values), d, first + i);
    }
    for (size_t i = 0; i < Values; i += 4 * lanes)
    {
        const VecUint8 bytes = hn::Xor(hn::Iota(d8, static_cast<uint8_t>(i)), signXor);
        hn::Store(sum.Second(quarters.Get<0>(bytes)), d, second + i);
        hn::Store(sum.Second(quarters.Get<1>(bytes)), d, second + i + lanes);
        hn::Store(sum.Second(quarters.Get<2>(bytes)), d, second + i + 2 * lanes);
        hn::Store(sum.Second(quarters.Get<3>(bytes)), d, second + i + 3 * lanes);
    }
    const auto zero = hn::Set(hn::Repartition<int16_t, TagInt32>(), int16_t{numbers.m_SignXor});
    const VecUint8 minimum = hn::Set(d8, numbers.m_Min);
    const VecUint8 maximum = hn::Set(d8, numbers.m_Max);
    for (size_t a = 0; a < Values; ++a)
    {
        const VecInt32 scaled = hn::Set(d, first[a]);
        for (size_t b = 0; b < Values; b += 4 * lanes)
        {
            const auto get = [&](size_t i) HWY_ATTR { return sum.Sum(scaled, hn::Load(d, second + b + i * lanes)); };
            const VecUint8 bytes = JoinQuarters(get(0), get(1), get(2), get(3), zero);
            hn::StoreU(hn::Xor(hn::Min(hn::Max(bytes, minimum), maximum), signXor), d8, results + a * Values + b);
        }
    }
}

template <bool IsMaximum, bool IsScalarB>
void RunExtreme(const BinaryInt8& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    const TagUint8 d;
    const VecUint8 signXor = hn::Set(d, numbers.m_SignXor);
    const VecUint8 minimum = hn::Set(d, numbers.m_Min);
    const VecUint8 maximum = hn::Set(d, numbers.m_Max);
    MapPairs<false, IsScalarB>(d, a, b, out, count,
                               [&](VecUint8 x, VecUint8 y) HWY_ATTR
                               {
                                   x = hn::Xor(x, signXor);
                                   y = hn::Xor(y, signXor);
                                   const VecUint8 extreme = IsMaximum ? hn::Max(x, y) : hn::Min(x, y);
                                   return hn::Xor(hn::Min(hn::Max(extreme, minimum), maximum), signXor);
                               });
}

BinaryInt8::Loop FindTablePrelu()
{
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Vbmi)
    {
        return RunWidened<FloatProduct, false, PositiveFromTable>;
    }
#endif
    return nullptr;
}

BinaryLoopsInt8 MakeLoops()
{
    using Sum = ExactSum<BinaryInt8::SumShift, false>;
    using Square = ExactSum<BinaryInt8::SquareShift, true>;
    return {{Run<Sum, false>, Run<Sum, true>},
            SumAllPairs<Sum>,
            {Run<Square, false>, Run<Square, true>},
            {RunWidened<FloatSquare, false>, RunWidened<FloatSquare, true>},
            {Run<FloatSum, false>, Run<FloatSum, true>},
            {Run<ExactProduct, false>, Run<ExactProduct, true>},
            {RunWidened<FloatProduct, false>, RunWidened<FloatProduct, true>},
            {RunExtreme<true, false>, RunExtreme<true, true>},
            {RunExtreme<false, false>, RunExtreme<false, true>},
            {Run<ExactPrelu, false>, Run<ExactPrelu, true>},
            {RunWidened<FloatPrelu, false>, RunWidened<FloatPrelu, true>},
            FindTablePrelu(),
            {Run<RealNumbers<RealSum>, false>, Run<RealNumbers<RealSum>, true>},
            {Run<RealNumbers<RealSquare>, false>, Run<RealNumbers<RealSquare>, true>},
            {Run<RealNumbers<RealProduct>, false>, Run<RealNumbers<RealProduct>, true>},
            {Run<RealNumbers<RealQuotient>, false>, Run<RealNumbers<RealQuotient>, true>},
            {Run<RealNumbers<RealInverse>, false>, Run<RealNumbers<RealInverse>, true>},
            {Run<RealNumbers<RealMaximum>, false>, Run<RealNumbers<RealMaximum>, true>},
            {Run<RealNumbers<RealMinimum>, false>, Run<RealNumbers<RealMinimum>, true>}};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const BinaryLoopsInt8& GetBinaryLoopsInt8()
{
    static constinit PerIsa<BinaryLoopsInt8> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

} // namespace tenon::cpu
#endif
