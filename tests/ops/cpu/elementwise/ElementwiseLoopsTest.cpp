// SPDX-License-Identifier: Apache-2.0
// Elementwise operators where CpuAcc has kernels of its own: what CpuRef gives, for every way of broadcasting, for
// lengths with something left over, on 1 and 3 threads, in place, and with an activation fused. Each tensor ends at a
// guard page.
#include "ops/cpu/TensorInfoInt8.hpp"
#include "ops/cpu/elementwise/ElementwiseCases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::elementwise_loops_test
{

namespace
{

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
};

/// What runs operations that take vectors of doubles, which 32-bit Arm has not.
std::string GetKernelOfDoubles()
{
#ifdef __arm__
    return "RefElementwiseBinary";
#else
    return "CpuElementwiseBinary";
#endif
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
            // Rows of a few elements, and of some, that are repeated, filled or both, in one dimension or in several.
            {{50, 3}, {50, 1}, {50, 3}},
            {{300, 1}, {300, 7}, {300, 7}},
            {{48, 48, 1}, {1, 1, 17}, {48, 48, 17}},
            {{9, 1, 11, 2}, {9, 300, 1, 2}, {9, 300, 11, 2}},
            {{2, 3000, 5}, {2, 1, 5}, {2, 3000, 5}},
            {{7, 1, 6, 1}, {1, 5, 1, 31}, {7, 5, 6, 31}},
            {{1}, {1}, {1}}};
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

ISA_TEST(ElementwiseLoops, SumsAndProductsOfAllPairsOfBytes)
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

ISA_TEST(ElementwiseLoops, PreluOfAllPairsOfBytes)
{
    struct Scales
    {
        float m_X, m_Alpha, m_Output;
        int m_ZeroX, m_ZeroAlpha, m_ZeroOutput; // of uint8
    };
    // Ordinary ones, powers of two, nothing that is negative, nothing that is not, results out of range.
    for (const Scales& s : {Scales{0.021f, 0.003f, 0.019f, 131, 124, 129},
                            {0.5f, 0.0078125f, 0.25f, 128, 0, 128},
                            {0.25f, 0.5f, 1.0f, 0, 255, 128},
                            {0.03f, 0.01f, 0.05f, 255, 9, 200},
                            {0.01f, 0.02f, 1e-6f, 100, 120, 7},
                            {1e-5f, 300.0f, 4.0f, 12, 200, 90}})
    {
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
        {
            const int shift = type == DataType::QAsymmU8 ? 0 : 128;
            const TensorInfo output({256, 256}, type, s.m_Output, s.m_ZeroOutput - shift);
            SCOPED_TRACE(output.ToString());
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Case(LayerType::Prelu, MakeDescriptor(NullDescriptor()),
                                       AllPairs(TensorInfo({1}, type, s.m_X, s.m_ZeroX - shift),
                                                TensorInfo({1}, type, s.m_Alpha, s.m_ZeroAlpha - shift)),
                                       output),
                                  "CpuPrelu"));
        }
    }
}

// What lies at halves and next to them, and what is no number, among ordinary numbers of all sizes.
ISA_TEST(ElementwiseLoops, QuantizesFloatsOfAllKinds)
{
    for (const float scale : {0.0123f, 1.0f / 127.0f, 0.25f, 3.7f, 1e-33f, 1e35f})
    {
        std::vector<float> numbers;
        for (int i = -600; i < 600; ++i)
        {
            const float half = (static_cast<float>(i) + 0.5f) * scale;
            const float whole = static_cast<float>(i) * scale;
            for (const float x : {half, whole, 0.5f * (half + whole)})
            {
                numbers.insert(numbers.end(), {x, std::nextafter(x, 0.0f), std::nextafter(x, 2.0f * x)});
            }
            // Alone in a vector.
            numbers.insert(numbers.end(), 70, 0.3f * scale);
        }
        constexpr float Infinity = std::numeric_limits<float>::infinity();
        for (const float x : {Infinity, -Infinity, std::nanf(""), -0.0f, 1e-45f, 3e38f, -3e38f, 1e9f, -1e9f, -1e11f})
        {
            numbers.push_back(x);
            numbers.insert(numbers.end(), 70, -0.7f * scale);
        }
        const TensorInfo info({static_cast<unsigned int>(numbers.size())}, DataType::Float32);
        TestTensor input{info, std::vector<std::byte>(info.GetNumBytes())};
        std::memcpy(input.m_Bytes.data(), numbers.data(), input.m_Bytes.size());
        for (const auto& [type, zero] : {std::pair(DataType::QAsymmU8, 131),
                                         {DataType::QAsymmU8, 0},
                                         {DataType::QAsymmU8, 255},
                                         {DataType::QAsymmS8, -20},
                                         {DataType::QAsymmS8, -128},
                                         {DataType::QAsymmS8, 127},
                                         {DataType::QSymmS8, 0},
                                         {DataType::QSymmS16, 0}})
        {
            const TensorInfo output(info.GetShape(), type, scale, zero);
            SCOPED_TRACE(output.ToString());
            for (const RequantizationMode mode : {RequantizationMode::FixedPoint, RequantizationMode::FloatHalfEven})
            {
                SCOPED_TRACE(static_cast<int>(mode));
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    Case(LayerType::Quantize, MakeDescriptor(QuantizeDescriptor(mode)), {input}, output),
                    "CpuQuantize"));
            }
        }
    }
}

