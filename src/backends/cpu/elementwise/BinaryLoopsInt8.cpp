// SPDX-License-Identifier: Apache-2.0
// The loops that BinaryInt8 chooses from, once for each target.
//   exact:   bytes -> quarters of int32 -> 64-bit fixed-point multiplication -> bytes
//   float:   bytes -> quarters of int32 -> float multiply-add -> nearest integer -> bytes
//   widened: bytes -> halves of int16 -> 16-bit product (low and high part) -> float scale -> bytes
// Results are biased by 128 for int8 (XOR 0x80), clamped to a fused activation, and biased back.
#include "backends/cpu/elementwise/BinaryLoopsInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/BinaryLoopsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/elementwise/BinaryWidenedInt8-inl.hpp"
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

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

    explicit ExactSum(const ByteBinary& numbers)
        : m_A(numbers.m_A), m_B(numbers.m_B), m_Sum(numbers.m_Sum), m_ZeroA(hn::Set(IntTag(), numbers.m_ZeroA)),
          m_ZeroB(hn::Set(IntTag(), numbers.m_ZeroB)), m_ZeroOutput(hn::Set(IntTag(), numbers.m_ZeroOutput)),
          m_SignA(hn::Set(IntTag(), numbers.m_NegatesA ? -1 : 0)),
          m_SignB(hn::Set(IntTag(), numbers.m_NegatesB ? -1 : 0))
    {
    }

    HWY_INLINE Ints Second(Ints b) const { return Scale(b, m_B, m_ZeroB, m_SignB); }
    HWY_INLINE Ints ScaledFirst(Ints a) const { return Scale(a, m_A, m_ZeroA, m_SignA); }
    HWY_INLINE Ints Sum(Ints scaledFirst, Ints second) const
    {
        const Ints sum = hn::Add(scaledFirst, second);
        return hn::Add(m_Sum(Squares ? hn::Mul(sum, sum) : sum), m_ZeroOutput);
    }
    HWY_INLINE Ints First(Ints a, Ints second) const { return Sum(ScaledFirst(a), second); }

private:
    static HWY_INLINE Ints Scale(Ints x, const BoundedMultiplier<IntTag>& multiplier, Ints zero, Ints sign)
    {
        const Ints scaled = multiplier(hn::ShiftLeft<LeftShift>(hn::Sub(x, zero)));
        return hn::Sub(hn::Xor(scaled, sign), sign); // negated where the sign is -1
    }

    BoundedMultiplier<IntTag> m_A;
    BoundedMultiplier<IntTag> m_B;
    BoundedMultiplier<IntTag> m_Sum;
    Ints m_ZeroA;
    Ints m_ZeroB;
    Ints m_ZeroOutput;
    Ints m_SignA;
    Ints m_SignB;
};

class FloatSum
{
public:
    static constexpr bool AddsZero = false;

    explicit FloatSum(const ByteBinary& numbers)
        : m_A(hn::Set(FloatTag(), numbers.m_FactorA)), m_B(hn::Set(FloatTag(), numbers.m_FactorB)),
          m_Offset(hn::Set(FloatTag(), numbers.m_Offset))
    {
    }

    HWY_INLINE Floats Second(Ints b) const { return hn::MulAdd(hn::ConvertTo(FloatTag(), b), m_B, m_Offset); }
    HWY_INLINE Ints First(Ints a, Floats second) const
    {
        return Nearest(hn::MulAdd(hn::ConvertTo(FloatTag(), a), m_A, second));
    }

private:
    Floats m_A;
    Floats m_B;
    Floats m_Offset;
};

class ExactProduct
{
public:
    static constexpr bool AddsZero = true;

    explicit ExactProduct(const ByteBinary& numbers)
        : m_Product(numbers.m_Product), m_ZeroA(hn::Set(IntTag(), numbers.m_ZeroA)),
          m_ZeroB(hn::Set(IntTag(), numbers.m_ZeroB)), m_ZeroOutput(hn::Set(IntTag(), numbers.m_ZeroOutput))
    {
    }

