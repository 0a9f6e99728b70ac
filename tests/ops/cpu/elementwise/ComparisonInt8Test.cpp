// SPDX-License-Identifier: Apache-2.0
// Comparisons of bytes by bounds: every pair of bytes, as TFLite's arithmetic has it.
#include "backends/cpu/elementwise/ComparisonInt8.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "harness/IsaTest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace tenon::cpu::comparison_int8_test
{

namespace
{

constexpr size_t Values = 256;
using Row = std::vector<uint8_t>;

/// What all bytes become, as the reference kernel has it.
std::vector<int32_t> Rescale(const TensorInfo& info, float largestScale)
{
    int exponent = 0;
    std::frexp(largestScale, &exponent);
    const backends::QuantizedMultiplier multiplier = backends::QuantizeMultiplier(
        std::ldexp(static_cast<double>(info.GetQuantizationScale()), -std::max(exponent, 0)));
    std::vector<int32_t> rescaled(Values);
    for (size_t i = 0; i < Values; ++i)
    {
        const auto stored = static_cast<uint8_t>(i);
        const int32_t value = info.GetDataType() == DataType::QAsymmU8 ? stored : static_cast<int8_t>(stored);
        rescaled[i] = backends::MultiplySaturating((value - info.GetQuantizationOffset()) * 256, multiplier);
    }
    return rescaled;
}

bool Compare(ComparisonOperation operation, int32_t a, int32_t b)
{
    switch (operation)
    {
    case ComparisonOperation::Equal: return a == b;
    case ComparisonOperation::NotEqual: return a != b;
    case ComparisonOperation::Greater: return a > b;
    case ComparisonOperation::GreaterOrEqual: return a >= b;
    case ComparisonOperation::Less: return a < b;
    default: return a <= b;
    }
}

void CheckPairs(const TensorInfo& a, const TensorInfo& b)
{
    const float largest = std::max(a.GetQuantizationScale(), b.GetQuantizationScale());
    const std::vector<int32_t> rescaledA = Rescale(a, largest);
    const std::vector<int32_t> rescaledB = Rescale(b, largest);
    Row all(Values);
    std::iota(all.begin(), all.end(), uint8_t{0});
    for (const ComparisonOperation operation :
         {ComparisonOperation::Equal, ComparisonOperation::NotEqual, ComparisonOperation::Greater,
          ComparisonOperation::GreaterOrEqual, ComparisonOperation::Less, ComparisonOperation::LessOrEqual})
    {
        const ComparisonInt8 both(operation, a, b, OperandForms::VectorVector);
        const ComparisonInt8 fixedA(operation, a, b, OperandForms::ScalarVector);
        const ComparisonInt8 fixedB(operation, a, b, OperandForms::VectorScalar);
        for (size_t i = 0; i < Values; ++i)
        {
            const Row same(Values, all[i]);
            Row ofA(Values);
            Row ofB(Values);
            for (size_t k = 0; k < Values; ++k)
            {
                ofA[k] = Compare(operation, rescaledA[i], rescaledB[k]) ? 1 : 0;
                ofB[k] = Compare(operation, rescaledA[k], rescaledB[i]) ? 1 : 0;
            }
            Row out(Values);
            both.Run(same.data(), all.data(), out.data(), Values);
            ASSERT_EQ(out, ofA) << a.ToString() << ' ' << b.ToString() << ' ' << static_cast<int>(operation);
            fixedA.Run(&all[i], all.data(), out.data(), Values);
            ASSERT_EQ(out, ofA) << a.ToString() << ' ' << b.ToString() << ' ' << static_cast<int>(operation);
            fixedB.Run(all.data(), &all[i], out.data(), Values);
            ASSERT_EQ(out, ofB) << a.ToString() << ' ' << b.ToString() << ' ' << static_cast<int>(operation);
        }
    }
}

TensorInfo Info(DataType type, float scale, int32_t zeroPoint)
{
    return TensorInfo({static_cast<unsigned int>(Values)}, type, scale, zeroPoint);
}

} // namespace

ISA_TEST(ComparisonInt8, AllPairsOfBytes)
{
    if (!GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernel runs";
    }
    std::mt19937 random(1);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    for (int i = 0; i < 12; ++i)
    {
        const DataType type = i % 3 == 0 ? DataType::QAsymmU8 : DataType::QAsymmS8;
        const auto zero = [&]
        { return static_cast<int32_t>(unit(random) * 255.0) - (type == DataType::QAsymmU8 ? 0 : 128); };
        const double scale = std::exp(16.0 * unit(random) - 12.0);
        const TensorInfo a = Info(type, static_cast<float>(scale), zero());
        CheckPairs(a, Info(type, static_cast<float>(scale * std::exp(3.0 * unit(random) - 1.5)), zero()));
    }
}

// One quantization; others a little or much apart, so that all of one side is above the other or values share what they
// become; scales so small that all are equal.
ISA_TEST(ComparisonInt8, PairsAtTheEnds)
{
    if (!GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernel runs";
    }
    for (const float scale : {0.0078125f, 0.001f, 1e-12f, 300.0f})
    {
        CheckPairs(Info(DataType::QAsymmS8, scale, -7), Info(DataType::QAsymmS8, scale, -7));
        CheckPairs(Info(DataType::QAsymmU8, scale, 255), Info(DataType::QAsymmU8, scale, 0));
        CheckPairs(Info(DataType::QAsymmU8, scale, 0), Info(DataType::QAsymmU8, scale, 255));
        CheckPairs(Info(DataType::QSymmS8, scale, 0), Info(DataType::QSymmS8, 1.001f * scale, 0));
    }
    CheckPairs(Info(DataType::QAsymmU8, 0.5f, 128), Info(DataType::QAsymmU8, 1e-6f, 3));
    CheckPairs(Info(DataType::QAsymmS8, 1e-6f, 3), Info(DataType::QAsymmS8, 0.5f, 100));
}

// With another count than vectors have, written over either input.
ISA_TEST(ComparisonInt8, OverItsInputs)
{
    if (!GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernel runs";
    }
    std::mt19937 random(2);
    const TensorInfo a = Info(DataType::QAsymmS8, 0.03f, 5);
    const TensorInfo b = Info(DataType::QAsymmS8, 0.05f, -20);
    const std::vector<int32_t> rescaledA = Rescale(a, 0.05f);
    const std::vector<int32_t> rescaledB = Rescale(b, 0.05f);
    for (const size_t count : {1, 63, 64, 100, 1000})
    {
        Row x(count);
        Row y(count);
        std::generate(x.begin(), x.end(), [&] { return static_cast<uint8_t>(random()); });
        std::generate(y.begin(), y.end(), [&] { return static_cast<uint8_t>(random()); });
        Row expected(count);
        for (size_t i = 0; i < count; ++i)
        {
            expected[i] = rescaledA[x[i]] > rescaledB[y[i]] ? 1 : 0;
        }
        const ComparisonInt8 comparison(ComparisonOperation::Greater, a, b, OperandForms::VectorVector);
        Row overX = x;
        comparison.Run(overX.data(), y.data(), overX.data(), count);
        EXPECT_EQ(overX, expected);
        comparison.Run(x.data(), y.data(), y.data(), count);
        EXPECT_EQ(y, expected);
    }
}

} // namespace tenon::cpu::comparison_int8_test
