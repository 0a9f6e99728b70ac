// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor, and changes of its type or quantization, where CpuAcc has kernels of its own: what CpuRef
// gives, for lengths with something left over, on 1 and 3 threads, in place. Each tensor ends at a guard page.
#include "ops/cpu/elementwise/ElementwiseCases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::unary_loops_test
{

namespace
{

/// Of floats.
constexpr UnaryOperation Operations[] = {UnaryOperation::Abs,   UnaryOperation::Neg,   UnaryOperation::Sqrt,
                                         UnaryOperation::Rsqrt, UnaryOperation::Exp,   UnaryOperation::Log,
                                         UnaryOperation::Ceil,  UnaryOperation::Round, UnaryOperation::Sign,
                                         UnaryOperation::Sin,   UnaryOperation::Cos,   UnaryOperation::Erf};

constexpr RequantizationMode RequantizationModes[] = {RequantizationMode::FixedPoint,
                                                      RequantizationMode::FloatHalfEven};

} // namespace

ISA_TEST(UnaryLoops, FunctionsOfFloats)
{
    struct Function
    {
        ActivationFunction m_Function;
        double m_Relative; // 0: the same in every bit
        double m_Absolute;
    };
    constexpr Function Activations[] = {
        {ActivationFunction::ReLu, 0, 0},           {ActivationFunction::BoundedReLu, 0, 0},
        {ActivationFunction::LeakyReLu, 0, 0},      {ActivationFunction::Abs, 0, 0},
        {ActivationFunction::Linear, 0, 0},         {ActivationFunction::Square, 0, 0},
        {ActivationFunction::Sqrt, 0, 0},           {ActivationFunction::HardSwish, 3.6e-7, 0},
        {ActivationFunction::Sigmoid, 1e-6, 1e-38}, {ActivationFunction::TanH, 1e-6, 0},
        {ActivationFunction::Elu, 1e-6, 0},         {ActivationFunction::SoftReLu, 1e-6, 1e-38},
        {ActivationFunction::Swish, 1e-6, 1e-38},   {ActivationFunction::Mish, 1e-6, 1e-38},
        {ActivationFunction::Gelu, 2.5e-7, 9e-7}}; // of numbers below 0, |x| times what is lost from 1
    for (const unsigned int count : {1U, 3U, 67U, 100003U})
    {
        const TensorInfo info({count}, DataType::Float32);
        for (const Function& function : Activations)
        {
            for (const auto& [a, b] : {std::pair(0.0f, 0.7f), {1.3f, 0.7f}, {1.0f, 1.0f}})
            {
                SCOPED_TRACE(static_cast<int>(function.m_Function));
                OpCase c = Case(LayerType::Activation, MakeDescriptor(Clamp(function.m_Function, a, b)),
                                {Floats({count}, 3, -12, 12)}, info);
                c.m_Relative = function.m_Relative;
                c.m_Absolute = std::max(c.m_Absolute, function.m_Absolute);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuActivation"));
            }
        }
        OpCase nearZero = Case(LayerType::Activation, MakeDescriptor(Clamp(ActivationFunction::Gelu, 0, 0)),
                               {Random(info, 3, -1, 1)}, info);
        nearZero.m_Relative = 8e-7;
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(nearZero, "CpuActivation"));
        for (const UnaryOperation operation : Operations)
        {
            SCOPED_TRACE(static_cast<int>(operation));
            ElementwiseUnaryDescriptor descriptor;
            descriptor.m_Operation = operation;
            // Small numbers, ordinary ones, and some beyond what floats hold, or what vectors take turns of.
            const bool hasTurns = operation == UnaryOperation::Sin || operation == UnaryOperation::Cos;
            for (const float most : {1e-3f, 4.0f, 80.0f, 110.0f, hasTurns ? 8e4f : 3e38f})
            {
                SCOPED_TRACE(most);
                OpCase c = Case(LayerType::ElementwiseUnary, MakeDescriptor(descriptor),
                                {Floats({count}, 3, -most, most)}, info);
                if (operation == UnaryOperation::Exp || operation == UnaryOperation::Log ||
                    operation == UnaryOperation::Erf || hasTurns)
                {
                    c.m_Relative = 1e-6;
                    c.m_Absolute = hasTurns ? 1e-7 : 1e-38;
                }
#if defined(__x86_64__)
                if (operation == UnaryOperation::Rsqrt)
                {
                    c.m_Relative = 2.4e-7; // from an estimate
                }
#endif
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuElementwiseUnary"));
            }
        }
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
            Case(LayerType::Floor, MakeDescriptor(NullDescriptor()), {Floats({count}, 3, -80, 80)}, info), "CpuFloor"));
    }
}

