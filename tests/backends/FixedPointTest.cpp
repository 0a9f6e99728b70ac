// SPDX-License-Identifier: Apache-2.0
// The fixed-point functions against those of the mathematical library.
#include "backends/common/FixedPoint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace tenon::backends::fixed_point_test
{

namespace
{

template <int IntegerBits>
double ToReal(Fixed<IntegerBits> x)
{
    return std::ldexp(static_cast<double>(x.m_Raw), IntegerBits - 31);
}

template <int IntegerBits>
void CheckExp()
{
    for (int64_t raw = 0; raw >= std::numeric_limits<int32_t>::min(); raw -= 1234567)
    {
        const Fixed<IntegerBits> x{static_cast<int32_t>(raw)};
        // What the series leaves out: (1/8)^5 / 5!.
        EXPECT_NEAR(ToReal(ExpOfNonPositive(x)), std::exp(ToReal(x)), 2.6e-7) << ToReal(x);
    }
}

} // namespace

TEST(FixedPoint, ExpOfNonPositiveNumbers)
{
    CheckExp<0>();
    CheckExp<3>();
    CheckExp<5>();
    CheckExp<8>();
    EXPECT_EQ(ExpOfNonPositive(Fixed<5>{0}).m_Raw, std::numeric_limits<int32_t>::max());
}

TEST(FixedPoint, OneOverOnePlusX)
{
    for (int64_t raw = 0; raw <= std::numeric_limits<int32_t>::max(); raw += 7654321)
    {
        const Fixed<0> x{static_cast<int32_t>(raw)};
        EXPECT_NEAR(ToReal(OneOverOnePlus(x)), 1.0 / (1.0 + ToReal(x)), 4e-9);
    }
}

TEST(FixedPoint, Reciprocals)
{
    for (const int32_t raw : {1, 2, 3, 5, 255, 256, 257, 65535, 1 << 30, std::numeric_limits<int32_t>::max()})
    {
        const FixedReciprocal reciprocal = GetReciprocal(raw, 31); // raw as an integer
        const double got = std::ldexp(ToReal(reciprocal.m_Scale), -reciprocal.m_BitsOverUnit);
        EXPECT_NEAR(got * static_cast<double>(raw), 1.0, 1e-8) << raw;
    }
}

TEST(FixedPoint, InverseSquareRoots)
{
    for (const int32_t x : {1, 2, 3, 4, 7, 100, 255, 65536, 123456789, std::numeric_limits<int32_t>::max()})
    {
        const QuantizedMultiplier root = GetInverseSquareRoot(x);
        const double got = std::ldexp(static_cast<double>(root.m_Multiplier), root.m_Shift - 31);
        EXPECT_NEAR(got * std::sqrt(static_cast<double>(x)), 1.0, 2e-6) << x; // what five steps leave
    }
    EXPECT_EQ(GetInverseSquareRoot(0).m_Multiplier, GetInverseSquareRoot(1).m_Multiplier);
}

TEST(FixedPoint, PowersOfTwoSaturateAndRound)
{
    EXPECT_EQ(MultiplyRawByPot(1 << 28, 2), 1 << 30);
    EXPECT_EQ(MultiplyRawByPot(1 << 28, 4), std::numeric_limits<int32_t>::max());
    EXPECT_EQ(MultiplyRawByPot(-(1 << 28), 4), std::numeric_limits<int32_t>::min());
    EXPECT_EQ(MultiplyRawByPot(5, -1), 3);
    EXPECT_EQ(MultiplyRawByPot(-5, -1), -3);
    EXPECT_EQ(MultiplyRawByPot(5, 0), 5);
}

} // namespace tenon::backends::fixed_point_test
