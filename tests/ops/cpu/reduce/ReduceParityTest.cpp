// SPDX-License-Identifier: Apache-2.0
// CpuAcc's Reduce and Mean beside CpuRef's; Booleans, products and extremes in every bit. Sizes around those of
// vectors, and some that are split over threads.
#include "backends/common/Quantization.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::reduce_parity_test
{

using namespace channel_types;

namespace
{

constexpr unsigned int Sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 130, 257};

void Check(ReduceOperation operation, TestTensor input, std::vector<unsigned int> axes, const char* kernel)
{
    ReduceDescriptor descriptor;
    descriptor.m_KeepDims = true;
    descriptor.m_ReduceOperation = operation;
    TensorInfo output = input.m_Info;
    TensorShape shape = output.GetShape();
    for (const unsigned int axis : axes)
    {
        shape.SetDimensionSize(axis, 1);
    }
    output.SetShape(shape);
    descriptor.m_vAxis = std::move(axes);
    const std::string name = input.m_Info.ToString();
    ExpectAsReference(ReferenceCase(name, LayerType::Reduce, descriptor, {std::move(input)}, output), kernel);
}

} // namespace

ISA_TEST(ReduceParity, AsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : Channels)
        {
            struct Case
            {
                std::vector<unsigned int> m_Axes;
                bool m_IsTogether; // else the reference kernel runs it
            };
            for (const auto& [axes, isTogether] : {Case{{1, 2}, true},
                                                   {{3}, true},
                                                   {{0, 1, 2, 3}, true},
                                                   {{1}, true},
                                                   {{2, 3}, true},
                                                   {{0, 2}, false},
                                                   {{1, 3}, channels == 1}})
            {
                const std::string prefix = isTogether ? "Cpu" : "Ref";
                const TensorInfo input = Shaped(type, {2, 13, 50, channels});
                TensorShape shape = input.GetShape();
                for (const unsigned int axis : axes)
                {
                    shape.SetDimensionSize(axis, 1);
                }
                MeanDescriptor mean;
                mean.m_Axis = axes;
                mean.m_KeepDims = true;
                TensorInfo output = Shaped(type, shape);
                if (type.IsQuantized())
                {
                    output.SetQuantizationScale(0.8f * type.GetQuantizationScale());
                }
                // Sums of floats of one sign: in another order they differ by less than what is left where most cancel.
                const TestTensor data = type.IsQuantized() ? Random(input, channels) : Random(input, channels, 0.5, 2);
                const double tolerance = type.IsQuantized() ? 0 : 1e-5;
                ExpectAsReference(ReferenceCase(Name("mean", input), LayerType::Mean, mean, {data}, output),
                                  prefix + "Mean", tolerance);
                for (const ReduceOperation operation :
                     {ReduceOperation::Max, ReduceOperation::Min, ReduceOperation::Sum})
                {
                    ReduceDescriptor reduce;
                    reduce.m_vAxis = axes;
                    reduce.m_KeepDims = true;
                    reduce.m_ReduceOperation = operation;
                    ExpectAsReference(
                        ReferenceCase(Name("reduction", input), LayerType::Reduce, reduce, {data}, Shaped(type, shape)),
                        prefix + "Reduce", tolerance);
                }
            }
        }
    }
}

// The largest and the smallest sums, of more rows than 16 bits hold sums of.
ISA_TEST(ReduceParity, SumsOfBytesAtTheEndsOfTheirTypes)
{
    for (const TensorInfo& type : {Unsigned, Signed})
    {
        const backends::QuantizedRange range = backends::GetTypeRange(type.GetDataType());
        for (const unsigned int channels : {1U, 7U, 16U, 50U, 300U})
        {
            for (const unsigned int rows : {1U, 2U, 127U, 128U, 129U, 700U})
            {
                const TensorInfo input = Shaped(type, {1, rows, 1, channels});
                MeanDescriptor mean;
                mean.m_Axis = {1};
                mean.m_KeepDims = true;
                for (const int32_t end : {range.m_Min, range.m_Max})
                {
                    TestTensor data = Random(input, 1);
                    std::fill(data.m_Bytes.begin(), data.m_Bytes.end(), static_cast<std::byte>(end));
                    ExpectAsReference(ReferenceCase(Name("mean", input), LayerType::Mean, mean, {data},
                                                    Shaped(type, {1, 1, 1, channels})),
                                      "CpuMean");
                }
            }
        }
    }
}

