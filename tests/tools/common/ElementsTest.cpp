// SPDX-License-Identifier: Apache-2.0
// Elements of every type: numbers in, numbers out, text both ways.
#include "tools/common/Elements.hpp"

#include "tools/common/Float16.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::tools
{
namespace
{

using Cell = std::array<std::byte, 16>;

std::string Text(DataType type, const std::byte* data, size_t i = 0)
{
    std::string text;
    AppendElement(type, data, i, text);
    return text;
}

TEST(Float16, EveryHalfComesBack)
{
    for (uint32_t bits = 0; bits < 0x10000; ++bits)
    {
        const auto half = static_cast<uint16_t>(bits);
        const float value = HalfToFloat(half);
        if (std::isnan(value))
        {
            EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(value))));
            continue;
        }
        ASSERT_EQ(FloatToHalf(value), half) << value;
    }
}

TEST(Float16, HalfRoundsToNearestEven)
{
    EXPECT_EQ(FloatToHalf(1.0f), 0x3C00);
    EXPECT_EQ(FloatToHalf(-2.0f), 0xC000);
    EXPECT_EQ(FloatToHalf(1.0f + std::ldexp(1.0f, -11)), 0x3C00);        // a tie: to the even one below
    EXPECT_EQ(FloatToHalf(1.0f + 3.0f * std::ldexp(1.0f, -11)), 0x3C02); // a tie: to the even one above
    EXPECT_EQ(FloatToHalf(65519.0f), 0x7BFF);
    EXPECT_EQ(FloatToHalf(65520.0f), 0x7C00);
    EXPECT_EQ(FloatToHalf(std::ldexp(1.0f, -24)), 0x0001);
    EXPECT_EQ(FloatToHalf(std::ldexp(1.0f, -25)), 0x0000); // a tie with zero
    EXPECT_EQ(FloatToHalf(std::ldexp(1.5f, -25)), 0x0001);
    EXPECT_EQ(FloatToHalf(2047.75f / 2048.0f), 0x3C00); // rounds up into the next power of two
}

TEST(Float16, BFloat16RoundsToNearestEven)
{
    EXPECT_EQ(FloatToBFloat16(1.0f), 0x3F80);
    EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0x3F808000U)), 0x3F80);
    EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0x3F818000U)), 0x3F82);
    EXPECT_EQ(FloatToBFloat16(std::numeric_limits<float>::infinity()), 0x7F80);
    EXPECT_TRUE(std::isnan(BFloat16ToFloat(FloatToBFloat16(std::bit_cast<float>(0x7F800001U)))));
}

TEST(Elements, IntegersClampAndRound)
{
    struct Case
    {
        DataType m_Type;
        double m_Value;
        double m_Stored;
    };
    const Case cases[] = {
        {DataType::QAsymmU8, 300.0, 255.0},
        {DataType::QAsymmU8, -1.0, 0.0},
        {DataType::QAsymmS8, -200.0, -128.0},
        {DataType::Signed8, 1.5, 2.0},
        {DataType::QSymmS16, 1e9, 32767.0},
        {DataType::Unsigned16, 65535.4, 65535.0},
        {DataType::Signed32, -1e300, -2147483648.0},
        {DataType::Unsigned32, 4294967295.0, 4294967295.0},
        {DataType::Signed64, 1e300, 9223372036854775807.0},
        {DataType::Unsigned64, -5.0, 0.0},
        {DataType::Signed32, std::numeric_limits<double>::quiet_NaN(), 0.0},
        {DataType::QSymmS4, 9.0, 7.0},
        {DataType::QSymmS4, -9.0, -8.0},
        {DataType::Boolean, 3.0, 1.0},
        {DataType::Float16, 0.5, 0.5},
        {DataType::BFloat16, -2.0, -2.0},
        {DataType::Float64, 0.1, 0.1},
        {DataType::Complex64, 1.25, 1.25},
    };
    for (const Case& test : cases)
    {
        Cell cell{};
        SetElement(test.m_Type, cell.data(), 0, test.m_Value);
        EXPECT_EQ(GetElement(test.m_Type, cell.data(), 0), test.m_Stored) << GetNumPyName(test.m_Type) << test.m_Value;
    }
}

TEST(Elements, FourBitElementsKeepTheirNeighbours)
{
    Cell cell{};
    for (int i = 0; i < 6; ++i)
    {
        SetElement(DataType::QSymmS4, cell.data(), static_cast<size_t>(i), i - 3);
    }
    SetElement(DataType::QSymmS4, cell.data(), 2, 7);
    EXPECT_EQ(static_cast<unsigned int>(cell[0]), 0xEDU); // -3 in the low half, -2 in the high one
    EXPECT_EQ(GetElement(DataType::QSymmS4, cell.data(), 1), -2.0);
    EXPECT_EQ(GetElement(DataType::QSymmS4, cell.data(), 2), 7.0);
    EXPECT_EQ(GetElement(DataType::QSymmS4, cell.data(), 3), 0.0);
}

TEST(Elements, TextBothWays)
{
    struct Case
    {
        DataType m_Type;
        const char* m_In;
        const char* m_Out;
    };
    const Case cases[] = {
        {DataType::Float32, "0.1", "0.1"},
        {DataType::Float32, "+1e-3", "0.001"},
        {DataType::Float32, "-inf", "-inf"},
        {DataType::Float64, "0.30000000000000004", "0.30000000000000004"},
        {DataType::Float16, "0.1", "0.099976"},
        {DataType::BFloat16, "1.5", "1.5"},
        {DataType::QAsymmU8, "255", "255"},
        {DataType::QAsymmS8, "-128", "-128"},
        {DataType::Signed64, "-9223372036854775808", "-9223372036854775808"},
        {DataType::Unsigned64, "18446744073709551615", "18446744073709551615"},
        {DataType::Boolean, "True", "true"},
        {DataType::Boolean, "0", "false"},
        {DataType::QSymmS4, "-8", "-8"},
        {DataType::Complex64, "1.5-2j", "1.5-2j"},
        {DataType::Complex64, "3", "3+0j"},
        {DataType::Complex128, "1+2j", "1+2j"},
        {DataType::Complex128, "2j", "0+2j"},
    };
    for (const Case& test : cases)
    {
        Cell cell{};
        ASSERT_TRUE(ParseElement(test.m_Type, test.m_In, cell.data(), 0)) << test.m_In;
        EXPECT_EQ(Text(test.m_Type, cell.data()), test.m_Out);
    }
}

TEST(Elements, TextThatIsNoNumberIsRefused)
{
    struct Case
    {
        DataType m_Type;
        const char* m_Text;
    };
    const Case cases[] = {
        {DataType::Float32, ""},      {DataType::Float32, "1x"},  {DataType::Float32, "+-1"},
        {DataType::QAsymmU8, "256"},  {DataType::QAsymmU8, "-1"}, {DataType::Signed8, "1.5"},
        {DataType::Signed32, "1e3"},  {DataType::Boolean, "2"},   {DataType::QSymmS4, "8"},
        {DataType::Complex64, "1+2"}, {DataType::Complex64, "j"}, {DataType::Complex64, "1+2j3"},
        {DataType::Float16, "half"},  {DataType::Signed32, "+"},  {DataType::Unsigned64, "18446744073709551616"},
    };
    for (const Case& test : cases)
    {
        Cell cell{};
        EXPECT_FALSE(ParseElement(test.m_Type, test.m_Text, cell.data(), 0)) << test.m_Text;
    }
}

} // namespace
} // namespace tenon::tools
