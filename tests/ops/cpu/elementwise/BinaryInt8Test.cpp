// SPDX-License-Identifier: Apache-2.0
// The choice of loops for sums of bytes: the fast ones, by tables or in floats, do for nearly all of them.
#include "backends/cpu/elementwise/BinaryInt8.hpp"

#include "backends/cpu/elementwise/AllPairsInt8.hpp"
#include "backends/cpu/elementwise/BinaryLoopsInt8.hpp"
#include "backends/cpu/elementwise/SumTablesInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "harness/IsaTest.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace tenon::cpu::binary_int8_test
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

ElementwiseBinaryDescriptor Describe(BinaryOperation operation, RequantizationMode mode)
{
    ElementwiseBinaryDescriptor descriptor(operation);
    descriptor.m_Requantization = mode;
    return descriptor;
}

constexpr RequantizationMode Modes[] = {RequantizationMode::FixedPoint, RequantizationMode::FloatHalfEven};

} // namespace

ISA_TEST(BinaryInt8, SumsAreComputedByTablesOrInFloats)
{
    if (!GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernel runs";
    }
    constexpr int Sums = 100;
    std::mt19937 random(1);
    for (const RequantizationMode mode : Modes)
    {
        for (const bool isFixed : {false, true})
        {
            int numFast = 0;
            for (int i = 0; i < Sums; ++i)
            {
                const RandomSum of(random, DataType::QAsymmS8);
                const BinaryInt8 sum = MakeBinaryInt8(Describe(BinaryOperation::Add, mode), of.m_A, of.m_B, of.m_Output,
                                                      {-128, 127}, isFixed, false, Elements);
                const BinaryInt8::Loop byTables = isFixed ? nullptr : GetSumTableLoopInt8(true);
                const BinaryInt8::Loop inFloats = GetBinaryLoopsInt8().m_FloatSum[isFixed];
                // Tables round ties up, floats to even.
                const bool mayBeInFloats = byTables == nullptr || mode == RequantizationMode::FloatHalfEven;
                numFast += sum.m_Loop == byTables || (mayBeInFloats && sum.m_Loop == inFloats) ? 1 : 0;
            }
            // Which few are not depends on how the processor's vectors round.
            EXPECT_GE(numFast, Sums - 4);
        }
    }
}

// What the choice compares with is made in another way than the loop that runs where no fast one agrees.
ISA_TEST(BinaryInt8, AllPairsOfSumsAsByLoop)
{
    if (!GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernel runs";
    }
    const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
    std::mt19937 random(4);
    for (int i = 0; i < 40; ++i)
    {
        const bool isSigned = (i & 1) != 0;
        const RandomSum of(random, isSigned ? DataType::QAsymmS8 : DataType::QAsymmU8);
        backends::QuantizedRange range = backends::GetTypeRange(of.m_Output.GetDataType());
        range.m_Min += i % 3 * 20;
        range.m_Max -= i % 5 * 20;
        const BinaryOperation operation = (i & 2) != 0 ? BinaryOperation::Sub : BinaryOperation::Add;
        const BinaryInt8 sum =
            MakeBinaryInt8(operation, of.m_A, of.m_B, of.m_Output, range, false, (i & 4) != 0, Elements);
        EXPECT_TRUE(AllPairsInt8(sum, loops.m_AllExactSums).Agrees(sum, loops.m_ExactSum[0])) << "sum " << i;
    }
}

// Products, squares and Prelu, of random scales and of powers of two.
ISA_TEST(BinaryInt8, ProductsAreComputedInFloats)
{
    if (!GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernel runs";
    }
    constexpr int Products = 100;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
    for (const bool isFixed : {false, true})
    {
        int fastProducts = 0;
        int halfEvenProducts = 0;
        int fastPrelus = 0;
        int fastSquares = 0;
        for (int i = 0; i < Products; ++i)
        {
            const DataType type = i % 3 == 0 ? DataType::QAsymmU8 : DataType::QAsymmS8;
            const auto info = [&](double scale)
            {
                const double power = std::exp2(std::round(std::log2(scale)));
                return TensorInfo({Elements}, type, static_cast<float>(i % 5 == 0 ? power : scale),
                                  static_cast<int32_t>(unit(random) * 255.0) - (type == DataType::QAsymmU8 ? 0 : 128));
            };
            const double scaleA = std::exp(4.0 * unit(random) - 4.0);
            const double scaleB = std::exp(4.0 * unit(random) - 4.0);
            const TensorInfo a = info(scaleA);
            const TensorInfo b = info(scaleB);
            const TensorInfo ofProduct = info(scaleA * scaleB * 255.0 * (0.2 + 0.8 * unit(random)));
            const auto isFast = [&](RequantizationMode mode)
            {
                return MakeBinaryInt8(Describe(BinaryOperation::Mul, mode), a, b, ofProduct,
                                      backends::GetTypeRange(type), isFixed, false, Elements)
                           .m_Loop == loops.m_FloatProduct[isFixed];
            };
            fastProducts += isFast(RequantizationMode::FixedPoint) ? 1 : 0;
            halfEvenProducts += isFast(RequantizationMode::FloatHalfEven) ? 1 : 0;
            const double span = 128.0 * (scaleA + scaleB);
            const BinaryInt8 square =
                MakeBinaryInt8(BinaryOperation::SqDiff, a, b, info(span * span * (0.2 + 0.8 * unit(random)) / 255.0),
                               backends::GetTypeRange(type), isFixed, false, Elements);
            fastSquares += square.m_Loop == loops.m_FloatSquare[isFixed] ? 1 : 0;
            const BinaryInt8 prelu = MakePreluInt8(a, info(0.01 * unit(random)),
                                                   info(scaleA * (0.3 + 0.9 * unit(random))), isFixed, Elements);
            const bool byTable = !isFixed && loops.m_TablePrelu != nullptr;
            fastPrelus += prelu.m_Loop == (byTable ? loops.m_TablePrelu : loops.m_FloatPrelu[isFixed]) ? 1 : 0;
        }
        EXPECT_GE(fastProducts, Products - 4);
        EXPECT_GE(halfEvenProducts, Products - 4);
        EXPECT_GE(fastPrelus, Products - 4);
        EXPECT_GE(fastSquares, Products - 4);
    }
}

