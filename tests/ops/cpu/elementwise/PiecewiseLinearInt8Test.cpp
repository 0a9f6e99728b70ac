// SPDX-License-Identifier: Apache-2.0
// Lines in the place of tables of bytes: they are found where the function is one, and give the very bytes.
#include "backends/cpu/elementwise/PiecewiseLinearInt8.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "harness/IsaTest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace tenon::cpu::piecewise_linear_int8_test
{

namespace
{

TensorInfo Info(DataType type, float scale, int zeroPoint)
{
    return TensorInfo({256}, type, scale, zeroPoint - (type == DataType::QAsymmU8 ? 0 : 128));
}

uint8_t FlipOf(const TensorInfo& info)
{
    return info.GetDataType() == DataType::QAsymmU8 ? 0 : 0x80;
}

/// TFLite's: each side is multiplied by a quantized multiplier, here of `below` or `above` times the scales' ratio.
LookupTableInt8 MakeTable(const TensorInfo& input, const TensorInfo& output, double below, double above)
{
    const double ratio = static_cast<double>(input.GetQuantizationScale()) / output.GetQuantizationScale();
    const int flipOutput = FlipOf(output);
    LookupTableInt8 table{};
    for (int x = 0; x < 256; ++x)
    {
        const int value = x - (input.GetQuantizationOffset() + FlipOf(input));
        const double factor = ratio * (value < 0 ? below : above);
        const int32_t scaled = backends::MultiplySaturating(value, backends::QuantizeMultiplier(std::abs(factor)));
        const int result = (factor < 0 ? -scaled : scaled) + output.GetQuantizationOffset() + flipOutput;
        table[static_cast<size_t>(x ^ FlipOf(input))] = static_cast<uint8_t>(std::clamp(result, 0, 255) ^ flipOutput);
    }
    return table;
}

void ExpectTable(const PiecewiseLinearInt8& lines, const LookupTableInt8& table)
{
    for (const size_t count : {size_t{1}, size_t{31}, size_t{256}, size_t{300}})
    {
        std::vector<uint8_t> in(count);
        std::iota(in.begin(), in.end(), uint8_t{0});
        std::vector<uint8_t> out(count);
        RunPiecewiseLinearInt8(lines, in.data(), out.data(), count);
        for (size_t i = 0; i < count; ++i)
        {
            ASSERT_EQ(out[i], table[in[i]]) << "byte " << int{in[i]} << " of " << count;
        }
    }
}

} // namespace

ISA_TEST(PiecewiseLinearInt8, AreFoundInTablesOfLines)
{
    if (!GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernel runs";
    }
    struct Slopes
    {
        double m_Below;
        double m_Above;
    };
    // A change of quantization, ReLU, its leaky kind, negation, the magnitude.
    constexpr Slopes Kinds[] = {{1, 1}, {0, 1}, {0.1, 1}, {-1, -1}, {-1, 1}};
    std::mt19937 random(1);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    int found = 0;
    int tables = 0;
    for (const Slopes& slopes : Kinds)
    {
        for (int i = 0; i < 100; ++i)
        {
            const DataType types[] = {DataType::QAsymmU8, DataType::QAsymmS8};
            const auto zeroPoint = [&] { return static_cast<int>(random() % 256); };
            const double ratio = i % 10 == 0 ? 1.0 : i % 10 == 1 ? 0.5 : std::exp(6.0 * unit(random) - 3.0);
            const TensorInfo input = Info(types[i & 1], static_cast<float>(0.05 * ratio), zeroPoint());
            const TensorInfo output = Info(types[(i >> 1) & 1], 0.05f, zeroPoint());
            const LookupTableInt8 table = MakeTable(input, output, slopes.m_Below, slopes.m_Above);
            ++tables;
            if (const auto lines = FindPiecewiseLinearInt8(table, input, output))
            {
                ++found;
                ASSERT_NO_FATAL_FAILURE(ExpectTable(*lines, table));
            }
        }
    }
    // Of the others some byte comes so near to a half that 15 bits of a slope do not do.
    EXPECT_GE(found, tables * 6 / 10);
}

// Whole numbers of slopes and two sides take time.
ISA_TEST(PiecewiseLinearInt8, AreAsSimpleAsTheyCanBe)
{
    const TensorInfo type = Info(DataType::QAsymmS8, 0.05f, 120);
    for (int zeroPoint = 0; zeroPoint <= 255; ++zeroPoint)
    {
        SCOPED_TRACE(zeroPoint);
        const TensorInfo same = Info(DataType::QAsymmS8, 0.05f, zeroPoint);
        const auto relu = FindPiecewiseLinearInt8(MakeTable(same, same, 0, 1), same, same);
        ASSERT_TRUE(relu);
        EXPECT_TRUE(relu->IsStraight());
        EXPECT_EQ(relu->m_Above.m_Whole, 0);
        const auto leaky = FindPiecewiseLinearInt8(MakeTable(same, same, 0.1, 1), same, same);
        ASSERT_TRUE(leaky);
        EXPECT_EQ(leaky->IsStraight(), zeroPoint <= 4); // what is below becomes the zero point
        EXPECT_EQ(leaky->m_Above.m_Whole, 0);
        EXPECT_EQ(leaky->m_Below.m_Whole, 0);
    }
    const TensorInfo finer = Info(DataType::QAsymmS8, 0.01f, 120);
    const auto steep = FindPiecewiseLinearInt8(MakeTable(type, finer, 1, 1), type, finer);
    ASSERT_TRUE(steep);
    EXPECT_EQ(steep->m_Above.m_Whole, 5);
}

ISA_TEST(PiecewiseLinearInt8, AreNotFoundInOtherTables)
{
    const TensorInfo input = Info(DataType::QAsymmS8, 0.05f, 120);
    const TensorInfo output = Info(DataType::QAsymmS8, 1.0f / 128, 128);
    LookupTableInt8 curve{};
    LookupTableInt8 random{};
    std::mt19937 numbers(2);
    for (size_t i = 0; i < curve.size(); ++i)
    {
        const double x = 0.05 * (static_cast<int8_t>(i) - input.GetQuantizationOffset());
        curve[i] = static_cast<uint8_t>(std::lround(127.0 * std::tanh(x)));
        random[i] = static_cast<uint8_t>(numbers());
    }
    EXPECT_FALSE(FindPiecewiseLinearInt8(curve, input, output));
    EXPECT_FALSE(FindPiecewiseLinearInt8(random, input, output));
    // One byte off.
    LookupTableInt8 line = MakeTable(input, output, 1, 1);
    ASSERT_TRUE(FindPiecewiseLinearInt8(line, input, output));
    line[0] ^= 1;
    EXPECT_FALSE(FindPiecewiseLinearInt8(line, input, output));
    // A zero point that no byte stands for: sums might not fit 16 bits.
    const TensorInfo far({256}, DataType::QAsymmS8, 0.05f, 100000);
    EXPECT_FALSE(FindPiecewiseLinearInt8(LookupTableInt8{}, far, output));
    EXPECT_FALSE(FindPiecewiseLinearInt8(LookupTableInt8{}, input, far));
}

} // namespace tenon::cpu::piecewise_linear_int8_test
