// SPDX-License-Identifier: Apache-2.0
// ElementwiseBinary: every operation and type, broadcasting, TFLite's exact results on quantized tensors, and what
// integers refuse.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

namespace tenon::test::elementwise_binary_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

struct Operation
{
    BinaryOperation m_Operation;
    const char* m_Name;
    double (*m_Real)(double, double);
};

double FloorMod(double a, double b)
{
    return a - std::floor(a / b) * b;
}

const Operation Operations[] = {
    {BinaryOperation::Add, "Add", [](double a, double b) { return a + b; }},
    {BinaryOperation::Sub, "Sub", [](double a, double b) { return a - b; }},
    {BinaryOperation::Mul, "Mul", [](double a, double b) { return a * b; }},
    {BinaryOperation::Div, "Div", [](double a, double b) { return a / b; }},
    {BinaryOperation::Maximum, "Maximum", [](double a, double b) { return std::max(a, b); }},
    {BinaryOperation::Minimum, "Minimum", [](double a, double b) { return std::min(a, b); }},
    {BinaryOperation::SqDiff, "SqDiff", [](double a, double b) { return (a - b) * (a - b); }},
    {BinaryOperation::Power, "Power", [](double a, double b) { return std::pow(a, b); }},
    {BinaryOperation::FloorDiv, "FloorDiv", [](double a, double b) { return std::floor(a / b); }},
    {BinaryOperation::FloorMod, "FloorMod", FloorMod},
    {BinaryOperation::Remainder, "Remainder", [](double a, double b) { return std::fmod(a, b); }},
};

/// Those that only floats or only integers have.
const Operation OtherOperations[] = {
    {BinaryOperation::Atan2, "Atan2", [](double a, double b) { return std::atan2(a, b); }},
    {BinaryOperation::BitwiseAnd, "BitwiseAnd", nullptr},
    {BinaryOperation::BitwiseOr, "BitwiseOr", nullptr},
    {BinaryOperation::BitwiseXor, "BitwiseXor", nullptr},
    {BinaryOperation::ShiftLeft, "ShiftLeft", nullptr},
    {BinaryOperation::ShiftRight, "ShiftRight", nullptr},
};

const Operation& Get(BinaryOperation operation)
{
    const auto is = [&](const Operation& row) { return row.m_Operation == operation; };
    const Operation* row = std::find_if(std::begin(Operations), std::end(Operations), is);
    return row != std::end(Operations) ? *row
                                       : *std::find_if(std::begin(OtherOperations), std::end(OtherOperations), is);
}

OpCase MakeCase(BinaryOperation operation, TestTensor a, TestTensor b, const TensorInfo& output)
{
    OpCase op;
    op.m_Name = std::string(Get(operation).m_Name) + " of " + a.m_Info.ToString() + " and " + b.m_Info.ToString();
    op.m_Type = LayerType::ElementwiseBinary;
    op.m_Descriptor = MakeDescriptor(ElementwiseBinaryDescriptor(operation));
    op.m_Inputs = {std::move(a), std::move(b)};
    op.m_Output = output;
    op.m_Oracle = Broadcast(output.GetShape(), Get(operation).m_Real);
    return op;
}

/// Two tensors of the same type and shape and the values that are expected.
OpCase MakeExact(BinaryOperation operation, DataType type, const std::vector<double>& a, const std::vector<double>& b,
                 const std::vector<double>& expected)
{
    const TensorInfo info(TensorShape({static_cast<unsigned int>(a.size())}), type);
    OpCase op = MakeCase(operation, Stored(info, a), Stored(info, b), info);
    op.m_Oracle = Expect(info, expected);
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

/// Runs the first variant of CpuRef.
void RunReference(const OpCase& op)
{
    RunOp(*GetTestBackends().front(), op, RunVariant());
}

} // namespace