// NaN are passed over by comparisons: which of the numbers is the largest does not depend on where they are.
ISA_TEST(ExtremesParity, NaNAsReference)
{
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    for (const unsigned int channels : Channels)
    {
        const TensorInfo input = Shaped(Float, {1, 4, 6, channels});
        std::vector<double> values = GetStored(input, Random(input, channels).m_Bytes.data());
        for (size_t i = 0; i < values.size(); i += 2 + i % 5)
        {
            values[i] = NaN;
        }
        std::fill_n(values.begin(), 2 * channels, NaN); // whole rows too
        const TestTensor data = Stored(input, values);
        for (const ReduceOperation operation : {ReduceOperation::Max, ReduceOperation::Min})
        {
            ReduceDescriptor reduce;
            reduce.m_KeepDims = true;
            reduce.m_ReduceOperation = operation;
            reduce.m_vAxis = {1, 2};
            ExpectAsReference(ReferenceCase(Name("columns", input), LayerType::Reduce, reduce, {data},
                                            Shaped(Float, {1, 1, 1, channels})),
                              "CpuReduce");
            reduce.m_vAxis = {3};
            ExpectAsReference(
                ReferenceCase(Name("rows", input), LayerType::Reduce, reduce, {data}, Shaped(Float, {1, 4, 6, 1})),
                "CpuReduce");
        }
        Pooling2dDescriptor pool;
        pool.m_PoolType = PoolingAlgorithm::Max;
        pool.m_PoolHeight = pool.m_PoolWidth = 2;
        pool.m_StrideX = pool.m_StrideY = 2;
        pool.m_DataLayout = DataLayout::NHWC;
        ExpectAsReference(
            ReferenceCase(Name("pool", input), LayerType::Pooling2d, pool, {data}, Shaped(Float, {1, 2, 3, channels})),
            "CpuPooling2d");
    }
}

// In most rows and columns one byte decides: 0 beside others, or another beside zeros. What is not 0 is true.
ISA_TEST(ReduceParity, BooleansAsReference)
{
    for (const ReduceOperation operation : {ReduceOperation::Any, ReduceOperation::All})
    {
        const bool isAny = operation == ReduceOperation::Any;
        for (const unsigned int size : Sizes)
        {
            TestTensor input = Random(TensorInfo({5, 13, size}, DataType::Boolean), 1);
            std::mt19937 random(size);
            for (std::byte& value : input.m_Bytes)
            {
                value = static_cast<std::byte>(isAny ? 0 : random() % 255 + 1);
            }
            const auto decide = [&](size_t at)
            { input.m_Bytes[at] = static_cast<std::byte>(isAny ? random() % 255 + 1 : 0); };
            for (size_t row = 0; row < size_t{5} * 13; row += 1 + row % 2)
            {
                decide(row * size + random() % size);
            }
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {2}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {1}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {1, 2}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {0, 1, 2}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {0, 2}, size == 1 ? "CpuReduce" : "RefReduce"));
        }
        ASSERT_NO_FATAL_FAILURE(Check(operation, Random(TensorInfo({3, 0}, DataType::Boolean), 1), {1}, "RefReduce"));
    }
}

// Each place of a row by itself.
ISA_TEST(ReduceParity, OneBooleanOfARow)
{
    for (const ReduceOperation operation : {ReduceOperation::Any, ReduceOperation::All})
    {
        for (const unsigned int size : Sizes)
        {
            TestTensor input = Random(TensorInfo({size, size}, DataType::Boolean), 1);
            for (size_t i = 0; i < input.m_Bytes.size(); ++i)
            {
                const bool isOnDiagonal = i / size == i % size;
                input.m_Bytes[i] =
                    static_cast<std::byte>(isOnDiagonal == (operation == ReduceOperation::Any) ? 128 : 0);
            }
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {1}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {0}, "CpuReduce"));
        }
    }
}

// Products come in the same order. Some overflow or are no numbers.
ISA_TEST(ReduceParity, ProductsAsReference)
{
    for (const unsigned int size : Sizes)
    {
        const TensorInfo info({5, 13, size}, DataType::Float32);
        std::vector<double> values = GetStored(info, Random(info, size, -2, 2).m_Bytes.data());
        values[values.size() / 2] = std::numeric_limits<double>::infinity();
        values[values.size() / 3] = std::numeric_limits<double>::quiet_NaN();
        values.back() = 3e38;
        values.front() = -0.0;
        const TestTensor input = Stored(info, values);
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {2}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {1}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {0}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {1, 2}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {0, 1, 2}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {0, 2}, size == 1 ? "CpuReduce" : "RefReduce"));
    }
    const TensorInfo many({301, 600}, DataType::Float32);
    ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, Random(many, 1, 0.5, 1.6), {1}, "CpuReduce"));
    ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, Random(many, 2, 0.5, 1.6), {0}, "CpuReduce"));
    const TensorInfo bytes({7, 9}, DataType::QAsymmS8, 0.5f, 3);
    ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, Random(bytes, 3), {1}, "RefReduce"));
}

} // namespace tenon::test::reduce_parity_test
