// SPDX-License-Identifier: Apache-2.0
// Sums of many elements: those of quantized types do not overflow, and those of floats keep their digits, on all
// backends. The bounds are those that docs/numerics.md states.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Indexing.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Products.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace tenon::test::numerics_sums_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

/// A bound of CpuRef's relative error, and one for the other backends.
struct Bounds
{
    double m_Reference;
    double m_Fast;
};

/// CpuRef sums in double precision, so that a few roundings to float are left. Others: 2^-17 of the sum of magnitudes,
/// and as many roundings.
constexpr Bounds SumBounds = {4e-7, 8e-6};
/// CpuRef: 2^-17 of the sum of magnitudes and two roundings. Others: 8192 * 2^-24 and a few roundings; the measured
/// error is smaller.
constexpr Bounds ProductBounds = {8e-6, 2e-4};

TestTensor Filled(const TensorInfo& info, double stored)
{
    return Stored(info, std::vector<double>(info.GetNumElements(), stored));
}

TensorInfo FloatInfo(const TensorShape& shape, DataType type = DataType::Float32)
{
    return {shape, type};
}

/// Checks the case on all backends, and again, more strictly, on CpuRef.
void CheckSum(OpCase op, const std::vector<double>& expected, const Bounds& bounds = SumBounds)
{
    SCOPED_TRACE(op.m_Name);
    op.m_Oracle = [expected](const auto&) { return expected; };
    op.m_Absolute = 0.0;
    op.m_Relative = bounds.m_Fast;
    ASSERT_NO_FATAL_FAILURE(CheckOp(op));
    const std::vector<std::byte> bytes = RunOp(FindTestBackend(Compute::CpuRef), op, {});
    const std::vector<double> got = GetStored(op.m_Output, bytes.data());
    for (size_t i = 0; i < expected.size(); ++i)
    {
        ASSERT_NEAR(got[i], expected[i], bounds.m_Reference * std::abs(expected[i])) << "element " << i << " of CpuRef";
    }
}

/// Checks a case of millions of elements once on each backend: `stored` is the value of every output.
void CheckOnce(const OpCase& op, double stored)
{
    SCOPED_TRACE(op.m_Name);
    for (const auto& backend : GetTestBackends())
    {
        const std::vector<std::byte> bytes = RunOp(*backend, op, {});
        for (const double got : GetStored(op.m_Output, bytes.data()))
        {
            EXPECT_EQ(got, stored) << backend->GetId().Get();
        }
    }
}

template <typename D>
OpCase MakeSum(std::string name, LayerType type, D descriptor, std::vector<TestTensor> inputs, const TensorInfo& output)
{
    return {std::move(name), type, MakeDescriptor(std::move(descriptor)), std::move(inputs), output, nullptr};
}

OpCase MakeReduce(ReduceOperation operation, TestTensor input, const Sizes& axes, const TensorInfo& output)
{
    ReduceDescriptor descriptor;
    descriptor.m_ReduceOperation = operation;
    descriptor.m_vAxis = axes;
    return MakeSum(input.m_Info.ToString() + " to " + output.ToString(), LayerType::Reduce, descriptor,
                   {std::move(input)}, output);
}

/// The input reduced to the output in double precision: elements of equal index but for the axes.
std::vector<double> AddUp(const TestTensor& input, const Sizes& axes, bool isMean)
{
    const TensorShape& shape = input.m_Info.GetShape();
    const std::vector<double> values = GetReal(input.m_Info, input.m_Bytes.data()).m_Values;
    size_t outputs = 1;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        outputs *= std::find(axes.begin(), axes.end(), i) == axes.end() ? shape[i] : 1;
    }
    std::vector<double> sums(outputs);
    for (size_t element = 0; element < values.size(); ++element)
    {
        size_t rest = element;
        size_t output = 0;
        size_t step = 1;
        for (unsigned int i = shape.GetNumDimensions(); i-- > 0; rest /= shape[i])
        {
            if (std::find(axes.begin(), axes.end(), i) == axes.end())
            {
                output += rest % shape[i] * step;
                step *= shape[i];
            }
        }
        sums[output] += values[element];
    }
    const double count = static_cast<double>(values.size()) / static_cast<double>(outputs);
    std::transform(sums.begin(), sums.end(), sums.begin(), [&](double sum) { return isMean ? sum / count : sum; });
    return sums;
}

