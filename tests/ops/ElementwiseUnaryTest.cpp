// SPDX-License-Identifier: Apache-2.0
// ElementwiseUnary: every operation and type, TFLite's exact results on quantized tensors, and what is refused.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::test::elementwise_unary_test
{

namespace
{

struct Row
{
    UnaryOperation m_Operation;
    const char* m_Name;
    double m_Low; ///< of the inputs
    double m_High;
    double m_Largest; ///< of the magnitudes of quantized outputs
    double (*m_Real)(double);
};

const Row Rows[] = {
    {UnaryOperation::Abs, "Abs", -3, 3, 3, [](double x) { return std::abs(x); }},
    {UnaryOperation::Exp, "Exp", -3, 2, 7.5, [](double x) { return std::exp(x); }},
    {UnaryOperation::Sqrt, "Sqrt", 0, 9, 3, [](double x) { return std::sqrt(x); }},
    {UnaryOperation::Rsqrt, "Rsqrt", 0.5, 9, 1.5, [](double x) { return 1.0 / std::sqrt(x); }},
    {UnaryOperation::Neg, "Neg", -3, 3, 3, [](double x) { return -x; }},
    {UnaryOperation::Log, "Log", 0.25, 9, 2.5, [](double x) { return std::log(x); }},
    {UnaryOperation::Sin, "Sin", -3, 3, 1, [](double x) { return std::sin(x); }},
    {UnaryOperation::Ceil, "Ceil", -3, 3, 3, [](double x) { return std::ceil(x); }},
    {UnaryOperation::Cos, "Cos", -3, 3, 1, [](double x) { return std::cos(x); }},
    {UnaryOperation::Round, "Round", -3, 3, 3, [](double x) { return std::nearbyint(x); }},
    {UnaryOperation::Sign, "Sign", -3, 3, 1, [](double x) { return static_cast<double>((x > 0) - (x < 0)); }},
    {UnaryOperation::Erf, "Erf", -3, 3, 1, [](double x) { return std::erf(x); }},
    {UnaryOperation::Tan, "Tan", -1.25, 1.25, 3, [](double x) { return std::tan(x); }},
    {UnaryOperation::Asin, "Asin", -1, 1, 1.6, [](double x) { return std::asin(x); }},
    {UnaryOperation::Acos, "Acos", -1, 1, 3.2, [](double x) { return std::acos(x); }},
    {UnaryOperation::Atan, "Atan", -9, 9, 1.6, [](double x) { return std::atan(x); }},
    {UnaryOperation::Sinh, "Sinh", -3, 3, 10.1, [](double x) { return std::sinh(x); }},
    {UnaryOperation::Cosh, "Cosh", -3, 3, 10.1, [](double x) { return std::cosh(x); }},
    {UnaryOperation::Asinh, "Asinh", -9, 9, 2.9, [](double x) { return std::asinh(x); }},
    {UnaryOperation::Acosh, "Acosh", 1.25, 9, 2.9, [](double x) { return std::acosh(x); }},
    {UnaryOperation::Atanh, "Atanh", -0.9375, 0.9375, 1.75, [](double x) { return std::atanh(x); }},
};

OpCase MakeCase(UnaryOperation operation, TestTensor input, const TensorInfo& output)
{
    OpCase op;
    op.m_Type = LayerType::ElementwiseUnary;
    op.m_Descriptor = MakeDescriptor(ElementwiseUnaryDescriptor(operation));
    op.m_Output = output;
    for (const Row& row : Rows)
    {
        if (row.m_Operation == operation)
        {
            op.m_Name = std::string(row.m_Name) + " of " + input.m_Info.ToString();
            op.m_Oracle = [real = row.m_Real](const std::vector<RealTensor>& in) { return Map(in[0], real); };
        }
    }
    op.m_Inputs = {std::move(input)};
    return op;
}

void CheckExact(UnaryOperation operation, const TensorInfo& input, const std::vector<double>& stored,
                const TensorInfo& output, const std::vector<double>& expected)
{
    OpCase op = MakeCase(operation, Stored(input, stored), output);
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

ISA_TEST(ElementwiseUnary, FloatTypes)
{
    for (const Row& row : Rows)
    {
        for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
        {
            for (const TensorShape& shape :
                 {TensorShape({3, 41}), TensorShape(Dimensionality::Scalar), TensorShape({2, 0})})
            {
                const TensorInfo info(shape, type);
                OpCase op = MakeCase(row.m_Operation, Random(info, 3, row.m_Low, row.m_High), info);
                op.m_Relative = op.m_Absolute = GetRounding(type);
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(ElementwiseUnary, Integers)
{
    for (const DataType type : {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        const TensorInfo info(TensorShape({5}), type);
        CheckExact(UnaryOperation::Abs, info, {-127, -1, 0, 1, 127}, info, {127, 1, 0, 1, 127});
        CheckExact(UnaryOperation::Neg, info, {-127, -1, 0, 1, 127}, info, {127, 1, 0, -1, -127});
        CheckExact(UnaryOperation::Sign, info, {-127, -1, 0, 1, 127}, info, {-1, -1, 0, 1, 1});
    }
    for (const DataType type : {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        const TensorInfo info(TensorShape({5}), type);
        CheckExact(UnaryOperation::Sign, info, {-127, -1, 0, 1, 127}, info, {-1, -1, 0, 1, 1});
    }
    const TensorInfo one(TensorShape({1}), DataType::Signed32);
    CheckExact(UnaryOperation::Abs, one, {-2147483648.0}, one, {-2147483648.0});
    CheckExact(UnaryOperation::Neg, one, {-2147483648.0}, one, {-2147483648.0});
}

ISA_TEST(ElementwiseUnary, RoundTakesHalvesToEven)
{
    const TensorInfo info(TensorShape({6}), DataType::Float32);
    CheckExact(UnaryOperation::Round, info, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5}, info, {-2, -2, -0.0, 0, 2, 2});
}

ISA_TEST(ElementwiseUnary, SignOfNanAndZeros)
{
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    const TensorInfo info(TensorShape({4}), DataType::Float32);
    OpCase op = MakeCase(UnaryOperation::Sign, Stored(info, {NaN, -0.0, 1e-40, -1e-40}), info);
    op.m_Relative = op.m_Absolute = 0;
    op.m_Oracle = Expect(info, {NaN, 0.0, 1.0, -1.0});
    CheckOp(op);
}

ISA_TEST(ElementwiseUnary, LogicalNot)
{
    const TensorInfo info(TensorShape({4}), DataType::Boolean);
    CheckExact(UnaryOperation::LogicalNot, info, {0, 1, 1, 0}, info, {1, 0, 0, 1});
    CheckExact(UnaryOperation::LogicalNot, info, {0, 2, 255, 0}, info, {1, 0, 0, 1});
}

ISA_TEST(ElementwiseUnary, QuantizedTypesAreWithinAStep)
{
    for (const Row& row : Rows)
    {
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
        {
            const int32_t low = type == DataType::QAsymmU8 ? 0 : -128;
            // Where only positive numbers make sense, zero is the lowest value.
            const int32_t zero = row.m_Low < 0 ? low + 100 : low;
            const TensorInfo input(TensorShape({300}), type, static_cast<float>(row.m_High / 155.0), zero);
            const TensorInfo output(TensorShape({300}), type, static_cast<float>(row.m_Largest / 120.0), low + 128);
            CheckOp(MakeCase(row.m_Operation, Random(input, 9, row.m_Low, row.m_High), output));
        }
    }
}

ISA_TEST(ElementwiseUnary, ShortsAreCloseToReal)
{
    for (const Row& row : Rows)
    {
        const double largest = std::max(-row.m_Low, row.m_High);
        const TensorInfo input = Shorts(400, static_cast<float>(largest / 32767.0));
        OpCase op = MakeCase(row.m_Operation, Random(input, 4, row.m_Low, row.m_High),
                             Shorts(400, static_cast<float>(row.m_Largest / 32767.0)));
        // Straight lines over steps of 1/512 of the input's range, as TFLite has them.
        const bool isTable = row.m_Operation == UnaryOperation::Exp || row.m_Operation == UnaryOperation::Log ||
                             row.m_Operation == UnaryOperation::Rsqrt;
        op.m_Steps = isTable ? 40 : 1;
        CheckOp(op);
    }
}

// Results of TFLite's reference kernels.
ISA_TEST(ElementwiseUnary, QuantizedResultsOfTfLite)
{
    const std::vector<double> bytes = {-128, -60, -1, 0, 1, 40, 100, 127};
    CheckExact(UnaryOperation::Exp, Bytes(8, 0.02f, 5), bytes, Bytes(8, 0.06f, -128),
               {-127, -123, -113, -113, -113, -94, -17, 63});
    CheckExact(UnaryOperation::Log, Bytes(8, 0.05f, -128), bytes, Bytes(8, 0.03f, -20),
               {-128, 21, 42, 42, 42, 51, 61, 65});
    CheckExact(UnaryOperation::Rsqrt, Bytes(7, 0.05f, -60), {-60, -1, 0, 1, 40, 100, 127}, Bytes(7, 0.02f, -100),
               {127, -71, -71, -71, -78, -82, -84});
    CheckExact(UnaryOperation::Abs, Bytes(8, 0.05f, -7), bytes, Bytes(8, 0.04f, -100),
               {51, -34, -92, -91, -90, -41, 34, 68});
    CheckExact(UnaryOperation::Sqrt, Bytes(8, 0.09803921729326248f, -128), {-128, -118, -108, -36, 35, 127, -113, -123},
               Bytes(8, 0.019607843831181526f, -128), {-128, -78, -57, 25, 75, 126, -67, -93});

    const std::vector<double> shorts = {-32768, -20000, -5000, -300, -1, 0, 1, 300, 5000, 20000, 32767};
    CheckExact(UnaryOperation::Exp, Shorts(11, 1e-4f), shorts, Shorts(11, 0.001f),
               {38, 136, 607, 971, 1000, 1000, 1000, 1030, 1648, 7389, 26486});
    CheckExact(UnaryOperation::Abs, Shorts(11, 1e-4f), shorts, Shorts(11, 0.00013f),
               {25206, 15385, 3846, 231, 1, 0, 1, 231, 3846, 15385, 25205});
    CheckExact(UnaryOperation::Rsqrt, Shorts(6, 1e-3f), {0, 1, 300, 5000, 20000, 32767}, Shorts(6, 0.001f),
               {25860, 25679, 1842, 448, 223, 175});
    CheckExact(UnaryOperation::Log, Shorts(11, 1e-3f), shorts, Shorts(11, 0.001f),
               {-32768, -32768, -32768, -32768, -25497, -25440, -25257, -1216, 1609, 2996, 3489});
    CheckExact(UnaryOperation::Neg, Shorts(3, 0.5f), {-32767, 0, 5}, Shorts(3, 0.5f), {32767, 0, -5});
}

// TFLite has no kernels for uint8: results are the nearest ones.
ISA_TEST(ElementwiseUnary, RootsOfUnsignedBytesAreRounded)
{
    const TensorInfo input(TensorShape({6}), DataType::QAsymmU8, 0.25f, 3);
    const TensorInfo output(TensorShape({6}), DataType::QAsymmU8, 0.125f, 10);
    CheckExact(UnaryOperation::Sqrt, input, {3, 4, 5, 7, 10, 255}, output, {10, 14, 16, 18, 21, 73});
    CheckExact(UnaryOperation::Rsqrt, input, {3, 4, 5, 7, 10, 255}, output, {255, 26, 21, 18, 16, 11});
}

ISA_TEST(ElementwiseUnary, RefusesRootsOfNegativeNumbers)
{
    for (const UnaryOperation operation : {UnaryOperation::Sqrt, UnaryOperation::Rsqrt})
    {
        for (const TensorInfo& info : {Bytes(2, 0.5f, 3), Shorts(2, 0.5f)})
        {
            const OpCase op = MakeCase(operation, Stored(info, {3, -1}), info);
            EXPECT_THROW(RunOp(*GetTestBackends().front(), op, RunVariant()), RuntimeException);
        }
    }
}

ISA_TEST(ElementwiseUnary, RefusesWhatDoesNotFit)
{
    const auto make = [](UnaryOperation operation, const TensorInfo& info)
    { return MakeCase(operation, Random(info, 1, 0, 1), info); };
    const auto of = [](DataType type) { return TensorInfo(TensorShape({3}), type); };
    CheckUnsupported(make(UnaryOperation::LogicalNot, of(DataType::Float32)), SupportCode::UnsupportedType,
                     "LogicalNot");
    CheckUnsupported(make(UnaryOperation::Abs, of(DataType::Boolean)), SupportCode::UnsupportedType, "LogicalNot");
    CheckUnsupported(make(UnaryOperation::Exp, of(DataType::Signed64)), SupportCode::UnsupportedParameters,
                     "Abs, Neg and Sign");
    CheckUnsupported(make(UnaryOperation::Exp, of(DataType::QAsymmS8)), SupportCode::UnsupportedParameters,
                     "positive and finite");
}

} // namespace tenon::test::elementwise_unary_test