ISA_TEST(ElementwiseBinary, Broadcasts)
{
    struct Row
    {
        Sizes m_A, m_B, m_Output;
    };
    const Row rows[] = {
        {{2, 3}, {2, 3}, {2, 3}},
        {{}, {}, {}},
        {{2, 3}, {}, {2, 3}},
        {{1}, {4, 1}, {4, 1}},
        {{2, 3, 4}, {4}, {2, 3, 4}},
        {{4}, {2, 3, 4}, {2, 3, 4}},
        {{2, 1, 4}, {3, 1}, {2, 3, 4}},
        {{2, 3, 1}, {2, 1, 5}, {2, 3, 5}},
        {{1, 3, 1, 5}, {2, 1, 4, 1}, {2, 3, 4, 5}},
        {{2, 3, 4, 5}, {2, 3, 1, 1}, {2, 3, 4, 5}},
        {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 3}, {2, 3, 2, 3, 2, 3, 2, 3}},
        {{2, 2, 2, 2, 2, 2, 2, 2}, {2, 2, 1, 1, 2, 2, 1, 2}, {2, 2, 2, 2, 2, 2, 2, 2}},
        {{0, 3}, {3}, {0, 3}},
        {{2, 1}, {2, 0}, {2, 0}},
    };
    for (const Row& row : rows)
    {
        for (const DataType type : {DataType::Float32, DataType::Signed32})
        {
            const TensorInfo a(ShapeOf(row.m_A), type);
            const TensorInfo b(ShapeOf(row.m_B), type);
            CheckOp(MakeCase(BinaryOperation::Sub, Random(a, 1, -50, 50), Random(b, 2, -50, 50),
                             TensorInfo(ShapeOf(row.m_Output), type)));
        }
    }
}

ISA_TEST(ElementwiseBinary, FloatTypes)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
    {
        for (const Operation& operation : Operations)
        {
            const TensorInfo a(TensorShape({5, 12}), type);
            const TensorInfo b(TensorShape({12}), type);
            const bool isPower = operation.m_Operation == BinaryOperation::Power;
            OpCase op = MakeCase(operation.m_Operation, Values(a, Grid(60, isPower ? 0.25 : -3.0, 0.25, 23)),
                                 Values(b, Grid(12, 0.25, 0.25, 9)), a);
            op.m_Relative = op.m_Absolute = GetRounding(type);
            CheckOp(op);
        }
    }
}

ISA_TEST(ElementwiseBinary, FloatSpecialValues)
{
    const double inf = std::numeric_limits<double>::infinity();
    CheckOp(MakeExact(BinaryOperation::Div, DataType::Float32, {1, -1, 0}, {0, 0, 0}, {inf, -inf, std::nan("")}));
    CheckOp(MakeExact(BinaryOperation::Maximum, DataType::Float32, {inf, -inf}, {3, 3}, {inf, 3}));
    CheckOp(MakeExact(BinaryOperation::FloorDiv, DataType::Float32, {-7, 7, -7}, {2, -2, -2}, {-4, -4, 3}));
    CheckOp(MakeExact(BinaryOperation::FloorMod, DataType::Float32, {-7, 7, -7}, {2, -2, -2}, {1, -1, -1}));
    CheckOp(MakeExact(BinaryOperation::Remainder, DataType::Float32, {-7, 7, -7, 7, 7, inf, 2.5},
                      {2, -2, -2, inf, 0, 2, 1}, {-1, 1, -1, 7, std::nan(""), std::nan(""), 0.5}));
}

ISA_TEST(ElementwiseBinary, IntegerTypes)
{
    for (const DataType type : {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64,
                                DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})
    {
        const bool isSigned = type == DataType::Signed8 || type == DataType::Signed16 || type == DataType::Signed32 ||
                              type == DataType::Signed64;
        for (const Operation& operation : Operations)
        {
            const TensorInfo info(TensorShape({40}), type);
            const bool isPower = operation.m_Operation == BinaryOperation::Power;
            const bool isDifference = operation.m_Operation == BinaryOperation::Sub;
            const bool grows = isPower || operation.m_Operation == BinaryOperation::SqDiff;
            // Within what 8 bits hold; unsigned differences stay positive.
            std::vector<double> a = Grid(40, isDifference ? 9 : 0, 1, grows ? 3 : 11);
            std::vector<double> b = Grid(40, 1, 1, grows ? 5 : 8);
            for (size_t i = 0; isSigned && i < a.size(); ++i)
            {
                a[i] *= i % 2 == 0 ? 1 : -1;
                b[i] *= i % 3 == 0 && !isPower ? -1 : 1;
            }
            OpCase op = MakeCase(operation.m_Operation, Stored(info, a), Stored(info, b), info);
            if (operation.m_Operation == BinaryOperation::Div)
            {
                op.m_Oracle = Broadcast(info.GetShape(), [](double x, double y) { return std::trunc(x / y); });
            }
            CheckOp(op);
        }
    }
}