/// Means and sums of a quantized tensor, which must be right to the step.
void CheckStored(const TestTensor& input, const Sizes& axes, const TensorShape& output, float sumScale)
{
    for (const bool isMean : {true, false})
    {
        TensorInfo info = Shaped(input.m_Info, output);
        info.SetQuantizationScale(isMean ? info.GetQuantizationScale() : sumScale);
        OpCase op = MakeReduce(isMean ? ReduceOperation::Mean : ReduceOperation::Sum, input, axes, info);
        op.m_Oracle = [=](const auto&) { return AddUp(input, axes, isMean); };
        CheckOp(op);
    }
}

constexpr float Tenth = 0.1f;

/// 0.1 as a float in every element: what a sum of it loses all points one way.
TestTensor Tenths(const TensorShape& shape)
{
    return Filled(FloatInfo(shape), double{Tenth});
}

Pooling2dDescriptor Pool(PoolingAlgorithm algorithm, unsigned int height, unsigned int width)
{
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = algorithm;
    descriptor.m_PoolHeight = height;
    descriptor.m_PoolWidth = width;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    descriptor.m_DataLayout = DataLayout::NHWC;
    return descriptor;
}

} // namespace

// 32767 * 90000 needs 32 bits and a sign.
ISA_TEST(NumericsSums, ShortsBeyond32Bits)
{
    const DataType type = DataType::QSymmS16;
    for (const double value : {32767.0, -32768.0})
    {
        CheckStored(Filled(TensorInfo({1, 300, 300, 1}, type, 0.5f, 0), value), {1, 2}, {1, 1, 1, 1}, 5e4f);
        CheckStored(Filled(TensorInfo({1, 300, 300, 3}, type, 0.5f, 0), value), {1, 2}, {1, 3}, 5e4f);
        CheckStored(Filled(TensorInfo({2, 70001}, type, 0.5f, 0), value), {1}, {2}, 5e4f);
        CheckStored(Filled(TensorInfo({70001, 37}, type, 0.5f, 0), value), {0}, {37}, 5e4f);
        CheckStored(Filled(TensorInfo({300, 2, 300}, type, 0.5f, 0), value), {0, 2}, {2}, 5e4f); // scattered
    }
    CheckStored(Random(TensorInfo({3, 1, 40000, 5}, type, 0.25f, 0), 1, 2000.0, 8000.0), {2}, {3, 1, 5}, 1e4f);
}

ISA_TEST(NumericsSums, BytesBeyond32Bits)
{
    constexpr unsigned int Count = 8500000; // 2^31 / 255 are 8421505
    const auto check = [](DataType type, int stored, int32_t zeroPoint, unsigned int columns, bool isMean)
    {
        const TensorInfo info({Count, columns}, type, 0.5f, zeroPoint);
        const TestTensor input{info, std::vector<std::byte>(info.GetNumBytes(), static_cast<std::byte>(stored))};
        TensorInfo output = Shaped(info, {columns});
        output.SetQuantizationScale(isMean ? 0.5f : 1e7f);
        const OpCase op = MakeReduce(isMean ? ReduceOperation::Mean : ReduceOperation::Sum, input, {0}, output);
        const double real = 0.5 * (stored - zeroPoint) * (isMean ? 1.0 : Count);
        CheckOnce(op, ToStored(output, &real, 1)[0]);
    };
    check(DataType::QAsymmU8, 255, 0, 1, true);
    check(DataType::QAsymmU8, 255, 0, 1, false);
    check(DataType::QAsymmS8, -128, 127, 1, true);
    check(DataType::QAsymmU8, 255, 3, 2, true);
}

