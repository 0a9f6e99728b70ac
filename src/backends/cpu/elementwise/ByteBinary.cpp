// SPDX-License-Identifier: Apache-2.0
// The loops of quantized sums, products and extremes, and the choice between integers and floats.
#include "backends/cpu/elementwise/ByteBinary.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/ByteBinary.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/simd/Bytes-inl.hpp"
#include "backends/cpu/simd/FixedPoint-inl.hpp"

#ifndef TENON_BYTE_BINARY_LOOPS
#define TENON_BYTE_BINARY_LOOPS
namespace tenon::cpu
{

/// The loops of a target: [0] for two inputs that move, [1] for a second one that stands still.
struct ByteBinaryLoops
{
    ByteBinary::Loop m_ExactSum[2];
    ByteBinary::Loop m_FloatSum[2];
    ByteBinary::Loop m_ExactProduct[2];
    ByteBinary::Loop m_FloatProduct[2];
    ByteBinary::Loop m_Maximum[2];
    ByteBinary::Loop m_Minimum[2];
    ByteBinary::Loop m_Prelu[2];
};

} // namespace tenon::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

// An operation is made of two steps, so that what depends on the second input alone is done once where that stands
// still. Add gives results less m_Zero16, which JoinQuarters adds.

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
    HWY_INLINE Ints First(Ints a, Ints second) const
    {
        return hn::Add(m_Sum(hn::Add(Scale(a, m_A, m_ZeroA, m_SignA), second)), m_ZeroOutput);
    }

private:
    static HWY_INLINE Ints Scale(Ints x, const FixedPointMultiplier<IntTag>& multiplier, Ints zero, Ints sign)
    {
        const Ints scaled = multiplier(hn::ShiftLeft<20>(hn::Sub(x, zero)));
        return hn::Sub(hn::Xor(scaled, sign), sign); // negated where that is -1
    }

    FixedPointMultiplier<IntTag> m_A;
    FixedPointMultiplier<IntTag> m_B;
    FixedPointMultiplier<IntTag> m_Sum;
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
        : m_A(hn::Set(FloatTag(), numbers.m_ScaleA)), m_B(hn::Set(FloatTag(), numbers.m_ScaleB)),
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
        : m_Product(numbers.m_Sum), m_ZeroA(hn::Set(IntTag(), numbers.m_ZeroA)),
          m_ZeroB(hn::Set(IntTag(), numbers.m_ZeroB)), m_ZeroOutput(hn::Set(IntTag(), numbers.m_ZeroOutput))
    {
    }

    HWY_INLINE Ints Second(Ints b) const { return hn::Sub(b, m_ZeroB); }
    HWY_INLINE Ints First(Ints a, Ints second) const
    {
        return hn::Add(m_Product(hn::Mul(hn::Sub(a, m_ZeroA), second)), m_ZeroOutput);
    }

private:
    FixedPointMultiplier<IntTag> m_Product;
    Ints m_ZeroA;
    Ints m_ZeroB;
    Ints m_ZeroOutput;
};

class FloatProduct
{
public:
    static constexpr bool AddsZero = false;

    explicit FloatProduct(const ByteBinary& numbers)
        : m_Scale(hn::Set(FloatTag(), numbers.m_ScaleA)), m_Offset(hn::Set(FloatTag(), numbers.m_Offset)),
          m_Shift(hn::Set(FloatTag(), numbers.m_ScaleB)),
          m_ZeroA(hn::Set(FloatTag(), static_cast<float>(numbers.m_ZeroA))),
          m_ZeroB(hn::Set(FloatTag(), static_cast<float>(numbers.m_ZeroB))), m_Integers(hn::Set(FloatTag(), 0x1.8p23f))
    {
    }

    HWY_INLINE Floats Second(Ints b) const { return hn::Sub(hn::ConvertTo(FloatTag(), b), m_ZeroB); }
    HWY_INLINE Ints First(Ints a, Floats second) const
    {
        // The product of two bytes is exact. Around 2^23 there are only integers: adding rounds.
        const Floats product = hn::Mul(hn::Sub(hn::ConvertTo(FloatTag(), a), m_ZeroA), second);
        const Floats scaled = hn::MulAdd(product, m_Scale, m_Offset);
        const Floats high = hn::Sub(hn::Add(scaled, m_Integers), m_Integers);
        return Nearest(hn::Mul(high, m_Shift));
    }

private:
    Floats m_Scale;
    Floats m_Offset;
    Floats m_Shift;
    Floats m_ZeroA;
    Floats m_ZeroB;
    Floats m_Integers;
};

/// a from its zero point up, else a times b; each with a multiplier of its own.
class ExactPrelu
{
public:
    static constexpr bool AddsZero = true;