// NaN and infinities between ordinary numbers, which is where vectors choose between two of them.
ISA_TEST(UnaryLoops, NaNAndInfinitiesAsReference)
{
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
    TestTensor data = Floats({67}, 3, -3, 3);
    std::vector<float> values(67);
    std::memcpy(values.data(), data.m_Bytes.data(), data.m_Bytes.size());
    for (size_t i = 0; i < values.size(); i += 3)
    {
        constexpr float Special[] = {NaN, Infinity, -Infinity, 0.0f, -0.0f, -NaN};
        values[i] = Special[i / 3 % std::size(Special)];
    }
    std::memcpy(data.m_Bytes.data(), values.data(), data.m_Bytes.size());
    const auto expect = [&](OpCase c, const char* kernel)
    {
        c.m_Relative = 1e-6;
        c.m_Absolute = 9e-7;
        ExpectAsReference(c, kernel);
    };
    for (const ActivationFunction function :
         {ActivationFunction::Sigmoid, ActivationFunction::TanH, ActivationFunction::Linear, ActivationFunction::ReLu,
          ActivationFunction::BoundedReLu, ActivationFunction::SoftReLu, ActivationFunction::LeakyReLu,
          ActivationFunction::Abs, ActivationFunction::Sqrt, ActivationFunction::Square, ActivationFunction::Elu,
          ActivationFunction::HardSwish, ActivationFunction::Gelu, ActivationFunction::Swish, ActivationFunction::Mish})
    {
        for (const float b : {0.7f, 1.0f})
        {
            SCOPED_TRACE(static_cast<int>(function));
            ASSERT_NO_FATAL_FAILURE(
                expect(Case(LayerType::Activation, MakeDescriptor(Clamp(function, 1.0f, b)), {data}, data.m_Info),
                       "CpuActivation"));
        }
    }
    for (const UnaryOperation operation : Operations)
    {
        SCOPED_TRACE(static_cast<int>(operation));
        ElementwiseUnaryDescriptor descriptor;
        descriptor.m_Operation = operation;
        ASSERT_NO_FATAL_FAILURE(expect(
            Case(LayerType::ElementwiseUnary, MakeDescriptor(descriptor), {data}, data.m_Info), "CpuElementwiseUnary"));
    }
}

// In every bit, of -0 as well; but a cosine is that of a rounded angle.
ISA_TEST(UnaryLoops, ZerosAsReference)
{
    TestTensor data = Floats({19}, 3, -3, 3);
    const std::vector<float> zeros = {0.0f, -0.0f, 0.0f, -0.0f, -0.0f, 0.0f, 0.0f, -0.0f, 0.0f, -0.0f,
                                      0.0f, -0.0f, 0.0f, 0.0f,  -0.0f, 0.0f, 0.0f, -0.0f, -0.0f};
    std::memcpy(data.m_Bytes.data(), zeros.data(), data.m_Bytes.size());
    for (const UnaryOperation operation : Operations)
    {
        SCOPED_TRACE(static_cast<int>(operation));
        ElementwiseUnaryDescriptor descriptor;
        descriptor.m_Operation = operation;
        OpCase c = Case(LayerType::ElementwiseUnary, MakeDescriptor(descriptor), {data}, data.m_Info);
        c.m_Relative = operation == UnaryOperation::Cos ? 1.2e-7 : 0.0;
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuElementwiseUnary"));
    }
}

ISA_TEST(UnaryLoops, FunctionsOfBytes)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8})
    {
        for (const unsigned int count : {1U, 15U, 257U, 100003U})
        {
            const TensorInfo input({count}, type, 0.05f, 4);
            const TensorInfo output({count}, type, 0.03f, 9);
            for (const ActivationFunction function :
                 {ActivationFunction::ReLu, ActivationFunction::TanH, ActivationFunction::HardSwish})
            {
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    Case(LayerType::Activation, MakeDescriptor(Clamp(function, 1, 1)), {Random(input, 1)}, output),
                    "CpuActivation"));
            }
            ElementwiseUnaryDescriptor descriptor;
            descriptor.m_Operation = UnaryOperation::Exp;
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                Case(LayerType::ElementwiseUnary, MakeDescriptor(descriptor), {Random(input, 1)}, output),
                "CpuElementwiseUnary"));
            for (const DataType to : {DataType::QAsymmU8, DataType::QAsymmS8})
            {
                for (const RequantizationMode mode : RequantizationModes)
                {
                    ASSERT_NO_FATAL_FAILURE(
                        ExpectAsReference(Case(LayerType::Quantize, MakeDescriptor(QuantizeDescriptor(mode)),
                                               {Random(input, 1)}, TensorInfo({count}, to, 0.01f, 5)),
                                          "CpuQuantize"));
                }
            }
        }
    }
}

