// SPDX-License-Identifier: Apache-2.0
// Activations and unary operations of 16-bit quantized tensors, and their loops: scaling with a clamp, and
// interpolation in tables, with the results of TFLite's integer arithmetic.
#include "backends/common/Quantization.hpp"
#include "backends/cpu/elementwise/ElementwiseInt16.hpp"
#include "backends/cpu/elementwise/Map.hpp"
#include "backends/reference/kernels/SigmoidTable.hpp"
#include "backends/reference/kernels/UnaryTablesInt16.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#ifndef TENON_UNARY_LOOPS_INT16 // once, as the source is read for each target
#define TENON_UNARY_LOOPS_INT16
namespace tenon::cpu
{

/// Multipliers and clamp; the zero points of both sides are 0.
struct UnaryScaleInt16
{
    backends::QuantizedMultiplier m_Positive;
    backends::QuantizedMultiplier m_Negative; ///< for elements below 0; not negative itself
    bool m_NegatesPositive = false;           ///< elements from 0 on are negated before scaling
    bool m_NegatesNegative = false;           ///< elements below 0 are negated before scaling
    bool m_NegatesScaled = false;             ///< the results of elements below 0 are negated after scaling
    int16_t m_Min = INT16_MIN;
    int16_t m_Max = INT16_MAX;
};

/// The loops of a target. `out` may be `in` in each of them.
struct UnaryLoopsInt16
{
    /// Clamps to [m_Min, m_Max] without scaling.
    void (*m_Clamp)(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count);
    /// Scales all elements by m_Positive; nothing is negated after scaling.
    void (*m_Scale)(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count);
    /// Scales by one multiplier for each sign; nothing is negated before scaling.
    void (*m_ScaleSigns)(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count);
    /// ref::Interpolate in a table of ref::InterpolatedTableEntries.
    void (*m_Interpolate)(const int16_t* entries, const int16_t* in, int16_t* out, size_t count);
    /// The functions of SigmoidTable. Precondition: HasSigmoidInt16.
    void (*m_Sigmoid)(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count);
    void (*m_TanH)(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count);
};

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/UnaryInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Int16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// All bits set, or none.
HWY_INLINE VecInt32 Mask(bool isSet)
{
    return hn::Set(TagInt32(), isSet ? -1 : 0);
}

/// -x where all bits of the mask are set, else x.
HWY_INLINE VecInt32 Negated(VecInt32 x, VecInt32 mask)
{
    return hn::Sub(hn::Xor(x, mask), mask);
}

class Clamp
{
public:
    explicit Clamp(const UnaryScaleInt16& scale)
        : m_Min(hn::Set(TagInt16(), scale.m_Min)), m_Max(hn::Set(TagInt16(), scale.m_Max))
    {
    }

