// SPDX-License-Identifier: Apache-2.0
// Activation: every function on every type, TFLite's exact results on quantized tensors, and what is refused.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace tenon::test::activation_test
{

namespace
{

using Function = ActivationFunction;

struct Row
{
    const char* m_Name;
    ActivationDescriptor m_Descriptor;
    double m_Low; ///< of the inputs
    double m_High;
    double m_OutputLow; ///< real range of quantized outputs
    double m_OutputHigh;
    std::function<double(double)> m_Real;
};

double Gelu(double x)
{
    return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}

double GeluByTanH(double x)
{
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

const std::vector<Row>& GetRows()
{
    using D = ActivationDescriptor;
    static const std::vector<Row> rows = {
        {"Sigmoid", D(Function::Sigmoid), -8, 8, 0, 1, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
        {"TanH", D(Function::TanH, 1, 1), -4, 4, -1, 1, [](double x) { return std::tanh(x); }},
        {"scaled TanH", D(Function::TanH, 2.5f, 0.5f), -4, 4, -2.5, 2.5,
         [](double x) { return 2.5 * std::tanh(0.5 * x); }},
        {"Linear", D(Function::Linear, 0.75f, -1), -4, 4, -4, 2, [](double x) { return 0.75 * x - 1; }},
        {"ReLu", D(Function::ReLu), -4, 4, 0, 4, [](double x) { return std::max(0.0, x); }},
        {"ReLu6", D(Function::BoundedReLu, 6, 0), -9, 9, 0, 6,
         [](double x) { return std::min(6.0, std::max(0.0, x)); }},
        {"ReLu of -1 to 1", D(Function::BoundedReLu, 1, -1), -2, 2, -1, 1,
         [](double x) { return std::min(1.0, std::max(-1.0, x)); }},
        {"SoftReLu", D(Function::SoftReLu), -4, 6, 0, 6, [](double x) { return std::log1p(std::exp(x)); }},
        {"LeakyReLu", D(Function::LeakyReLu, 0.25f), -4, 4, -1, 4, [](double x) { return x > 0 ? x : 0.25 * x; }},
        {"LeakyReLu that falls", D(Function::LeakyReLu, -0.5f), -4, 4, 0, 4,
         [](double x) { return x > 0 ? x : -0.5 * x; }},
        {"Abs", D(Function::Abs), -4, 4, 0, 4, [](double x) { return std::abs(x); }},
        {"Sqrt", D(Function::Sqrt), 0, 16, 0, 4, [](double x) { return std::sqrt(x); }},
        {"Square", D(Function::Square), -3, 3, 0, 9, [](double x) { return x * x; }},
        {"Elu", D(Function::Elu, 1.5f), -4, 4, -1.5, 4, [](double x) { return x >= 0 ? x : 1.5 * std::expm1(x); }},
        {"HardSwish", D(Function::HardSwish), -5, 6, -0.5, 6,
         [](double x) { return x * std::min(6.0, std::max(0.0, x + 3.0)) / 6.0; }},
        {"Gelu", D(Function::Gelu), -4, 4, -0.25, 4, Gelu},
        {"Gelu by tanh", D(Function::Gelu, 1), -4, 4, -0.25, 4, GeluByTanH},
        {"SiLu", D(Function::Swish, 1), -6, 6, -0.3, 6, [](double x) { return x / (1.0 + std::exp(-x)); }},
        {"Swish", D(Function::Swish, 1.702f), -4, 4, -0.2, 4,
         [](double x) { return x / (1.0 + std::exp(-static_cast<double>(1.702f) * x)); }},
        {"Mish", D(Function::Mish), -6, 6, -0.35, 6, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    };
    return rows;
}

OpCase MakeCase(const Row& row, TestTensor input, const TensorInfo& output)
{
    OpCase op;
    op.m_Name = std::string(row.m_Name) + " of " + input.m_Info.ToString();
    op.m_Type = LayerType::Activation;
    op.m_Descriptor = MakeDescriptor(row.m_Descriptor);
    op.m_Inputs = {std::move(input)};
    op.m_Output = output;
    op.m_Oracle = [real = row.m_Real](const std::vector<RealTensor>& in) { return Map(in[0], real); };
    return op;
}

/// An info whose stored values span [low, high].
TensorInfo Spanning(const TensorShape& shape, DataType type, double low, double high)
{
    if (type == DataType::QSymmS16)
    {
        return TensorInfo(shape, type, static_cast<float>(std::max(-low, high) / 32767.0));
    }
    const double scale = (high - low) / 255.0;
    const double zero = std::round(-low / scale) - (type == DataType::QAsymmS8 ? 128.0 : 0.0);
    return TensorInfo(shape, type, static_cast<float>(scale), static_cast<int32_t>(zero));
}

/// Stored values in, stored values out, nothing off.
void CheckExact(const ActivationDescriptor& descriptor, const TensorInfo& input, const std::vector<double>& stored,
                const TensorInfo& output, const std::vector<double>& expected)
{
    OpCase op = MakeCase({"exact", descriptor, 0, 0, 0, 0, nullptr}, Stored(input, stored), output);
    op.m_Oracle = Expect(output, expected);
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    CheckOp(op);
}

TensorInfo Bytes(unsigned int count, float scale, int32_t zeroPoint)
{
    return TensorInfo(TensorShape({count}), DataType::QAsymmS8, scale, zeroPoint);
}

TensorInfo Shorts(unsigned int count, float scale)
{
    return TensorInfo(TensorShape({count}), DataType::QSymmS16, scale);
}

} // namespace

ISA_TEST(Activation, FloatTypes)
{
    for (const Row& row : GetRows())
    {
        for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16})
        {
            const TensorInfo info(TensorShape({3, 1, 47}), type);
            OpCase op = MakeCase(row, Random(info, 11, row.m_Low, row.m_High), info);
            op.m_Relative = std::max(GetRounding(type), 4e-6); // a few roundings of float
            op.m_Absolute = op.m_Relative;
            CheckOp(op);
        }
    }
}

ISA_TEST(Activation, FloatsFarOut)
{
    const double inf = std::numeric_limits<double>::infinity();
    for (const Row& row : GetRows())
    {
        const Function function = row.m_Descriptor.m_Function;
        if (function == Function::Sqrt || function == Function::Square || function == Function::Linear)
        {
            continue;
        }
        const TensorInfo info(TensorShape({4}), DataType::Float32);
        const double far = function == Function::HardSwish || function == Function::Gelu ? 1e3 : inf;
        CheckOp(MakeCase(row, Values(info, {far, -far, 200, -200}), info));
    }
}

ISA_TEST(Activation, ShapesOfNoElementAndOfOne)
{
    for (const TensorShape& shape : {TensorShape(Dimensionality::Scalar), TensorShape({0, 4})})
    {
        const TensorInfo info(shape, DataType::Float32);
        CheckOp(MakeCase(GetRows().front(), Random(info, 1), info));
        const TensorInfo bytes(shape, DataType::QAsymmS8, 0.5f, 0);
        CheckOp(MakeCase(GetRows().front(), Random(bytes, 1), Spanning(shape, DataType::QAsymmS8, 0, 1)));
    }
}

ISA_TEST(Activation, QuantizedTypesAreWithinAStep)
{
    for (const Row& row : GetRows())
    {
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
        {
            const TensorShape shape({4, 64});
            const TensorInfo input = Spanning(shape, type, row.m_Low, row.m_High);
            TestTensor all = AllBytes(Spanning(TensorShape({256}), type, row.m_Low, row.m_High));
            all.m_Info = input;
            if (row.m_Descriptor.m_Function == Function::Sqrt)
            {
                all = Random(input, 3, row.m_Low, row.m_High);
            }
            OpCase op = MakeCase(row, all, Spanning(shape, type, row.m_OutputLow, row.m_OutputHigh));
            // TFLite's 16-bit arithmetic is a little less exact than the tables of the others.
            op.m_Steps = row.m_Descriptor.m_Function == Function::HardSwish ? 2 : 1;
            CheckOp(op);
        }
    }
}

ISA_TEST(Activation, ShortsAreCloseToReal)
{
    for (const Row& row : GetRows())
    {
        const TensorShape shape({500});
        OpCase op =
            MakeCase(row, Random(Spanning(shape, DataType::QSymmS16, row.m_Low, row.m_High), 5, row.m_Low, row.m_High),
                     Spanning(shape, DataType::QSymmS16, row.m_OutputLow, row.m_OutputHigh));
        // TFLite has tables: for Gelu straight lines over steps of 1/512 of the input's range, finer ones for TanH.
        const bool isTanH = row.m_Descriptor.m_Function == Function::TanH && row.m_Descriptor.m_A == 1.0f;
        op.m_Steps = row.m_Descriptor.m_Function == Function::Gelu ? 70 : isTanH ? 3 : 1;
        CheckOp(op);
    }
}

ISA_TEST(Activation, IntegersAreClamped)
{
    const auto check = [](DataType type, const ActivationDescriptor& descriptor, const std::vector<double>& in,
                          const std::vector<double>& out)
    {
        const TensorInfo info(TensorShape({static_cast<unsigned int>(in.size())}), type);
        CheckExact(descriptor, info, in, info, out);
    };
    const ActivationDescriptor relu6(Function::BoundedReLu, 6, 0);
    for (const DataType type : {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        check(type, ActivationDescriptor(Function::ReLu), {-128, -1, 0, 1, 127}, {0, 0, 0, 1, 127});
        check(type, relu6, {-128, -1, 0, 6, 7, 127}, {0, 0, 0, 6, 6, 6});
        check(type, ActivationDescriptor(Function::BoundedReLu, 1, -1), {-128, -1, 0, 1, 2}, {-1, -1, 0, 1, 1});
        check(type, ActivationDescriptor(Function::BoundedReLu, 2.5f, -2.5f), {-3, -2, 0, 2, 3}, {-2, -2, 0, 2, 2});
        check(type, ActivationDescriptor(Function::BoundedReLu, 1e30f, -1e30f), {-128, 127}, {-128, 127});
    }
    check(DataType::Unsigned8, relu6, {0, 5, 6, 7, 255}, {0, 5, 6, 6, 6});
}

ISA_TEST(Activation, ReLuOfOneQuantizationIsAnExactClamp)
{
    const TensorInfo info = Bytes(256, 0.05f, -20);
    OpCase op = MakeCase({"ReLu6", ActivationDescriptor(Function::BoundedReLu, 6, 0), 0, 0, 0, 0,
                          [](double x) { return std::min(6.0, std::max(0.0, x)); }},
                         AllBytes(info), info);
    op.m_Steps = 0;
    CheckOp(op);
}

// Results of TFLite's reference kernels.
ISA_TEST(Activation, QuantizedResultsOfTfLite)
{
    using D = ActivationDescriptor;
    const std::vector<double> bytes = {-128, -100, -50, -20, -10, 0, 10, 20, 50, 127};
    CheckExact(D(Function::BoundedReLu, 6, 0), Bytes(10, 0.1f, 10), bytes, Bytes(10, 0.0313f, -100),
               {-100, -100, -100, -100, -100, -100, -100, -68, 28, 92});
    CheckExact(D(Function::ReLu), Bytes(10, 0.1f, 10), bytes, Bytes(10, 0.07f, -100),
               {-100, -100, -100, -100, -100, -100, -100, -86, -43, 67});
    CheckExact(D(Function::TanH, 1, 1), Bytes(10, 0.05f, 3), bytes, Bytes(10, 1.0f / 128.0f, 0),
               {-128, -128, -127, -105, -73, -19, 43, 88, 126, 127});
    CheckExact(D(Function::Sigmoid), Bytes(10, 0.05f, 3), bytes, Bytes(10, 1.0f / 256.0f, -128),
               {-128, -127, -111, -66, -40, -10, 22, 51, 106, 127});
    CheckExact(D(Function::HardSwish), Bytes(10, 0.07f, 3), bytes, Bytes(10, 0.05f, -20),
               {-20, -20, -20, -27, -26, -22, -14, -3, 46, 127});
    CheckExact(D(Function::LeakyReLu, 0.3f), Bytes(10, 0.07f, 3), bytes, Bytes(10, 0.05f, -20),
               {-75, -64, -43, -30, -26, -22, -10, 4, 46, 127});
    // Bounds outside of the output's type leave its nearest value, whether data are rescaled or not.
    for (const float scale : {0.01f, 0.02f})
    {
        CheckExact(D(Function::BoundedReLu, 6, 3), Bytes(10, 0.01f, 0), bytes, Bytes(10, scale, 0),
                   std::vector<double>(10, 127));
        CheckExact(D(Function::BoundedReLu, -3, -6), Bytes(10, 0.01f, 0), bytes, Bytes(10, scale, 0),
                   std::vector<double>(10, -128));
    }
    for (const float approximate : {0.0f, 1.0f})
    {
        CheckExact(D(Function::Gelu, approximate), Bytes(10, 0.04f, 3), bytes, Bytes(10, 0.02f, -100),
                   {-100, -100, -102, -108, -108, -103, -91, -74, -9, 127});
    }
}

ISA_TEST(Activation, ShortResultsOfTfLite)
{
    using D = ActivationDescriptor;
    const std::vector<double> shorts = {-32768, -20000, -5000, -300, -1, 0, 1, 300, 5000, 20000, 32767};
    const TensorInfo output = Shorts(11, 1.0f / 32768.0f);
    for (const float scale : {0.0001f, 0.0002f})
    {
        CheckExact(D(Function::BoundedReLu, 10, 7), Shorts(11, 0.0001f), shorts, Shorts(11, scale),
                   std::vector<double>(11, 32767));
        CheckExact(D(Function::BoundedReLu, -7, -10), Shorts(11, 0.0001f), shorts, Shorts(11, scale),
                   std::vector<double>(11, -32768));
    }
    CheckExact(D(Function::TanH, 1, 1), Shorts(11, 0.0003f), shorts, output,
               {-32767, -32767, -29660, -2942, -11, 0, 11, 2942, 29660, 32767, 32767});
    CheckExact(D(Function::Sigmoid), Shorts(11, 0.0003f), shorts, output,
               {2, 81, 5978, 15647, 16381, 16384, 16387, 17121, 26790, 32687, 32766});
    CheckExact(D(Function::TanH, 1, 1), Shorts(11, 1.0f / 4096.0f), shorts, output,
               {-32767, -32764, -27520, -2396, -8, 0, 8, 2396, 27520, 32764, 32767});
    CheckExact(D(Function::Sigmoid), Shorts(11, 1.0f / 4096.0f), shorts, output,
               {11, 247, 7465, 15784, 16382, 16384, 16386, 16984, 25303, 32521, 32757});
    // A scale that is close enough to 2^-15 for TFLite.
    CheckExact(D(Function::TanH, 1, 1), Shorts(11, 0.0003f), shorts, Shorts(11, 1.0f / 32767.0f),
               {-32767, -32767, -29660, -2942, -11, 0, 11, 2942, 29660, 32767, 32767});
    CheckExact(D(Function::LeakyReLu, 0.3f), Shorts(11, 0.0003f), shorts, Shorts(11, 0.0002f),
               {-14746, -9000, -2250, -135, -1, 0, 2, 450, 7500, 30000, 32767});
}

ISA_TEST(Activation, RefusesWhatDoesNotFit)
{
    const auto make = [](const ActivationDescriptor& descriptor, const TensorInfo& input, const TensorInfo& output) {
        return MakeCase({"refused", descriptor, 0, 0, 0, 0, nullptr}, Random(input, 1, 0, 4), output);
    };
    const ActivationDescriptor sigmoid(Function::Sigmoid);
    const TensorInfo integers(TensorShape({4}), DataType::Signed32);
    CheckUnsupported(make(sigmoid, integers, integers), SupportCode::UnsupportedParameters, "ReLu");
    CheckUnsupported(make(sigmoid, Bytes(4, 0.5f, 0), Shorts(4, 0.5f)), SupportCode::UnsupportedType, "output 0");

    const ActivationDescriptor notANumber(Function::BoundedReLu, std::nanf(""), 0);
    CheckUnsupported(make(notANumber, integers, integers), SupportCode::UnsupportedParameters, "bounds");
    CheckUnsupported(make(notANumber, Bytes(4, 0.5f, 0), Bytes(4, 0.5f, 0)), SupportCode::UnsupportedParameters,
                     "bounds");
    CheckUnsupported(make(sigmoid, Bytes(4, 0.0f, 0), Bytes(4, 0.5f, 0)), SupportCode::UnsupportedParameters,
                     "positive and finite");
    const ActivationDescriptor noSlope(Function::LeakyReLu, std::nanf(""));
    CheckUnsupported(make(noSlope, Bytes(4, 0.5f, 0), Bytes(4, 0.5f, 0)), SupportCode::UnsupportedParameters, "slope");
    const TensorInfo perChannel(TensorShape({4}), DataType::QSymmS16, std::vector<float>{1, 2, 3, 4}, 0);
    CheckUnsupported(make(ActivationDescriptor(Function::ReLu), perChannel, perChannel),
                     SupportCode::UnsupportedParameters, "scale per channel");
}

} // namespace tenon::test::activation_test
