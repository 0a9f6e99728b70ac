// SPDX-License-Identifier: Apache-2.0
// Float16 and BFloat16 bit patterns: every one of them there and back, and how floats between two of them are rounded.
#include "common/HalfFloat.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tenon::half_float_test
{

namespace
{

using ToFloat = float (*)(uint16_t);
using FromFloat = uint16_t (*)(float);

/// Each pattern comes back; what lies halfway between two neighbours goes to the even one, what lies beside it to the
/// nearer one.
void CheckFormat(ToFloat widen, FromFloat narrow, uint16_t infinity)
{
    for (uint32_t bits = 0; bits < 0x10000; ++bits)
    {
        const auto pattern = static_cast<uint16_t>(bits);
        const float value = widen(pattern);
        if (std::isnan(value))
        {
            EXPECT_TRUE(std::isnan(widen(narrow(value)))) << bits;
            continue;
        }
        ASSERT_EQ(narrow(value), pattern) << bits;
    }
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(widen(infinity), inf);
    for (uint16_t bits = 0; bits + 1 < infinity; ++bits)
    {
        const float low = widen(bits);
        const auto high = static_cast<uint16_t>(bits + 1);
        const float middle = low + (widen(high) - low) / 2;
        ASSERT_EQ(narrow(middle), bits % 2 == 0 ? bits : high) << bits;
        ASSERT_EQ(narrow(-middle), (bits % 2 == 0 ? bits : high) | 0x8000) << bits;
        ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), bits);
        ASSERT_EQ(narrow(std::nextafter(middle, inf)), high);
    }
}

} // namespace

TEST(HalfFloat, Float16)
{
    EXPECT_EQ(HalfToFloat(0x3C00), 1.0f);
    EXPECT_EQ(HalfToFloat(0x7BFF), 65504.0f);
    EXPECT_EQ(HalfToFloat(0x0001), std::ldexp(1.0f, -24));
    EXPECT_EQ(FloatToHalf(65519.0f), 0x7BFF);
    EXPECT_EQ(FloatToHalf(65520.0f), 0x7C00);
    EXPECT_EQ(FloatToHalf(-1e30f), 0xFC00);
    EXPECT_EQ(FloatToHalf(std::ldexp(1.0f, -25)), 0); // a tie between 0 and the smallest half
    CheckFormat(&HalfToFloat, &FloatToHalf, 0x7C00);
}

TEST(HalfFloat, ArraysAsElements)
{
    std::vector<uint16_t> all(0x10000 + 3);
    std::iota(all.begin(), all.end(), uint16_t{0});
    std::vector<float> floats(all.size());
    HalvesToFloats(all.data(), all.size(), floats.data());
    for (size_t i = 0; i < all.size(); ++i)
    {
        ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(HalfToFloat(all[i]))) << i;
        floats[i] *= 1.0f + 0.0001f * static_cast<float>(i % 31); // none of them, for the most part
    }
    std::vector<uint16_t> halves(all.size());
    FloatsToHalves(floats.data(), floats.size(), halves.data());
    for (size_t i = 0; i < all.size(); ++i)
    {
        ASSERT_EQ(halves[i], FloatToHalf(floats[i])) << floats[i];
    }
}

TEST(HalfFloat, BFloat16)
{
    EXPECT_EQ(BFloat16ToFloat(0x3F80), 1.0f);
    EXPECT_EQ(FloatToBFloat16(std::numeric_limits<float>::max()), 0x7F80);
    CheckFormat(&BFloat16ToFloat, &FloatToBFloat16, 0x7F80);
}

} // namespace tenon::half_float_test
