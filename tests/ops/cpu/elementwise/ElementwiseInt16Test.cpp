// SPDX-License-Identifier: Apache-2.0
// Elementwise operators on 16-bit quantized tensors where CpuAcc has kernels of its own: the numbers of CpuRef, bit for
// bit, for ordinary and extreme scales, every way of broadcasting and odd sizes.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::elementwise_int16_test
{

namespace
{

TensorInfo Shorts(const TensorShape& shape, float scale)
{
    return TensorInfo(shape, DataType::QSymmS16, scale, 0);
}

/// Random numbers among which there are those at the ends and around zero.
TestTensor Values(const TensorInfo& info, uint32_t seed)
{
    constexpr int16_t Special[] = {-32768, 32767, -32767, 0, -1, 1, 16384, -16384, 32766, 2, -2};
    TestTensor tensor = Random(info, seed);
    const size_t count = tensor.m_Bytes.size() / sizeof(int16_t);
    for (size_t i = 0; count > 1 && i < count; i += 3)
    {
        const int16_t value = Special[(i / 3 * seed) % std::size(Special)];
        std::memcpy(tensor.m_Bytes.data() + i * sizeof(int16_t), &value, sizeof(int16_t));
    }
    return tensor;
}

OpCase Binary(BinaryOperation operation, TestTensor a, TestTensor b, const TensorInfo& output)
{
    ElementwiseBinaryDescriptor descriptor;
    descriptor.m_Operation = operation;
    return ReferenceCase("operation " + std::to_string(static_cast<int>(operation)) + ", " + output.ToString(),
                         LayerType::ElementwiseBinary, descriptor, {std::move(a), std::move(b)}, output);
}

constexpr const char* BinaryKernel = "CpuElementwiseBinary";
constexpr BinaryOperation Arithmetic[] = {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul};

struct Shapes
{
    TensorShape m_A;
    TensorShape m_B;
    TensorShape m_Output;
};

const Shapes Broadcasts[] = {{{1, 9, 11, 7}, {1, 9, 11, 7}, {1, 9, 11, 7}},
                             {{5, 20011}, {5, 20011}, {5, 20011}},
                             {{40, 50, 67}, {67}, {40, 50, 67}}, // a bias
                             {{3}, {70000, 3}, {70000, 3}},
                             {{100013}, {1}, {100013}},
                             {{1}, {513}, {513}},
                             {{30, 1}, {30, 301}, {30, 301}}, // one value for each row
                             {{6, 35, 33}, {6, 1, 33}, {6, 35, 33}},
                             {{4, 1, 65}, {1, 3, 65}, {4, 3, 65}},
                             {{50, 3}, {50, 1}, {50, 3}},
                             {{1}, {1}, {1}}};

/// The kernel that runs an activation of 16-bit elements. Functions that TFLite has no kernel of go through floats.
std::string GetActivationKernel(const ActivationDescriptor& d, float inputScale, float outputScale)
{
    switch (d.m_Function)
    {
    case ActivationFunction::ReLu:
    case ActivationFunction::BoundedReLu:
    case ActivationFunction::LeakyReLu:
    case ActivationFunction::Gelu: return "CpuActivation";
    case ActivationFunction::Sigmoid:
    case ActivationFunction::TanH:
        if (outputScale == 1.0f / 32768.0f && (d.m_Function == ActivationFunction::Sigmoid || d.m_A == 1.0f))
        {
            // Inputs that need more than 32 bits on their way to a sigmoid are the reference kernel's.
            return inputScale == 50.0f ? "" : "CpuActivation";
        }
        [[fallthrough]];
    default: return "RefActivationAsFloat";
    }
}

} // namespace

ISA_TEST(ElementwiseInt16, BroadcastAsReference)
{
    for (const Shapes& shapes : Broadcasts)
    {
        for (const BinaryOperation operation : Arithmetic)
        {
            for (const auto& [scaleA, scaleB] : {std::pair(0.0021f, 0.0008f), std::pair(0.0007f, 0.0031f)})
            {
                const float output = operation == BinaryOperation::Mul ? 1.1f * scaleA * scaleB * 32768.0f : 0.0029f;
                ASSERT_NO_FATAL_FAILURE(
                    ExpectAsReference(Binary(operation, Values(Shorts(shapes.m_A, scaleA), 1),
                                             Values(Shorts(shapes.m_B, scaleB), 2), Shorts(shapes.m_Output, output)),
                                      BinaryKernel));
            }
        }
        for (const BinaryOperation operation : {BinaryOperation::Maximum, BinaryOperation::Minimum})
        {
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Binary(operation, Values(Shorts(shapes.m_A, 0.01f), 1),
                                         Values(Shorts(shapes.m_B, 0.01f), 2), Shorts(shapes.m_Output, 0.01f)),
                                  BinaryKernel));
        }
        for (const BinaryOperation operation : {BinaryOperation::Add, BinaryOperation::Sub})
        {
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Binary(operation, Values(Shorts(shapes.m_A, 0x1p-9f), 1),
                                         Values(Shorts(shapes.m_B, 0x1p-7f), 2), Shorts(shapes.m_Output, 0x1p-7f)),
                                  BinaryKernel));
        }
    }
}