ISA_TEST(NumericsSums, QuantizedPools)
{
    const auto check = [](DataType type, double stored, unsigned int size)
    {
        for (const unsigned int channels : {1U, 3U})
        {
            const TensorInfo input({1, size, size, channels}, type, 0.5f, 0);
            const OpCase op =
                MakeSum(input.ToString(), LayerType::Pooling2d, Pool(PoolingAlgorithm::Average, size, size),
                        {Filled(input, stored)}, Shaped(input, {1, 1, 1, channels}));
            CheckOnce(op, stored);
        }
    };
    check(DataType::QSymmS16, 32767.0, 300);
    check(DataType::QSymmS16, -32768.0, 300);
    check(DataType::QAsymmU8, 255.0, 2950);
}

// The multiplier of a sum is as large as its output's scale is small.
ISA_TEST(NumericsSums, SumsOfShortsSaturate)
{
    const TensorInfo info({100000}, DataType::QSymmS16, 1.0f, 0);
    for (const double value : {32767.0, -32768.0, 1.0, -1.0})
    {
        TensorInfo output(TensorShape(Dimensionality::Scalar), DataType::QSymmS16, 1e-6f, 0);
        OpCase op = MakeReduce(ReduceOperation::Sum, Filled(info, value), {0}, output);
        op.m_Oracle = Expect(output, {value > 0 ? 32767.0 : -32768.0});
        op.m_Steps = 0;
        CheckOp(op);
    }
}

// Sums of products: 2^31 / 255^2 are 33026 products of bytes, and 516 of a 16-bit and an 8-bit number.
ISA_TEST(NumericsSums, ProductsOfBytesBeyond32Bits)
{
    constexpr unsigned int Depth = 40000;
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    for (const double weight : {255.0, 0.0})
    {
        const TensorInfo data({2, Depth}, DataType::QAsymmU8, 1.0f, 0);
        const TensorInfo weights({3, Depth}, DataType::QAsymmU8, 1.0f, weight == 0.0 ? 255 : 0);
        const TensorInfo output({2, 3}, DataType::QAsymmU8, 2e7f, 128);
        OpCase op = MakeSum("FullyConnected", LayerType::FullyConnected, descriptor,
                            {Filled(data, 255.0), Constant(Filled(weights, weight))}, output);
        const double sum = (weight - weights.GetQuantizationOffset()) * 255.0 * Depth;
        op.m_Oracle = [=](const auto&) { return std::vector<double>(6, sum); };
        CheckOp(op);

        const TensorInfo x({2, 1, Depth}, DataType::QAsymmU8, 1.0f, 0);
        const TensorInfo y({1, Depth, 3}, DataType::QAsymmU8, 1.0f, weights.GetQuantizationOffset());
        OpCase product =
            MakeSum("BatchMatMul", LayerType::BatchMatMul, BatchMatMulDescriptor(),
                    {Filled(x, 255.0), Filled(y, weight)}, TensorInfo({2, 1, 3}, DataType::QAsymmU8, 2e7f, 128));
        product.m_Oracle = op.m_Oracle;
        CheckOp(product);
    }
}