    HWY_INLINE Ints Second(Ints b) const { return hn::Sub(b, m_ZeroB); }
    HWY_INLINE Ints First(Ints a, Ints second) const
    {
        return hn::Add(m_Product(hn::Mul(hn::Sub(a, m_ZeroA), second)), m_ZeroOutput);
    }

private:
    BoundedMultiplier<IntTag> m_Product;
    Ints m_ZeroA;
    Ints m_ZeroB;
    Ints m_ZeroOutput;
};

/// Exact Prelu: m_A * a for a >= 0, else m_Product * (a * b).
class ExactPrelu
{
public:
    static constexpr bool AddsZero = true;

    explicit ExactPrelu(const ByteBinary& numbers)
        : m_Positive(numbers.m_A), m_Negative(numbers.m_Product), m_ZeroA(hn::Set(IntTag(), numbers.m_ZeroA)),
          m_ZeroB(hn::Set(IntTag(), numbers.m_ZeroB)), m_ZeroOutput(hn::Set(IntTag(), numbers.m_ZeroOutput))
    {
    }

    HWY_INLINE Ints Second(Ints b) const { return hn::Sub(b, m_ZeroB); }
    HWY_INLINE Ints First(Ints a, Ints second) const
    {
        const Ints value = hn::Sub(a, m_ZeroA);
        const auto isNegative = hn::Lt(value, hn::Zero(IntTag()));
        const Ints scaled = hn::IfThenElse(isNegative, m_Negative(hn::Mul(value, second)), m_Positive(value));
        return hn::Add(scaled, m_ZeroOutput);
    }

private:
    BoundedMultiplier<IntTag> m_Positive;
    BoundedMultiplier<IntTag> m_Negative;
    Ints m_ZeroA;
    Ints m_ZeroB;
    Ints m_ZeroOutput;
};

template <typename Operation, bool IsFixed>
void Run(const ByteBinary& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    const ByteTag d;
    const hn::Repartition<int16_t, ByteTag> d16;
    const Operation operation(numbers);
    const Quarters quarters;
    const int32_t zeroOutput = Operation::AddsZero ? 0 : numbers.m_ZeroOutput;
    const auto zero = hn::Set(d16, static_cast<int16_t>(zeroOutput + numbers.m_Flip));
    const Bytes flip = hn::Set(d, numbers.m_Flip);
    const Bytes least = hn::Set(d, numbers.m_Min);
    const Bytes most = hn::Set(d, numbers.m_Max);
    const auto fixed = operation.Second(hn::Set(IntTag(), int32_t{static_cast<uint8_t>(*b ^ numbers.m_Flip)}));
    MapPairs<false, IsFixed>(
        d, a, b, out, count,
        [&](Bytes x, Bytes y) HWY_ATTR
        {
            x = hn::Xor(x, flip);
            y = hn::Xor(y, flip);
            const auto second = [&](Ints quarter) HWY_ATTR { return IsFixed ? fixed : operation.Second(quarter); };
            const Ints q0 = operation.First(quarters.Get<0>(x), second(quarters.template Get<0>(y)));
            const Ints q1 = operation.First(quarters.Get<1>(x), second(quarters.template Get<1>(y)));
            const Ints q2 = operation.First(quarters.Get<2>(x), second(quarters.template Get<2>(y)));
            const Ints q3 = operation.First(quarters.Get<3>(x), second(quarters.template Get<3>(y)));
            const Bytes joined = JoinQuarters(q0, q1, q2, q3, zero);
            return hn::Xor(hn::Min(hn::Max(joined, least), most), flip);
        });
}

