// SPDX-License-Identifier: Apache-2.0
// PiecewiseLinearInt8: the fit of slopes to a table, and the loop.
#include "backends/cpu/elementwise/PiecewiseLinearInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/PiecewiseLinearInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

using TagInt16 = hn::Repartition<int16_t, TagUint8>;

/// Maps one half of a vector of bytes, as int16, to results that saturate when both halves are joined.
template <bool IsStraight, bool HasWhole>
class PiecewiseLinear
{
public:
    explicit PiecewiseLinear(const PiecewiseLinearInt8& lines)
        : m_Knee(hn::Set(TagInt16(), lines.m_Knee)), m_Offset(hn::Set(TagInt16(), lines.m_Offset)),
          m_Whole(lines.m_Above.m_Whole, lines.m_Below.m_Whole), m_Rest(lines.m_Above.m_Rest, lines.m_Below.m_Rest)
    {
    }

    template <class V>
    HWY_INLINE V operator()(V bytes) const
    {
        const V x = hn::Sub(bytes, m_Knee);
        V sum = hn::Add(hn::MulFixedPoint15(x, m_Rest.Choose(x)), m_Offset);
        if constexpr (HasWhole)
        {
            sum = hn::Add(sum, hn::Mul(x, m_Whole.Choose(x)));
        }
        return sum;
    }

private:
    /// One number above the knee and another one below. The blend is by bits, since compilers make several instructions
    /// of a masked one.
    class Sides
    {
    public:
        Sides(int16_t above, int16_t below)
            : m_Above(hn::Set(TagInt16(), above)), m_Difference(hn::Xor(m_Above, hn::Set(TagInt16(), below)))
        {
        }

        template <class V>
        HWY_INLINE V Choose(V x) const
        {
            return IsStraight ? m_Above : hn::Xor(m_Above, hn::And(m_Difference, hn::ShiftRight<15>(x)));
        }

    private:
        hn::Vec<TagInt16> m_Above;
        hn::Vec<TagInt16> m_Difference;
    };

    hn::Vec<TagInt16> m_Knee;
    hn::Vec<TagInt16> m_Offset;
    Sides m_Whole;
    Sides m_Rest;
};

template <bool IsStraight, bool HasWhole>
void Run(const PiecewiseLinearInt8& lines, const uint8_t* in, uint8_t* out, size_t count)
{
    const TagUint8 d;
    const PiecewiseLinear<IsStraight, HasWhole> ofHalf(lines);
    const VecUint8 inputSignXor = hn::Set(d, lines.m_InputSignXor);
    const VecUint8 outputSignXor = hn::Set(d, lines.m_OutputSignXor);
    const VecUint8 minimum = hn::Set(d, lines.m_Min);
    const VecUint8 maximum = hn::Set(d, lines.m_Max);
    MapEach(d, in, out, count,
            [&](VecUint8 x) HWY_ATTR
            {
                x = hn::Xor(x, inputSignXor);
                const auto low = hn::BitCast(TagInt16(), hn::InterleaveLower(d, x, hn::Zero(d)));
                const auto high = hn::BitCast(TagInt16(), hn::InterleaveUpper(d, x, hn::Zero(d)));
                const VecUint8 joined = JoinHalves(ofHalf(low), ofHalf(high));
                return hn::Xor(hn::Min(hn::Max(joined, minimum), maximum), outputSignXor);
            });
}

template <bool IsStraight>
void Run(const PiecewiseLinearInt8& lines, const uint8_t* in, uint8_t* out, size_t count)
{
    const bool hasWhole = lines.m_Above.m_Whole != 0 || lines.m_Below.m_Whole != 0;
    hasWhole ? Run<IsStraight, true>(lines, in, out, count) : Run<IsStraight, false>(lines, in, out, count);
}

