// SPDX-License-Identifier: Apache-2.0
// NaN and infinities, as docs/numerics.md states them: one test for each line of its tables. Every instruction set's
// kernels are meant, so tensors are long enough for whole vectors and a rest.
#include "harness/OpTest.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Products.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tenon::test::numerics_na_n_test
{

namespace
{

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr DataType FloatTypes[] = {DataType::Float32, DataType::Float16, DataType::BFloat16};

const ActivationDescriptor Relu(ActivationFunction::ReLu);
const ActivationDescriptor Bounded(ActivationFunction::BoundedReLu, 2.0f, -1.0f);

double Clamp(double x, const ActivationDescriptor& activation)
{
    const bool isBounded = activation.m_Function == ActivationFunction::BoundedReLu;
    const double low = isBounded ? activation.m_B : 0.0;
    const double high = isBounded ? activation.m_A : Infinity;
    return x < low ? low : x > high ? high : x;
}

/// Numbers of [-3, 3] in steps of 1/8, every seventh one NaN, and both infinities.
std::vector<double> SomeNaN(size_t count)
{
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = i % 7 == 3    ? NaN
                    : i % 31 == 5 ? Infinity
                    : i % 31 == 9 ? -Infinity
                                  : static_cast<double>(i * 37 % 49) / 8.0 - 3.0;
    }
    return values;
}

OpCase MakeUnary(LayerType type, std::shared_ptr<const BaseDescriptor> descriptor, DataType data, unsigned int count,
                 const std::function<double(double)>& f)
{
    const TensorInfo info(TensorShape({count}), data);
    OpCase op;
    op.m_Name = info.ToString();
    op.m_Type = type;
    op.m_Descriptor = std::move(descriptor);
    op.m_Inputs = {Stored(info, SomeNaN(count))};
    op.m_Output = info;
    op.m_Oracle = [f](const auto& in) { return Map(in[0], f); };
    return op;
}

/// Each backend gives of the fused activation what it gives of the layer alone, clamped: NaN where that is NaN, which
/// is the case for some elements and not for all.
void ExpectClampOfPlain(OpCase op, bool isExact = false)
{
    for (const auto& backend : GetTestBackends())
    {
        SCOPED_TRACE(op.m_Name + " on " + backend->GetId().Get());
        op.m_FusedActivation = nullptr;
        const std::vector<double> plain = GetStored(op.m_Output, RunOp(*backend, op, {}).data());
        const auto numNaN = std::count_if(plain.begin(), plain.end(), [](double x) { return std::isnan(x); });
        ASSERT_GT(numNaN, 0);
        ASSERT_LT(numNaN, static_cast<std::ptrdiff_t>(plain.size()));
        for (const ActivationDescriptor* activation : {&Relu, &Bounded})
        {
            op.m_FusedActivation = activation;
            const std::vector<double> fused = GetStored(op.m_Output, RunOp(*backend, op, {}).data());
            for (size_t i = 0; i < plain.size(); ++i)
            {
                const double want = Clamp(plain[i], *activation);
                ASSERT_EQ(std::isnan(fused[i]), std::isnan(want)) << "element " << i << " is " << fused[i];
                const bool isNear =
                    isExact || !std::isfinite(want) ? fused[i] == want : std::abs(fused[i] - want) <= 0.02;
                ASSERT_TRUE(std::isnan(want) || isNear) << "element " << i << ": " << fused[i] << ", not " << want;
            }
        }
    }
}

/// Numbers of [-1, 1] with one NaN in the middle.
TestTensor OneNaN(const TensorShape& shape, DataType type, uint32_t seed)
{
    const TensorInfo info(shape, type);
    const TestTensor random = Random(info, seed, -1, 1);
    std::vector<double> values = GetStored(info, random.m_Bytes.data());
    values[values.size() / 2] = NaN;
    return Stored(info, values);
}

} // namespace