    HWY_INLINE VecInt16 operator()(VecInt16 x) const { return hn::Min(hn::Max(x, m_Min), m_Max); }

private:
    VecInt16 m_Min;
    VecInt16 m_Max;
};

void RunClamp(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    MapEach(TagInt16(), in, out, count, [&](VecInt16 x) HWY_ATTR { return clamp(x); });
}

void RunScale(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    const BoundedMultiplier<TagInt32> multiplier(scale.m_Positive);
    const VecInt32 negatesPositive = Mask(scale.m_NegatesPositive);
    const VecInt32 negatesOther = Mask(scale.m_NegatesPositive != scale.m_NegatesNegative);
    MapEach(TagInt16(), in, out, count,
            [&](VecInt16 shorts) HWY_ATTR
            {
                return clamp(MapHalves(shorts,
                                       [&](VecInt32 x) HWY_ATTR
                                       {
                                           const VecInt32 isNegative = hn::ShiftRight<31>(x);
                                           const VecInt32 negates =
                                               hn::Xor(negatesPositive, hn::And(isNegative, negatesOther));
                                           return multiplier(Negated(x, negates));
                                       }));
            });
}

void RunScaleSigns(const UnaryScaleInt16& scale, const int16_t* in, int16_t* out, size_t count)
{
    const Clamp clamp(scale);
    const BoundedMultiplier<TagInt32> positive(scale.m_Positive);
    const BoundedMultiplier<TagInt32> negative(scale.m_Negative);
    const VecInt32 negates = Mask(scale.m_NegatesScaled);
    MapEach(TagInt16(), in, out, count,
            [&](VecInt16 shorts) HWY_ATTR
            {
                return clamp(MapHalves(shorts,
                                       [&](VecInt32 x) HWY_ATTR
                                       {
                                           const auto isNegative = hn::Lt(x, hn::Zero(TagInt32()));
                                           return hn::IfThenElse(isNegative, Negated(negative(x), negates),
                                                                 positive(x));
                                       }));
            });
}

void RunInterpolate(const int16_t* entries, const int16_t* in, int16_t* out, size_t count)
{
    MapEach(TagInt16(), in, out, count, [entries](VecInt16 x) HWY_ATTR { return Interpolate(entries, x); });
}

/// FractionBits: the fraction bits of the scaled input, for interpolation within an entry. `epilogue`(result,
/// isNegative).
template <int FractionBits, typename F>
HWY_INLINE void RunTable(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count,
                         const F& epilogue)
{
    const TagInt32 d;
    const uint16_t* entries = table.GetValues().data();
    const int shift = table.GetShift();
    const VecInt32 multiplier = hn::Set(d, static_cast<int32_t>(table.GetMultiplier()));
    const VecInt32 rounding = hn::Set(d, shift > 0 ? int32_t{1} << (shift - 1) : 0);
    const VecInt32 last = hn::Set(d, 254);
    const VecInt32 fractionMask = hn::Set(d, (1 << FractionBits) - 1);
    const VecInt32 lowMask = hn::Set(d, 0xFFFF);
    const VecInt32 beyond = hn::Set(d, (FractionBits == 9 ? 0x7FFF << 10 : 0xFFFF << 8));
    MapEach(TagInt16(), in, out, count,
            [&](VecInt16 shorts) HWY_ATTR
            {
                return MapHalves(
                    shorts,
                    [&](VecInt32 x) HWY_ATTR
                    {
                        const VecInt32 scaled = hn::ShiftRightSame(hn::Add(hn::Mul(x, multiplier), rounding), shift);
                        const VecInt32 isNegative = hn::ShiftRight<31>(scaled);
                        const VecInt32 magnitude = Negated(scaled, isNegative);
                        const VecInt32 entry = hn::ShiftRight<FractionBits>(magnitude);
                        const VecInt32 pair = GatherPairs(entries, hn::Min(entry, last));
                        const VecInt32 low = hn::And(pair, lowMask);
                        const VecInt32 high =
                            hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<TagInt32>(), pair)));
                        const VecInt32 line = hn::Add(hn::ShiftLeft<FractionBits>(low),
                                                      hn::Mul(hn::And(magnitude, fractionMask), hn::Sub(high, low)));
                        return epilogue(hn::IfThenElse(hn::Gt(entry, last), beyond, line), isNegative);
                    });
            });
}

void RunSigmoid(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count)
{
    const VecInt32 rounding = hn::Set(TagInt32(), 1 << 9);
    const VecInt32 one = hn::Set(TagInt32(), 1 << 25);
    RunTable<9>(table, in, out, count,
                [&](VecInt32 result, VecInt32 isNegative) HWY_ATTR
                {
                    // 1 - result for negative inputs, less 1 in the last place for the rounding.
                    const VecInt32 value = hn::Add(Negated(result, isNegative), hn::And(one, isNegative));
                    return hn::ShiftRight<10>(hn::Add(hn::Add(value, rounding), isNegative));
                });
}

void RunTanH(const ref::SigmoidTable& table, const int16_t* in, int16_t* out, size_t count)
{
    const VecInt32 rounding = hn::Set(TagInt32(), 1 << 7);
    const VecInt32 half = hn::Set(TagInt32(), 1 << 23);
    RunTable<8>(table, in, out, count,
                [&](VecInt32 result, VecInt32 isNegative) HWY_ATTR
                {
                    const VecInt32 value = Negated(hn::Sub(result, half), isNegative);
                    return hn::ShiftRight<8>(hn::Add(hn::Add(value, rounding), isNegative));
                });
}