ISA_TEST(ElementwiseBinary, IntegersWrap)
{
    const double low = std::numeric_limits<int32_t>::min();
    const double high = std::numeric_limits<int32_t>::max();
    const DataType type = DataType::Signed32;
    CheckOp(MakeExact(BinaryOperation::Add, type, {high, low}, {1, -1}, {low, high}));
    CheckOp(MakeExact(BinaryOperation::Sub, type, {low, 0}, {1, low}, {high, low}));
    CheckOp(MakeExact(BinaryOperation::Mul, type, {65536, low}, {65536, -1}, {0, low}));
    CheckOp(MakeExact(BinaryOperation::SqDiff, type, {65536, low}, {0, 0}, {0, 0}));
    CheckOp(MakeExact(BinaryOperation::Power, type, {2, -2, 3, 0}, {31, 31, 21, 0}, {low, low, 1870418611, 1}));
    CheckOp(MakeExact(BinaryOperation::Div, type, {low, low, high}, {-1, 2, -1}, {low, low / 2, -high}));
    CheckOp(MakeExact(BinaryOperation::FloorDiv, type, {low, -7, 7}, {-1, 2, -2}, {low, -4, -4}));
    CheckOp(MakeExact(BinaryOperation::FloorMod, type, {low, -7, 7}, {-1, 2, -2}, {0, 1, -1}));
    CheckOp(MakeExact(BinaryOperation::Remainder, type, {low, -7, 7}, {-1, 2, -2}, {0, -1, 1}));
    CheckOp(
        MakeExact(BinaryOperation::Div, DataType::Signed64, {-9223372036854775808.0}, {-1}, {-9223372036854775808.0}));
    CheckOp(MakeExact(BinaryOperation::Mul, DataType::Unsigned16, {65535}, {65535}, {1}));
    CheckOp(MakeExact(BinaryOperation::Div, DataType::Signed8, {-128}, {-1}, {-128}));
}

ISA_TEST(ElementwiseBinary, QuantizedTypesAreWithinAStep)
{
    struct Row
    {
        BinaryOperation m_Operation;
        float m_OutputScale; ///< for inputs of about 25 and 12 in 8 bits
    };
    const Row rows[] = {{BinaryOperation::Add, 0.15f},     {BinaryOperation::Sub, 0.2f},
                        {BinaryOperation::Mul, 1.3f},      {BinaryOperation::Maximum, 0.11f},
                        {BinaryOperation::Minimum, 0.13f}, {BinaryOperation::SqDiff, 3.0f}};
    for (const Row& row : rows)
    {
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
        {
            const int32_t middle = type == DataType::QAsymmU8 ? 128 : 0;
            const TensorInfo a(TensorShape({256, 1}), type, 0.1f, middle - 7);
            const TensorInfo b(TensorShape({1, 256}), type, 0.0437f, middle + 30);
            CheckOp(MakeCase(row.m_Operation, AllBytes(a), AllBytes(b),
                             TensorInfo(TensorShape({256, 256}), type, row.m_OutputScale, middle - 40)));
        }
    }
    for (const BinaryOperation operation : {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul,
                                            BinaryOperation::Maximum, BinaryOperation::Minimum})
    {
        const TensorInfo a(TensorShape({40, 60}), DataType::QSymmS16, 0.0011f);
        const TensorInfo b(TensorShape({60}), DataType::QSymmS16, 0.0007f);
        const float scale = operation == BinaryOperation::Mul ? 0.03f : 0.002f;
        CheckOp(MakeCase(operation, Random(a, 3), Random(b, 4),
                         TensorInfo(TensorShape({40, 60}), DataType::QSymmS16, scale)));
    }
}