ISA_TEST(NumericsNaN, ActivationsKeepIt)
{
    using enum ActivationFunction;
    const std::pair<ActivationDescriptor, std::function<double(double)>> functions[] = {
        {Relu, [](double x) { return Clamp(x, Relu); }},
        {Bounded, [](double x) { return Clamp(x, Bounded); }},
        {ActivationDescriptor(LeakyReLu, 0.5f), [](double x) { return x > 0 ? x : 0.5 * x; }},
        {ActivationDescriptor(TanH, 1.0f, 1.0f), [](double x) { return std::tanh(x); }},
        {ActivationDescriptor(Sigmoid), [](double x) { return 1 / (1 + std::exp(-x)); }},
        {ActivationDescriptor(Elu, 1.0f), [](double x) { return x >= 0 ? x : std::expm1(x); }},
        {ActivationDescriptor(HardSwish), [](double x) { return x * std::min(6.0, std::max(0.0, x + 3)) / 6; }},
        {ActivationDescriptor(Abs), [](double x) { return std::abs(x); }},
        {ActivationDescriptor(SoftReLu),
         [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }},
        {ActivationDescriptor(Square), [](double x) { return x * x; }},
        {ActivationDescriptor(Swish, 1.0f), [](double x) { return x / (1 + std::exp(-x)); }},
        {ActivationDescriptor(Mish), [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    };
    for (const auto& [descriptor, f] : functions)
    {
        for (const DataType type : FloatTypes)
        {
            for (const unsigned int count : {1u, 7u, 151u, 1000u})
            {
                OpCase op = MakeUnary(LayerType::Activation, MakeDescriptor(descriptor), type, count, f);
                op.m_Relative = type == DataType::Float32 ? 1e-5 : type == DataType::Float16 ? 2e-3 : 1e-2;
                op.m_Absolute = op.m_Relative / 10;
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(NumericsNaN, ActivationsFusedIntoArithmeticKeepIt)
{
    using enum BinaryOperation;
    for (const DataType type : FloatTypes)
    {
        for (const BinaryOperation operation : {Add, Sub, Mul, Div})
        {
            for (const unsigned int other : {1u, 151u})
            {
                const TensorInfo info(TensorShape({4, 151}), type);
                OpCase op;
                op.m_Name = GetDataTypeName(type) + std::string(" operation ") +
                            std::to_string(static_cast<int>(operation)) + " with " + std::to_string(other);
                op.m_Type = LayerType::ElementwiseBinary;
                op.m_Descriptor = MakeDescriptor(ElementwiseBinaryDescriptor(operation));
                op.m_Inputs = {Random(TensorInfo(TensorShape({other}), type), 3, 0.5, 2), Stored(info, SomeNaN(604))};
                op.m_Output = info;
                ExpectClampOfPlain(op, type == DataType::Float32);
            }
        }
    }
}

ISA_TEST(NumericsNaN, ActivationsFusedIntoProductsKeepIt)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16})
    {
        for (const unsigned int rows : {1u, 3u, 70u})
        {
            FullyConnectedDescriptor descriptor;
            descriptor.m_BiasEnabled = true;
            descriptor.m_TransposeWeightMatrix = true;
            OpCase op;
            op.m_Name = std::string(GetDataTypeName(type)) + ", " + std::to_string(rows) + " rows";
            op.m_Type = LayerType::FullyConnected;
            op.m_Descriptor = MakeDescriptor(descriptor);
            TestTensor weights = Random(TensorInfo(TensorShape({37, 24}), type), 2, -1, 1);
            // One row of weights, so that one row of data is not NaN in all columns.
            std::vector<double> stored = GetStored(weights.m_Info, weights.m_Bytes.data());
            stored[24 * 5] = NaN;
            op.m_Inputs = {Random(TensorInfo(TensorShape({rows, 24}), type), 1, -1, 1),
                           Constant(Stored(weights.m_Info, stored)),
                           Constant(Random(TensorInfo(TensorShape({37}), type), 3, -1, 1))};
            op.m_Output = TensorInfo(TensorShape({rows, 37}), type);
            ExpectClampOfPlain(op);
        }
    }
}

ISA_TEST(NumericsNaN, ActivationsFusedIntoConvolutionsKeepIt)
{
    for (const DataType type : FloatTypes)
    {
        for (const unsigned int kernel : {1u, 3u})
        {
            for (const auto& [inputs, outputs, groups] :
                 {std::tuple{3u, 8u, 1u}, {16u, 37u, 1u}, {32u, 64u, 1u}, {32u, 64u, 4u}})
            {
                Convolution2dDescriptor descriptor;
                descriptor.m_DataLayout = DataLayout::NHWC;
                descriptor.m_BiasEnabled = true;
                OpCase op;
                op.m_Name = std::string(GetDataTypeName(type)) + " convolution, kernel " + std::to_string(kernel) +
                            ", channels " + std::to_string(inputs) + ", groups " + std::to_string(groups);
                op.m_Type = LayerType::Convolution2d;
                op.m_Descriptor = MakeDescriptor(descriptor);
                op.m_Inputs = {OneNaN({1, 9, 11, inputs}, type, 1),
                               Constant(Random(TensorInfo({outputs, kernel, kernel, inputs / groups}, type), 2, -1, 1)),
                               Constant(Random(TensorInfo(TensorShape({outputs}), type), 3, -1, 1))};
                op.m_Output = TensorInfo({1, 10 - kernel, 12 - kernel, outputs}, type);
                ExpectClampOfPlain(op);
            }
        }
    }
}

ISA_TEST(NumericsNaN, ActivationsFusedIntoDepthwiseConvolutionsKeepIt)
{
    for (const DataType type : FloatTypes)
    {
        for (const unsigned int channels : {3u, 8u, 32u, 70u})
        {
            for (const unsigned int stride : {1u, 2u})
            {
                DepthwiseConvolution2dDescriptor descriptor;
                descriptor.m_DataLayout = DataLayout::NHWC;
                descriptor.m_BiasEnabled = true;
                descriptor.m_StrideX = descriptor.m_StrideY = stride;
                OpCase op;
                op.m_Name = std::string(GetDataTypeName(type)) + " depthwise, channels " + std::to_string(channels);
                op.m_Type = LayerType::DepthwiseConvolution2d;
                op.m_Descriptor = MakeDescriptor(descriptor);
                op.m_Inputs = {OneNaN({1, 11, 13, channels}, type, 1),
                               Constant(Random(TensorInfo({1, 3, 3, channels}, type), 2, -1, 1)),
                               Constant(Random(TensorInfo(TensorShape({channels}), type), 3, -1, 1))};
                op.m_Output = TensorInfo({1, 8 / stride + 1, 10 / stride + 1, channels}, type);
                ExpectClampOfPlain(op);
            }
        }
    }
}

ISA_TEST(NumericsNaN, ActivationsFusedIntoTransposedConvolutionsKeepIt)
{
    for (const DataType type : FloatTypes)
    {
        for (const unsigned int stride : {1u, 2u})
        {
            for (const auto& [inputs, outputs] : {std::pair{3u, 8u}, {16u, 37u}})
            {
                TransposeConvolution2dDescriptor descriptor;
                descriptor.m_DataLayout = DataLayout::NHWC;
                descriptor.m_BiasEnabled = true;
                descriptor.m_StrideX = descriptor.m_StrideY = stride;
                OpCase op;
                op.m_Name = std::string(GetDataTypeName(type)) + " transposed, stride " + std::to_string(stride);
                op.m_Type = LayerType::TransposeConvolution2d;
                op.m_Descriptor = MakeDescriptor(descriptor);
                op.m_Inputs = {OneNaN({1, 7, 8, inputs}, type, 1),
                               Constant(Random(TensorInfo({outputs, 3, 3, inputs}, type), 2, -1, 1)),
                               Constant(Random(TensorInfo(TensorShape({outputs}), type), 3, -1, 1))};
                op.m_Output = TensorInfo({1, 6 * stride + 3, 7 * stride + 3, outputs}, type);
                ExpectClampOfPlain(op);
            }
        }
    }
}

ISA_TEST(NumericsNaN, AverageAndL2PoolsOfAWindowWithItBecomeIt)
{
    for (const DataType type : FloatTypes)
    {
        for (const PoolingAlgorithm algorithm : {PoolingAlgorithm::Average, PoolingAlgorithm::L2})
        {
            Pooling2dDescriptor descriptor;
            descriptor.m_DataLayout = DataLayout::NHWC;
            descriptor.m_PoolType = algorithm;
            descriptor.m_PoolWidth = 3;
            descriptor.m_PoolHeight = 1;
            descriptor.m_StrideX = 3;
            for (const unsigned int channels : {1u, 37u})
            {
                OpCase op;
                op.m_Name = GetDataTypeName(type);
                op.m_Type = LayerType::Pooling2d;
                op.m_Descriptor = MakeDescriptor(descriptor);
                std::vector<double> values(size_t{9} * channels, 2.0);
                values[size_t{4} * channels] = NaN; // of the second window, in the first channel
                std::vector<double> expected(size_t{3} * channels, 2.0);
                expected[channels] = NaN;
                op.m_Inputs = {Stored(TensorInfo({1, 1, 9, channels}, type), values)};
                op.m_Output = TensorInfo({1, 1, 3, channels}, type);
                op.m_Oracle = Expect(op.m_Output, expected);
                op.m_Relative = 1e-2;
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(NumericsNaN, MaximumPoolsPassOverIt)
{
    for (const DataType type : FloatTypes)
    {
        Pooling2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_PoolType = PoolingAlgorithm::Max;
        descriptor.m_PoolWidth = 3;
        descriptor.m_PoolHeight = 1;
        descriptor.m_StrideX = 3;
        OpCase op;
        op.m_Name = GetDataTypeName(type);
        op.m_Type = LayerType::Pooling2d;
        op.m_Descriptor = MakeDescriptor(descriptor);
        for (const unsigned int channels : {1u, 37u})
        {
            const std::vector<double> rows = {NaN, 1, 2, 1, NaN, 2, 1, 2, NaN, -3, NaN, NaN};
            const std::vector<double> expected = {2, 2, 2, -3};
            const auto repeat = [channels](const std::vector<double>& values)
            {
                std::vector<double> repeated;
                for (const double value : values)
                {
                    repeated.insert(repeated.end(), channels, value);
                }
                return repeated;
            };
            op.m_Inputs = {Stored(TensorInfo({1, 1, 12, channels}, type), repeat(rows))};
            op.m_Output = TensorInfo({1, 1, 4, channels}, type);
            op.m_Oracle = Expect(op.m_Output, repeat(expected));
            CheckOp(op);
        }
    }
}

ISA_TEST(NumericsNaN, MaximumAndMinimumGiveTheSecondOperand)
{
    for (const DataType type : FloatTypes)
    {
        for (const BinaryOperation operation : {BinaryOperation::Maximum, BinaryOperation::Minimum})
        {
            const TensorInfo info(TensorShape({604}), type);
            const bool isMaximum = operation == BinaryOperation::Maximum;
            OpCase op;
            op.m_Name = GetDataTypeName(type);
            op.m_Type = LayerType::ElementwiseBinary;
            op.m_Descriptor = MakeDescriptor(ElementwiseBinaryDescriptor(operation));
            op.m_Output = info;
            op.m_Oracle = [isMaximum](const auto& in)
            {
                std::vector<double> out;
                for (size_t i = 0; i < 604; ++i)
                {
                    const double a = in[0].m_Values[in[0].m_Values.size() == 1 ? 0 : i];
                    const double b = in[1].m_Values[in[1].m_Values.size() == 1 ? 0 : i];
                    out.push_back((isMaximum ? a > b : a < b) ? a : b);
                }
                return out;
            };
            const TestTensor one = Stored(TensorInfo(TensorShape({1}), type), {1});
            std::vector<double> other = SomeNaN(607);
            other.erase(other.begin(), other.begin() + 3);
            for (const std::vector<TestTensor>& inputs : {std::vector{Stored(info, SomeNaN(604)), one},
                                                          {one, Stored(info, SomeNaN(604))},
                                                          {Stored(info, SomeNaN(604)), Stored(info, other)}})
            {
                op.m_Inputs = inputs;
                CheckOp(op);
            }
        }
    }
}

// Over every axis a reduction starts from the first element, as TFLite's reference kernel does.
ISA_TEST(NumericsNaN, ExtremesPassOverItUnlessItComesFirstOfAll)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16})
    {
        for (const ReduceOperation operation : {ReduceOperation::Max, ReduceOperation::Min})
        {
            const bool isMax = operation == ReduceOperation::Max;
            const auto check = [&](const TensorShape& shape, const std::vector<double>& values,
                                   const std::vector<uint32_t>& axes, const TensorShape& output,
                                   const std::vector<double>& expected)
            {
                ReduceDescriptor descriptor;
                descriptor.m_ReduceOperation = operation;
                descriptor.m_vAxis = axes;
                OpCase op;
                op.m_Name = std::string(GetDataTypeName(type)) + (isMax ? " maximum " : " minimum ") + shape.ToString();
                op.m_Type = LayerType::Reduce;
                op.m_Descriptor = MakeDescriptor(descriptor);
                op.m_Inputs = {Stored(TensorInfo(shape, type), values)};
                op.m_Output = TensorInfo(output, type);
                op.m_Oracle = Expect(op.m_Output, expected);
                CheckOp(op);
            };
            const TensorShape scalar(Dimensionality::Scalar);
            for (const unsigned int length : {3u, 70u})
            {
                for (unsigned int at = 0; at < length; at += length - 1)
                {
                    std::vector<double> row(length, 1.0);
                    row[length / 2] = isMax ? 2 : -2;
                    row[at] = NaN;
                    const double extreme = isMax ? 2 : -2;
                    std::vector<double> rows = row;
                    rows.insert(rows.end(), row.begin(), row.end());
                    const double ofAll = at == 0 ? NaN : extreme;
                    check({length}, row, {0}, scalar, {ofAll});
                    check({2, length}, rows, {0, 1}, scalar, {ofAll});
                    check({1, length}, row, {0, 1}, scalar, {ofAll});
                    check({1, length}, row, {1}, {1}, {extreme});
                    check({2, length}, rows, {1}, {2}, {extreme, extreme});
                }
            }
            check({3}, {NaN, NaN, NaN}, {0}, scalar, {NaN});
            check({2, 2}, {NaN, NaN, 1, NaN}, {1}, {2}, {isMax ? -Infinity : Infinity, 1});
            const double infinite = isMax ? -Infinity : Infinity; // TFLite gives the largest finite number
            check({3}, {infinite, infinite, infinite}, {0}, scalar, {infinite});
        }
    }
}

ISA_TEST(NumericsNaN, IndicesOfExtremesPassOverIt)
{
    const auto check = [](ArgMinMaxFunction function, const std::vector<double>& values, double expected)
    {
        ArgMinMaxDescriptor descriptor;
        descriptor.m_Function = function;
        descriptor.m_Axis = 0;
        OpCase op;
        op.m_Name = "index";
        op.m_Type = LayerType::ArgMinMax;
        op.m_Descriptor = MakeDescriptor(descriptor);
        op.m_Inputs = {Stored(TensorInfo(TensorShape({3}), DataType::Float32), values)};
        op.m_Output = TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Signed32);
        op.m_Oracle = Expect(op.m_Output, {expected});
        CheckOp(op);
    };
    check(ArgMinMaxFunction::Max, {1, NaN, 2}, 2);
    check(ArgMinMaxFunction::Max, {1, 2, NaN}, 1);
    check(ArgMinMaxFunction::Max, {NaN, NaN, NaN}, 0);
    check(ArgMinMaxFunction::Min, {2, NaN, 1}, 2);
    check(ArgMinMaxFunction::Min, {2, 1, NaN}, 1);
}

ISA_TEST(NumericsNaN, SumsAndNormalizationsOfARowBecomeIt)
{
    for (const unsigned int length : {3u, 70u})
    {
        const TensorShape shape({2, length});
        std::vector<double> values(2 * length, 0.5);
        values[length / 2] = NaN;
        const auto check = [&](LayerType type, std::shared_ptr<const BaseDescriptor> descriptor,
                               const TensorShape& output, double other)
        {
            OpCase op;
            op.m_Name = GetLayerTypeAsCString(type);
            op.m_Type = type;
            op.m_Descriptor = std::move(descriptor);
            op.m_Inputs = {Stored(TensorInfo(shape, DataType::Float32), values)};
            op.m_Output = TensorInfo(output, DataType::Float32);
            const size_t each = op.m_Output.GetNumElements() / 2;
            std::vector<double> expected(each, NaN);
            expected.resize(2 * each, other);
            op.m_Oracle = [expected](const auto&) { return expected; };
            CheckOp(op);
        };
        const double n = length;
        check(LayerType::Softmax, MakeDescriptor(SoftmaxDescriptor()), shape, 1 / n);
        LogSoftmaxDescriptor logSoftmax;
        logSoftmax.m_Beta = 1.0f;
        logSoftmax.m_Axis = -1;
        check(LayerType::LogSoftmax, MakeDescriptor(logSoftmax), shape, -std::log(n));
        ReduceDescriptor sum;
        sum.m_ReduceOperation = ReduceOperation::Sum;
        sum.m_vAxis = {1};
        check(LayerType::Reduce, MakeDescriptor(sum), TensorShape({2}), n / 2);
        MeanDescriptor mean;
        mean.m_Axis = {1};
        check(LayerType::Mean, MakeDescriptor(mean), TensorShape({2}), 0.5);
    }
}

ISA_TEST(NumericsNaN, UnaryFunctionsKeepIt)
{
    using enum UnaryOperation;
    const std::pair<UnaryOperation, std::function<double(double)>> functions[] = {
        {Abs, [](double x) { return std::abs(x); }},
        {Neg, [](double x) { return -x; }},
        {Exp, [](double x) { return std::exp(x); }},
        {Log, [](double x) { return std::log(x); }},
        {Sqrt, [](double x) { return std::sqrt(x); }},
        {Rsqrt, [](double x) { return 1 / std::sqrt(x); }},
        {Sin, [](double x) { return std::sin(x); }},
        {Cos, [](double x) { return std::cos(x); }},
        {Ceil, [](double x) { return std::ceil(x); }},
        {Round, [](double x) { return std::nearbyint(x); }},
        {Sign, [](double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }},
    };
    for (const auto& [operation, f] : functions)
    {
        for (const DataType type : FloatTypes)
        {
            OpCase op = MakeUnary(LayerType::ElementwiseUnary, MakeDescriptor(ElementwiseUnaryDescriptor(operation)),
                                  type, 151, f);
            op.m_Name += " operation " + std::to_string(static_cast<int>(operation));
            op.m_Relative = type == DataType::Float32 ? 1e-5 : type == DataType::Float16 ? 2e-3 : 1e-2;
            op.m_Absolute = op.m_Relative / 10;
            CheckOp(op);
        }
    }
}

ISA_TEST(NumericsNaN, FloatsThatMeetIntegerWeightsTakeItAsTheLowestStep)
{
    for (const unsigned int depth : {3u, 70u})
    {
        FullyConnectedDescriptor descriptor;
        descriptor.m_TransposeWeightMatrix = true;
        OpCase op;
        op.m_Name = std::to_string(depth);
        op.m_Type = LayerType::FullyConnected;
        op.m_Descriptor = MakeDescriptor(descriptor);
        std::vector<double> data(depth, 0);
        data[0] = NaN;
        data[1] = 2; // the range: NaN does not count in it
        std::vector<double> weights(size_t{2} * depth, 0);
        weights[0] = weights[depth + 1] = 127;
        op.m_Inputs = {Stored(TensorInfo({1, depth}, DataType::Float32), data),
                       Constant(Stored(TensorInfo({2, depth}, DataType::QSymmS8, 1.0f / 127, 0), weights))};
        op.m_Output = TensorInfo({1, 2}, DataType::Float32);
        op.m_Oracle = [](const auto&) { return std::vector<double>{-2, 2}; };
        CheckOp(op);
    }
}

// Beyond 32 bits the number of steps counts as -2^31, to which the zero point is added with wraparound: so TFLite's
// reference kernel computes on x86-64.
ISA_TEST(NumericsNaN, QuantizeGivesTheLowestOrHighestValueBeyond32Bits)
{
    for (const DataType from : FloatTypes)
    {
        for (const TensorInfo& info : {TensorInfo(TensorShape({151}), DataType::QAsymmS8, 0.125f, 3),
                                       TensorInfo(TensorShape({151}), DataType::QAsymmS8, 0.125f, -128),
                                       TensorInfo(TensorShape({151}), DataType::QAsymmU8, 0.125f, 100),
                                       TensorInfo(TensorShape({151}), DataType::QSymmS8, 0.125f, 0),
                                       TensorInfo(TensorShape({151}), DataType::QSymmS16, 0.125f, 0)})
        {
            const bool isShort = info.GetDataType() == DataType::QSymmS16;
            const double lowest = info.GetDataType() == DataType::QAsymmU8 ? 0 : isShort ? -32768 : -128;
            const double highest = info.GetDataType() == DataType::QAsymmU8 ? 255 : isShort ? 32767 : 127;
            const double beyond = info.GetQuantizationOffset() < 0 ? highest : lowest;
            std::vector<double> values = SomeNaN(151);
            if (from != DataType::Float16)
            {
                values[20] = 0x1p27;
                values[40] = 0x1p28; // 2^31 steps
                values[60] = -0x1p27;
                values[80] = -0x1p28;
                values[100] = 1e30;
            }
            std::vector<double> expected;
            for (const double value : values)
            {
                const double steps = value * 8 + info.GetQuantizationOffset();
                expected.push_back(std::abs(value) < 0x1p28 ? std::clamp(steps, lowest, highest) : beyond);
            }
            OpCase op;
            op.m_Name = info.ToString();
            op.m_Type = LayerType::Quantize;
            op.m_Descriptor = MakeDescriptor(QuantizeDescriptor());
            op.m_Inputs = {Stored(TensorInfo(TensorShape({151}), from), values)};
            op.m_Output = info;
            op.m_Oracle = Expect(info, expected);
            op.m_Steps = 0;
            CheckOp(op);
        }
    }
}

ISA_TEST(NumericsNaN, CastGivesTheLargestIntegerAndSaturatesInfinities)
{
    const std::pair<DataType, std::vector<double>> types[] = {
        {DataType::Signed32, {2147483647.0, -2147483648.0, 2147483647.0, 2}},
        {DataType::Signed8, {127, -128, 127, 2}},
        {DataType::Unsigned8, {255, 0, 255, 2}},
        {DataType::Boolean, {1, 1, 1, 1}},
    };
    for (const auto& [type, expected] : types)
    {
        OpCase op;
        op.m_Name = GetDataTypeName(type);
        op.m_Type = LayerType::Cast;
        op.m_Descriptor = MakeDescriptor(NullDescriptor());
        op.m_Inputs = {Stored(TensorInfo(TensorShape({4}), DataType::Float32), {NaN, -Infinity, Infinity, 2.75})};
        op.m_Output = TensorInfo(TensorShape({4}), type);
        op.m_Oracle = Expect(op.m_Output, expected);
        op.m_Absolute = op.m_Relative = 0;
        CheckOp(op);
    }
}

} // namespace tenon::test::numerics_na_n_test
