// SPDX-License-Identifier: Apache-2.0
// CpuAcc's kernels of Float16 and BFloat16 against CpuRef's: both compute in Float32 and round once, so results differ
// by one step of the type at most, except for GELU of Float16 below 0, see cpu::Gelu.
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"
#include "common/Names.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Products.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::layers_f16_test
{

namespace
{

constexpr DataType F16Types[] = {DataType::BFloat16, DataType::Float16};

TensorInfo Of(DataType type, const std::vector<unsigned int>& sizes)
{
    return TensorInfo(ShapeOf(sizes), type);
}

TestTensor Numbers(const TensorInfo& info, uint32_t seed)
{
    return Random(info, seed, -2, 2);
}

/// Steps of bfloat16 are 2^-8 of the number.
constexpr double Tolerance = 1.0 / 128;

template <typename D>
void Expect(LayerType layer, const D& descriptor, std::vector<TestTensor> inputs, const TensorInfo& output,
            const std::string& kernel)
{
    ExpectAsReference(ReferenceCase(kernel + " of " + output.ToString(), layer, descriptor, std::move(inputs), output),
                      kernel, Tolerance);
}

/// All bfloat16 whose bits `isWanted` accepts, in ascending order of the bits.
TestTensor EveryBFloat16(const std::function<bool(uint32_t)>& isWanted)
{
    std::vector<uint16_t> numbers;
    for (uint32_t bits = 0; bits < 0x10000; ++bits)
    {
        if (isWanted(bits))
        {
            numbers.push_back(static_cast<uint16_t>(bits));
        }
    }
    const TensorInfo info = Of(DataType::BFloat16, {static_cast<unsigned int>(numbers.size())});
    TestTensor all{info, std::vector<std::byte>(info.GetNumBytes())};
    std::memcpy(all.m_Bytes.data(), numbers.data(), all.m_Bytes.size());
    return all;
}

/// Not subnormal: 32-bit Arm's vectors flush subnormal numbers to zero.
bool IsNormalOrZero(uint32_t bits)
{
    return (bits & 0x7F80U) != 0 || (bits & 0x7FU) == 0;
}

/// Comparison with infinities, NaN and zeros: at most one step apart; subnormal results may be anything.
template <typename D>
void ExpectOfEvery(LayerType layer, const D& descriptor, std::vector<TestTensor> inputs, const std::string& name)
{
    const TensorInfo output = inputs[0].m_Info;
    OpCase op = ReferenceCase(name + " of every bfloat16", layer, descriptor, std::move(inputs), output);
    op.m_Relative = Tolerance;
    op.m_Absolute = 1.2e-38;
    ExpectAsReference(op, "");
}

} // namespace

ISA_TEST(LayersF16, ElementwiseAsReference)
{
    for (const DataType type : F16Types)
    {
        for (const unsigned int channels : {1U, 7U, 64U, 130U})
        {
            const TensorInfo info = Of(type, {3, 50, channels});
            Expect(LayerType::Activation, ActivationDescriptor(ActivationFunction::Gelu), {Numbers(info, 1)}, info,
                   "CpuActivationF16");
            Expect(LayerType::ElementwiseUnary, ElementwiseUnaryDescriptor(UnaryOperation::Exp), {Numbers(info, 2)},
                   info, "CpuElementwiseUnaryF16");
            Expect(LayerType::ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Mul),
                   {Numbers(info, 3), Numbers(Of(type, {channels}), 4)}, info, "CpuElementwiseBinaryF16");
        }
    }
}

// All bfloat16 numbers, for functions with polynomials of few terms, against doubles: the nearest bfloat16, or its
// neighbour where the result lies about halfway between the two.
ISA_TEST(LayersF16, FunctionsOfEveryBFloat16)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "the reference kernels run these";
    }
    const TestTensor all = EveryBFloat16([](uint32_t bits) { return (bits & 0x7F80U) != 0x7F80U; });
    const TensorInfo& info = all.m_Info;
    const std::vector<double> x = GetStored(info, all.m_Bytes.data());
    const auto gelu = [](double value) { return 0.5 * value * std::erfc(-value / std::numbers::sqrt2); };
    const auto geluByTanH = [](double value)
    {
        const double y = 2 * std::sqrt(2 / std::numbers::pi) * (value + 0.044715 * value * value * value);
        return value / (1 + std::exp(-y));
    };
    const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
    const std::pair<ActivationDescriptor, std::function<double(double)>> functions[] = {
        {ActivationDescriptor(ActivationFunction::Gelu, 0.0f, 0.0f), gelu},
        {ActivationDescriptor(ActivationFunction::Gelu, 1.0f, 0.0f), geluByTanH},
        {ActivationDescriptor(ActivationFunction::Sigmoid, 0.0f, 0.0f), sigmoid}};
    for (const auto& [descriptor, oracle] : functions)
    {
        const OpCase c = ReferenceCase("every bfloat16", LayerType::Activation, descriptor, {all}, info);
        const std::vector<std::byte> bytes = RunOp(FindTestBackend(Compute::CpuAcc), c, {});
        const std::vector<double> got = GetStored(info, bytes.data());
        for (size_t i = 0; i < x.size(); ++i)
        {
            const double want = oracle(x[i]);
            constexpr double HalfStep = 1.0 / 256; // of the smallest number of a binade
            ASSERT_NEAR(got[i], want, 1.1 * HalfStep * std::abs(want) + 1e-35) << "of " << x[i];
        }
    }
}