ISA_TEST(ElementwiseBinary, QuantizedDivisionIsWithinAStep)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16})
    {
        const bool isShort = type == DataType::QSymmS16;
        const int32_t zero = type == DataType::QAsymmU8 ? 100 : (isShort ? 0 : -28);
        const TensorInfo a(TensorShape({40, 60}), type, isShort ? 1e-3f : 0.1f, zero);
        const TensorInfo b(TensorShape({60}), type, isShort ? 1e-3f : 0.1f, zero);
        // Divisors of both signs, and away from 0.
        std::vector<double> divisors = Grid(60, 0.5, 0.25, 17);
        for (size_t i = 0; i < divisors.size(); i += 2)
        {
            divisors[i] = -divisors[i];
        }
        CheckOp(MakeCase(BinaryOperation::Div, Random(a, 5), Values(b, divisors),
                         TensorInfo(TensorShape({40, 60}), type, isShort ? 2e-3f : 0.17f, zero)));
    }
}

ISA_TEST(ElementwiseBinary, QuantizedExtremesOfOneQuantizationAreExact)
{
    for (const BinaryOperation operation : {BinaryOperation::Maximum, BinaryOperation::Minimum})
    {
        const TensorInfo a(TensorShape({256, 1}), DataType::QAsymmS8, 0.3f, 5);
        const TensorInfo b(TensorShape({256}), DataType::QAsymmS8, 0.3f, 5);
        OpCase op = MakeCase(operation, AllBytes(a), AllBytes(b),
                             TensorInfo(TensorShape({256, 256}), DataType::QAsymmS8, 0.3f, 5));
        op.m_Steps = 0;
        CheckOp(op);
    }
}

// Results of TFLite's reference kernels.
ISA_TEST(ElementwiseBinary, QuantizedResultsOfTfLite)
{
    struct Row
    {
        BinaryOperation m_Operation;
        float m_OutputScale;
        std::vector<double> m_Expected;
    };
    const Row rows[] = {
        {BinaryOperation::Add, 0.31f, {-55, -128, -23, -22, -95, 27, 127, 56}},
        {BinaryOperation::Sub, 0.42f, {-128, -36, -59, -15, 40, 25, 20, 35}},
        {BinaryOperation::Mul, 17.3f, {-57, 5, -24, -20, -21, -22, 9, -20}},
        {BinaryOperation::Div, 0.029f, {-73, 27, -58, -38, -21, -128, 52, 127}},
        {BinaryOperation::SqDiff, 40.0f, {46, -19, -13, -20, -4, -11, -13, -7}},
    };
    const TensorInfo a(TensorShape({8}), DataType::QAsymmS8, 0.25f, -3);
    const TensorInfo b(TensorShape({8}), DataType::QAsymmS8, 0.175f, 11);
    for (const Row& row : rows)
    {
        OpCase op = MakeCase(row.m_Operation, Stored(a, {-128, -100, -37, 0, 1, 64, 127, 90}),
                             Stored(b, {127, -90, 55, 3, -128, -1, 100, 12}),
                             TensorInfo(TensorShape({8}), DataType::QAsymmS8, row.m_OutputScale, -20));
        op.m_Oracle = Expect(op.m_Output, row.m_Expected);
        op.m_Steps = 0;
        CheckOp(op);
    }
}

ISA_TEST(ElementwiseBinary, ShortSumsWithScalesThatArePowersOfTwo)
{
    // b is a quarter as fine as a and the output: rounded half away from zero, then saturated.
    const auto info = [](float scale) { return TensorInfo(TensorShape({5}), DataType::QSymmS16, scale); };
    for (const bool subtracts : {false, true})
    {
        OpCase op = MakeCase(subtracts ? BinaryOperation::Sub : BinaryOperation::Add,
                             Stored(info(0.125f), {0, 10, -10, 32767, -32768}),
                             Stored(info(0.03125f), {2, 5, -6, 4, -4}), info(0.125f));
        op.m_Oracle = Expect(op.m_Output, subtracts ? std::vector<double>{-1, 9, -8, 32766, -32767}
                                                    : std::vector<double>{1, 11, -12, 32767, -32768});
        op.m_Steps = 0;
        CheckOp(op);
    }
}

ISA_TEST(ElementwiseBinary, ShortProductAsByte)
{
    // Fractions of 2^15 whatever the scales say, as TFLite has it.
    const TensorInfo info(TensorShape({4}), DataType::QSymmS16, 1.0f / 32768.0f);
    OpCase op = MakeCase(BinaryOperation::Mul, Stored(info, {16384, -32768, -32768, 300}),
                         Stored(info, {16384, -32768, 32767, 200}),
                         TensorInfo(TensorShape({4}), DataType::QAsymmS8, 1.0f / 128.0f, 3));
    op.m_Oracle = Expect(op.m_Output, {35, 127, -125, 3});
    op.m_Steps = 0;
    CheckOp(op);
}