// Between all pairs of quantizations, with factors far from 1 and near to it.
ISA_TEST(UnaryLoops, Requantizations)
{
    const auto quantize = MakeDescriptor(QuantizeDescriptor());
    constexpr DataType Types[] = {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16};
    const auto info = [](DataType type, unsigned int count, float scale, int32_t offset)
    {
        return TensorInfo(TensorShape({count}), type, scale,
                          type == DataType::QAsymmU8   ? 128 + offset
                          : type == DataType::QAsymmS8 ? offset
                                                       : 0);
    };
    for (const DataType from : Types)
    {
        for (const DataType to : Types)
        {
            for (const float factor : {1.0f, 0.37f, 2.9f, 400.0f, 1e-3f, 1e-9f, 3e9f})
            {
                for (const unsigned int count : {1U, 19U, 70001U})
                {
                    SCOPED_TRACE(std::string(GetDataTypeName(from)) + " to " + GetDataTypeName(to) + " by " +
                                 std::to_string(factor));
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case(LayerType::Quantize, quantize,
                                                                   {Random(info(from, count, factor * 0.01f, 7), 1)},
                                                                   info(to, count, 0.01f, -5)),
                                                              "CpuQuantize"));
                }
            }
        }
    }
}

ISA_TEST(UnaryLoops, Conversions)
{
    const auto none = MakeDescriptor(NullDescriptor());
    for (const unsigned int count : {1U, 15U, 257U, 100003U})
    {
        const TensorInfo real({count}, DataType::Float32);
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16})
        {
            const TensorInfo stored({count}, type, 0.5f, type == DataType::QSymmS16 ? 0 : 11);
            // The second and third are far outside of the type, with what 16 bits of it would be within.
            for (const float magnitude : {80.0f, 4e4f, 3e38f})
            {
                for (const RequantizationMode mode : RequantizationModes)
                {
                    ASSERT_NO_FATAL_FAILURE(
                        ExpectAsReference(Case(LayerType::Quantize, MakeDescriptor(QuantizeDescriptor(mode)),
                                               {Floats({count}, 3, -magnitude, magnitude)}, stored),
                                          "CpuQuantize"));
                }
            }
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Case(LayerType::Dequantize, none, {Random(stored, 1)}, real), "CpuDequantize"));
        }
        for (const DataType type : {DataType::Signed8, DataType::Unsigned8, DataType::Signed32})
        {
            const TensorInfo integers({count}, type);
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Case(LayerType::Cast, none, {Floats({count}, 3, -400, 400)}, integers), "CpuCast"));
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Case(LayerType::Cast, none, {Random(integers, 1, 0, 127)}, real), "CpuCast"));
        }
        for (const DataType type : {DataType::Signed8, DataType::Unsigned8})
        {
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Case(LayerType::Cast, none, {Random(TensorInfo({count}, type), 1)},
                                       TensorInfo({count}, DataType::Signed32)),
                                  "CpuCast"));
        }
        const TensorInfo half({count}, DataType::Float16);
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(Case(LayerType::Dequantize, none, {Random(half, 1, -9, 9)}, real), ""));
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(Case(LayerType::Cast, none, {Floats({count}, 3, -7e4, 7e4)}, half), ""));
        const TensorInfo brain({count}, DataType::BFloat16);
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(Case(LayerType::Dequantize, none, {Random(brain, 1, -9, 9)}, real), "CpuDequantize"));
    }
}

// Of any bits: Booleans beyond 1, NaN, subnormal numbers, and zeros of both signs between them.
ISA_TEST(UnaryLoops, CastsOfBits)
{
    using Pair = std::pair<DataType, DataType>;
    std::vector<Pair> pairs = {{DataType::Signed32, DataType::Signed64},
                               {DataType::Signed64, DataType::Signed32},
                               {DataType::Boolean, DataType::Boolean}};
    for (const DataType type : {DataType::Float32, DataType::Signed32, DataType::Signed8, DataType::Unsigned8,
                                DataType::QAsymmS8, DataType::QAsymmU8})
    {
        pairs.push_back({type, DataType::Boolean});
        pairs.push_back({DataType::Boolean, type});
    }
    for (const unsigned int count : {1U, 3U, 15U, 16U, 31U, 33U, 257U, 100003U})
    {
        for (const auto& [from, to] : pairs)
        {
            TestTensor input = Random(TensorInfo({count}, from), 1);
            std::mt19937 random(count);
            const size_t size = input.m_Bytes.size() / count;
            for (size_t i = 0; i < count; ++i)
            {
                const auto kind = random() % 4;
                for (size_t k = 0; k < size; ++k)
                {
                    const bool isTop = k + 1 == size;
                    const auto byte = static_cast<unsigned char>(random());
                    const int bits = kind == 0             ? byte
                                     : kind == 1 && isTop  ? byte & 0x80
                                     : kind == 2 && k == 0 ? byte
                                                           : 0;
                    input.m_Bytes[i * size + k] = static_cast<std::byte>(bits);
                }
            }
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                Case(LayerType::Cast, MakeDescriptor(NullDescriptor()), {std::move(input)}, TensorInfo({count}, to)),
                "CpuCast"));
        }
    }
}

} // namespace tenon::test::unary_loops_test