// Where an input stands still a long run reads a table.
ISA_TEST(BinaryInt8, TablesOfAnInputThatStandsStill)
{
    if (!GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernel runs";
    }
    constexpr size_t Values = 256;
    std::vector<uint8_t> all(8 * Values + 5);
    for (size_t i = 0; i < all.size(); ++i)
    {
        all[i] = static_cast<uint8_t>(i);
    }
    std::vector<uint8_t> out(all.size());
    std::vector<uint8_t> expected(Values);
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
    {
        const int32_t zero = type == DataType::QAsymmU8 ? 128 : 0;
        const TensorInfo a({Elements}, type, 0.031f, zero + 9);
        const TensorInfo b({Elements}, type, 0.017f, zero - 30);
        const TensorInfo output({Elements}, type, 0.052f, zero - 4);
        const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
        const auto check = [&](const BinaryInt8& binary, const BinaryInt8::Loop exact)
        {
            for (const uint8_t& fixed : all)
            {
                exact(binary, all.data(), &fixed, expected.data(), Values);
                binary.Run(all.data(), &fixed, out.data(), out.size());
                for (size_t i = 0; i < out.size(); ++i)
                {
                    ASSERT_EQ(out[i], expected[i % Values]) << static_cast<int>(fixed) << ' ' << i;
                }
                if (&fixed == &all[Values - 1])
                {
                    break;
                }
            }
        };
        const auto make = [&](BinaryOperation operation)
        { return MakeBinaryInt8(operation, a, b, output, backends::GetTypeRange(type), true, false, Elements); };
        check(make(BinaryOperation::Add), loops.m_ExactSum[1]);
        check(make(BinaryOperation::Sub), loops.m_ExactSum[1]);
        check(make(BinaryOperation::Mul), loops.m_ExactProduct[1]);
        check(make(BinaryOperation::SqDiff), loops.m_ExactSquare[1]);
        check(MakePreluInt8(a, b, output, true, Elements), loops.m_ExactPrelu[1]);
    }
}

// Of every pair of bytes, at any place of a vector, and written over either input.
ISA_TEST(BinaryInt8, SumsByTablesAreExact)
{
    if (!GetCpuFeatures().m_Simd || GetSumTableLoopInt8(true) == nullptr)
    {
        ISA_SKIP() << "there are no tables in registers";
    }
    std::mt19937 random(2);
    int byTables = 0;
    constexpr int Sums = 60;
    for (int i = 0; i < Sums; ++i)
    {
        const DataType type = i % 3 == 0 ? DataType::QAsymmU8 : DataType::QAsymmS8;
        const bool isSub = i % 5 == 0;
        const bool swaps = i % 2 == 0;
        const int32_t min = (type == DataType::QAsymmU8 ? 0 : -128) + (i % 4 == 0 ? 37 : 0);
        const RandomSum of(random, type);
        const BinaryInt8 sum = MakeBinaryInt8(isSub ? BinaryOperation::Sub : BinaryOperation::Add, of.m_A, of.m_B,
                                              of.m_Output, {min, min + 200}, false, swaps, Elements);
        if (sum.m_Tables == nullptr)
        {
            continue;
        }
        ++byTables;
        const BinaryInt8::Loop exact = GetBinaryLoopsInt8().m_ExactSum[0];
        EXPECT_TRUE(AllPairsInt8(sum, exact).Agrees(sum, sum.m_Loop)) << i;
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
ISA_TEST(BinaryInt8, SumsByTablesOfOneSign)
{
    if (!GetCpuFeatures().m_Simd || GetSumTableLoopInt8(true) == nullptr)
    {
        ISA_SKIP() << "there are no tables in registers";
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
                    const BinaryInt8 sum =
                        MakeBinaryInt8(BinaryOperation::Add, info(0.8317f, zeroA), info(scaleB, zeroB),
                                       info(1.0f, zero), {-128, 127}, false, false, Elements);
                    EXPECT_NE(sum.m_Tables, nullptr) << zeroA << ' ' << zeroB << ' ' << zero << ' ' << scaleB;
                }
            }
        }
    }
}

} // namespace tenon::cpu::binary_int8_test
