// SPDX-License-Identifier: Apache-2.0
// The choice of loops for sums of bytes: the fast ones, by tables or in floats, do for nearly all of them.
#include "backends/cpu/elementwise/ByteBinary.hpp"

#include "backends/cpu/elementwise/ByteBinaryLoops.hpp"
#include "backends/cpu/elementwise/BytePairs.hpp"
#include "backends/cpu/elementwise/ByteSumTables.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace tenon::cpu
{

namespace
{

constexpr unsigned int Elements = 8192;

/// Scales and zero points as residuals have them.
struct RandomSum
{
    TensorInfo m_A;
    TensorInfo m_B;
    TensorInfo m_Output;

    RandomSum(std::mt19937& random, DataType type)
    {
        std::uniform_real_distribution<double> unit(0.0, 1.0);
        const double scaleA = std::exp(4.0 * unit(random) - 4.0);
        const double scaleB = scaleA * std::exp(3.0 * unit(random) - 1.5);
        const double scale = (scaleA + scaleB) * (0.4 + 0.6 * unit(random));
        const auto info = [&](double ofScale)
        {
            return TensorInfo({Elements}, type, static_cast<float>(ofScale),
                              static_cast<int32_t>(unit(random) * 255.0) - (type == DataType::QAsymmU8 ? 0 : 128));
        };
        m_A = info(scaleA);
        m_B = info(scaleB);
        m_Output = info(scale);
    }
};

} // namespace

TEST(ByteBinary, SumsAreComputedByTablesOrInFloats)
{
    if (!GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "the reference kernel runs";
    }
    constexpr int Sums = 100;
    std::mt19937 random(1);
    for (const bool isFixed : {false, true})
    {
        int areFast = 0;
        for (int i = 0; i < Sums; ++i)
        {
            const RandomSum of(random, DataType::QAsymmS8);
            const ByteBinary sum = MakeByteBinary(BinaryOperation::Add, of.m_A, of.m_B, of.m_Output, {-128, 127},
                                                  isFixed, false, Elements);
            const ByteBinary::Loop byTables = isFixed ? nullptr : GetByteSumLoop(true);
            const ByteBinary::Loop fast = byTables != nullptr ? byTables : GetByteBinaryLoops().m_FloatSum[isFixed];
            areFast += sum.m_Loop == fast ? 1 : 0;
        }
        // Which few are not depends on how the processor's vectors round.
        EXPECT_GE(areFast, Sums - 4);
    }
}

// Of every pair of bytes, at any place of a vector, and written over either input.
TEST(ByteBinary, SumsByTablesAreExact)
{
    if (!GetCpuFeatures().m_Simd || GetByteSumLoop(true) == nullptr)
    {
        GTEST_SKIP() << "there are no tables in registers";
    }
    std::mt19937 random(2);
    int byTables = 0;
    constexpr int Sums = 60;
    for (int i = 0; i < Sums; ++i)
    {
        const DataType type = i % 3 == 0 ? DataType::QAsymmU8 : DataType::QAsymmS8;
        const bool isSub = i % 5 == 0;
        const bool swaps = i % 2 == 0;
        const int32_t least = (type == DataType::QAsymmU8 ? 0 : -128) + (i % 4 == 0 ? 37 : 0);
        const RandomSum of(random, type);
        const ByteBinary sum = MakeByteBinary(isSub ? BinaryOperation::Sub : BinaryOperation::Add, of.m_A, of.m_B,
                                              of.m_Output, {least, least + 200}, false, swaps, Elements);
        if (sum.m_Tables == nullptr)
        {
            continue;
        }
        ++byTables;
        const ByteBinary::Loop exact = GetByteBinaryLoops().m_ExactSum[0];
        EXPECT_TRUE(BytePairs(sum, exact).Agrees(sum, sum.m_Loop)) << i;
        const size_t count = 1 + random() % 300;
        std::vector<uint8_t> a(count);
        std::vector<uint8_t> b(count);
        std::generate(a.begin(), a.end(), [&] { return static_cast<uint8_t>(random()); });
        std::generate(b.begin(), b.end(), [&] { return static_cast<uint8_t>(random()); });
        std::vector<uint8_t> expected(count);
        exact(sum, a.data(), b.data(), expected.data(), count);
        std::vector<uint8_t> overA = a;
        sum.Run(overA.data(), b.data(), overA.data(), count);
        EXPECT_EQ(overA, expected) << i;
        sum.Run(a.data(), b.data(), b.data(), count);
        EXPECT_EQ(b, expected) << i;
    }
    EXPECT_GE(byTables, Sums * 3 / 4); // some differences go through too many steps
}

// Where one input only takes from the sum, or only adds to it, as after activations.
TEST(ByteBinary, SumsByTablesOfOneSign)
{
    if (!GetCpuFeatures().m_Simd || GetByteSumLoop(true) == nullptr)
    {
        GTEST_SKIP() << "there are no tables in registers";
    }
    for (const int32_t zeroA : {-128, 120, 127})
    {
        for (const int32_t zeroB : {-128, 127})
        {
            for (const int32_t zero : {-128, -90, 30, 127})
            {
                for (const float scaleB : {0.3713f, 1.2129f})
                {
                    const auto info = [](float scale, int32_t zeroPoint)
                    { return TensorInfo({Elements}, DataType::QAsymmS8, scale, zeroPoint); };
                    const ByteBinary sum =
                        MakeByteBinary(BinaryOperation::Add, info(0.8317f, zeroA), info(scaleB, zeroB),
                                       info(1.0f, zero), {-128, 127}, false, false, Elements);
                    EXPECT_NE(sum.m_Tables, nullptr) << zeroA << ' ' << zeroB << ' ' << zero << ' ' << scaleB;
                }
            }
        }
    }
}

} // namespace tenon::cpu