// The other functions against CpuRef, with infinities and NaN.
ISA_TEST(LayersF16, ActivationsOfEveryBFloat16)
{
    const TestTensor all = EveryBFloat16(IsNormalOrZero);
    for (const ActivationFunction function :
         {ActivationFunction::TanH, ActivationFunction::Linear, ActivationFunction::ReLu,
          ActivationFunction::BoundedReLu, ActivationFunction::SoftReLu, ActivationFunction::LeakyReLu,
          ActivationFunction::Abs, ActivationFunction::Sqrt, ActivationFunction::Square, ActivationFunction::Elu,
          ActivationFunction::HardSwish})
    {
        const float a = function == ActivationFunction::LeakyReLu ? 0.1f : 6.0f;
        const float b = function == ActivationFunction::TanH ? 0.7f : -1.0f;
        ExpectOfEvery(LayerType::Activation, ActivationDescriptor(function, a, b), {all}, FieldToString(function));
    }
}

ISA_TEST(LayersF16, UnaryOperationsOfEveryBFloat16)
{
    const TestTensor all = EveryBFloat16(IsNormalOrZero);
    for (const UnaryOperation operation :
         {UnaryOperation::Abs, UnaryOperation::Rsqrt, UnaryOperation::Sqrt, UnaryOperation::Exp, UnaryOperation::Neg,
          UnaryOperation::Log, UnaryOperation::Sin, UnaryOperation::Ceil, UnaryOperation::Round, UnaryOperation::Sign})
    {
        ExpectOfEvery(LayerType::ElementwiseUnary, ElementwiseUnaryDescriptor(operation), {all},
                      FieldToString(operation));
    }
}

// Every number with another one: the one a fixed distance behind it, or one for all.
ISA_TEST(LayersF16, BinaryOperationsOfEveryBFloat16)
{
    const TestTensor all = EveryBFloat16(IsNormalOrZero);
    TestTensor others = all;
    std::rotate(others.m_Bytes.begin(), others.m_Bytes.begin() + 2 * 777, others.m_Bytes.end());
    const TestTensor one = Numbers(Of(DataType::BFloat16, {1}), 5);
    for (const BinaryOperation operation : {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul,
                                            BinaryOperation::Div, BinaryOperation::Maximum, BinaryOperation::Minimum,
                                            BinaryOperation::SqDiff, BinaryOperation::Power, BinaryOperation::FloorDiv})
    {
        for (const TestTensor& other : {others, one})
        {
            ExpectOfEvery(LayerType::ElementwiseBinary, ElementwiseBinaryDescriptor(operation), {all, other},
                          FieldToString(operation));
        }
    }
}

ISA_TEST(LayersF16, RowsAsReference)
{
    for (const DataType type : F16Types)
    {
        for (const unsigned int channels : {3U, 16U, 67U})
        {
            const TensorInfo rows = Of(type, {40, channels});
            Expect(LayerType::Softmax, SoftmaxDescriptor(), {Numbers(rows, 1)}, rows, "CpuSoftmaxF16");
            Expect(LayerType::LogSoftmax, LogSoftmaxDescriptor(), {Numbers(rows, 2)}, rows, "CpuLogSoftmaxF16");
            const TensorInfo image = Of(type, {1, 6, 6, channels});
            MeanDescriptor mean;
            mean.m_Axis = {1, 2};
            mean.m_KeepDims = false;
            Expect(LayerType::Mean, mean, {Numbers(image, 3)}, Of(type, {1, channels}), "CpuMeanF16");
            Pooling2dDescriptor pool;
            pool.m_PoolType = PoolingAlgorithm::Max;
            pool.m_PoolWidth = pool.m_PoolHeight = pool.m_StrideX = pool.m_StrideY = 2;
            pool.m_DataLayout = DataLayout::NHWC;
            Expect(LayerType::Pooling2d, pool, {Numbers(image, 4)}, Of(type, {1, 3, 3, channels}), "CpuPooling2dF16");
        }
    }
}