void RunPiecewiseLinear(const PiecewiseLinearInt8& lines, const uint8_t* in, uint8_t* out, size_t count)
{
    lines.IsStraight() ? Run<true>(lines, in, out, count) : Run<false>(lines, in, out, count);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

constexpr int RestBits = 15;
/// Larger slopes may need more than 16 bits in a sum.
constexpr double MaxSlope = 120.0;

/// The range of slopes that agree with the results seen so far.
struct SlopeRange
{
    double m_Min = -MaxSlope;
    double m_Max = MaxSlope;

    /// Keeps the slopes with slope * x in [least, most]; infinite bounds allow any value.
    void Limit(double x, double minimum, double maximum)
    {
        m_Min = std::max(m_Min, std::min(minimum / x, maximum / x));
        m_Max = std::min(m_Max, std::max(minimum / x, maximum / x));
    }
};

/// A slope of `units` / 2^15. Slopes without a whole part are preferred, as its product takes time.
PiecewiseLinearInt8::Slope MakeSlope(int units)
{
    using Limits = std::numeric_limits<int16_t>;
    if (units >= Limits::min() && units <= Limits::max())
    {
        return {0, static_cast<int16_t>(units)};
    }
    constexpr int One = 1 << RestBits;
    const int whole = (units + One / 2) >> RestBits;
    return {static_cast<int16_t>(whole), static_cast<int16_t>(units - whole * One)};
}

/// Sets the slope of one side so that all its bytes get the table's results; false if there is no such slope.
bool FitSide(const LookupTableInt8& table, bool isAbove, PiecewiseLinearInt8& lines)
{
    const int first = isAbove ? lines.m_Knee : 0;
    const int last = isAbove ? 255 : lines.m_Knee - 1;
    SlopeRange range;
    for (int x = first; x <= last; ++x)
    {
        if (x == lines.m_Knee)
        {
            continue;
        }
        constexpr double Any = std::numeric_limits<double>::infinity();
        const uint8_t result = table[static_cast<size_t>(x ^ lines.m_InputSignXor)] ^ lines.m_OutputSignXor;
        const double value = result - lines.m_Offset;
        range.Limit(x - lines.m_Knee, result == lines.m_Min ? -Any : value - 0.5,
                    result == lines.m_Max ? Any : value + 0.5);
    }
    PiecewiseLinearInt8::Slope& slope = isAbove ? lines.m_Above : lines.m_Below;
    const auto fits = [&](const PiecewiseLinearInt8::Slope& tried)
    {
        slope = tried;
        for (int x = first; x <= last; ++x)
        {
            const auto stored = static_cast<uint8_t>(x ^ lines.m_InputSignXor);
            if (lines(stored) != table[stored])
            {
                return false;
            }
        }
        return true;
    };
    if (!isAbove && fits(lines.m_Above))
    {
        return true; // true if all results below are clamped, for example
    }
    // The middle of the range rounds all but ties correctly; ties may be rounded up or down. Next to a slope of 1 there
    // is a slope without a whole part.
    constexpr int Tries = 4;
    using Limits = std::numeric_limits<int16_t>;
    const auto middle = static_cast<int>(std::lround(std::ldexp((range.m_Min + range.m_Max) / 2, RestBits)));
    const int nearest = std::clamp<int>(middle, Limits::min(), Limits::max());
    if (nearest != middle && fits(MakeSlope(nearest)))
    {
        return true;
    }
    for (int away = 0; away <= Tries; ++away)
    {
        if (fits(MakeSlope(middle + away)) || fits(MakeSlope(middle - away)))
        {
            return true;
        }
    }
    return false;
}

} // namespace

uint8_t PiecewiseLinearInt8::operator()(uint8_t stored) const
{
    const int x = (stored ^ m_InputSignXor) - m_Knee;
    const Slope& slope = x < 0 ? m_Below : m_Above;
    const int product = x * slope.m_Whole + ((x * slope.m_Rest + (1 << (RestBits - 1))) >> RestBits);
    return static_cast<uint8_t>(std::clamp<int>(product + m_Offset, m_Min, m_Max) ^ m_OutputSignXor);
}

std::optional<PiecewiseLinearInt8> FindPiecewiseLinearInt8(const LookupTableInt8& table, const TensorInfo& input,
                                                           const TensorInfo& output)
{
    const auto signXorOf = [](const TensorInfo& info)
    { return static_cast<uint8_t>(info.GetDataType() == DataType::QAsymmU8 ? 0 : 0x80); };
    PiecewiseLinearInt8 lines;
    lines.m_InputSignXor = signXorOf(input);
    lines.m_OutputSignXor = signXorOf(output);
    const int knee = input.GetQuantizationOffset() + lines.m_InputSignXor;
    const int offset = output.GetQuantizationOffset() + lines.m_OutputSignXor;
    if (knee < 0 || knee > 255 || offset < 0 || offset > 255)
    {
        return std::nullopt; // sums might not fit 16 bits
    }
    lines.m_Knee = static_cast<int16_t>(knee);
    lines.m_Offset = static_cast<int16_t>(offset);
    const auto biased = [&](uint8_t result) { return static_cast<uint8_t>(result ^ lines.m_OutputSignXor); };
    const auto isLess = [&](uint8_t a, uint8_t b) { return biased(a) < biased(b); };
    const auto [minimum, maximum] = std::minmax_element(table.begin(), table.end(), isLess);
    lines.m_Min = biased(*minimum);
    lines.m_Max = biased(*maximum);
    if (!FitSide(table, true, lines) || !FitSide(table, false, lines))
    {
        return std::nullopt;
    }
    return lines;
}

void RunPiecewiseLinearInt8(const PiecewiseLinearInt8& lines, const uint8_t* in, uint8_t* out, size_t count)
{
    TENON_CHOOSE(RunPiecewiseLinear)(lines, in, out, count);
}

} // namespace tenon::cpu
#endif
