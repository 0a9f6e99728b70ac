// SPDX-License-Identifier: Apache-2.0
// The quantized arithmetic against its definition in wide integers.
#include "backends/common/Quantization.hpp"

#include "backends/common/Rescale.hpp"

#include <tenon/Exceptions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tenon::backends::quantization_test
{

namespace
{

constexpr int32_t Min32 = std::numeric_limits<int32_t>::min();
constexpr int32_t Max32 = std::numeric_limits<int32_t>::max();

/// Edges and random values of all magnitudes.
std::vector<int32_t> GetSamples()
{
    std::vector<int32_t> samples = {Min32, Min32 + 1, -(1 << 30), -3, -2, -1, 0, 1, 2, 3, 1 << 30, Max32 - 1, Max32};
    std::mt19937 engine(1);
    for (int i = 0; i < 400; ++i)
    {
        samples.push_back(static_cast<int32_t>(engine()) >> (i % 31));
    }
    return samples;
}

/// a * b / 2^31, rounded to nearest, halves up, saturated; by division of magnitudes as the definition has it.
int64_t HighMul(int64_t a, int64_t b)
{
    const int64_t product = a * b; // |product| <= 2^62
    const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
    return std::min<int64_t>((product + nudge) / (int64_t{1} << 31), Max32);
}

/// x / 2^exponent, rounded to nearest, halves away from zero.
int64_t DivideByPot(int64_t x, int exponent)
{
    const int64_t half = exponent == 0 ? 0 : int64_t{1} << (exponent - 1);
    const int64_t magnitude = (std::abs(x) + half) / (int64_t{1} << exponent);
    return x < 0 ? -magnitude : magnitude;
}

} // namespace

TEST(Quantization, HighMulFollowsItsDefinition)
{
    const std::vector<int32_t> samples = GetSamples();
    for (const int32_t a : samples)
    {
        for (const int32_t b : samples)
        {
            ASSERT_EQ(SaturatingRoundingDoublingHighMul(a, b), HighMul(a, b)) << a << " * " << b;
        }
    }
    EXPECT_EQ(SaturatingRoundingDoublingHighMul(Min32, Min32), Max32);
}

TEST(Quantization, DivideByPotFollowsItsDefinition)
{
    for (const int32_t x : GetSamples())
    {
        for (int exponent = 0; exponent <= 31; ++exponent)
        {
            ASSERT_EQ(RoundingDivideByPot(x, exponent), DivideByPot(x, exponent)) << x << " / 2^" << exponent;
        }
    }
    EXPECT_EQ(RoundingDivideByPot(3, 1), 2);
    EXPECT_EQ(RoundingDivideByPot(-3, 1), -2);
    EXPECT_EQ(RoundingDivideByPot(-1, 1), -1);
}

/// x, below 2^32, by a multiplier and a shift, with two roundings in as many bits as it takes; saturated.
int32_t Multiply(int64_t x, QuantizedMultiplier m)
{
    const int left = std::max(m.m_Shift, 0);
    if (m.m_Multiplier != 0 && std::ldexp(std::abs(static_cast<double>(x)), left) >= 4294967296.0)
    {
        return (x > 0) == (m.m_Multiplier > 0) ? Max32 : Min32; // multipliers are 2^30 at least
    }
    const int64_t product = m.m_Multiplier == 0 ? 0 : x * (int64_t{1} << left) * m.m_Multiplier; // below 2^63
    const int64_t high = (product + (int64_t{1} << 30)) >> 31;
    return static_cast<int32_t>(std::clamp<int64_t>(DivideByPot(high, std::max(-m.m_Shift, 0)), Min32, Max32));
}

TEST(Rescale, RoundsTwiceAndSaturates)
{
    for (const int32_t multiplier : {0, 1 << 30, (1 << 30) + 1, 1518500250, Max32 - 1, Max32, -(1 << 30), -Max32})
    {
        for (int shift = -31; shift <= 30; ++shift)
        {
            const QuantizedMultiplier m{multiplier, shift};
            for (const int32_t x : GetSamples())
            {
                const int64_t shifted = int64_t{x} * (int64_t{1} << std::max(shift, 0));
                const bool fits = shifted == static_cast<int32_t>(shifted);
                // Where TFLite's left shift does not overflow, the result is that of its two functions.
                const int64_t expected =
                    fits ? DivideByPot(HighMul(shifted, multiplier), std::max(-shift, 0)) : Multiply(x, m);
                ASSERT_EQ(MultiplySaturating(x, m), expected) << x << " * " << multiplier << " << " << shift;
                ASSERT_EQ(MultiplySumSaturating(int64_t{x}, m), expected)
                    << x << " * " << multiplier << " << " << shift;
                if (multiplier >= 0)
                {
                    ASSERT_EQ(SumRescaler(m)(x), expected) << x << " * " << multiplier << " << " << shift;
                    ASSERT_EQ(SumRescaler(m)(int64_t{x}), expected) << x << " * " << multiplier << " << " << shift;
                }
            }
        }
    }
}

TEST(Rescale, SumsOf64Bits)
{
    std::mt19937_64 engine(4);
    for (int i = 0; i < 20000; ++i)
    {
        const auto x = static_cast<int64_t>(engine()) >> (31 + i % 30);
        const QuantizedMultiplier m{static_cast<int32_t>((1U << 30) + engine() % (1U << 30)),
                                    static_cast<int>(engine() % 62) - 31};
        ASSERT_EQ(MultiplySumSaturating(x, m), Multiply(x, m)) << x << " * " << m.m_Multiplier << " << " << m.m_Shift;
    }
    // 2^47 * 2^-20, and ends of the type.
    EXPECT_EQ(MultiplySumSaturating(int64_t{1} << 47, {1 << 30, -19}), 1 << 27);
    EXPECT_EQ(MultiplySumSaturating(-(int64_t{1} << 47), {1 << 30, -19}), -(1 << 27));
    EXPECT_EQ(MultiplySumSaturating(std::numeric_limits<int64_t>::max(), {Max32, 30}), Max32);
    EXPECT_EQ(MultiplySumSaturating(std::numeric_limits<int64_t>::min(), {Max32, 30}), Min32);
    EXPECT_EQ(MultiplySumSaturating(std::numeric_limits<int64_t>::min(), {0, 0}), 0);
    EXPECT_EQ(SaturatingAdd(Max32, 127), Max32);
    EXPECT_EQ(SaturatingAdd(Min32, -128), Min32);
}

TEST(Rescale, ReducedMultipliersRoundOnceAndSaturate)
{
    std::mt19937_64 engine(2);
    for (int i = 0; i < 20000; ++i)
    {
        const auto x = static_cast<int64_t>(engine()) >> (17 + i % 40); // |x| < 2^46
        const auto multiplier = static_cast<int32_t>((1U << 30) + engine() % (1U << 30));
        const int shift = static_cast<int>(engine() % 62) - 31;
        const int64_t reduced = multiplier < 0x7FFF0000 ? (multiplier + 32768) / 65536 : 32767;
        const int64_t product = x * reduced; // |product| < 2^61
        const double result = std::ldexp(static_cast<double>(product), shift - 15);
        int32_t expected = result > 0 ? Max32 : Min32;
        if (std::abs(result) < 2147483646.0)
        {
            const int64_t half = shift < 15 ? int64_t{1} << (14 - shift) : 0;
            expected = shift < 15 ? static_cast<int32_t>((product + half) >> (15 - shift))
                                  : static_cast<int32_t>(product * (int64_t{1} << (shift - 15)));
        }
        if (std::abs(result) < 2147483646.0 || std::abs(result) > 2147483649.0)
        {
            ASSERT_EQ(MultiplyReducedSaturating(x, {multiplier, shift}), expected)
                << x << ", " << multiplier << ", " << shift;
        }
    }
    EXPECT_EQ(MultiplyReducedSaturating(1, {1 << 30, 16}), 32768); // no right shift left
    EXPECT_EQ(MultiplyReducedSaturating(std::numeric_limits<int64_t>::max(), {1 << 30, 30}), Max32);
    EXPECT_EQ(MultiplyReducedSaturating(std::numeric_limits<int64_t>::min(), {1 << 30, -10}), Min32);
    EXPECT_EQ(MultiplyReducedSaturating(int64_t{1} << 60, {1 << 30, -30}), 1 << 29);
    EXPECT_EQ(MultiplyReducedSaturating(std::numeric_limits<int64_t>::max(), {0, 0}), 0);
}

TEST(Quantization, MultipliersAreTheNearest)
{
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> exponent(-30.0, 29.0);
    for (int i = 0; i < 2000; ++i)
    {
        const double real = std::exp2(exponent(engine)) * (i % 2 == 0 ? 1.0 : -1.0);
        const QuantizedMultiplier m = QuantizeMultiplier(real);
        ASSERT_GE(std::abs(int64_t{m.m_Multiplier}), int64_t{1} << 30);
        ASSERT_LE(std::abs(std::ldexp(m.m_Multiplier, m.m_Shift - 31) - real), std::ldexp(0.5, m.m_Shift - 31)) << real;
    }
    const QuantizedMultiplier justBelowOne = QuantizeMultiplier(1.0 - 1e-15); // rounds up to 2^31, which has no place
    EXPECT_EQ(justBelowOne.m_Multiplier, 1 << 30);
    EXPECT_EQ(justBelowOne.m_Shift, 1);
}

TEST(Quantization, MultipliersOutOfRangeAreDefined)
{
    EXPECT_EQ(QuantizeMultiplier(0.0).m_Multiplier, 0);
    EXPECT_EQ(QuantizeMultiplier(1e-20).m_Multiplier, 0);
    EXPECT_NE(QuantizeMultiplier(std::exp2(-32)).m_Multiplier, 0); // the smallest that a right shift of 31 reaches
    EXPECT_EQ(QuantizeMultiplier(1e30).m_Multiplier, Max32);
    EXPECT_EQ(QuantizeMultiplier(1e30).m_Shift, 30);
    EXPECT_EQ(QuantizeMultiplier(-1e30).m_Multiplier, -Max32);
    EXPECT_EQ(QuantizeMultiplier(std::numeric_limits<double>::infinity()).m_Multiplier, Max32);
    EXPECT_THROW(QuantizeMultiplier(std::numeric_limits<double>::quiet_NaN()), InvalidArgumentException);
}

TEST(Quantization, TypeRanges)
{
    EXPECT_EQ(GetTypeRange(DataType::QAsymmU8).m_Max, 255);
    EXPECT_EQ(GetTypeRange(DataType::QAsymmS8).m_Min, -128);
    EXPECT_EQ(GetTypeRange(DataType::QSymmS16).m_Max, 32767);
    EXPECT_THROW(GetTypeRange(DataType::Float32), InvalidArgumentException);
}

TEST(Quantization, ActivationRanges)
{
    const float infinity = std::numeric_limits<float>::infinity();
    const QuantizedRange relu = CalculateActivationRange(DataType::QAsymmU8, 0.1f, 10, 0.0f, infinity);
    EXPECT_EQ(relu.m_Min, 10);
    EXPECT_EQ(relu.m_Max, 255);
    const QuantizedRange relu6 = CalculateActivationRange(DataType::QAsymmS8, 0.1f, -100, 0.0f, 6.0f);
    EXPECT_EQ(relu6.m_Min, -100);
    EXPECT_EQ(relu6.m_Max, -40);
    const QuantizedRange wide = CalculateActivationRange(DataType::QAsymmS8, 0.001f, 0, -1.0f, 1.0f);
    EXPECT_EQ(wide.m_Min, -128);
    EXPECT_EQ(wide.m_Max, 127);
    EXPECT_THROW(CalculateActivationRange(DataType::QAsymmU8, 0.0f, 0, 0.0f, 6.0f), InvalidArgumentException);
    EXPECT_THROW(CalculateActivationRange(DataType::QAsymmU8, 1e-12f, 0, 0.0f, 6.0f), InvalidArgumentException);
}

} // namespace tenon::backends::quantization_test
