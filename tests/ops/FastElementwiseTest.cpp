// SPDX-License-Identifier: Apache-2.0
// Elementwise operators where CpuAcc has kernels of its own: what CpuRef gives, for every way of broadcasting, for
// lengths with something left over, on 1 and 3 threads, in place, and with an activation fused. Each tensor ends at a
// guard page.
#include "ops/BytesInfo.hpp"
#include "ops/FastCompare.hpp"

#include <tenon/Descriptors.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace tenon::test
{

namespace
{

/// Vectors of 32-bit Arm take subnormal floats for zeros and give zeros in place of them; nothing else does.
bool FlushesSubnormals()
{
#ifdef __arm__
    return cpu::GetCpuFeatures().m_Simd;
#else
    return false;
#endif
}

/// A case whose layer says what it is.
OpCase Case(LayerType type, std::shared_ptr<const BaseDescriptor> descriptor, std::vector<TestTensor> inputs,
            const TensorInfo& output)
{
    OpCase op = FastCase(GetLayerTypeAsCString(type), type, std::move(descriptor), std::move(inputs), output);
    const bool flushes = output.GetDataType() == DataType::Float32 && FlushesSubnormals();
    op.m_Absolute = flushes ? std::numeric_limits<float>::min() : 0;
    return op;
}

std::shared_ptr<const BaseDescriptor> Binary(BinaryOperation operation)
{
    ElementwiseBinaryDescriptor descriptor;
    descriptor.m_Operation = operation;
    return MakeDescriptor(descriptor);
}

struct Shapes
{
    TensorShape m_A;
    TensorShape m_B;
    TensorShape m_Output;
    bool m_AStands = false; ///< the first input is one element for many of the second
    bool m_IsShort = false; ///< rows of a few elements are the reference kernel's
};

/// The kernel of CpuAcc for a layer type, or of CpuRef where that runs such shapes.
std::string KernelOf(LayerType type, const Shapes& shapes)
{
    return std::string(shapes.m_IsShort ? "Ref" : "Cpu") + GetLayerTypeAsCString(type);
}

std::string Describe(const Shapes& shapes, BinaryOperation operation)
{
    return shapes.m_A.ToString() + " and " + shapes.m_B.ToString() + ", operation " +
           std::to_string(static_cast<int>(operation));
}

/// Every way in which the inputs move against each other; some large enough for several threads.
std::vector<Shapes> GetShapes()
{
    const TensorShape scalar(Dimensionality::Scalar);
    return {{{1, 9, 11, 7}, {1, 9, 11, 7}, {1, 9, 11, 7}},
            {{5, 20011}, {5, 20011}, {5, 20011}},
            {{40, 50, 67}, {67}, {40, 50, 67}}, // a bias
            {{3}, {70000, 3}, {70000, 3}},
            {{130, 1000}, {1000}, {130, 1000}},
            {{100013}, {1}, {100013}},
            {scalar, {513}, {513}, true},
            {{300, 1}, {300, 301}, {300, 301}, true}, // one value for each row
            {{6, 35, 33}, {6, 1, 33}, {6, 35, 33}},
            {{4, 1, 65}, {1, 3, 65}, {4, 3, 65}},
            {{50, 3}, {50, 1}, {50, 3}, false, true},
            {{1}, {1}, {1}}};
}

/// Random numbers among which there are those that are easily got wrong.
TestTensor Floats(const TensorShape& shape, uint32_t seed, double low, double high)
{
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    const float tiny = FlushesSubnormals() ? std::numeric_limits<float>::min() : 1e-40f;
    const float special[] = {std::numeric_limits<float>::quiet_NaN(),
                             Infinity,
                             -Infinity,
                             0.0f,
                             -0.0f,
                             tiny,
                             3e38f,
                             -3e38f,
                             0.5f,
                             -0.5f,
                             1.5f,
                             -2.5f,
                             1.0f,
                             -1.0f};
    TestTensor tensor = Random(TensorInfo(shape, DataType::Float32), seed, low, high);
    const size_t count = tensor.m_Bytes.size() / sizeof(float);
    for (size_t i = 0; count > 1 && i < count; i += 5)
    {
        const float value = special[(i / 5 * seed) % std::size(special)];
        std::memcpy(tensor.m_Bytes.data() + i * sizeof(float), &value, sizeof(float));
    }
    return tensor;
}

ActivationDescriptor Clamp(ActivationFunction function, float high, float low)
{
    ActivationDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_A = high;
    descriptor.m_B = low;
    return descriptor;
}

/// The same pair of every byte with every byte, as two tensors.
std::vector<TestTensor> AllPairs(const TensorInfo& a, const TensorInfo& b)
{
    TensorInfo x = a;
    TensorInfo y = b;
    x.SetShape({256, 256});
    y.SetShape({256, 256});
    TestTensor first = Random(x, 1);
    TestTensor second = Random(y, 1);
    for (size_t i = 0; i < first.m_Bytes.size(); ++i)
    {
        first.m_Bytes[i] = static_cast<std::byte>(i / 256);
        second.m_Bytes[i] = static_cast<std::byte>(i % 256);
    }
    return {first, second};
}

} // namespace

TEST(FastElementwise, SumsAndProductsOfAllPairsOfBytes)
{
    struct Scales
    {
        float m_A, m_B, m_Output;
        int m_ZeroA, m_ZeroB, m_ZeroOutput; // of uint8
    };
    // Ordinary ones, equal ones, powers of two, results out of range, and scales for which floats do not do.
    constexpr Scales All[] = {{0.021f, 0.035f, 0.047f, 131, 124, 129}, {0.5f, 0.5f, 0.5f, 128, 128, 128},
                              {0.25f, 0.5f, 1.0f, 0, 255, 128},        {0.01f, 0.02f, 1e-6f, 100, 120, 7},
                              {3.0f, 0.001f, 500.0f, 1, 2, 3},         {0.125f, 0.0625f, 0.015625f, 128, 128, 128},
                              {1e-5f, 300.0f, 400.0f, 12, 200, 90},    {0.0017f, 0.0031f, 0.0029f, 255, 0, 64}};
    const ActivationDescriptor relu = Clamp(ActivationFunction::ReLu, 0, 0);
    const ActivationDescriptor relu6 = Clamp(ActivationFunction::BoundedReLu, 6, -0.4f);
    for (const Scales& s : All)
    {
        const bool fuses = &s < All + 2; // what is fused does not depend on the scales
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8})
        {
            const int shift = type == DataType::QAsymmU8 ? 0 : 128;
            const TensorInfo output({256, 256}, type, s.m_Output, s.m_ZeroOutput - shift);
            const std::vector<TestTensor> inputs = AllPairs(TensorInfo({1}, type, s.m_A, s.m_ZeroA - shift),
                                                            TensorInfo({1}, type, s.m_B, s.m_ZeroB - shift));
            for (const BinaryOperation operation :
                 {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul, BinaryOperation::SqDiff})
            {
                for (const ActivationDescriptor* fused :
                     {static_cast<const ActivationDescriptor*>(nullptr), &relu, &relu6})
                {
                    if (fused != nullptr && !fuses)
                    {
                        continue;
                    }
                    SCOPED_TRACE(output.ToString() + ", operation " + std::to_string(static_cast<int>(operation)));
                    OpCase c = Case(LayerType::ElementwiseBinary, Binary(operation), inputs, output);
                    c.m_FusedActivation = fused;
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuElementwiseBinary"));
                }
            }
        }
    }
}