ISA_TEST(NumericsSums, ConvolutionsBeyond32Bits)
{
    const auto check = [](DataType dataType, double dataValue, double weight, DataType biasType, double biasValue,
                          unsigned int channels, float outputScale)
    {
        constexpr unsigned int Outputs = 5;
        Convolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_BiasEnabled = true;
        const TensorInfo data({1, 3, 2, channels}, dataType, 1.0f, 0);
        const TensorInfo weights({Outputs, 1, 1, channels}, DataType::QSymmS8, 1.0f, 0);
        const TensorInfo output({1, 3, 2, Outputs}, dataType, outputScale, 0);
        OpCase op = MakeSum(data.ToString(), LayerType::Convolution2d, descriptor,
                            {Filled(data, dataValue), Constant(Filled(weights, weight)),
                             Constant(Filled(TensorInfo({Outputs}, biasType, 1.0f, 0), biasValue))},
                            output);
        const double sum = dataValue * weight * channels + biasValue;
        op.m_Oracle = [=](const auto&) { return std::vector<double>(size_t{6} * Outputs, sum); };
        CheckOp(op);
    };
    for (const double weight : {127.0, -127.0})
    {
        check(DataType::QAsymmS8, -128.0, weight, DataType::Signed32, 5.0, 140000, 3e7f);
        check(DataType::QSymmS16, -32768.0, weight, DataType::Signed32, 5.0, 2000, 5e5f);
        check(DataType::QSymmS16, 32767.0, weight, DataType::Signed64, 5.0, 2000, 5e5f);
        check(DataType::QSymmS16, 32767.0, weight, DataType::Signed32, 2147483647.0, 200, 1e5f);
        check(DataType::QSymmS16, 32767.0, weight, DataType::Signed32, -2147483648.0, 2000, 5e5f);
    }
}

ISA_TEST(NumericsSums, ReductionsOfFloats)
{
    const auto check = [](const TensorShape& shape, const Sizes& axes, const TensorShape& output)
    {
        const TestTensor input = Tenths(shape);
        for (const bool isMean : {true, false})
        {
            CheckSum(MakeReduce(isMean ? ReduceOperation::Mean : ReduceOperation::Sum, input, axes, FloatInfo(output)),
                     std::vector<double>(output.GetNumElements(), isMean ? double{Tenth} : 2e5 * double{Tenth}));
        }
    };
    check({200000}, {0}, {1});
    check({1, 400, 500, 1}, {1, 2}, {1, 1});
    check({1, 400, 500, 3}, {1, 2}, {1, 3});
    check({200000, 9}, {0}, {9});
    check({400, 2, 500}, {0, 2}, {2});
    // Of numbers of both signs: relative to the sum of their magnitudes.
    const TestTensor mixed = Random(FloatInfo({3, 100000}), 1, -1.0, 1.0);
    OpCase op = MakeReduce(ReduceOperation::Sum, mixed, {1}, FloatInfo({3}));
    op.m_Oracle = [&](const auto&) { return AddUp(mixed, {1}, false); };
    op.m_Relative = 0.0;
    op.m_Absolute = SumBounds.m_Fast * 50000.0;
    CheckOp(op);
}

ISA_TEST(NumericsSums, ReductionsOfHalves)
{
    for (const DataType type : {DataType::Float16, DataType::BFloat16})
    {
        const TestTensor ones = Filled(FloatInfo({3, 60000}, type), 1.0);
        OpCase op = MakeReduce(ReduceOperation::Mean, ones, {1}, FloatInfo({3}, type));
        op.m_Oracle = [](const auto&) { return std::vector<double>(3, 1.0); };
        op.m_Relative = op.m_Absolute = 0.0;
        CheckOp(op);
    }
}

ISA_TEST(NumericsSums, Pools)
{
    for (const unsigned int channels : {1U, 3U, 37U})
    {
        const unsigned int width = channels > 3 ? 100 : 400;
        const TensorInfo output = FloatInfo({1, 1, 1, channels});
        for (const PoolingAlgorithm algorithm : {PoolingAlgorithm::Average, PoolingAlgorithm::L2})
        {
            CheckSum(MakeSum("pool", LayerType::Pooling2d, Pool(algorithm, 500, width),
                             {Tenths({1, 500, width, channels})}, output),
                     std::vector<double>(channels, double{Tenth}));
        }
    }
    CheckSum(MakeSum("windows", LayerType::Pooling2d, Pool(PoolingAlgorithm::Average, 200, 200),
                     {Tenths({1, 201, 202, 2})}, FloatInfo({1, 2, 3, 2})),
             std::vector<double>(12, double{Tenth}));
    Pooling3dDescriptor volume;
    volume.m_PoolType = PoolingAlgorithm::Average;
    volume.m_PoolDepth = volume.m_PoolHeight = volume.m_PoolWidth = 60;
    volume.m_StrideX = volume.m_StrideY = volume.m_StrideZ = 1;
    volume.m_DataLayout = DataLayout::NDHWC;
    CheckSum(MakeSum("volume", LayerType::Pooling3d, volume, {Tenths({1, 60, 60, 60, 1})}, FloatInfo({1, 1, 1, 1, 1})),
             {double{Tenth}});
}

