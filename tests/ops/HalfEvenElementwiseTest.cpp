// SPDX-License-Identifier: Apache-2.0
// ElementwiseBinary and Activation by RequantizationMode::FloatHalfEven: all pairs of bytes, each operation done in
// Float32; ties, saturation, broadcast operands, fused clamps, and what is refused.
#include "ops/ElementwiseOracle.hpp"
#include "ops/HalfEvenOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::half_even_elementwise_test
{

namespace
{

using Numbers = std::vector<double>;

constexpr auto FixedPoint = RequantizationMode::FixedPoint;
constexpr auto HalfEven = RequantizationMode::FloatHalfEven;

TensorInfo Of(const TensorShape& shape, DataType type, float scale, int32_t zeroPoint = 0)
{
    return TensorInfo(shape, type, scale, zeroPoint);
}

OpCase MakeBinary(BinaryOperation operation, TestTensor a, TestTensor b, const TensorInfo& output,
                  RequantizationMode mode = HalfEven)
{
    ElementwiseBinaryDescriptor descriptor(operation);
    descriptor.m_Requantization = mode;
    OpCase op;
    op.m_Name = a.m_Info.ToString() + " and " + b.m_Info.ToString() + " to " + output.ToString();
    op.m_Type = LayerType::ElementwiseBinary;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {std::move(a), std::move(b)};
    op.m_Output = output;
    op.m_Steps = 0;
    return op;
}

OpCase MakeActivation(ActivationDescriptor descriptor, TestTensor input, TensorInfo output,
                      RequantizationMode mode = HalfEven)
{
    descriptor.m_Requantization = mode;
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + output.ToString();
    op.m_Type = LayerType::Activation;
    op.m_Descriptor = MakeDescriptor(descriptor);
    output.SetShape(input.m_Info.GetShape());
    op.m_Inputs = {std::move(input)};
    op.m_Output = output;
    op.m_Steps = 0;
    return op;
}

void CheckStored(OpCase op, const Numbers& expected)
{
    op.m_Oracle = Expect(op.m_Output, expected);
    CheckOp(op);
}

/// The operation in Float32.
float Apply(BinaryOperation operation, float a, float b)
{
    switch (operation)
    {
    case BinaryOperation::Add: return AddF32(a, b);
    case BinaryOperation::Sub: return AddF32(a, -b);
    case BinaryOperation::Mul: return MultiplyF32(a, b);
    case BinaryOperation::Div: return DivideF32(a, b);
    case BinaryOperation::SqDiff: return MultiplyF32(AddF32(a, -b), AddF32(a, -b));
    case BinaryOperation::Maximum: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

/// Checks a of one dimension and b of another one, broadcast to each other.
void CheckGrid(BinaryOperation operation, const TestTensor& a, const TestTensor& b, TensorInfo output)
{
    const Numbers storedA = GetStored(a.m_Info, a.m_Bytes.data());
    const Numbers storedB = GetStored(b.m_Info, b.m_Bytes.data());
    TestTensor column = a;
    column.m_Info.SetShape({static_cast<unsigned int>(storedA.size()), 1});
    output.SetShape({static_cast<unsigned int>(storedA.size()), static_cast<unsigned int>(storedB.size())});
    Numbers expected;
    for (const double x : storedA)
    {
        for (const double y : storedB)
        {
            const float real = Apply(operation, ToRealF32(x, a.m_Info), ToRealF32(y, b.m_Info));
            expected.push_back(StoreHalfEven(DivideF32(real, output.GetQuantizationScale()), output));
        }
    }
    OpCase op = MakeBinary(operation, column, b, output);
    op.m_Name += ", operation " + std::to_string(static_cast<int>(operation));
    CheckStored(op, expected);
}

constexpr BinaryOperation Operations[] = {BinaryOperation::Add,    BinaryOperation::Sub,    BinaryOperation::Mul,
                                          BinaryOperation::Div,    BinaryOperation::SqDiff, BinaryOperation::Maximum,
                                          BinaryOperation::Minimum};

} // namespace

// Divisors of 0 are among them: infinities saturate, and 0 / 0 gives the lowest number.
ISA_TEST(HalfEvenBinary, AllPairsOfBytes)
{
    using D = DataType;
    const TensorShape shape({256});
    const struct
    {
        TensorInfo m_A;
        TensorInfo m_B;
        TensorInfo m_Output;
    } sets[] = {
        {Of(shape, D::QAsymmS8, 0.1f, 3), Of(shape, D::QAsymmS8, 0.07f, -100), Of(shape, D::QAsymmS8, 0.13f, 11)},
        {Of(shape, D::QAsymmS8, 0.5f, -128), Of(shape, D::QAsymmS8, 0.25f, 127), Of(shape, D::QAsymmS8, 1.0f, -3)},
        {Of(shape, D::QAsymmU8, 0.1f, 128), Of(shape, D::QAsymmU8, 0.3f, 0), Of(shape, D::QAsymmU8, 0.2f, 255)},
        {Of(shape, D::QAsymmU8, 0.5f, 7), Of(shape, D::QAsymmU8, 0.5f, 7), Of(shape, D::QAsymmU8, 0.5f, 7)},
        {Of(shape, D::QSymmS8, 0.02f), Of(shape, D::QSymmS8, 0.03f), Of(shape, D::QSymmS8, 0.01f)},
    };
    for (const auto& set : sets)
    {
        for (const BinaryOperation operation : Operations)
        {
            CheckGrid(operation, AllBytes(set.m_A), AllBytes(set.m_B), set.m_Output);
        }
    }
}

ISA_TEST(HalfEvenBinary, Shorts)
{
    const TensorShape shape({60});
    const TestTensor a = Random(Of(shape, DataType::QSymmS16, 0.003f), 1);
    const TestTensor b = Random(Of(shape, DataType::QSymmS16, 0.002f), 2);
    for (const BinaryOperation operation : Operations)
    {
        CheckGrid(operation, a, b, Of(shape, DataType::QSymmS16, operation == BinaryOperation::Mul ? 0.2f : 0.004f));
        // All scales are powers of two, which TFLite has another formula for.
        CheckGrid(operation, Random(Of(shape, DataType::QSymmS16, 0x1p-8f), 3),
                  Random(Of(shape, DataType::QSymmS16, 0x1p-10f), 4), Of(shape, DataType::QSymmS16, 0x1p-8f));
    }
}

ISA_TEST(HalfEvenBinary, TiesGoToEven)
{
    const TensorShape shape({8});
    const TensorInfo halves = Of(shape, DataType::QAsymmS8, 0.5f, 1);
    const TensorInfo ones = Of(shape, DataType::QAsymmS8, 1.0f, -4);
    const TestTensor zero = Stored(Of(TensorShape({1}), DataType::QAsymmS8, 0.5f, 1), {1});
    const Numbers data = {-4, -2, 0, 1, 2, 4, 6, 8}; // -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 3.5
    CheckStored(MakeBinary(BinaryOperation::Add, Stored(halves, data), zero, ones), {-6, -6, -4, -4, -4, -2, -2, 0});
    CheckStored(MakeBinary(BinaryOperation::Sub, zero, Stored(halves, data), ones), {-2, -2, -4, -4, -4, -6, -6, -8});
    // Of another rank, and both of one element.
    CheckStored(MakeBinary(BinaryOperation::Maximum, Stored(Of(TensorShape({2, 4}), DataType::QAsymmS8, 0.5f, 1), data),
                           zero, Of(TensorShape({2, 4}), DataType::QAsymmS8, 1.0f, -4)),
                {-4, -4, -4, -4, -4, -2, -2, 0});
    const TensorInfo one = Of(TensorShape({1}), DataType::QAsymmU8, 0.5f, 0);
    CheckStored(MakeBinary(BinaryOperation::Mul, Stored(one, {3}), Stored(one, {2}),
                           Of(TensorShape({1}), DataType::QAsymmU8, 1.0f, 0)),
                {2});
}

// The clamp of the stored numbers, its bounds rounded as the activation says.
ISA_TEST(HalfEvenBinary, FusedClamps)
{
    const TensorShape shape({9});
    const TensorInfo halves = Of(shape, DataType::QAsymmS8, 0.5f, 0);
    const TensorInfo ones = Of(shape, DataType::QAsymmS8, 1.0f, -10);
    const TestTensor zero = Stored(Of(TensorShape({1}), DataType::QAsymmS8, 0.5f, 0), {0});
    const Numbers data = {-128, -5, -3, 0, 3, 5, 7, 11, 127};
    const ActivationDescriptor relu(ActivationFunction::ReLu);
    ActivationDescriptor bounded(ActivationFunction::BoundedReLu, 4.5f, -2.5f);
    ActivationDescriptor boundedToEven = bounded;
    boundedToEven.m_Requantization = HalfEven;
    const std::pair<const ActivationDescriptor*, Numbers> clamps[] = {
        {nullptr, {-74, -12, -12, -10, -8, -8, -6, -4, 54}},
        {&relu, {-10, -10, -10, -10, -8, -8, -6, -4, 54}},
        {&bounded, {-13, -12, -12, -10, -8, -8, -6, -5, -5}},
        {&boundedToEven, {-12, -12, -12, -10, -8, -8, -6, -6, -6}}};
    for (const auto& [activation, expected] : clamps)
    {
        OpCase op = MakeBinary(BinaryOperation::Add, Stored(halves, data), zero, ones);
        op.m_FusedActivation = activation;
        CheckStored(op, expected);
    }
}

ISA_TEST(HalfEvenBinary, IsRefused)
{
    const TensorShape shape({4});
    const TestTensor a = Random(Of(shape, DataType::QAsymmS8, 0.5f, 1), 1);
    CheckUnsupported(MakeBinary(BinaryOperation::BitwiseAnd, a, a, a.m_Info), SupportCode::UnsupportedParameters,
                     "RequantizationMode::FloatHalfEven");
    CheckUnsupported(MakeBinary(BinaryOperation::Add, a, a, Of(shape, DataType::Signed32, 1.0f)),
                     SupportCode::UnsupportedType, "output 0");
    CheckUnsupported(MakeBinary(BinaryOperation::Add, a, a, Of(shape, DataType::QAsymmS8, 0.0f)),
                     SupportCode::UnsupportedParameters, "RequantizationMode::FloatHalfEven");
}

// What all bytes become on scales that divide each other and on others.
ISA_TEST(HalfEvenActivation, OfAllBytes)
{
    const TensorShape shape({256});
    const auto check = [&](const ActivationDescriptor& descriptor, auto function)
    {
        for (const DataType type : {DataType::QAsymmS8, DataType::QAsymmU8})
        {
            const int32_t offset = type == DataType::QAsymmU8 ? 128 : 0;
            for (const auto& [from, to] : {std::pair(0.5f, 1.0f), {0.1f, 0.07f}, {0.1f, 0.1f}, {3.0f, 1e-30f}})
            {
                const TensorInfo input = Of(shape, type, from, offset - 5);
                const TensorInfo output = Of(shape, type, to, offset + 9);
                const TestTensor data = AllBytes(input);
                Numbers expected = GetStored(input, data.m_Bytes.data());
                for (double& value : expected)
                {
                    value = StoreHalfEven(DivideF32(function(ToRealF32(value, input)), to), output);
                }
                CheckStored(MakeActivation(descriptor, data, output), expected);
            }
        }
    };
    check(ActivationDescriptor(ActivationFunction::ReLu), [](float x) { return std::max(x, 0.0f); });
    check(ActivationDescriptor(ActivationFunction::BoundedReLu, 6.0f, -1.5f),
          [](float x) { return std::clamp(x, -1.5f, 6.0f); });
    check(ActivationDescriptor(ActivationFunction::LeakyReLu, 0.1f),
          [](float x) { return x > 0.0f ? x : MultiplyF32(0.1f, x); });
    check(ActivationDescriptor(ActivationFunction::Linear, 0.3f, -0.7f),
          [](float x) { return AddF32(MultiplyF32(0.3f, x), -0.7f); });
    check(ActivationDescriptor(ActivationFunction::Abs), [](float x) { return std::abs(x); });
    check(ActivationDescriptor(ActivationFunction::Square), [](float x) { return MultiplyF32(x, x); });
}

// Functions whose last bits the library decides: at scales and zero points of ONNX models.
ISA_TEST(HalfEvenActivation, TranscendentalFunctions)
{
    const TensorInfo input = Of(TensorShape({256}), DataType::QAsymmS8, 0.05f, 10);
    const auto check = [&](const ActivationDescriptor& descriptor, const TensorInfo& output, auto function)
    {
        OpCase op = MakeActivation(descriptor, AllBytes(input), output);
        op.m_Oracle = [function](const std::vector<RealTensor>& in) { return Map(in[0], function); };
        op.m_Steps = 1;
        CheckOp(op);
    };
    const auto sigmoid = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
    check(ActivationDescriptor(ActivationFunction::Sigmoid), Of({1}, DataType::QAsymmS8, 1.0f / 256.0f, -128), sigmoid);
    check(ActivationDescriptor(ActivationFunction::TanH, 1.0f, 1.0f), Of({1}, DataType::QAsymmS8, 1.0f / 128.0f, 0),
          [](double x) { return std::tanh(x); });
    check(ActivationDescriptor(ActivationFunction::Swish, 1.0f), Of({1}, DataType::QAsymmS8, 0.03f, -100),
          [sigmoid](double x) { return x * sigmoid(x); });
    check(ActivationDescriptor(ActivationFunction::HardSwish), Of({1}, DataType::QAsymmS8, 0.03f, -100),
          [](double x) { return x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0; });
}

// A ReLu or BoundedReLu that keeps the quantization is the clamp that other layers fuse.
ISA_TEST(HalfEvenActivation, OfOneQuantizationIsAClamp)
{
    const float infinity = std::numeric_limits<float>::infinity();
    const ActivationDescriptor clamps[] = {ActivationDescriptor(ActivationFunction::ReLu),
                                           ActivationDescriptor(ActivationFunction::BoundedReLu, 6.0f, 0.0f),
                                           ActivationDescriptor(ActivationFunction::BoundedReLu, 0.25f, -0.75f),
                                           ActivationDescriptor(ActivationFunction::BoundedReLu, infinity, 1.0f),
                                           ActivationDescriptor(ActivationFunction::BoundedReLu, -1e30f, -1e35f)};
    for (const float scale : {0.5f, 0.1f, 0.0235f, 1e-30f, 1e-40f, 1e30f})
    {
        for (const int32_t zeroPoint : {-128, -3, 0, 127})
        {
            const TestTensor data = AllBytes(Of(TensorShape({256}), DataType::QAsymmS8, scale, zeroPoint));
            for (const ActivationDescriptor& clamp : clamps)
            {
                const bool isRelu = clamp.m_Function == ActivationFunction::ReLu;
                const float lower = isRelu ? 0.0f : clamp.m_B;
                const float upper = isRelu ? infinity : clamp.m_A;
                const double low = StoreHalfEven(DivideF32(lower, scale), data.m_Info);
                const double high = StoreHalfEven(DivideF32(upper, scale), data.m_Info);
                Numbers expected = GetStored(data.m_Info, data.m_Bytes.data());
                for (double& value : expected)
                {
                    value = std::clamp(value, low, high);
                }
                CheckStored(MakeActivation(clamp, data, data.m_Info), expected);
                // The same as fused: a product by 1, whose output has this quantization.
                OpCase fused = MakeBinary(BinaryOperation::Maximum, data, data, data.m_Info);
                ActivationDescriptor activation = clamp;
                activation.m_Requantization = HalfEven;
                fused.m_FusedActivation = &activation;
                CheckStored(fused, expected);
            }
        }
    }
}

// More elements than a table of all 16-bit numbers pays for, and fewer.
ISA_TEST(HalfEvenActivation, Shorts)
{
    const TensorInfo output = Of(TensorShape({1}), DataType::QSymmS16, 0.003f);
    for (const unsigned int count : {200U, 40000U})
    {
        const TestTensor data = Random(Of(TensorShape({count}), DataType::QSymmS16, 0.0015f), 5);
        Numbers expected = GetStored(data.m_Info, data.m_Bytes.data());
        for (double& value : expected)
        {
            const float x = ToRealF32(value, data.m_Info);
            value = StoreHalfEven(DivideF32(x > 0.0f ? x : MultiplyF32(0.5f, x), 0.003f), output);
        }
        CheckStored(MakeActivation(ActivationDescriptor(ActivationFunction::LeakyReLu, 0.5f), data, output), expected);
    }
}

// In fixed point halves still go away from zero.
ISA_TEST(HalfEvenActivation, LeavesFixedPointAsItIs)
{
    const TestTensor data = Stored(Of(TensorShape({5}), DataType::QAsymmS8, 0.5f, 0), {-3, 1, 3, 5, 7});
    const TensorInfo ones = Of(TensorShape({1}), DataType::QAsymmS8, 1.0f, 0);
    const ActivationDescriptor relu(ActivationFunction::ReLu);
    CheckStored(MakeActivation(relu, data, ones, FixedPoint), {0, 1, 2, 3, 4});
    CheckStored(MakeActivation(relu, data, ones), {0, 0, 2, 2, 4});
}

ISA_TEST(HalfEvenActivation, IsRefused)
{
    const TestTensor data = Random(Of(TensorShape({4}), DataType::QAsymmS8, 0.5f, 1), 1);
    const ActivationDescriptor relu(ActivationFunction::ReLu);
    CheckUnsupported(MakeActivation(relu, data, Of({4}, DataType::Signed32, 1.0f)), SupportCode::UnsupportedType,
                     "output 0");
    CheckUnsupported(MakeActivation(relu, data, Of({4}, DataType::QAsymmS8, -1.0f)), SupportCode::UnsupportedParameters,
                     "output 0");
    CheckUnsupported(
        MakeActivation(ActivationDescriptor(ActivationFunction::Linear, std::nanf(""), 0.0f), data, data.m_Info),
        SupportCode::UnsupportedParameters, "RequantizationMode::FloatHalfEven");
}

} // namespace tenon::test::half_even_elementwise_test