TEST(FastElementwise, BytesBroadcast)
{
    for (const Shapes& shapes : GetShapes())
    {
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
        {
            for (const BinaryOperation operation :
                 {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul, BinaryOperation::SqDiff,
                  BinaryOperation::Maximum, BinaryOperation::Minimum})
            {
                SCOPED_TRACE(Describe(shapes, operation));
                const bool isExtreme = operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum;
                const TensorInfo a(shapes.m_A, type, 0.02f, 3);
                const TensorInfo b(shapes.m_B, type, isExtreme ? 0.02f : 0.03f, isExtreme ? 3 : 10);
                const TensorInfo output(shapes.m_Output, type, isExtreme ? 0.02f : 0.04f, isExtreme ? 3 : 17);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    Case(LayerType::ElementwiseBinary, Binary(operation), {Random(a, 1), Random(b, 2)}, output),
                    KernelOf(LayerType::ElementwiseBinary, shapes)));
            }
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Case(LayerType::Prelu, MakeDescriptor(NullDescriptor()),
                                       {Random(TensorInfo(shapes.m_A, type, 0.02f, 3), 1),
                                        Random(TensorInfo(shapes.m_B, type, 0.03f, 10), 2)},
                                       TensorInfo(shapes.m_Output, type, 0.04f, 17)),
                                  shapes.m_AStands ? "RefPrelu" : KernelOf(LayerType::Prelu, shapes)));
        }
    }
}