// More than 2^24 elements, each of which is lost to a float sum of as many.
ISA_TEST(NumericsSums, PoolOfMoreElementsThanFloatsCount)
{
    OpCase op = MakeSum("4200x4200", LayerType::Pooling2d, Pool(PoolingAlgorithm::Average, 4200, 4200),
                        {Filled(FloatInfo({1, 4200, 4200, 1}), 1.0)}, FloatInfo({1, 1, 1, 1}));
    for (const char* backend : {"CpuRef", "CpuAcc"})
    {
        const std::vector<std::byte> bytes = RunOp(FindTestBackend(BackendId(backend)), op, {});
        EXPECT_NEAR(GetStored(op.m_Output, bytes.data())[0], 1.0, 1e-6) << backend;
    }
}

ISA_TEST(NumericsSums, CumSum)
{
    constexpr unsigned int Length = 200000;
    for (const bool reverse : {false, true})
    {
        for (const bool exclusive : {false, true})
        {
            CumSumDescriptor descriptor;
            descriptor.m_Reverse = reverse;
            descriptor.m_Exclusive = exclusive;
            const auto check = [&](const TensorShape& shape, int axis)
            {
                descriptor.m_Axis = axis;
                const unsigned int inner = axis == 0 && shape.GetNumDimensions() == 2 ? shape[1] : 1;
                const unsigned int length = shape[static_cast<unsigned int>(axis)];
                std::vector<double> expected(shape.GetNumElements());
                for (size_t i = 0; i < expected.size(); ++i)
                {
                    const size_t at = i / inner % length;
                    const size_t place = (reverse ? length - 1 - at : at) + (exclusive ? 0 : 1);
                    expected[i] = static_cast<double>(place) * double{Tenth};
                }
                CheckSum(MakeSum(shape.ToString(), LayerType::CumSum, descriptor, {Tenths(shape)}, FloatInfo(shape)),
                         expected);
            };
            check({Length}, 0);
            check({5, Length / 10}, 1);
            check({Length / 10, 11}, 0);
        }
    }
}

ISA_TEST(NumericsSums, CumulativeProducts)
{
    constexpr unsigned int Length = 100000;
    // Two neighbours multiply to nearly 1, so that no product grows or vanishes.
    constexpr float Even = 1.1f;
    constexpr float Odd = 1.0f / 1.1f;
    const TensorShape shape({2, Length});
    std::vector<double> factors(shape.GetNumElements());
    for (size_t i = 0; i < factors.size(); ++i)
    {
        factors[i] = i % 2 == 0 ? double{Even} : double{Odd};
    }
    for (const bool reverse : {false, true})
    {
        for (const bool exclusive : {false, true})
        {
            CumSumDescriptor descriptor;
            descriptor.m_Axis = 1;
            descriptor.m_Reverse = reverse;
            descriptor.m_Exclusive = exclusive;
            descriptor.m_Operation = ReduceOperation::Prod;
            std::vector<double> expected(factors.size());
            for (size_t i = 0; i < expected.size(); ++i)
            {
                const size_t at = i % Length;
                const size_t count = (reverse ? Length - 1 - at : at) + (exclusive ? 0 : 1);
                expected[i] = std::pow(double{Even} * double{Odd}, static_cast<double>(count / 2));
                if (count % 2 != 0)
                {
                    expected[i] *= reverse ? double{Odd} : double{Even};
                }
            }
            CheckSum(MakeSum("products", LayerType::CumSum, descriptor, {Values(FloatInfo(shape), factors)},
                             FloatInfo(shape)),
                     expected, {4e-7, 4e-7});
        }
    }
}

