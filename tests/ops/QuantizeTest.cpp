// SPDX-License-Identifier: Apache-2.0
// Quantize: real numbers to stored ones per tensor and per channel, stored ones to another quantization, both
// roundings, saturation, and what is refused.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::quantize_test
{

namespace
{

constexpr auto FixedPoint = RequantizationMode::FixedPoint;
constexpr auto HalfEven = RequantizationMode::FloatHalfEven;

OpCase MakeCase(TestTensor input, const TensorInfo& output, RequantizationMode mode = FixedPoint)
{
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + output.ToString();
    op.m_Type = LayerType::Quantize;
    op.m_Descriptor = MakeDescriptor(QuantizeDescriptor(mode));
    op.m_Inputs = {std::move(input)};
    op.m_Output = output;
    op.m_Oracle = [](const std::vector<RealTensor>& in) { return in[0].m_Values; };
    return op;
}

void CheckExact(const TensorInfo& input, const std::vector<double>& stored, const TensorInfo& output,
                const std::vector<double>& expected, RequantizationMode mode = FixedPoint)
{
    OpCase op = MakeCase(Stored(input, stored), output, mode);
    op.m_Oracle = Expect(output, expected);
    op.m_Steps = 0;
    CheckOp(op);
}

TensorInfo Of(unsigned int count, DataType type, float scale, int32_t zeroPoint = 0)
{
    return TensorInfo(TensorShape({count}), type, scale, zeroPoint);
}

std::pair<double, double> RangeOf(DataType type)
{
    switch (type)
    {
    case DataType::QAsymmU8: return {0, 255};
    case DataType::QSymmS16: return {-32768, 32767};
    default: return {-128, 127};
    }
}

/// A number of steps, x / scale, and what it is rounded to with halves to even.
struct Rounded
{
    double m_Steps;
    double m_Whole;
};

constexpr double Infinity = std::numeric_limits<double>::infinity();

/// Each float type holds half of each number below 1e9 exactly. The larger numbers are infinite in Float16.
constexpr Rounded Halves[] = {{0, 0},
                              {0.5, 0},
                              {-0.5, 0},
                              {1.5, 2},
                              {-1.5, -2},
                              {2.5, 2},
                              {-2.5, -2},
                              {3.5, 4},
                              {-3.5, -4},
                              {4.5, 4},
                              {-4.5, -4},
                              {1.25, 1},
                              {-1.25, -1},
                              {1.75, 2},
                              {-1.75, -2},
                              {42.5, 42},
                              {-42.5, -42},
                              {43.5, 44},
                              {-43.5, -44},
                              {1e9, 1e9},
                              {-1e9, -1e9},
                              {1e30, 1e30},
                              {-1e30, -1e30},
                              {Infinity, Infinity},
                              {-Infinity, -Infinity},
                              {6, 6},
                              {-7, -7}};

} // namespace

ISA_TEST(Quantize, RealNumbers)
{
    for (const DataType from : {DataType::Float32, DataType::Float16, DataType::BFloat16})
    {
        for (const TensorInfo& output : {Of(200, DataType::QAsymmU8, 0.1f, 100), Of(200, DataType::QAsymmS8, 0.1f, -30),
                                         Of(200, DataType::QSymmS8, 0.1f), Of(200, DataType::QSymmS16, 0.0007f)})
        {
            CheckOp(MakeCase(Random(TensorInfo(TensorShape({200}), from), 1, -25, 25), output));
        }
    }
    CheckOp(MakeCase(Random(TensorInfo(TensorShape({0, 3}), DataType::Float32), 1),
                     TensorInfo(TensorShape({0, 3}), DataType::QAsymmS8, 1.0f, 0)));
}

ISA_TEST(Quantize, RoundsHalvesAwayFromZeroAndSaturates)
{
    const TensorInfo floats(TensorShape({9}), DataType::Float32);
    const double inf = std::numeric_limits<double>::infinity();
    CheckExact(floats, {0.25, -0.25, 0.75, -0.75, 1e9, -1e30, inf, -inf, std::nan("")},
               Of(9, DataType::QAsymmS8, 0.5f, 10), {11, 9, 12, 8, 127, -128, -128, -128, -128});
}

ISA_TEST(Quantize, PerChannel)
{
    for (const unsigned int dimension : {0U, 1U, 2U})
    {
        const TensorShape shape({2, 3, 4});
        std::vector<float> scales = {0.01f, 0.05f, 0.2f, 0.03f};
        scales.resize(shape[dimension]);
        for (const DataType type : {DataType::QAsymmS8, DataType::QSymmS8, DataType::QAsymmU8, DataType::QSymmS16})
        {
            TensorInfo output(shape, type, scales, dimension);
            if (type == DataType::QAsymmU8)
            {
                output.SetQuantizationOffsets(std::vector<int32_t>(scales.size(), 100));
            }
            CheckOp(MakeCase(Random(TensorInfo(shape, DataType::Float32), 2, -3, 3), output));
        }
    }
}

ISA_TEST(Quantize, HalfBytes)
{
    const OpCase op = MakeCase(Values(TensorInfo(TensorShape({5}), DataType::Float32), {0.5, -0.5, 9, -9, 1.2}),
                               Of(5, DataType::QSymmS4, 0.5f));
    const std::vector<std::byte> expected = {std::byte{0xF1}, std::byte{0x87}, std::byte{0x02}};
    EXPECT_EQ(RunOp(*GetTestBackends().front(), op, RunVariant()), expected);
}

// As ONNX's QuantizeLinear: the quotient is rounded, then the zero point added, so that an odd one does not matter.
ISA_TEST(Quantize, RoundsHalvesToEvenAndSaturates)
{
    constexpr float Scale = 0.5f;
    for (const auto& [type, zero] : {std::pair(DataType::QAsymmU8, 0),
                                     {DataType::QAsymmU8, 3},
                                     {DataType::QAsymmU8, 128},
                                     {DataType::QAsymmU8, 255},
                                     {DataType::QAsymmS8, -128},
                                     {DataType::QAsymmS8, -1},
                                     {DataType::QAsymmS8, 10},
                                     {DataType::QAsymmS8, 127},
                                     {DataType::QSymmS8, 0},
                                     {DataType::QSymmS16, 0}})
    {
        const auto [low, high] = RangeOf(type);
        // Often enough for whole vectors, at all places in them.
        constexpr unsigned int Rounds = 7;
        std::vector<double> values;
        std::vector<double> expected;
        for (unsigned int i = 0; i < Rounds; ++i)
        {
            for (const Rounded& number : Halves)
            {
                values.push_back(number.m_Steps * double{Scale});
                expected.push_back(std::clamp(number.m_Whole + zero, low, high));
            }
            values.push_back(std::nan(""));
            expected.push_back(low);
        }
        const auto count = static_cast<unsigned int>(values.size());
        for (const DataType from : {DataType::Float32, DataType::Float16, DataType::BFloat16})
        {
            CheckExact(TensorInfo({count}, from), values, Of(count, type, Scale, zero), expected, HalfEven);
        }
    }
}

// Scale 1, and what lies next to a half.
ISA_TEST(Quantize, RoundsHalvesToEvenInFloat32)
{
    const double below = std::nextafter(0.5f, 0.0f);
    const double above = std::nextafter(0.5f, 1.0f);
    const TensorInfo floats(TensorShape({10}), DataType::Float32);
    const std::vector<double> values = {below, -below, above, -above, 126.5, 127.5, -127.5, -128.5, 32766.5, -32768.5};
    CheckExact(floats, values, Of(10, DataType::QSymmS8, 1.0f), {0, 0, 1, -1, 126, 127, -128, -128, 127, -128},
               HalfEven);
    CheckExact(floats, values, Of(10, DataType::QSymmS16, 1.0f), {0, 0, 1, -1, 126, 128, -128, -128, 32766, -32768},
               HalfEven);
    // The quotients in Float32 are 1.5 and 2.5, though those of the three numbers themselves are not.
    CheckExact(TensorInfo(TensorShape({4}), DataType::Float32), {0.15f, -0.15f, 0.25f, -0.25f},
               Of(4, DataType::QAsymmS8, 0.1f, 5), {7, 3, 7, 3}, HalfEven);
}

ISA_TEST(Quantize, RoundsHalvesToEvenPerChannel)
{
    for (const unsigned int dimension : {0U, 1U, 2U})
    {
        const TensorShape shape({2, 3, 4});
        std::vector<float> scales = {0.5f, 1.0f, 4.0f, 0.25f};
        scales.resize(shape[dimension]);
        const unsigned int inner = dimension == 0 ? 12 : dimension == 1 ? 4 : 1;
        std::vector<double> values;
        std::vector<double> whole;
        for (unsigned int i = 0; i < shape.GetNumElements(); ++i)
        {
            const int steps = static_cast<int>(i) - 12; // and a half
            values.push_back((steps + 0.5) * double{scales[i / inner % shape[dimension]]});
            whole.push_back(steps % 2 == 0 ? steps : steps + 1);
        }
        for (const DataType type : {DataType::QAsymmS8, DataType::QSymmS8, DataType::QAsymmU8, DataType::QSymmS16})
        {
            const int32_t zero = type == DataType::QAsymmU8 ? 7 : 0;
            TensorInfo output(shape, type, scales, dimension);
            if (zero != 0)
            {
                output.SetQuantizationOffsets(std::vector<int32_t>(scales.size(), zero));
            }
            std::vector<double> expected;
            for (const double number : whole)
            {
                expected.push_back(std::max(number + zero, RangeOf(type).first));
            }
            CheckExact(TensorInfo(shape, DataType::Float32), values, output, expected, HalfEven);
        }
    }
}

ISA_TEST(Quantize, HalfBytesWithHalvesToEven)
{
    const OpCase op = MakeCase(
        Values(TensorInfo(TensorShape({8}), DataType::Float32), {0.25, -0.25, 0.75, -0.75, 1.25, 9, -9, std::nan("")}),
        Of(8, DataType::QSymmS4, 0.5f), HalfEven);
    // 0, 0, 2, -2, 2, 7, -8, -8
    const std::vector<std::byte> expected = {std::byte{0x00}, std::byte{0xE2}, std::byte{0x72}, std::byte{0x88}};
    EXPECT_EQ(RunOp(*GetTestBackends().front(), op, RunVariant()), expected);
}

// Between quantizations: the real number is divided by the scale of the output. Halves arise where that is twice the
// scale of the input.
ISA_TEST(Quantize, RequantizesWithHalvesToEven)
{
    CheckExact(Of(8, DataType::QAsymmU8, 0.5f, 10), {0, 7, 9, 10, 11, 13, 15, 255}, Of(8, DataType::QAsymmS8, 1.0f, -3),
               {-8, -5, -3, -3, -3, -1, -1, 119}, HalfEven);
    CheckExact(Of(7, DataType::QAsymmS8, 0.5f, -1), {-128, -4, -2, -1, 0, 2, 127}, Of(7, DataType::QAsymmU8, 1.0f, 60),
               {0, 58, 60, 60, 60, 62, 124}, HalfEven);
    CheckExact(Of(4, DataType::QSymmS8, 4.0f), {-128, -1, 1, 127}, Of(4, DataType::QAsymmS8, 1.0f, 1),
               {-128, -3, 5, 127}, HalfEven);
    CheckExact(Of(5, DataType::QAsymmS8, 0.5f, 127), {-128, -1, 0, 126, 127}, Of(5, DataType::QSymmS16, 0.25f),
               {-510, -256, -254, -2, 0}, HalfEven);
    CheckExact(Of(5, DataType::QAsymmU8, 0.5f, 128), {0, 127, 128, 129, 255}, Of(5, DataType::QSymmS16, 0.001f),
               {-32768, -500, 0, 500, 32767}, HalfEven);
    CheckExact(Of(9, DataType::QSymmS16, 0.5f), {-32768, -201, -3, -1, 1, 3, 309, 311, 32767},
               Of(9, DataType::QAsymmU8, 1.0f, 100), {0, 0, 98, 100, 100, 102, 254, 255, 255}, HalfEven);
    CheckExact(Of(7, DataType::QSymmS16, 0.5f), {-32768, -3, -1, 1, 3, 5, 32767}, Of(7, DataType::QSymmS16, 1.0f),
               {-16384, -2, 0, 0, 2, 2, 16384}, HalfEven);
    CheckExact(Of(4, DataType::QSymmS16, 1.0f), {-32768, -3, 3, 32767}, Of(4, DataType::QSymmS16, 0.25f),
               {-32768, -12, 12, 32767}, HalfEven);
    CheckExact(Of(6, DataType::Signed32, 0.5f), {-2147483648.0, -3, -1, 1, 3, 2147483647.0},
               Of(6, DataType::QAsymmS8, 1.0f, 1), {-128, -1, 1, 1, 3, 127}, HalfEven);
    CheckExact(Of(6, DataType::Signed32, 0.5f, 2), {-2147483648.0, -1, 1, 3, 5, 2147483647.0},
               Of(6, DataType::QSymmS16, 1.0f), {-32768, -2, 0, 0, 2, 32767}, HalfEven);
}

ISA_TEST(Quantize, HalvesToEvenNeedOutputsOfAtMost16Bits)
{
    for (const TensorInfo& input :
         {Of(5, DataType::QAsymmS8, 0.5f, 3), Of(5, DataType::QSymmS16, 0.5f), Of(5, DataType::Signed32, 0.5f)})
    {
        CheckUnsupported(MakeCase(Random(input, 1, -2, 2), Of(5, DataType::Signed32, 0.25f), HalfEven),
                         SupportCode::UnsupportedType, "outputs of at most 16 bits");
    }
}

// To integers of 32 bits: exact results below.
ISA_TEST(Quantize, RequantizesWithinAStep)
{
    const TensorInfo inputs[] = {Of(300, DataType::QAsymmU8, 0.1f, 100), Of(300, DataType::QAsymmS8, 0.1f, -30),
                                 Of(300, DataType::QSymmS8, 0.1f), Of(300, DataType::QSymmS16, 0.0007f),
                                 Of(300, DataType::Signed32, 1e-7f, 11)};
    const TensorInfo outputs[] = {Of(300, DataType::QAsymmU8, 0.13f, 90), Of(300, DataType::QAsymmS8, 0.07f, 3),
                                  Of(300, DataType::QSymmS8, 0.2f), Of(300, DataType::QSymmS16, 0.0011f)};
    for (const TensorInfo& input : inputs)
    {
        for (const TensorInfo& output : outputs)
        {
            const bool fromIntegers = input.GetDataType() == DataType::Signed32;
            OpCase op = MakeCase(fromIntegers ? Random(input, 4, -10, 10) : Random(input, 3), output);
            op.m_Oracle = [](const std::vector<RealTensor>& in) { return Map(in[0], [](double x) { return x; }); };
            CheckOp(op);
        }
    }
}

// Results of TFLite's reference kernels.
ISA_TEST(Quantize, RequantizedResultsOfTfLite)
{
    const std::vector<double> shorts = {-32768, -20000, -5000, -300, -1, 0, 1, 300, 5000, 20000, 32767};
    CheckExact(Of(10, DataType::QAsymmS8, 0.1f, 10), {-128, -100, -50, -20, -10, 0, 10, 20, 50, 127},
               Of(10, DataType::QAsymmU8, 0.07f, 100), {0, 0, 14, 57, 71, 86, 100, 114, 157, 255});
    CheckExact(Of(5, DataType::QAsymmU8, 0.1f, 10), {0, 3, 100, 200, 255}, Of(5, DataType::QAsymmS8, 0.17f, -100),
               {-106, -104, -47, 12, 44});
    CheckExact(Of(11, DataType::QSymmS16, 0.001f), shorts, Of(11, DataType::QAsymmS8, 0.17f, -10),
               {-128, -128, -39, -12, -10, -10, -10, -8, 19, 108, 127});
    CheckExact(Of(6, DataType::Signed32, 0.0001f), {-1000000, -777, 0, 1, 12345, 10000000},
               Of(6, DataType::QSymmS16, 0.001f), {-32768, -78, 0, 0, 1235, 32767});
    CheckExact(Of(11, DataType::QSymmS16, 0.001f), shorts, Of(11, DataType::Signed32, 0.0003f),
               {-109227, -66667, -16667, -1000, -3, 0, 3, 1000, 16667, 66667, 109223});
    CheckExact(Of(11, DataType::QSymmS16, 0.001f), shorts, Of(11, DataType::QSymmS16, 0.0017f),
               {-19275, -11765, -2941, -176, -1, 0, 1, 176, 2941, 11765, 19275});
    // The same scale, zero points 128 apart: the other signedness.
    CheckExact(Of(3, DataType::QAsymmS8, 0.3f, -5), {-128, 0, 127}, Of(3, DataType::QAsymmU8, 0.3f, 123),
               {0, 128, 255});
}

ISA_TEST(Quantize, ZeroPointsMayLieOutsideOfTheType)
{
    const TensorInfo floats(TensorShape({4}), DataType::Float32);
    CheckExact(floats, {-150, -128.5, 0, 21.5}, Of(4, DataType::QAsymmU8, 0.5f, 300), {0, 43, 255, 255});
    CheckExact(floats, {-150, 21.5, 22, 149}, Of(4, DataType::QAsymmU8, 0.5f, -43), {0, 0, 1, 255});
}

ISA_TEST(Quantize, RefusesWhatDoesNotFit)
{
    const TestTensor floats = Random(TensorInfo(TensorShape({2, 3}), DataType::Float32), 1);
    CheckUnsupported(MakeCase(floats, TensorInfo(TensorShape({2, 3}), DataType::QAsymmS8)),
                     SupportCode::UnsupportedParameters, "scale");
    CheckUnsupported(MakeCase(floats, TensorInfo(TensorShape({2, 3}), DataType::QAsymmS8, -1.0f)),
                     SupportCode::UnsupportedParameters, "positive and finite");
    CheckUnsupported(
        MakeCase(floats, TensorInfo(TensorShape({2, 3}), DataType::QSymmS8, std::vector<float>{1, 2, 3}, 0)),
        SupportCode::UnsupportedParameters, "quantization dimension");
    CheckUnsupported(MakeCase(floats, TensorInfo(TensorShape({2, 3}), DataType::Signed32)),
                     SupportCode::UnsupportedType, "output 0");
    CheckUnsupported(MakeCase(Random(TensorInfo(TensorShape({2, 3}), DataType::Signed64), 1),
                              TensorInfo(TensorShape({2, 3}), DataType::QAsymmS8, 1.0f, 0)),
                     SupportCode::UnsupportedType, "input 0");
}

} // namespace tenon::test::quantize_test
