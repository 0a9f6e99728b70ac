// SPDX-License-Identifier: Apache-2.0
// Quantize: real numbers to stored ones per tensor and per channel, stored ones to another quantization, saturation,
// and what is refused.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace tenon::test::quantize_test
{

namespace
{

OpCase MakeCase(TestTensor input, const TensorInfo& output)
{
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + output.ToString();
    op.m_Type = LayerType::Quantize;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Inputs = {std::move(input)};
    op.m_Output = output;
    op.m_Oracle = [](const std::vector<RealTensor>& in) { return in[0].m_Values; };
    return op;
}

void CheckExact(const TensorInfo& input, const std::vector<double>& stored, const TensorInfo& output,
                const std::vector<double>& expected)
{
    OpCase op = MakeCase(Stored(input, stored), output);
    op.m_Oracle = Expect(output, expected);
    op.m_Steps = 0;
    CheckOp(op);
}

TensorInfo Of(unsigned int count, DataType type, float scale, int32_t zeroPoint = 0)
{
    return TensorInfo(TensorShape({count}), type, scale, zeroPoint);
}

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