    explicit ExactPrelu(const ByteBinary& numbers)
        : m_Positive(numbers.m_A), m_Negative(numbers.m_Sum), m_ZeroA(hn::Set(IntTag(), numbers.m_ZeroA)),
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
    FixedPointMultiplier<IntTag> m_Positive;
    FixedPointMultiplier<IntTag> m_Negative;
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
    const auto zero = hn::Set(d16, static_cast<int16_t>(Operation::AddsZero ? 0 : numbers.m_ZeroOutput));
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

template <bool IsMaximum, bool IsFixed>
void RunExtreme(const ByteBinary& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    const ByteTag d;
    const Bytes flip = hn::Set(d, numbers.m_Flip);
    MapPairs<false, IsFixed>(d, a, b, out, count,
                             [&](Bytes x, Bytes y) HWY_ATTR
                             {
                                 x = hn::Xor(x, flip);
                                 y = hn::Xor(y, flip);
                                 return hn::Xor(IsMaximum ? hn::Max(x, y) : hn::Min(x, y), flip);
                             });
}

ByteBinaryLoops MakeLoops()
{
    return {{Run<ExactSum, false>, Run<ExactSum, true>},         {Run<FloatSum, false>, Run<FloatSum, true>},
            {Run<ExactProduct, false>, Run<ExactProduct, true>}, {Run<FloatProduct, false>, Run<FloatProduct, true>},
            {RunExtreme<true, false>, RunExtreme<true, true>},   {RunExtreme<false, false>, RunExtreme<false, true>},
            {Run<ExactPrelu, false>, Run<ExactPrelu, true>}};
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;

const ByteBinaryLoops& GetLoops()
{
    static const ByteBinaryLoops loops = TENON_CHOOSE(MakeLoops)();
    return loops;
}

/// Fewer elements than this are done before all pairs have been compared.
constexpr size_t WorthwhileCount = 4096;

/// Whether two loops agree on all pairs of bytes. Both take two inputs that move.
bool Agree(const ByteBinary& numbers, ByteBinary::Loop first, ByteBinary::Loop second)
{
    constexpr size_t Values = 256;
    std::array<uint8_t, Values> all{};
    for (size_t i = 0; i < Values; ++i)
    {
        all[i] = static_cast<uint8_t>(i);
    }
    std::array<uint8_t, Values> same{};
    std::array<uint8_t, Values> x{};
    std::array<uint8_t, Values> y{};
    for (const uint8_t a : all)
    {
        same.fill(a);
        first(numbers, same.data(), all.data(), x.data(), Values);
        second(numbers, same.data(), all.data(), y.data(), Values);
        if (x != y)
        {
            return false;
        }
    }
    return true;
}

/// Tries the float loop with these numbers, set(numbers, try), until it agrees with the exact one; else takes that.
template <typename Tries, typename F>
void Choose(ByteBinary& numbers, const ByteBinary::Loop (&exact)[2], const ByteBinary::Loop (&fast)[2], bool isFixed,
            size_t count, const Tries& tries, const F& set)
{
    numbers.m_Loop = exact[isFixed ? 1 : 0];
    if (count < WorthwhileCount)
    {
        return;
    }
    for (const auto& numbersOfTry : tries)
    {
        set(numbersOfTry);
        if (Agree(numbers, exact[0], fast[0]))
        {
            numbers.m_Loop = fast[isFixed ? 1 : 0];
            return;
        }
    }
}

/// For sums whose real scales are these.
void ChooseSum(ByteBinary& numbers, double scaleA, double scaleB, bool isFixed, size_t count)
{
    // Halves are rounded away from zero in integers, to even in float: a little more of everything settles most of
    // them, and another rounding of the factors the cases where an error of the last bit tips a result over.
    constexpr double Nudges[] = {1.0, 1.0 + 0x1p-22, 1.0 - 0x1p-23, 1.0 + 0x1p-21, 1.0 + 0x1p-23};
    const ByteBinaryLoops& loops = GetLoops();
    Choose(numbers, loops.m_ExactSum, loops.m_FloatSum, isFixed, count, Nudges,
           [&](double nudge)
           {
               numbers.m_ScaleA = static_cast<float>(scaleA * nudge);
               numbers.m_ScaleB = static_cast<float>(scaleB * nudge);
               // With the factors as they came out after rounding.
               numbers.m_Offset = static_cast<float>(-(static_cast<double>(numbers.m_ScaleA) * numbers.m_ZeroA +
                                                       static_cast<double>(numbers.m_ScaleB) * numbers.m_ZeroB));
           });
}

/// For products by m_Sum, which are rounded twice: by the multiplier and by the shift to the right.
void ChooseProduct(ByteBinary& numbers, bool isFixed, size_t count)
{
    struct Try
    {
        float m_Offset;
        double m_Nudge;
    };
    // The first rounding takes halves up, which a small offset does; the second away from zero, for which
    // the factor of the shift is made larger by less than what lies between two integers.
    constexpr Try Tries[] = {{0.0f, 1.0}, {0.25f, 1.0}, {0.0f, 1.0 + 0x1p-23}, {0.0f, 1.0 - 0x1p-23}};
    const ByteBinaryLoops& loops = GetLoops();
    const QuantizedMultiplier m = numbers.m_Sum;
    Choose(numbers, loops.m_ExactProduct, loops.m_FloatProduct, isFixed, count, Tries,
           [&](const Try& numbersOfTry)
           {
               numbers.m_Offset = numbersOfTry.m_Offset;
               numbers.m_ScaleA = static_cast<float>(
                   std::ldexp(static_cast<double>(m.m_Multiplier) * numbersOfTry.m_Nudge, std::max(m.m_Shift, 0) - 31));
               numbers.m_ScaleB =
                   static_cast<float>(std::ldexp(m.m_Shift < 0 ? 1.0 + 0x1p-22 : 1.0, std::min(m.m_Shift, 0)));
           });
}

bool IsSum(BinaryOperation operation)
{
    return operation == BinaryOperation::Add || operation == BinaryOperation::Sub;
}

bool IsQuantizedAlike(const TensorInfo& x, const TensorInfo& y)
{
    return x.GetQuantizationScale() == y.GetQuantizationScale() &&
           x.GetQuantizationOffset() == y.GetQuantizationOffset();
}

/// What all operations need.
ByteBinary StartNumbers(const TensorInfo& a, const TensorInfo& b, const TensorInfo& output,
                        backends::QuantizedRange range)
{
    const bool isSigned = a.GetDataType() != DataType::QAsymmU8;
    const int32_t offset = isSigned ? 128 : 0;
    ByteBinary numbers;
    numbers.m_Flip = isSigned ? 0x80 : 0;
    numbers.m_ZeroA = a.GetQuantizationOffset() + offset;
    numbers.m_ZeroB = b.GetQuantizationOffset() + offset;
    numbers.m_ZeroOutput = output.GetQuantizationOffset() + offset;
    numbers.m_Min = static_cast<uint8_t>(range.m_Min + offset);
    numbers.m_Max = static_cast<uint8_t>(range.m_Max + offset);
    return numbers;
}

} // namespace

bool HasByteBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output)
{
    switch (operation)
    {
    case BinaryOperation::Add:
    case BinaryOperation::Sub:
    case BinaryOperation::Mul: return true;
    case BinaryOperation::Maximum:
    case BinaryOperation::Minimum: return IsQuantizedAlike(a, b) && IsQuantizedAlike(a, output);
    default: return false;
    }
}

