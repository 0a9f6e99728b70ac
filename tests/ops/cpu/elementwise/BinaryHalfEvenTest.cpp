// SPDX-License-Identifier: Apache-2.0
// ElementwiseBinary of bytes in RequantizationMode::FloatHalfEven beside the definition: an operation on Float32
// numbers, divided by the output's scale and rounded half to even.
#include "ops/cpu/HalfEven.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::binary_half_even_test
{

namespace
{

constexpr BinaryOperation Operations[] = {BinaryOperation::Add,   BinaryOperation::Sub,     BinaryOperation::Mul,
                                          BinaryOperation::Div,   BinaryOperation::Maximum, BinaryOperation::Minimum,
                                          BinaryOperation::SqDiff};

float Apply(BinaryOperation operation, float a, float b)
{
    const float difference = a - b;
    switch (operation)
    {
    case BinaryOperation::Add: return a + b;
    case BinaryOperation::Sub: return difference;
    case BinaryOperation::Mul: return a * b;
    case BinaryOperation::Div: return a / b;
    case BinaryOperation::Maximum: return std::max(a, b);
    case BinaryOperation::Minimum: return std::min(a, b);
    default: return difference * difference;
    }
}

/// One scale and zero point, the latter as for int8.
struct Quantization
{
    float m_Scale;
    int32_t m_ZeroPoint;

    TensorInfo Of(const TensorShape& shape, bool isSigned) const
    {
        return InfoInt8(shape, isSigned, m_Scale, m_ZeroPoint + (isSigned ? 0 : 128));
    }
};

struct Scales
{
    Quantization m_A;
    Quantization m_B;
    Quantization m_Output;
};

/// The bytes of a layer whose inputs have as many dimensions as the output.
std::vector<double> Define(BinaryOperation operation, const TestTensor& a, const TestTensor& b,
                           const TensorInfo& output)
{
    const std::vector<double> storedA = GetStored(a.m_Info, a.m_Bytes.data());
    const std::vector<double> storedB = GetStored(b.m_Info, b.m_Bytes.data());
    const TensorShape& shape = output.GetShape();
    std::vector<double> stored(output.GetNumElements());
    for (size_t i = 0; i < stored.size(); ++i)
    {
        const auto find = [&](const TensorShape& of)
        {
            size_t index = 0;
            size_t size = stored.size();
            size_t rest = i;
            for (unsigned int dim = 0; dim < shape.GetNumDimensions(); ++dim)
            {
                size /= shape[dim];
                index = index * of[dim] + (of[dim] == 1 ? 0 : rest / size);
                rest %= size;
            }
            return index;
        };
        const float x = ToReal(storedA[find(a.m_Info.GetShape())], a.m_Info);
        const float y = ToReal(storedB[find(b.m_Info.GetShape())], b.m_Info);
        stored[i] = StepsToStored(Apply(operation, x, y) / output.GetQuantizationScale(), output);
    }
    return stored;
}

ElementwiseBinaryDescriptor Describe(BinaryOperation operation)
{
    ElementwiseBinaryDescriptor descriptor(operation);
    descriptor.m_Requantization = RequantizationMode::FloatHalfEven;
    return descriptor;
}

void Check(BinaryOperation operation, const TestTensor& a, const TestTensor& b, const TensorInfo& output)
{
    const std::string name = "operation " + std::to_string(static_cast<int>(operation)) + " of " + a.m_Info.ToString() +
                             " and " + b.m_Info.ToString() + " to " + output.ToString();
    ExpectStored(ReferenceCase(name, LayerType::ElementwiseBinary, Describe(operation), {a, b}, output),
                 "CpuElementwiseBinary", Define(operation, a, b, output));
}

constexpr Scales AnyScales[] = {{{0.0231418f, 3}, {0.0178213f, -20}, {0.0352319f, -7}}, // any
                                {{0.5f, -128}, {0.25f, 127}, {1.0f, 0}},                // halves of all steps
                                {{0.1f, 0}, {0.1f, 5}, {0.2f, 0}},                      // halves as float rounds them
                                {{0.02f, 127}, {0.03f, -128}, {0.0005f, 127}},          // mostly saturated
                                {{0.03f, -8}, {0.03f, -8}, {0.03f, -8}},                // alike
                                {{3e38f, 0}, {2e38f, -100}, {3e38f, 10}},               // infinite numbers
                                {{2e38f, -128}, {2e38f, -128}, {2e38f, -128}},          // the same, alike
                                {{1e30f, 4}, {1e-30f, 0}, {1e-20f, 1}}};                // steps that no integer holds

} // namespace

ISA_TEST(BinaryHalfEven, EveryPairOfBytes)
{
    constexpr unsigned int Values = 256;
    for (const bool isSigned : {true, false})
    {
        for (const Scales& scales : AnyScales)
        {
            TestTensor a = {scales.m_A.Of({1, Values * Values}, isSigned), {}};
            TestTensor b = {scales.m_B.Of({1, Values * Values}, isSigned), {}};
            for (unsigned int i = 0; i < Values * Values; ++i)
            {
                a.m_Bytes.push_back(static_cast<std::byte>(i / Values));
                b.m_Bytes.push_back(static_cast<std::byte>(i % Values));
            }
            for (const BinaryOperation operation : Operations)
            {
                Check(operation, a, b, scales.m_Output.Of({1, Values * Values}, isSigned));
            }
        }
    }
}

// With few elements, where the exact loop runs, and with one element against many.
ISA_TEST(BinaryHalfEven, EveryLength)
{
    std::vector<unsigned int> lengths = {1023, 1024, 1060, 5000};
    for (unsigned int length = 1; length <= 67; ++length)
    {
        lengths.push_back(length);
    }
    const Scales& scales = AnyScales[0];
    for (const unsigned int length : lengths)
    {
        const bool isSigned = length % 2 == 0;
        const TensorInfo output = scales.m_Output.Of({1, length}, isSigned);
        for (const BinaryOperation operation : Operations)
        {
            for (const auto& [sizeA, sizeB] : {std::pair{length, length}, {length, 1U}, {1U, length}})
            {
                Check(operation, Random(scales.m_A.Of({1, sizeA}, isSigned), length),
                      Random(scales.m_B.Of({1, sizeB}, isSigned), length + 1), output);
            }
        }
    }
}

ISA_TEST(BinaryHalfEven, Broadcasts)
{
    const std::pair<TensorShape, TensorShape> shapes[] = {
        {{2, 6, 7, 40}, {1, 1, 1, 40}}, {{2, 6, 7, 40}, {2, 1, 1, 40}}, {{1, 1, 1, 3}, {3, 50, 40, 3}},
        {{2, 6, 70, 1}, {2, 6, 1, 40}}, {{5, 1, 64, 64}, {1, 3, 1, 1}}, {{3, 1, 40, 5}, {3, 16, 1, 5}},
        {{2, 3, 1, 1}, {2, 3, 9, 130}}};
    for (const bool isSigned : {true, false})
    {
        for (const auto& [shapeA, shapeB] : shapes)
        {
            std::vector<unsigned int> sizes;
            for (unsigned int i = 0; i < 4; ++i)
            {
                sizes.push_back(std::max(shapeA[i], shapeB[i]));
            }
            const TensorShape shape(4, sizes.data());
            for (const BinaryOperation operation : Operations)
            {
                for (const Scales* scales : {&AnyScales[0], &AnyScales[2]})
                {
                    Check(operation, Random(scales->m_A.Of(shapeA, isSigned), 1),
                          Random(scales->m_B.Of(shapeB, isSigned), 2), scales->m_Output.Of(shape, isSigned));
                }
            }
        }
    }
}

// Operations without a loop of bytes look up a table of all pairs; few elements are not worth it.
ISA_TEST(BinaryHalfEven, OtherOperationsByTable)
{
    const Quantization a = {0.0231418f, -128};
    const Quantization b = {0.0178213f, -20};
    const Quantization out = {0.0352319f, -7};
    for (const bool isSigned : {true, false})
    {
        for (const BinaryOperation operation :
             {BinaryOperation::Power, BinaryOperation::FloorDiv, BinaryOperation::FloorMod, BinaryOperation::Remainder,
              BinaryOperation::Atan2})
        {
            for (const auto& [shapeA, shapeB] : {std::pair{TensorShape({3, 57, 131}), TensorShape({3, 57, 131})},
                                                 {TensorShape({3, 57, 131}), TensorShape({1, 1, 1})},
                                                 {TensorShape({1, 1, 1}), TensorShape({3, 57, 131})},
                                                 {TensorShape({3, 57, 1}), TensorShape({1, 1, 131})},
                                                 {TensorShape({3, 1, 131}), TensorShape({1, 57, 131})},
                                                 {TensorShape({1, 5, 131}), TensorShape({1, 5, 131})}})
            {
                unsigned int sizes[3];
                for (unsigned int i = 0; i < 3; ++i)
                {
                    sizes[i] = std::max(shapeA[i], shapeB[i]);
                }
                const TensorShape shape(3, sizes);
                const std::string name = "operation " + std::to_string(static_cast<int>(operation)) + " of " +
                                         shapeA.ToString() + " and " + shapeB.ToString();
                ExpectAsReference(ReferenceCase(name, LayerType::ElementwiseBinary, Describe(operation),
                                                {Random(a.Of(shapeA, isSigned), 1), Random(b.Of(shapeB, isSigned), 2)},
                                                out.Of(shape, isSigned)),
                                  shape.GetNumElements() < 16384 ? "RefElementwiseBinaryAsFloat"
                                                                 : "CpuElementwiseBinaryTable");
            }
        }
    }
}

// The bounds are rounded half to even, too: 0.5 steps are none, 2.5 steps are two.
ISA_TEST(BinaryHalfEven, ClampsToFusedActivation)
{
    ActivationDescriptor activation;
    activation.m_Function = ActivationFunction::BoundedReLu;
    activation.m_A = 2.5f;
    activation.m_B = 0.5f;
    activation.m_Requantization = RequantizationMode::FloatHalfEven;
    for (const bool isSigned : {true, false})
    {
        for (const unsigned int length : {50U, 6000U})
        {
            for (const unsigned int lengthB : {1U, length})
            {
                const TensorInfo output = Quantization{1.0f, -30}.Of({1, length}, isSigned);
                const TestTensor a = Random(Quantization{0.051f, 0}.Of({1, length}, isSigned), 3);
                const TestTensor b = Random(Quantization{0.029f, 7}.Of({1, lengthB}, isSigned), 4);
                for (const BinaryOperation operation :
                     {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul, BinaryOperation::Div})
                {
                    std::vector<double> want = Define(operation, a, b, output);
                    for (double& stored : want)
                    {
                        const int32_t zero = output.GetQuantizationOffset();
                        stored = std::clamp<double>(stored, zero, zero + 2);
                    }
                    OpCase op =
                        ReferenceCase("clamped", LayerType::ElementwiseBinary, Describe(operation), {a, b}, output);
                    op.m_FusedActivation = &activation;
                    ExpectStored(op, "CpuElementwiseBinary", want);
                }
            }
        }
    }
}

} // namespace tenon::test::binary_half_even_test