ISA_TEST(ElementwiseBinary, RefusesDivisionByZero)
{
    const TensorInfo integers(TensorShape({3}), DataType::Signed32);
    for (const BinaryOperation operation :
         {BinaryOperation::Div, BinaryOperation::FloorDiv, BinaryOperation::FloorMod, BinaryOperation::Remainder})
    {
        EXPECT_THROW(
            RunReference(MakeCase(operation, Stored(integers, {1, 2, 3}), Stored(integers, {1, 0, 3}), integers)),
            RuntimeException);
    }
    const TensorInfo wide(TensorShape({1}), DataType::Signed64);
    EXPECT_THROW(RunReference(MakeCase(BinaryOperation::Div, Stored(wide, {1}), Stored(wide, {0}), wide)),
                 RuntimeException);
    const TensorInfo bytes(TensorShape({2}), DataType::QAsymmU8, 0.5f, 128);
    EXPECT_THROW(RunReference(MakeCase(BinaryOperation::Div, Stored(bytes, {1, 2}), Stored(bytes, {1, 128}), bytes)),
                 RuntimeException);
}

ISA_TEST(ElementwiseBinary, RefusesNegativePowersOfIntegers)
{
    const TensorInfo info(TensorShape({2}), DataType::Signed32);
    EXPECT_THROW(RunReference(MakeCase(BinaryOperation::Power, Stored(info, {2, 2}), Stored(info, {1, -1}), info)),
                 RuntimeException);
}

ISA_TEST(ElementwiseBinary, RefusesWhatDoesNotFit)
{
    const TensorInfo floats(TensorShape({2, 3}), DataType::Float32);
    const auto of = [](const TensorShape& shape) { return Random(TensorInfo(shape, DataType::Float32), 1); };
    CheckRejectsShapes(MakeCase(BinaryOperation::Add, of({2, 3}), of({2}), floats), "do not broadcast");
    CheckRejectsShapes(MakeCase(BinaryOperation::Add, of({2, 1}), of({1, 1}), floats), "do not broadcast");
    CheckRejectsShapes(MakeCase(BinaryOperation::Add, of({1, 2, 3}), of({3}), floats), "do not broadcast");

    const TensorInfo bytes(TensorShape({4}), DataType::QAsymmS8, 0.5f, 0);
    const TensorInfo shorts(TensorShape({4}), DataType::QSymmS16, 0.5f);
    CheckUnsupported(MakeCase(BinaryOperation::Add, Random(shorts, 1), Random(shorts, 2), bytes),
                     SupportCode::UnsupportedType, "only Mul");
    CheckUnsupported(MakeCase(BinaryOperation::Add, Random(shorts, 1), Random(bytes, 2), bytes),
                     SupportCode::UnsupportedType, "input 1");

    const auto scaled = [](float scale, int32_t zeroPoint)
    { return TensorInfo(TensorShape({4}), DataType::QAsymmS8, scale, zeroPoint); };
    CheckUnsupported(MakeCase(BinaryOperation::Add, Random(scaled(0.0f, 0), 1), Random(bytes, 2), bytes),
                     SupportCode::UnsupportedParameters, "positive and finite");
    const TensorInfo perAxis(TensorShape({4}), DataType::QAsymmS8, std::vector<float>{1, 2, 3, 4}, 0);
    CheckUnsupported(MakeCase(BinaryOperation::Add, Random(perAxis, 1), Random(bytes, 2), bytes),
                     SupportCode::UnsupportedParameters, "per channel");
}

ISA_TEST(ElementwiseBinary, Atan2OfAllQuadrants)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16})
    {
        const TensorInfo a(TensorShape({3, 7}), type);
        const TensorInfo b(TensorShape({7}), type);
        OpCase op = MakeCase(BinaryOperation::Atan2, Random(a, 1, -3, 3), Random(b, 2, -3, 3), a);
        op.m_Relative = op.m_Absolute = GetRounding(type);
        CheckOp(op);
    }
    OpCase axes = MakeExact(BinaryOperation::Atan2, DataType::Float64, {0, 1, 0, -1, 0}, {1, 0, -1, 0, 0},
                            {0, std::acos(0.0), std::acos(-1.0), -std::acos(0.0), 0});
    axes.m_Relative = 1e-15;
    CheckOp(axes);
    const TensorInfo integers(TensorShape({2}), DataType::Signed32);
    CheckUnsupported(MakeCase(BinaryOperation::Atan2, Random(integers, 1), Random(integers, 2), integers),
                     SupportCode::UnsupportedType, "floats only");
}