ISA_TEST(ElementwiseLoops, BytesBroadcast)
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
                    "CpuElementwiseBinary"));
            }
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case(LayerType::Prelu, MakeDescriptor(NullDescriptor()),
                                                           {Random(TensorInfo(shapes.m_A, type, 0.02f, 3), 1),
                                                            Random(TensorInfo(shapes.m_B, type, 0.03f, 10), 2)},
                                                           TensorInfo(shapes.m_Output, type, 0.04f, 17)),
                                                      shapes.m_AStands ? "RefPrelu" : "CpuPrelu"));
        }
    }
}

ISA_TEST(ElementwiseLoops, NumbersBroadcast)
{
    const ActivationDescriptor relu6 = Clamp(ActivationFunction::BoundedReLu, 6, -0.0f);
    for (const Shapes& shapes : GetShapes())
    {
        for (const BinaryOperation operation :
             {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul, BinaryOperation::Div,
              BinaryOperation::Maximum, BinaryOperation::Minimum, BinaryOperation::SqDiff, BinaryOperation::FloorDiv})
        {
            SCOPED_TRACE(Describe(shapes, operation));
            OpCase c = Case(LayerType::ElementwiseBinary, Binary(operation),
                            {Floats(shapes.m_A, 3, -9, 9), Floats(shapes.m_B, 11, -9, 9)},
                            TensorInfo(shapes.m_Output, DataType::Float32));
            const bool takesDoubles = operation == BinaryOperation::FloorDiv;
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, takesDoubles ? GetKernelOfDoubles() : "CpuElementwiseBinary"));
            if (operation == BinaryOperation::Add || operation == BinaryOperation::Sub ||
                operation == BinaryOperation::Mul || operation == BinaryOperation::Div)
            {
                c.m_FusedActivation = &relu6;
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuElementwiseBinary"));
                c.m_FusedActivation = nullptr;
            }
            if (operation != BinaryOperation::Div && operation != BinaryOperation::FloorDiv)
            {
                const TensorInfo a(shapes.m_A, DataType::Signed32);
                const TensorInfo b(shapes.m_B, DataType::Signed32);
                c.m_Inputs = {Random(a, 1, -2e9, 2e9), Random(b, 2, -2e9, 2e9)};
                c.m_Output = TensorInfo(shapes.m_Output, DataType::Signed32);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuElementwiseBinary"));
            }
        }
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case(LayerType::Prelu, MakeDescriptor(NullDescriptor()),
                                                       {Floats(shapes.m_A, 3, -9, 9), Floats(shapes.m_B, 11, -9, 9)},
                                                       TensorInfo(shapes.m_Output, DataType::Float32)),
                                                  "CpuPrelu"));
    }
}

// As near to what the standard library gives as the two of them are to the truth.
ISA_TEST(ElementwiseLoops, Powers)
{
    struct Range
    {
        double m_Low, m_High;
    };
    const auto check = [](const Shapes& shapes, TestTensor bases, TestTensor exponents)
    {
        OpCase c = Case(LayerType::ElementwiseBinary, Binary(BinaryOperation::Power),
                        {std::move(bases), std::move(exponents)}, TensorInfo(shapes.m_Output, DataType::Float32));
        c.m_Relative = 1.3e-7;
        c.m_Absolute = std::max(c.m_Absolute, 1.5e-45); // where floats are subnormal
        ExpectAsReference(c, GetKernelOfDoubles());
    };
    for (const Shapes& shapes : GetShapes())
    {
        SCOPED_TRACE(Describe(shapes, BinaryOperation::Power));
        // Some of each, with infinities and NaN; and without, where whole vectors are ordinary: near to 1, of all sizes
        // that floats have, and what is neither infinite nor 0 just so.
        ASSERT_NO_FATAL_FAILURE(check(shapes, Floats(shapes.m_A, 3, -9, 9), Floats(shapes.m_B, 11, -9, 9)));
        for (const auto& [base, exponent] : {std::pair(Range{-3, 3}, Range{-4, 4}),
                                             {{0.9, 1.1}, {-900, 900}},
                                             {{0, 3e38}, {-1.1, 1.1}},
                                             {{0, 1e-37}, {-1.2, 1.2}},
                                             {{0, 40}, {-30, 30}},
                                             {{-1e3, 1e3}, {2, 2}}})
        {
            SCOPED_TRACE(base.m_High);
            ASSERT_NO_FATAL_FAILURE(
                check(shapes, Random(TensorInfo(shapes.m_A, DataType::Float32), 3, base.m_Low, base.m_High),
                      Random(TensorInfo(shapes.m_B, DataType::Float32), 11, exponent.m_Low, exponent.m_High)));
        }
    }
}

