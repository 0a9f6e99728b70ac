// SPDX-License-Identifier: Apache-2.0
// The choice of loops for sums of bytes: the float one, which is several times as fast, does for nearly all of them.
#include "backends/cpu/elementwise/ByteBinary.hpp"

#include "backends/cpu/elementwise/ByteBinaryLoops.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tenon::cpu
{

TEST(ByteBinary, SumsAreComputedInFloats)
{
    if (!GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "the reference kernel runs";
    }
    constexpr unsigned int Elements = 8192;
    constexpr int Sums = 100;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    int inFloats = 0;
    for (int i = 0; i < Sums; ++i)
    {
        const double scaleA = std::exp(4.0 * unit(random) - 4.0);
        const double scaleB = scaleA * std::exp(3.0 * unit(random) - 1.5);
        const double scale = (scaleA + scaleB) * (0.4 + 0.6 * unit(random));
        const auto info = [&](double ofScale)
        {
            return TensorInfo({Elements}, DataType::QAsymmS8, static_cast<float>(ofScale),
                              static_cast<int32_t>(unit(random) * 255.0) - 128);
        };
        const TensorInfo a = info(scaleA);
        const TensorInfo b = info(scaleB);
        const ByteBinary sum =
            MakeByteBinary(BinaryOperation::Add, a, b, info(scale), {-128, 127}, false, false, Elements);
        inFloats += sum.m_Loop == GetByteBinaryLoops().m_FloatSum[0] ? 1 : 0;
    }
    // Which few are not depends on how the processor's vectors round.
    EXPECT_GE(inFloats, Sums - 4);
}

} // namespace tenon::cpu