// More elements than a chunk: chunks of several rows, the last one shorter, of inputs broadcast along dimensions
// before, in and behind the cut ones.
ISA_TEST(LayersF16, PiecesAsReference)
{
    struct Shapes
    {
        std::vector<unsigned int> m_Left;
        std::vector<unsigned int> m_Right;
        std::vector<unsigned int> m_Output;
    };
    for (const DataType type : F16Types)
    {
        for (const Shapes& shapes : {Shapes{{9001}, {1}, {9001}},
                                     {{3, 100, 33}, {3, 100, 33}, {3, 100, 33}},
                                     {{7, 5, 301}, {301}, {7, 5, 301}},
                                     {{5, 7, 301}, {7, 1}, {5, 7, 301}},
                                     {{3, 1, 1, 65}, {3, 4, 65, 65}, {3, 4, 65, 65}},
                                     {{3, 1, 67, 65}, {4, 1, 65}, {3, 4, 67, 65}},
                                     {{2, 3, 1, 5000}, {3, 4, 1}, {2, 3, 4, 5000}},
                                     {{2, 1, 90, 1, 30}, {3, 1, 7, 30}, {2, 3, 90, 7, 30}}})
        {
            Expect(LayerType::ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Sub),
                   {Numbers(Of(type, shapes.m_Left), 1), Numbers(Of(type, shapes.m_Right), 2)},
                   Of(type, shapes.m_Output), "CpuElementwiseBinaryF16");
            const TensorInfo info = Of(type, shapes.m_Output);
            Expect(LayerType::Activation, ActivationDescriptor(ActivationFunction::Sigmoid), {Numbers(info, 3)}, info,
                   "CpuActivationF16");
            for (int axis = -1; axis >= -static_cast<int>(info.GetNumDimensions()); --axis)
            {
                SoftmaxDescriptor softmax;
                softmax.m_Axis = axis;
                Expect(LayerType::Softmax, softmax, {Numbers(info, 4)}, info, "");
                LayerNormalizationDescriptor normalization;
                normalization.m_Axis = axis;
                const std::vector<unsigned int> rest(shapes.m_Output.end() + axis, shapes.m_Output.end());
                Expect(LayerType::LayerNormalization, normalization,
                       {Numbers(info, 5), Numbers(Of(type, rest), 6), Numbers(Of(type, rest), 7)}, info, "");
            }
        }
        const TensorInfo image = Of(type, {2, 40, 31, 19});
        const auto ofChannels = [&](uint32_t seed) { return Constant(Random(Of(type, {19}), seed, 0.5, 2)); };
        BatchNormalizationDescriptor batch;
        batch.m_DataLayout = DataLayout::NHWC;
        Expect(LayerType::BatchNormalization, batch,
               {Numbers(image, 1), ofChannels(2), ofChannels(3), ofChannels(4), ofChannels(5)}, image,
               "CpuBatchNormalizationF16");
        Expect(LayerType::Prelu, NullDescriptor(), {Numbers(image, 1), ofChannels(2)}, image, "CpuPreluF16");
    }
}

ISA_TEST(LayersF16, MatrixProductsAsReference)
{
    for (const DataType type : F16Types)
    {
        for (const bool isConstant : {false, true})
        {
            for (const bool isTransposed : {false, true})
            {
                BatchMatMulDescriptor descriptor;
                descriptor.m_TransposeY = isTransposed;
                TestTensor y =
                    Numbers(Of(type, isTransposed ? std::vector{1U, 33U, 70U} : std::vector{1U, 70U, 33U}), 2);
                const bool isBf16 = type == DataType::BFloat16;
                const bool isNative = isBf16 && cpu::GetCpuFeatures().m_Simd && cpu::GetMicrokernelsBf16().m_HasDots;
                const std::string kernel = isConstant ? "CpuBatchMatMulConstant" : "CpuBatchMatMul";
                Expect(LayerType::BatchMatMul, descriptor,
                       {Numbers(Of(type, {1, 21, 70}), 1), isConstant ? Constant(std::move(y)) : std::move(y)},
                       Of(type, {1, 21, 33}), kernel + (isNative ? "Bf16" : "F16"));
            }
        }
    }
}

} // namespace tenon::test::layers_f16_test