TEST(FastElementwise, NumbersBroadcast)
{
    const ActivationDescriptor relu6 = Clamp(ActivationFunction::BoundedReLu, 6, -0.0f);
    for (const Shapes& shapes : GetShapes())
    {
        for (const BinaryOperation operation :
             {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul, BinaryOperation::Div,
              BinaryOperation::Maximum, BinaryOperation::Minimum, BinaryOperation::SqDiff})
        {
            SCOPED_TRACE(Describe(shapes, operation));
            OpCase c = Case(LayerType::ElementwiseBinary, Binary(operation),
                            {Floats(shapes.m_A, 3, -9, 9), Floats(shapes.m_B, 11, -9, 9)},
                            TensorInfo(shapes.m_Output, DataType::Float32));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, KernelOf(LayerType::ElementwiseBinary, shapes)));
            if (operation == BinaryOperation::Add || operation == BinaryOperation::Sub ||
                operation == BinaryOperation::Mul || operation == BinaryOperation::Div)
            {
                c.m_FusedActivation = &relu6;
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, KernelOf(LayerType::ElementwiseBinary, shapes)));
                c.m_FusedActivation = nullptr;
            }
            if (operation != BinaryOperation::Div)
            {
                const TensorInfo a(shapes.m_A, DataType::Signed32);
                const TensorInfo b(shapes.m_B, DataType::Signed32);
                c.m_Inputs = {Random(a, 1, -2e9, 2e9), Random(b, 2, -2e9, 2e9)};
                c.m_Output = TensorInfo(shapes.m_Output, DataType::Signed32);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, KernelOf(LayerType::ElementwiseBinary, shapes)));
            }
        }
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case(LayerType::Prelu, MakeDescriptor(NullDescriptor()),
                                                       {Floats(shapes.m_A, 3, -9, 9), Floats(shapes.m_B, 11, -9, 9)},
                                                       TensorInfo(shapes.m_Output, DataType::Float32)),
                                                  KernelOf(LayerType::Prelu, shapes)));
    }
}

TEST(FastElementwise, Comparisons)
{
    for (const Shapes& shapes : GetShapes())
    {
        for (const ComparisonOperation operation :
             {ComparisonOperation::Equal, ComparisonOperation::NotEqual, ComparisonOperation::Greater,
              ComparisonOperation::GreaterOrEqual, ComparisonOperation::Less, ComparisonOperation::LessOrEqual})
        {
            SCOPED_TRACE(shapes.m_A.ToString() + " and " + shapes.m_B.ToString());
            ComparisonDescriptor descriptor;
            descriptor.m_Operation = operation;
            OpCase c = Case(LayerType::Comparison, MakeDescriptor(descriptor),
                            {Floats(shapes.m_A, 3, -2, 2), Floats(shapes.m_B, 11, -2, 2)},
                            TensorInfo(shapes.m_Output, DataType::Boolean));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, KernelOf(LayerType::Comparison, shapes)));
            c.m_Inputs = {Random(TensorInfo(shapes.m_A, DataType::Signed32), 1, -3, 3),
                          Random(TensorInfo(shapes.m_B, DataType::Signed32), 2, -3, 3)};
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, KernelOf(LayerType::Comparison, shapes)));
            for (const bool isSigned : {false, true})
            {
                // Alike, apart, beyond 1, and so small that stored numbers next to each other become equal.
                for (const auto& [scaleA, scaleB] :
                     {std::pair(0.1f, 0.1f), {0.1f, 0.07f}, {3.0f, 700.0f}, {1e-5f, 2e-5f}})
                {
                    const int32_t zeroPoint = isSigned ? -3 : 125;
                    c.m_Inputs = {Random(BytesInfo(shapes.m_A, isSigned, scaleA, zeroPoint), 1),
                                  Random(BytesInfo(shapes.m_B, isSigned, scaleB, zeroPoint + 9), 2)};
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, KernelOf(LayerType::Comparison, shapes)));
                }
            }
        }
    }
}