ISA_TEST(NumericsSums, Normalizations)
{
    constexpr unsigned int Depth = 200000;
    const TestTensor tenths = Tenths({1, 1, 1, Depth});
    L2NormalizationDescriptor l2;
    l2.m_DataLayout = DataLayout::NHWC;
    CheckSum(MakeSum("L2Normalization", LayerType::L2Normalization, l2, {tenths}, tenths.m_Info),
             std::vector<double>(Depth, 1.0 / std::sqrt(double{Depth})));
    CheckSum(MakeSum("Softmax", LayerType::Softmax, SoftmaxDescriptor(), {Tenths({1, Depth})}, FloatInfo({1, Depth})),
             std::vector<double>(Depth, 1.0 / double{Depth}));
    CheckSum(MakeSum("LogSoftmax", LayerType::LogSoftmax, LogSoftmaxDescriptor(), {Tenths({1, Depth})},
                     FloatInfo({1, Depth})),
             std::vector<double>(Depth, -std::log(double{Depth})));

    // 1 and 3 in turns: mean 2, variance 1.
    std::vector<double> turns(Depth);
    std::vector<double> expected(Depth);
    for (size_t i = 0; i < Depth; ++i)
    {
        turns[i] = i % 2 == 0 ? 1.0 : 3.0;
        expected[i] = i % 2 == 0 ? -1.0 : 1.0;
    }
    LayerNormalizationDescriptor layer;
    layer.m_Epsilon = 0.0f;
    const TensorInfo row = FloatInfo({1, Depth});
    CheckSum(MakeSum("LayerNormalization", LayerType::LayerNormalization, layer,
                     {Values(row, turns), NotConnected(), NotConnected()}, row),
             expected);
    InstanceNormalizationDescriptor instance;
    instance.m_DataLayout = DataLayout::NHWC;
    const TensorInfo image = FloatInfo({1, 400, 500, 1});
    CheckSum(
        MakeSum("InstanceNormalization", LayerType::InstanceNormalization, instance, {Values(image, turns)}, image),
        expected);
}

ISA_TEST(NumericsSums, SegmentsWindowsAndScatteredElements)
{
    constexpr unsigned int Count = 60000;
    const TensorInfo numbers({Count}, DataType::Signed32);
    const std::vector<double> expected(2, Count * double{Tenth});
    const TestTensor data = Tenths({Count, 2});
    CheckSum(
        MakeSum("SegmentSum", LayerType::SegmentSum, NullDescriptor(), {data, Filled(numbers, 0.0)}, FloatInfo({1, 2})),
        expected);
    CheckSum(MakeSum("UnsortedSegment", LayerType::UnsortedSegment, UnsortedSegmentDescriptor(),
                     {data, Filled(numbers, 0.0),
                      Constant(Stored(TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Signed32), {1.0}))},
                     FloatInfo({1, 2})),
             expected);

    ReduceWindowDescriptor window;
    window.m_WindowSizes = {Count, 1};
    window.m_Strides = window.m_Dilations = {1, 1};
    CheckSum(MakeSum("ReduceWindow", LayerType::ReduceWindow, window,
                     {data, Filled(FloatInfo(TensorShape(Dimensionality::Scalar)), 0.0)}, FloatInfo({1, 2})),
             expected);

    const TensorInfo indices({Count, 1}, DataType::Signed32);
    CheckSum(MakeSum("ScatterNd", LayerType::ScatterNd, ScatterNdDescriptor(ScatterNdFunction::Add, true),
                     {Filled(FloatInfo({1, 2}), 0.0), Filled(indices, 0.0), data}, FloatInfo({1, 2})),
             expected);

    std::vector<double> places(size_t{2} * Count);
    EmbeddingLookupSparseDescriptor sparse;
    sparse.m_Combiner = EmbeddingCombiner::Sum;
    CheckSum(MakeSum("EmbeddingLookupSparse", LayerType::EmbeddingLookupSparse, sparse,
                     {Filled(numbers, 0.0), Stored(TensorInfo({Count, 2}, DataType::Signed32), places),
                      Stored(TensorInfo({2}, DataType::Signed32), {1.0, 1.0}), Tenths({Count}),
                      Filled(FloatInfo({1, 2}), 1.0)},
                     FloatInfo({1, 2})),
             expected);
}