// Bases below 0, infinite and 0 have powers of their own; exponents are finite here.
ISA_TEST(ElementwiseLoops, PowersOfSpecialBases)
{
    const TensorInfo info({3, 8}, DataType::Float32);
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<double> bases;
    for (const double base : {-inf, -2.5, -0.0, 0.0, inf, 1.0, -1.0, FlushesSubnormals() ? 2e-38 : 1e-44})
    {
        bases.insert(bases.end(), 3, base);
    }
    for (const double exponent : {0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5, 1.5, 16777216.0, 16777215.0, 1e30, 1e-40})
    {
        SCOPED_TRACE(exponent);
        OpCase c = Case(LayerType::ElementwiseBinary, Binary(BinaryOperation::Power),
                        {Values(info, bases), Values(TensorInfo({1}, DataType::Float32), {exponent})}, info);
        c.m_Relative = 1.3e-7;
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, GetKernelOfDoubles()));
    }
}

ISA_TEST(ElementwiseLoops, Comparisons)
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
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuComparison"));
            c.m_Inputs = {Random(TensorInfo(shapes.m_A, DataType::Signed32), 1, -3, 3),
                          Random(TensorInfo(shapes.m_B, DataType::Signed32), 2, -3, 3)};
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuComparison"));
            for (const bool isSigned : {false, true})
            {
                // Alike, apart, beyond 1, and so small that stored numbers next to each other become equal.
                for (const auto& [scaleA, scaleB] :
                     {std::pair(0.1f, 0.1f), {0.1f, 0.07f}, {3.0f, 700.0f}, {1e-5f, 2e-5f}})
                {
                    const int32_t zeroPoint = isSigned ? -3 : 125;
                    c.m_Inputs = {Random(InfoInt8(shapes.m_A, isSigned, scaleA, zeroPoint), 1),
                                  Random(InfoInt8(shapes.m_B, isSigned, scaleB, zeroPoint + 9), 2)};
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, "CpuComparison"));
                }
            }
        }
    }
}

// Bytes other than 0 are true, whichever they are.
ISA_TEST(ElementwiseLoops, LogicalOperations)
{
    for (const Shapes& shapes : GetShapes())
    {
        for (const LogicalBinaryOperation operation :
             {LogicalBinaryOperation::LogicalAnd, LogicalBinaryOperation::LogicalOr})
        {
            SCOPED_TRACE(shapes.m_A.ToString() + " and " + shapes.m_B.ToString());
            std::vector<TestTensor> inputs = {Random(TensorInfo(shapes.m_A, DataType::Boolean), 1, 0, 1),
                                              Random(TensorInfo(shapes.m_B, DataType::Boolean), 2, 0, 1)};
            for (TestTensor& input : inputs)
            {
                for (size_t i = 0; i < input.m_Bytes.size(); i += 3)
                {
                    input.m_Bytes[i] = static_cast<std::byte>(i % 256);
                }
            }
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Case(LayerType::LogicalBinary, MakeDescriptor(LogicalBinaryDescriptor(operation)),
                                       std::move(inputs), TensorInfo(shapes.m_Output, DataType::Boolean)),
                                  "CpuLogicalBinary"));
        }
    }
}

ISA_TEST(ElementwiseLoops, SumsOfMany)
{
    for (const TensorShape& shape : {TensorShape({3, 5}), TensorShape({1024}), TensorShape({5, 20011})})
    {
        for (const unsigned int count : {1U, 2U, 3U, 4U, 9U})
        {
            SCOPED_TRACE(std::to_string(count) + " of " + shape.ToString());
            AddNDescriptor descriptor;
            descriptor.m_NumInputs = count;
            OpCase c = Case(LayerType::AddN, MakeDescriptor(descriptor), {}, TensorInfo(shape, DataType::Float32));
            for (unsigned int i = 0; i < count; ++i)
            {
                c.m_Inputs.push_back(Floats(shape, 3 + i, -9, 9));
            }
            const char* const kernel = count == 1 ? "RefAddN" : "CpuAddN";
            c.m_Absolute = count > 2 ? 2e-5 : 0.0; // the reference rounds once, and not for each input
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, kernel));
            c.m_Absolute = 0.0;
            for (const DataType type : {DataType::Signed32, DataType::Unsigned32})
            {
                c.m_Output = TensorInfo(shape, type);
                for (unsigned int i = 0; i < count; ++i)
                {
                    c.m_Inputs[i] = Random(c.m_Output, i, type == DataType::Signed32 ? -2e9 : 0, 2e9);
                }
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(c, kernel));
            }
        }
    }
}

} // namespace tenon::test::elementwise_loops_test