/// The results of all pairs, see BinaryInt8::AllPairs. Each byte is scaled once instead of once for each pair.
template <typename Operation>
void SumAllPairs(const ByteBinary& numbers, uint8_t* results)
{
    constexpr size_t Values = 256;
    const IntTag d;
    const ByteTag d8;
    const size_t lanes = hn::Lanes(d);
    const Operation sum(numbers);
    const Quarters quarters;
    const Bytes flip = hn::Set(d8, numbers.m_Flip);
    HWY_ALIGN int32_t first[Values];
    HWY_ALIGN int32_t second[Values]; // the four quarters of each vector of bytes
    for (size_t i = 0; i < Values; i += lanes)
    {
        const Ints values = hn::Xor(hn::Iota(d, static_cast<int32_t>(i)), hn::Set(d, int32_t{numbers.m_Flip}));
        hn::Store(sum.ScaledFirst(values), d, first + i);
    }
    for (size_t i = 0; i < Values; i += 4 * lanes)
    {
        const Bytes bytes = hn::Xor(hn::Iota(d8, static_cast<uint8_t>(i)), flip);
        hn::Store(sum.Second(quarters.Get<0>(bytes)), d, second + i);
        hn::Store(sum.Second(quarters.Get<1>(bytes)), d, second + i + lanes);
        hn::Store(sum.Second(quarters.Get<2>(bytes)), d, second + i + 2 * lanes);
        hn::Store(sum.Second(quarters.Get<3>(bytes)), d, second + i + 3 * lanes);
    }
    const auto zero = hn::Set(hn::Repartition<int16_t, IntTag>(), int16_t{numbers.m_Flip});
    const Bytes least = hn::Set(d8, numbers.m_Min);
    const Bytes most = hn::Set(d8, numbers.m_Max);
    for (size_t a = 0; a < Values; ++a)
    {
        const Ints scaled = hn::Set(d, first[a]);
        for (size_t b = 0; b < Values; b += 4 * lanes)
        {
            const auto get = [&](size_t i) HWY_ATTR { return sum.Sum(scaled, hn::Load(d, second + b + i * lanes)); };
            const Bytes bytes = JoinQuarters(get(0), get(1), get(2), get(3), zero);
            hn::StoreU(hn::Xor(hn::Min(hn::Max(bytes, least), most), flip), d8, results + a * Values + b);
        }
    }
}

template <bool IsMaximum, bool IsFixed>
void RunExtreme(const ByteBinary& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    const ByteTag d;
    const Bytes flip = hn::Set(d, numbers.m_Flip);
    const Bytes least = hn::Set(d, numbers.m_Min);
    const Bytes most = hn::Set(d, numbers.m_Max);
    MapPairs<false, IsFixed>(d, a, b, out, count,
                             [&](Bytes x, Bytes y) HWY_ATTR
                             {
                                 x = hn::Xor(x, flip);
                                 y = hn::Xor(y, flip);
                                 const Bytes extreme = IsMaximum ? hn::Max(x, y) : hn::Min(x, y);
                                 return hn::Xor(hn::Min(hn::Max(extreme, least), most), flip);
                             });
}

ByteBinary::Loop FindTablePrelu()
{
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Vbmi)
    {
        return RunHalves<FloatProduct, false, FromTable>;
    }
#endif
    return nullptr;
}

ByteBinaryLoops MakeLoops()
{
    using Sum = ExactSum<ByteBinary::SumShift, false>;
    using Square = ExactSum<ByteBinary::SquareShift, true>;
    return {{Run<Sum, false>, Run<Sum, true>},
            SumAllPairs<Sum>,
            {Run<Square, false>, Run<Square, true>},
            {RunHalves<FloatSquare, false>, RunHalves<FloatSquare, true>},
            {Run<FloatSum, false>, Run<FloatSum, true>},
            {Run<ExactProduct, false>, Run<ExactProduct, true>},
            {RunHalves<FloatProduct, false>, RunHalves<FloatProduct, true>},
            {RunExtreme<true, false>, RunExtreme<true, true>},
            {RunExtreme<false, false>, RunExtreme<false, true>},
            {Run<ExactPrelu, false>, Run<ExactPrelu, true>},
            {RunHalves<FloatPrelu, false>, RunHalves<FloatPrelu, true>},
            FindTablePrelu()};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const ByteBinaryLoops& GetByteBinaryLoops()
{
    static constinit PerIsa<ByteBinaryLoops> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

} // namespace tenon::cpu
#endif