// What TFLite shifts where scales are powers of two, and what it then does not.
ISA_TEST(ElementwiseInt16, PowersOfTwoAsReference)
{
    const TensorShape shape({3, 701});
    for (int shift = 0; shift <= 18; ++shift)
    {
        const float fine = std::ldexp(1.0f, -12 - shift);
        const char* kernel = shift < 16 ? BinaryKernel : "RefElementwiseBinary";
        for (const BinaryOperation operation : {BinaryOperation::Add, BinaryOperation::Sub})
        {
            const TestTensor a = Values(Shorts(shape, fine), 1);
            const TestTensor b = Values(Shorts(shape, 0x1p-12f), 2);
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Binary(operation, a, b, Shorts(shape, 0x1p-12f)), kernel));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Binary(operation, b, a, Shorts(shape, 0x1p-12f)), kernel));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Binary(operation, a, b, Shorts(shape, 0x1p-11f)), BinaryKernel));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Binary(operation, a, b, Shorts(shape, 0x1.0001p-12f)), kernel));
        }
    }
}

ISA_TEST(ElementwiseInt16, AllScalesAsReference)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<float> near(-2.0f, 2.0f);
    std::uniform_real_distribution<float> far(-40.0f, 40.0f);
    const TensorShape shape({2, 501});
    for (int i = 0; i < 400; ++i)
    {
        auto& exponents = i % 2 == 0 ? near : far;
        const float scaleA = std::exp2(exponents(random) - 10.0f);
        const float scaleB = i % 5 == 0 ? scaleA : std::exp2(exponents(random) - 10.0f);
        const float scale = std::exp2(exponents(random) - 10.0f);
        for (const BinaryOperation operation : Arithmetic)
        {
            const bool isProduct = operation == BinaryOperation::Mul && i % 2 == 0;
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Binary(operation, Values(Shorts(shape, scaleA), static_cast<uint32_t>(i)),
                                         Values(Shorts(shape, scaleB), static_cast<uint32_t>(i) + 1),
                                         Shorts(shape, isProduct ? scale * 32.0f : scale)),
                                  i % 2 == 0 ? BinaryKernel : "")); // the farthest are the reference kernel's
        }
    }
}

ISA_TEST(ElementwiseInt16, FusedClampsAsReference)
{
    const ActivationDescriptor relu(ActivationFunction::ReLu);
    const ActivationDescriptor bounded(ActivationFunction::BoundedReLu, 6.0f, -0.4f);
    for (const ActivationDescriptor* activation : {&relu, &bounded})
    {
        for (const BinaryOperation operation : Arithmetic)
        {
            OpCase op = Binary(operation, Values(Shorts({7, 1003}, 0.0011f), 1), Values(Shorts({1003}, 0.0004f), 2),
                               Shorts({7, 1003}, 0.0009f));
            op.m_FusedActivation = activation;
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, BinaryKernel));
        }
    }
}

