// SPDX-License-Identifier: Apache-2.0
// Parameters and loops of 16-bit sums, products, maximum and minimum.
#include "backends/common/Rescale.hpp"
#include "backends/cpu/elementwise/ElementwiseInt16.hpp"
#include "backends/reference/kernels/QuantizedBinary.hpp"

#include <algorithm>

#ifndef TENON_BINARY_LOOPS_INT16 // once, as the source is read for each target
#define TENON_BINARY_LOOPS_INT16
namespace tenon::cpu
{

enum class SumForm
{
    Add,
    Sub,    ///< a - b
    SubFrom ///< b - a
};

/// The loops of a target. Index isScalarB: 0 if b is a vector, 1 if b is one element.
struct BinaryLoopsInt16
{
    BinaryInt16::Loop m_Sum[3][2][2]; ///< [SumForm][scalesA][isScalarB]; scalesA: a, not b, has the smaller scale
    BinaryInt16::Loop m_PotSum[3][2]; ///< [SumForm][isScalarB]
    BinaryInt16::Loop m_Product[2];
    BinaryInt16::Loop m_Maximum[2];
    BinaryInt16::Loop m_Minimum[2];
};

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/BinaryInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Int16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <SumForm Form, class V>
HWY_INLINE V Combine(V a, V b)
{
    return Form == SumForm::Add   ? hn::SaturatedAdd(a, b)
           : Form == SumForm::Sub ? hn::SaturatedSub(a, b)
                                  : hn::SaturatedSub(b, a);
}

/// Sums with one scaled input (a if ScalesA, else b); the other one is halved by a shift. The sum is scaled to the
/// output.
template <SumForm Form, bool ScalesA>
class Sum
{
public:
    explicit Sum(const BinaryInt16& numbers)
        : m_Lesser(hn::Set(TagInt32(), numbers.m_Lesser.m_Multiplier)), m_Right(-numbers.m_Lesser.m_Shift),
          m_Rounding(GetRounding(TagInt32(), hn::Set(TagInt32(), m_Right))),
          m_IsShifted(hn::Set(TagInt32(), m_Right > 0 ? -1 : 0)), m_Result(numbers.m_Result)
    {
    }

    HWY_INLINE VecInt16 operator()(VecInt16 a, VecInt16 b) const
    {
        return NarrowPair(TagInt16(), Half(WidenHigh<false>(a), WidenHigh<false>(b)),
                          Half(WidenHigh<true>(a), WidenHigh<true>(b)));
    }

private:
    /// Half of a vector: the inputs as int32, times 2^16.
    HWY_INLINE VecInt32 Half(VecInt32 a, VecInt32 b) const
    {
        // The input with the larger scale: a left shift by SumShift bits, and half of that for its multiplier.
        constexpr int ToHalf = 16 - (BinaryInt16::SumShift - 1);
        const VecInt32 x = ScalesA ? Scale(a) : hn::ShiftRight<ToHalf>(a);
        const VecInt32 y = ScalesA ? hn::ShiftRight<ToHalf>(b) : Scale(b);
        return m_Result(Form == SumForm::Add ? hn::Add(x, y) : Form == SumForm::Sub ? hn::Sub(x, y) : hn::Sub(y, x));
    }

    /// MultiplySaturating of x >> 1. The extra bit of x puts the result into the high half of the product, without a
    /// shift.
    HWY_INLINE VecInt32 Scale(VecInt32 x) const
    {
        const TagInt32 d;
        const hn::RepartitionToWide<TagInt32> dWide;
        const auto half = hn::Set(dWide, int64_t{1} << 31);
        const auto evens = hn::Add(hn::MulEven(x, m_Lesser), half);
        const auto odds = hn::Add(hn::MulEven(OddLanes(d, x), m_Lesser), half);
        const VecInt32 high = hn::OddEven(hn::BitCast(d, odds), OddLanes(d, hn::BitCast(d, evens)));
        return hn::ShiftRightSame(AddRounding(high, m_Rounding, m_IsShifted), m_Right);
    }