ISA_TEST(NumericsSums, DeepProducts)
{
    constexpr unsigned int Depth = 40000; // five slices of 8192
    const double sum = Depth * double{Tenth};
    for (const unsigned int rows : {1U, 5U})
    {
        for (const unsigned int columns : {1U, 17U})
        {
            const auto expected = std::vector<double>(size_t{rows} * columns, sum);
            for (const bool transposes : {false, true})
            {
                FullyConnectedDescriptor descriptor;
                descriptor.m_TransposeWeightMatrix = transposes;
                const TensorShape weights = transposes ? TensorShape({columns, Depth}) : TensorShape({Depth, columns});
                CheckSum(MakeSum("FullyConnected", LayerType::FullyConnected, descriptor,
                                 {Tenths({rows, Depth}), Constant(Filled(FloatInfo(weights), 1.0))},
                                 FloatInfo({rows, columns})),
                         expected, ProductBounds);
                const TensorShape y = transposes ? TensorShape({1, columns, Depth}) : TensorShape({1, Depth, columns});
                CheckSum(MakeSum("BatchMatMul", LayerType::BatchMatMul, BatchMatMulDescriptor(false, transposes),
                                 {Tenths({1, rows, Depth}), Filled(FloatInfo(y), 1.0)}, FloatInfo({1, rows, columns})),
                         expected, ProductBounds);
            }
        }
    }
}

ISA_TEST(NumericsSums, DeepConvolutions)
{
    const auto check = [](unsigned int size, unsigned int channels)
    {
        constexpr unsigned int Outputs = 5;
        Convolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        CheckSum(MakeSum("Convolution2d", LayerType::Convolution2d, descriptor,
                         {Tenths({1, size, size + 1, channels}),
                          Constant(Filled(FloatInfo({Outputs, size, size, channels}), 1.0))},
                         FloatInfo({1, 1, 2, Outputs})),
                 std::vector<double>(size_t{2} * Outputs, size * size * channels * double{Tenth}), ProductBounds);
    };
    check(1, 40000);
    const auto checkDepthwise = [](unsigned int size, unsigned int channels)
    {
        DepthwiseConvolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        CheckSum(MakeSum("DepthwiseConvolution2d", LayerType::DepthwiseConvolution2d, descriptor,
                         {Tenths({1, size, size + 1, channels}),
                          Constant(Filled(FloatInfo({1, size, size, channels}), 1.0))},
                         FloatInfo({1, 1, 2, channels})),
                 std::vector<double>(size_t{2} * channels, size * size * double{Tenth}), ProductBounds);
    };
    checkDepthwise(60, 3);
    checkDepthwise(120, 5); // more taps than CpuAcc adds in float
    TransposeConvolution2dDescriptor transposed;
    transposed.m_DataLayout = DataLayout::NHWC;
    transposed.m_StrideX = transposed.m_StrideY = 1;
    CheckSum(MakeSum("TransposeConvolution2d", LayerType::TransposeConvolution2d, transposed,
                     {Tenths({1, 1, 2, 20000}), Constant(Filled(FloatInfo({3, 1, 1, 20000}), 1.0))},
                     FloatInfo({1, 1, 2, 3})),
             std::vector<double>(6, 20000 * double{Tenth}), ProductBounds);
    check(60, 16);
    check(3, 5001);
}

} // namespace tenon::test::numerics_sums_test