// Sums that floats do not hold.
ISA_TEST(ElementwiseBinary, ClampsDoubles)
{
    constexpr double Fine = 0x1p-40;
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::ReLu;
    OpCase op = MakeExact(BinaryOperation::Add, DataType::Float64, {1, -1, 2}, {Fine, Fine, -3}, {1 + Fine, 0, 0});
    op.m_FusedActivation = &relu;
    CheckOp(op);
}

ISA_TEST(ElementwiseBinary, BitsOfIntegers)
{
    for (const DataType type : {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        CheckOp(MakeExact(BinaryOperation::BitwiseXor, type, {0, 5, -1, -128}, {5, 3, 1, 127}, {5, 6, -2, -1}));
        CheckOp(MakeExact(BinaryOperation::BitwiseAnd, type, {0, 5, -1, -128}, {5, 3, 1, 127}, {0, 1, 1, 0}));
        CheckOp(MakeExact(BinaryOperation::BitwiseOr, type, {0, 5, -1, -128}, {5, 3, 1, 127}, {5, 7, -1, -1}));
        CheckOp(
            MakeExact(BinaryOperation::ShiftRight, type, {-9, 9, -9, 9, -9}, {1, 1, 100, 100, -1}, {-5, 4, -1, 0, -9}));
        CheckOp(MakeExact(BinaryOperation::ShiftLeft, type, {-9, 9, 1, 9}, {1, 3, 100, -1}, {-18, 72, 0, 0}));
    }
    for (const DataType type : {DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})
    {
        CheckOp(MakeExact(BinaryOperation::BitwiseXor, type, {0, 5, 255}, {5, 3, 1}, {5, 6, 254}));
        CheckOp(MakeExact(BinaryOperation::ShiftRight, type, {200, 9, 9}, {1, 100, 0}, {100, 0, 9}));
        CheckOp(MakeExact(BinaryOperation::ShiftLeft, type, {3, 9, 9}, {1, 100, 0}, {6, 0, 9}));
    }
    CheckOp(MakeExact(BinaryOperation::ShiftLeft, DataType::Signed8, {127, 1}, {1, 7}, {-2, -128}));
    CheckOp(MakeExact(BinaryOperation::BitwiseXor, DataType::Boolean, {0, 1, 2, 255}, {1, 1, 0, 4}, {1, 0, 1, 0}));
    CheckOp(MakeExact(BinaryOperation::BitwiseAnd, DataType::Boolean, {0, 1, 2, 255}, {1, 0, 1, 4}, {0, 0, 1, 1}));

    // What a tensor with a scale stores.
    const TensorInfo quantized(TensorShape({3}), DataType::QAsymmS8, 0.5f, 3);
    OpCase op =
        MakeCase(BinaryOperation::BitwiseXor, Stored(quantized, {0, 5, -1}), Stored(quantized, {5, 3, 1}), quantized);
    op.m_Oracle = Expect(quantized, {5, 6, -2});
    op.m_Steps = 0;
    CheckOp(op);
}

ISA_TEST(ElementwiseBinary, BitsAreOfIntegersAlone)
{
    const auto make = [](BinaryOperation operation, DataType type)
    {
        const TensorInfo info(TensorShape({2}), type);
        return MakeCase(operation, Random(info, 1, 0, 1), Random(info, 2, 0, 1), info);
    };
    CheckUnsupported(make(BinaryOperation::BitwiseXor, DataType::Float32), SupportCode::UnsupportedType, "integers");
    CheckUnsupported(make(BinaryOperation::ShiftLeft, DataType::Boolean), SupportCode::UnsupportedType, "integers");
    CheckUnsupported(make(BinaryOperation::Add, DataType::Boolean), SupportCode::UnsupportedType, "bitwise");
}

} // namespace tenon::test::elementwise_binary_test