    VecInt32 m_Lesser;
    int m_Right;
    VecInt32 m_Rounding;
    VecInt32 m_IsShifted;
    BoundedMultiplier<TagInt32> m_Result;
};

/// Sums of inputs whose scales are powers of two: each input is shifted right, one of them by 0.
template <SumForm Form>
class PotSum
{
public:
    explicit PotSum(const BinaryInt16& numbers) : m_ShiftA(numbers.m_ShiftA), m_ShiftB(numbers.m_ShiftB) {}

    HWY_INLINE VecInt16 operator()(VecInt16 a, VecInt16 b) const
    {
        return Combine<Form>(Divide(a, m_ShiftA), Divide(b, m_ShiftB));
    }

private:
    /// x / 2^shift, rounded half away from zero, without overflow.
    static HWY_INLINE VecInt16 Divide(VecInt16 x, int shift)
    {
        if (shift == 0)
        {
            return x;
        }
        // The sum saturates only at -2^15, for which the step down makes no difference.
        const VecInt16 stepped = hn::SaturatedAdd(x, hn::ShiftRight<15>(x));
        const VecInt16 halves = hn::ShiftRightSame(stepped, shift - 1);
        return hn::Add(hn::ShiftRight<1>(halves), hn::And(halves, hn::Set(TagInt16(), 1)));
    }

    int m_ShiftA;
    int m_ShiftB;
};

class Product
{
public:
    explicit Product(const BinaryInt16& numbers) : m_Result(numbers.m_Result) {}

    HWY_INLINE VecInt16 operator()(VecInt16 a, VecInt16 b) const
    {
        return NarrowPair(TagInt16(), Half(Widen<false>(a), Widen<false>(b)), Half(Widen<true>(a), Widen<true>(b)));
    }

private:
    HWY_INLINE VecInt32 Half(VecInt32 a, VecInt32 b) const { return m_Result(hn::Mul(a, b)); }

    BoundedMultiplier<TagInt32> m_Result;
};

template <bool IsMaximum>
class Extreme
{
public:
    explicit Extreme(const BinaryInt16&) {}