UnaryLoopsInt16 MakeLoops()
{
    return {RunClamp, RunScale, RunScaleSigns, RunInterpolate, RunSigmoid, RunTanH};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;

/// The loops of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const UnaryLoopsInt16& GetUnaryLoopsInt16()
{
    static constinit PerIsa<UnaryLoopsInt16> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

/// True if inputs times the table's multiplier fit 32 bits.
bool HasSigmoidInt16(const ref::SigmoidTable& table)
{
    // The bound for a product, with the rounding of a right shift by 31, that fits 32 bits.
    return table.GetMultiplier() <= INT16_MAX;
}

/// Runs one of the loops that take a UnaryScaleInt16.
template <typename Function>
Prepared MakeScale(const ReshapeArgs& args, Function function, const UnaryScaleInt16& scale)
{
    return MakeMap<int16_t, int16_t>(args, [function, scale](const int16_t* in, int16_t* out, size_t count)
                                     { function(scale, in, out, count); });
}

Prepared MakeInterpolation(const ReshapeArgs& args, const ref::InterpolatedTable& table)
{
    return MakeMap<int16_t, int16_t>(
        args, [table, function = GetUnaryLoopsInt16().m_Interpolate](const int16_t* in, int16_t* out, size_t count)
        { function(table.GetEntries().data(), in, out, count); });
}

Prepared MakeRelu(const ReshapeArgs& args, float lower, float upper)
{
    const float inputScale = args.GetInput(0).GetQuantizationScale();
    const float outputScale = args.GetOutput(0).GetQuantizationScale();
    const backends::QuantizedRange range = backends::GetClampRange(DataType::QSymmS16, outputScale, 0, lower, upper);
    UnaryScaleInt16 scale;
    scale.m_Positive = QuantizeMultiplier(static_cast<double>(inputScale / outputScale));
    scale.m_Min = static_cast<int16_t>(range.m_Min);
    scale.m_Max = static_cast<int16_t>(range.m_Max);
    return MakeScale(args, inputScale == outputScale ? GetUnaryLoopsInt16().m_Clamp : GetUnaryLoopsInt16().m_Scale,
                     scale);
}

Prepared MakeLeakyRelu(const ReshapeArgs& args, float alpha)
{
    const float inputScale = args.GetInput(0).GetQuantizationScale();
    const float outputScale = args.GetOutput(0).GetQuantizationScale();
    const QuantizedMultiplier negative = QuantizeMultiplier(static_cast<double>(inputScale * alpha / outputScale));
    UnaryScaleInt16 scale;
    scale.m_Positive = QuantizeMultiplier(static_cast<double>(inputScale / outputScale));
    // By magnitude, so that both signs are rounded alike.
    scale.m_Negative = {std::abs(negative.m_Multiplier), negative.m_Shift};
    scale.m_NegatesScaled = negative.m_Multiplier < 0;
    return MakeScale(args, GetUnaryLoopsInt16().m_ScaleSigns, scale);
}

} // namespace

Prepared MakeActivationInt16(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<ActivationDescriptor>();
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    switch (descriptor.m_Function)
    {
    case ActivationFunction::ReLu: return MakeRelu(args, 0.0f, Infinity);
    case ActivationFunction::BoundedReLu: return MakeRelu(args, descriptor.m_B, descriptor.m_A);
    case ActivationFunction::LeakyReLu: return MakeLeakyRelu(args, descriptor.m_A);
    default: break;
    }
    if (descriptor.m_Function == ActivationFunction::Gelu)
    {
        return MakeInterpolation(args, ref::MakeGeluTableInt16(args));
    }
    const bool isTanH = descriptor.m_Function == ActivationFunction::TanH;
    const ref::SigmoidTable table(args.GetInput(0).GetQuantizationScale(), isTanH);
    if (!HasSigmoidInt16(table))
    {
        return Prepared::Declined("the vectors have no table for the scale of its input");
    }
    return MakeMap<int16_t, int16_t>(
        args, [table, function = isTanH ? GetUnaryLoopsInt16().m_TanH : GetUnaryLoopsInt16().m_Sigmoid](
                  const int16_t* in, int16_t* out, size_t count) { function(table, in, out, count); });
}

Prepared MakeUnaryInt16(const ReshapeArgs& args)
{
    const UnaryOperation operation = args.GetDescriptor<ElementwiseUnaryDescriptor>().m_Operation;
    if (operation != UnaryOperation::Abs && operation != UnaryOperation::Neg)
    {
        return MakeInterpolation(args, ref::MakeUnaryTableInt16(args));
    }
    const float inputScale = args.GetInput(0).GetQuantizationScale();
    const float outputScale = args.GetOutput(0).GetQuantizationScale();
    UnaryScaleInt16 scale;
    // 1 if the scales are equal; a float quotient may differ.
    scale.m_Positive =
        QuantizeMultiplier(inputScale == outputScale ? 1.0 : static_cast<double>(inputScale / outputScale));
    scale.m_NegatesPositive = operation == UnaryOperation::Neg;
    scale.m_NegatesNegative = true;
    return MakeScale(args, GetUnaryLoopsInt16().m_Scale, scale);
}

} // namespace tenon::cpu
#endif