// Every 16-bit number, to equal and to other scales, to such as saturate and such as leave nothing.
ISA_TEST(ElementwiseInt16, FunctionsAsReference)
{
    struct Activation
    {
        ActivationFunction m_Function;
        float m_A = 0.0f;
        float m_B = 0.0f;
    };
    constexpr Activation Activations[] = {
        {ActivationFunction::ReLu},
        {ActivationFunction::BoundedReLu, 6.0f},
        {ActivationFunction::BoundedReLu, 1.0f, -1.0f},
        {ActivationFunction::LeakyReLu, 0.1f},
        {ActivationFunction::LeakyReLu, -1.7f},
        {ActivationFunction::LeakyReLu, 0.0f},
        {ActivationFunction::HardSwish},
        {ActivationFunction::Elu, 1.0f},
        {ActivationFunction::Gelu},
        {ActivationFunction::Sigmoid},
        {ActivationFunction::TanH, 1.0f, 1.0f},
        {ActivationFunction::TanH, 1.3f, 0.7f},
    };
    constexpr float Fraction = 1.0f / 32768.0f;
    constexpr std::pair<float, float> Scales[] = {
        {0.0004f, 0.0004f},  {0.0004f, 0.0003f}, {0.0011f, 0.0024f},   {3.1f, 0.0001f},
        {0.0001f, 70.0f},    {1e-9f, 2e9f},      {0x1p-12f, Fraction}, {0x1p-11f, Fraction},
        {0.0003f, Fraction}, {0.7f, Fraction},   {1.4f, Fraction},     {0.00001f, Fraction},
        {1e-12f, Fraction},  {50.0f, Fraction},  {1e-30f, 1e-30f},     {0x1p-13f, 0x1p-8f}};
    std::vector<double> every;
    for (int i = -32768; i <= 32767; ++i)
    {
        every.push_back(i);
    }
    for (const auto& [from, to] : Scales)
    {
        const TestTensor input = Stored(Shorts({65536}, from), every);
        const TensorInfo output = Shorts({65536}, to);
        for (const Activation& activation : Activations)
        {
            const ActivationDescriptor d(activation.m_Function, activation.m_A, activation.m_B);
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                ReferenceCase("activation " + std::to_string(static_cast<int>(activation.m_Function)) + ", " +
                                  input.m_Info.ToString() + " to " + output.ToString(),
                              LayerType::Activation, d, {input}, output),
                GetActivationKernel(d, from, to)));
        }
        for (const UnaryOperation operation :
             {UnaryOperation::Abs, UnaryOperation::Neg, UnaryOperation::Exp, UnaryOperation::Log, UnaryOperation::Sin})
        {
            ElementwiseUnaryDescriptor d;
            d.m_Operation = operation;
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                ReferenceCase("operation " + std::to_string(static_cast<int>(operation)), LayerType::ElementwiseUnary,
                              d, {input}, output),
                operation == UnaryOperation::Sin ? "RefElementwiseUnaryAsFloat" : "CpuElementwiseUnary"));
        }
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
            ReferenceCase("quantize", LayerType::Quantize, QuantizeDescriptor(), {input}, output), "CpuQuantize"));
    }
}

ISA_TEST(ElementwiseInt16, FunctionsOfOddSizesAsReference)
{
    for (const unsigned int count : {1U, 7U, 31U, 33U, 100003U})
    {
        const TestTensor input = Values(Shorts({count}, 0.0004f), count);
        const TensorInfo output = Shorts({count}, 1.0f / 32768.0f);
        for (const ActivationFunction function : {ActivationFunction::ReLu, ActivationFunction::LeakyReLu,
                                                  ActivationFunction::TanH, ActivationFunction::HardSwish})
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                ReferenceCase("activation", LayerType::Activation, ActivationDescriptor(function, 1.0f, 1.0f), {input},
                              output),
                function == ActivationFunction::HardSwish ? "RefActivationAsFloat" : "CpuActivation"));
        }
    }
}

} // namespace tenon::test::elementwise_int16_test