    HWY_INLINE VecInt16 operator()(VecInt16 a, VecInt16 b) const { return IsMaximum ? hn::Max(a, b) : hn::Min(a, b); }
};

template <class Operation, bool IsScalarB>
void Run(const BinaryInt16& numbers, const int16_t* a, const int16_t* b, int16_t* out, size_t count)
{
    const TagInt16 d;
    const Operation operation(numbers);
    const VecInt16 minimum = hn::Set(d, numbers.m_Min);
    const VecInt16 maximum = hn::Set(d, numbers.m_Max);
    MapPairs<false, IsScalarB>(d, a, b, out, count,
                               [&](VecInt16 x, VecInt16 y) HWY_ATTR
                               { return hn::Min(hn::Max(operation(x, y), minimum), maximum); });
}

BinaryLoopsInt16 MakeLoops()
{
    constexpr SumForm Add = SumForm::Add;
    constexpr SumForm Sub = SumForm::Sub;
    constexpr SumForm From = SumForm::SubFrom;
    return {{{{Run<Sum<Add, false>, false>, Run<Sum<Add, false>, true>},
              {Run<Sum<Add, true>, false>, Run<Sum<Add, true>, true>}},
             {{Run<Sum<Sub, false>, false>, Run<Sum<Sub, false>, true>},
              {Run<Sum<Sub, true>, false>, Run<Sum<Sub, true>, true>}},
             {{Run<Sum<From, false>, false>, Run<Sum<From, false>, true>},
              {Run<Sum<From, true>, false>, Run<Sum<From, true>, true>}}},
            {{Run<PotSum<Add>, false>, Run<PotSum<Add>, true>},
             {Run<PotSum<Sub>, false>, Run<PotSum<Sub>, true>},
             {Run<PotSum<From>, false>, Run<PotSum<From>, true>}},
            {Run<Product, false>, Run<Product, true>},
            {Run<Extreme<true>, false>, Run<Extreme<true>, true>},
            {Run<Extreme<false>, false>, Run<Extreme<false>, true>}};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;

bool IsQuantizedAlike(const TensorInfo& x, const TensorInfo& y)
{
    return x.GetQuantizationScale() == y.GetQuantizationScale() &&
           x.GetQuantizationOffset() == y.GetQuantizationOffset();
}

QuantizedMultiplier GetProductMultiplier(const TensorInfo& a, const TensorInfo& b, const TensorInfo& output)
{
    // In float, as TFLite does.
    return QuantizeMultiplier(
        static_cast<double>(a.GetQuantizationScale() * b.GetQuantizationScale() / output.GetQuantizationScale()));
}

/// The loops of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const BinaryLoopsInt16& GetBinaryLoopsInt16()
{
    static constinit PerIsa<BinaryLoopsInt16> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

} // namespace

bool HasBinaryInt16(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output)
{
    if (operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum)
    {
        return IsQuantizedAlike(a, b) && IsQuantizedAlike(a, output);
    }
    if (a.GetQuantizationOffset() != 0 || b.GetQuantizationOffset() != 0 || output.GetQuantizationOffset() != 0)
    {
        return false;
    }
    if (operation == BinaryOperation::Mul)
    {
        // A product of 2^30 leaves no room for the rounding term 2^30 of a right shift by 31.
        return GetProductMultiplier(a, b, output).m_Shift > -31;
    }
    if (operation != BinaryOperation::Add && operation != BinaryOperation::Sub)
    {
        return false;
    }
    const auto shifts = ref::FindPotShifts(a, b, output);
    return !shifts || std::max(shifts->m_A, shifts->m_B) < 16; // a shift of all 16 bits has no loop
}

BinaryInt16 MakeBinaryInt16(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b,
                            const TensorInfo& output, backends::QuantizedRange range, bool isScalarB, bool swaps)
{
    const BinaryLoopsInt16& loops = GetBinaryLoopsInt16();
    const size_t fixed = isScalarB ? 1 : 0;
    BinaryInt16 numbers;
    numbers.m_Min = static_cast<int16_t>(range.m_Min);
    numbers.m_Max = static_cast<int16_t>(range.m_Max);
    if (operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum)
    {
        numbers.m_Loop = (operation == BinaryOperation::Maximum ? loops.m_Maximum : loops.m_Minimum)[fixed];
        return numbers;
    }
    if (operation == BinaryOperation::Mul)
    {
        numbers.m_Result = GetProductMultiplier(a, b, output);
        numbers.m_Loop = loops.m_Product[fixed];
        return numbers;
    }
    const auto form = static_cast<size_t>(operation == BinaryOperation::Add ? SumForm::Add
                                          : swaps                           ? SumForm::SubFrom
                                                                            : SumForm::Sub);
    if (const auto shifts = ref::FindPotShifts(a, b, output))
    {
        numbers.m_ShiftA = swaps ? shifts->m_B : shifts->m_A;
        numbers.m_ShiftB = swaps ? shifts->m_A : shifts->m_B;
        numbers.m_Loop = loops.m_PotSum[form][fixed];
        return numbers;
    }
    const float scaleA = a.GetQuantizationScale();
    const float scaleB = b.GetQuantizationScale();
    const bool scalesA = (scaleA < scaleB) != swaps;
    const double twiceMax = 2.0 * static_cast<double>(std::max(scaleA, scaleB));
    numbers.m_Lesser = QuantizeMultiplier(static_cast<double>(std::min(scaleA, scaleB)) / twiceMax);
    numbers.m_Result = QuantizeMultiplier(
        twiceMax / (double{1 << BinaryInt16::SumShift} * static_cast<double>(output.GetQuantizationScale())));
    numbers.m_Loop = loops.m_Sum[form][scalesA ? 1 : 0][fixed];
    return numbers;
}

} // namespace tenon::cpu
#endif