ByteBinary MakeByteBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output,
                          backends::QuantizedRange range, bool isFixed, bool swaps, size_t count)
{
    const ByteBinaryLoops& loops = GetLoops();
    ByteBinary numbers = StartNumbers(a, b, output, range);
    const float scaleA = a.GetQuantizationScale();
    const float scaleB = b.GetQuantizationScale();
    const float scaleOutput = output.GetQuantizationScale();
    if (operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum)
    {
        numbers.m_Loop = (operation == BinaryOperation::Maximum ? loops.m_Maximum : loops.m_Minimum)[isFixed ? 1 : 0];
        return numbers;
    }
    if (!IsSum(operation))
    {
        numbers.m_Sum =
            QuantizeMultiplier(static_cast<double>(scaleA * scaleB / scaleOutput)); // in float, as in TFLite
        if (swaps)
        {
            std::swap(numbers.m_ZeroA, numbers.m_ZeroB);
        }
        ChooseProduct(numbers, isFixed, count);
        return numbers;
    }
    constexpr double LeftShift = 1 << 20;
    const double twiceMax = 2.0 * static_cast<double>(std::max(scaleA, scaleB));
    numbers.m_NegatesB = operation == BinaryOperation::Sub;
    numbers.m_A = QuantizeMultiplier(static_cast<double>(scaleA) / twiceMax);
    numbers.m_B = QuantizeMultiplier(static_cast<double>(scaleB) / twiceMax);
    numbers.m_Sum = QuantizeMultiplier(twiceMax / (LeftShift * static_cast<double>(scaleOutput)));
    double factorA = static_cast<double>(scaleA) / static_cast<double>(scaleOutput);
    double factorB = static_cast<double>(scaleB) / static_cast<double>(scaleOutput) * (numbers.m_NegatesB ? -1.0 : 1.0);
    if (swaps)
    {
        std::swap(numbers.m_ZeroA, numbers.m_ZeroB);
        std::swap(numbers.m_A, numbers.m_B);
        std::swap(numbers.m_NegatesA, numbers.m_NegatesB);
        std::swap(factorA, factorB);
    }
    ChooseSum(numbers, factorA, factorB, isFixed, count);
    return numbers;
}

ByteBinary MakeBytePrelu(const TensorInfo& x, const TensorInfo& alpha, const TensorInfo& output, bool isFixed)
{
    ByteBinary numbers = StartNumbers(x, alpha, output, backends::GetTypeRange(output.GetDataType()));
    // Products of scales in float, as TFLite has them.
    const float scale = output.GetQuantizationScale();
    numbers.m_A = QuantizeMultiplier(static_cast<double>(x.GetQuantizationScale() / scale));
    numbers.m_Sum =
        QuantizeMultiplier(static_cast<double>(x.GetQuantizationScale() * alpha.GetQuantizationScale() / scale));
    numbers.m_Loop = GetLoops().m_Prelu[isFixed ? 1 : 0];
    return numbers;
}

} // namespace tenon::cpu
#endif