TEST(FastElementwise, FunctionsOfFloats)
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
        {ActivationFunction::Sqrt, 0, 0},           {ActivationFunction::HardSwish, 0, 0},
        {ActivationFunction::Sigmoid, 1e-6, 1e-38}, {ActivationFunction::TanH, 1e-6, 0},
        {ActivationFunction::Elu, 1e-6, 0},         {ActivationFunction::SoftReLu, 1e-6, 1e-38},
        {ActivationFunction::Gelu, 2e-6, 3e-7}}; // the reference's own error is larger for large negative numbers
    for (const unsigned int count : {1U, 3U, 67U, 100003U})
    {
        const TensorInfo info({count}, DataType::Float32);
        for (const Function& function : Activations)
        {
            for (const float a : {0.0f, 1.3f})
            {
                SCOPED_TRACE(static_cast<int>(function.m_Function));
                OpCase c = Case(LayerType::Activation, MakeDescriptor(Clamp(function.m_Function, a, 0.7f)),
                                {Floats({count}, 3, -12, 12)}, info);
                c.m_Relative = function.m_Relative;
                c.m_Absolute = std::max(c.m_Absolute, function.m_Absolute);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuActivation"));
            }
        }
        for (const UnaryOperation operation : {UnaryOperation::Abs, UnaryOperation::Neg, UnaryOperation::Sqrt,
                                               UnaryOperation::Rsqrt, UnaryOperation::Exp, UnaryOperation::Log,
                                               UnaryOperation::Ceil, UnaryOperation::Round, UnaryOperation::Sign})
        {
            SCOPED_TRACE(static_cast<int>(operation));
            ElementwiseUnaryDescriptor descriptor;
            descriptor.m_Operation = operation;
            const float most = operation == UnaryOperation::Exp ? 110.0f : 80.0f; // beyond what floats hold
            OpCase c =
                Case(LayerType::ElementwiseUnary, MakeDescriptor(descriptor), {Floats({count}, 3, -most, most)}, info);
            if (operation == UnaryOperation::Exp || operation == UnaryOperation::Log)
            {
                c.m_Relative = 1e-6;
                c.m_Absolute = 1e-38;
            }
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuElementwiseUnary"));
        }
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
            Case(LayerType::Floor, MakeDescriptor(NullDescriptor()), {Floats({count}, 3, -80, 80)}, info), "CpuFloor"));
    }
}

TEST(FastElementwise, FunctionsOfBytes)
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
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case(LayerType::Quantize, MakeDescriptor(NullDescriptor()),
                                                               {Random(input, 1)}, TensorInfo({count}, to, 0.01f, 5)),
                                                          "CpuQuantize"));
            }
        }
    }
}

// Between all pairs of quantizations, with factors far from 1 and near to it.
TEST(FastElementwise, Requantizations)
{
    const auto none = MakeDescriptor(NullDescriptor());
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
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case(LayerType::Quantize, none,
                                                                   {Random(info(from, count, factor * 0.01f, 7), 1)},
                                                                   info(to, count, 0.01f, -5)),
                                                              "CpuQuantize"));
                }
            }
        }
    }
}

TEST(FastElementwise, Conversions)
{
    const auto none = MakeDescriptor(NullDescriptor());
    for (const unsigned int count : {1U, 15U, 257U, 100003U})
    {
        const TensorInfo real({count}, DataType::Float32);
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16})
        {
            const TensorInfo stored({count}, type, 0.5f, type == DataType::QSymmS16 ? 0 : 11);
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                Case(LayerType::Quantize, none, {Floats({count}, 3, -80, 80)}, stored), "CpuQuantize"));
            // Far outside of the type, with what 16 bits of it would be within.
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                Case(LayerType::Quantize, none, {Floats({count}, 4, -4e4f, 4e4f)}, stored), "CpuQuantize"));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                Case(LayerType::Quantize, none, {Floats({count}, 5, -3e38f, 3e38f)}, stored), "CpuQuantize"));
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

} // namespace tenon::test
