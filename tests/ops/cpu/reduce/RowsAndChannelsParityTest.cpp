// SPDX-License-Identifier: Apache-2.0
// CpuAcc's kernels over channels and rows beside CpuRef's: pooling, reductions, softmaxes, places of extremes.
// Sizes around those of vectors, and some that are split over threads.
#include "backends/common/Quantization.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace tenon::test::rows_and_channels_parity_test
{

namespace
{

const TensorInfo Float({1}, DataType::Float32);
const TensorInfo Unsigned({1}, DataType::QAsymmU8, 0.05f, 100);
const TensorInfo Signed({1}, DataType::QAsymmS8, 0.05f, -20);
const TensorInfo Shorts({1}, DataType::QSymmS16, 0.001f, 0);
const TensorInfo Types[] = {Float, Unsigned, Signed, Shorts};
const TensorInfo PoolTypes[] = {
    Float, Unsigned, Signed, Shorts, TensorInfo({1}, DataType::BFloat16), TensorInfo({1}, DataType::Float16)};

/// Sums may come in another order, and divisions be multiplications.
double Tolerance(const TensorInfo& info)
{
    return info.IsQuantized() ? 0 : info.GetDataType() == DataType::Float32 ? 1e-6 : 1.0 / 128;
}

} // namespace

ISA_TEST(Pooling2dParity, AsReference)
{
    struct Case
    {
        unsigned int m_Size, m_Output, m_Kernel, m_Stride, m_Pad;
    };
    const Case cases[] = {{7, 7, 3, 1, 1}, {9, 4, 3, 2, 0}, {6, 3, 2, 2, 0},
                          {5, 1, 5, 1, 0}, {3, 8, 2, 1, 3}, {24, 12, 3, 2, 1}};
    for (const TensorInfo& type : PoolTypes)
    {
        const bool isHalf = !type.IsQuantized() && GetDataTypeSize(type.GetDataType()) == 2;
        for (const unsigned int channels : Channels)
        {
            for (const Case& c : cases)
            {
                for (const PoolingAlgorithm algorithm :
                     {PoolingAlgorithm::Max, PoolingAlgorithm::Average, PoolingAlgorithm::L2})
                {
                    if (algorithm == PoolingAlgorithm::L2 && type.IsQuantized())
                    {
                        continue;
                    }
                    Pooling2dDescriptor d;
                    d.m_PoolType = algorithm;
                    d.m_PoolHeight = d.m_PoolWidth = c.m_Kernel;
                    d.m_StrideX = d.m_StrideY = c.m_Stride;
                    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = c.m_Pad;
                    d.m_PaddingMethod = channels % 2 == 0 ? PaddingMethod::Exclude : PaddingMethod::IgnoreValue;
                    d.m_DataLayout = DataLayout::NHWC;
                    const TensorInfo input = Shaped(type, {2, c.m_Size, c.m_Size, channels});
                    ExpectAsReference(ReferenceCase(Name("pool", input), LayerType::Pooling2d, d,
                                                    {Random(input, channels)},
                                                    Shaped(type, {2, c.m_Output, c.m_Output, channels})),
                                      isHalf ? "CpuPooling2dF16" : "CpuPooling2d",
                                      algorithm == PoolingAlgorithm::Max ? 0 : Tolerance(type));
                }
            }
        }
    }
}

// Every half in a window with each of the greatest, the smallest and the strangest ones.
ISA_TEST(Pooling2dParity, LargestOfHalvesOfAllKinds)
{
    for (const DataType type : {DataType::BFloat16, DataType::Float16})
    {
        const uint16_t infinity = type == DataType::BFloat16 ? 0x7F80 : 0x7C00;
        constexpr unsigned int All = 0x10000;
        const TensorInfo input({1, 1, 2, All}, type);
        Pooling2dDescriptor d;
        d.m_PoolType = PoolingAlgorithm::Max;
        d.m_PoolHeight = d.m_StrideX = d.m_StrideY = 1;
        d.m_PoolWidth = 2;
        d.m_DataLayout = DataLayout::NHWC;
        for (const unsigned int other : {infinity + 0U, infinity + 0x8000U, infinity + 1U, infinity - 1U,
                                         infinity + 0x7FFFU, 0x0001U, 0x8001U, 0xFFFFU})
        {
            std::vector<uint16_t> halves(2 * size_t{All}, static_cast<uint16_t>(other));
            for (unsigned int i = 0; i < All; ++i)
            {
                halves[i] = static_cast<uint16_t>(i);
            }
            TestTensor data{input, std::vector<std::byte>(input.GetNumBytes())};
            std::memcpy(data.m_Bytes.data(), halves.data(), data.m_Bytes.size());
            ExpectAsReference(
                ReferenceCase(Name("pool", input), LayerType::Pooling2d, d, {data}, {{1, 1, 1, All}, type}),
                "CpuPooling2dF16");
        }
    }
}

/// Averages of windows of all sizes up to the largest that are not the reference kernel's, and beyond: all halves.
ISA_TEST(Pooling2dParity, AveragesOfIntegersRoundAsReference)
{
    for (const TensorInfo& type : {Unsigned, Signed, Shorts})
    {
        for (const std::pair<unsigned int, unsigned int>& size :
             {std::pair{1U, 2U}, {2U, 2U}, {1U, 6U}, {7U, 7U}, {16U, 16U}, {50U, 51U}, {80U, 100U}, {90U, 90U}})
        {
            Pooling2dDescriptor d;
            d.m_PoolType = PoolingAlgorithm::Average;
            d.m_PoolHeight = size.first;
            d.m_PoolWidth = size.second;
            d.m_StrideX = d.m_StrideY = 1;
            d.m_DataLayout = DataLayout::NHWC;
            const TensorInfo input = Shaped(type, {1, size.first, size.second, 33});
            const backends::QuantizedRange range = backends::GetTypeRange(type.GetDataType());
            for (const TestTensor& data : {Random(input, 5), Random(input, 6, range.m_Min, range.m_Min + 1),
                                           Random(input, 7, range.m_Max - 1, range.m_Max), Random(input, 8, -2, 2)})
            {
                ExpectAsReference(
                    ReferenceCase(Name("average", input), LayerType::Pooling2d, d, {data}, Shaped(type, {1, 1, 1, 33})),
                    size.first * size.second > 8000 ? "RefPooling2d" : "CpuPooling2d");
            }
        }
    }
}

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

ISA_TEST(SoftmaxParity, AsReference)
{
    for (const TensorInfo& type : Types)
    {
        // Sums of a thousand exponentials, in another order.
        const double tolerance = 5 * Tolerance(type);
        for (const unsigned int depth : {1U, 2U, 5U, 16U, 24U, 25U, 31U, 32U, 33U, 64U, 100U, 300U, 1001U})
        {
            for (const float beta : {1.0f, 0.1f, 7.0f})
            {
                const TensorInfo input = Shaped(type, {3, 37, depth});
                TensorInfo output = input;
                if (type.IsQuantized())
                {
                    const bool isShort = type.GetDataType() == DataType::QSymmS16;
                    output.SetQuantizationScale(isShort ? 1.0f / 32768.0f : 1.0f / 256.0f);
                    output.SetQuantizationOffset(type.GetDataType() == DataType::QAsymmS8 ? -128 : 0);
                }
                SoftmaxDescriptor d;
                d.m_Beta = beta;
                d.m_Axis = -1;
                ExpectAsReference(
                    ReferenceCase(Name("softmax", input), LayerType::Softmax, d, {Random(input, depth)}, output),
                    "CpuSoftmax", tolerance);
                if (!type.IsQuantized())
                {
                    ExpectAsReference(ReferenceCase(Name("log softmax", input), LayerType::LogSoftmax, d,
                                                    {Random(input, depth)}, output),
                                      "CpuLogSoftmax", tolerance);
                }
            }
        }
    }
}

// In each row one element that is no number, at places of whole vectors and of the rest.
ISA_TEST(SoftmaxParity, NaNAndInfinitiesAsReference)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    for (const unsigned int depth : {1U, 3U, 16U, 24U, 25U, 40U, 64U, 67U, 130U})
    {
        std::vector<double> values;
        for (unsigned int at = 0; at < depth; ++at)
        {
            for (const double special : {NaN, Infinity, -Infinity})
            {
                std::vector<double> row(depth, 0.25);
                row[depth / 2] = -1.5;
                row[at] = special;
                values.insert(values.end(), row.begin(), row.end());
            }
        }
        values.insert(values.end(), depth, -Infinity);
        values.insert(values.end(), depth, 1.0); // beside them a row of numbers stays one
        const TensorInfo input = Shaped(Float, {3 * depth + 2, depth});
        const TestTensor data = Stored(input, values);
        for (const float beta : {1.0f, -0.5f})
        {
            SoftmaxDescriptor d;
            d.m_Beta = beta;
            d.m_Axis = -1;
            ExpectAsReference(ReferenceCase(Name("softmax", input), LayerType::Softmax, d, {data}, input),
                              beta > 0 ? "CpuSoftmax" : "RefSoftmax", Tolerance(input));
            ExpectAsReference(ReferenceCase(Name("log softmax", input), LayerType::LogSoftmax, d, {data}, input),
                              beta > 0 ? "CpuLogSoftmax" : "RefLogSoftmax", Tolerance(input));
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

/// Few values, so that there are ties; depths around those of vectors, and rows up to the end of the tensor.
ISA_TEST(ArgMinMaxParity, AsReference)
{
    for (const TensorInfo& type : {Float, Unsigned, Signed})
    {
        for (const unsigned int depth : Channels)
        {
            for (const ArgMinMaxFunction function : {ArgMinMaxFunction::Max, ArgMinMaxFunction::Min})
            {
                for (const auto& [sizes, axis] :
                     {std::pair(std::vector{7U, 11U, depth}, -1), std::pair(std::vector{3U, depth, 37U}, 1),
                      std::pair(std::vector{depth, 600U}, 0)})
                {
                    ArgMinMaxDescriptor d;
                    d.m_Function = function;
                    d.m_Axis = axis;
                    d.m_Output_Type = depth % 2 == 0 ? DataType::Signed32 : DataType::Signed64;
                    const TensorInfo input = Shaped(type, ShapeOf(sizes));
                    std::vector<unsigned int> kept = sizes;
                    kept.erase(axis < 0 ? kept.end() - 1 : kept.begin() + axis);
                    ExpectAsReference(ReferenceCase(Name("argument", input), LayerType::ArgMinMax, d,
                                                    {Random(input, depth, -2, 2)},
                                                    Shaped(TensorInfo({1}, d.m_Output_Type), ShapeOf(kept))),
                                      "CpuArgMinMax");
                }
            }
        }
    }
}

/// Columns of bytes deeper than a byte counts: the extreme lies anywhere in them, once or twice.
ISA_TEST(ArgMinMaxParity, DeepColumnsOfBytes)
{
    constexpr unsigned int Depth = 1030;
    constexpr unsigned int Columns = 70;
    for (const TensorInfo& type : {Unsigned, Signed})
    {
        for (const ArgMinMaxFunction function : {ArgMinMaxFunction::Max, ArgMinMaxFunction::Min})
        {
            const TensorInfo input = Shaped(type, {Depth, Columns});
            std::vector<double> values = Grid(size_t{Depth} * Columns, 40, 1, 41);
            const double extreme = function == ArgMinMaxFunction::Max ? 90 : 30;
            for (size_t c = 0; c < Columns; ++c)
            {
                values[c * 14 * Columns + c] = extreme;
                values[(Depth - 1 - c / 3) * Columns + c] = c % 2 == 0 ? extreme : 60;
            }
            ArgMinMaxDescriptor d;
            d.m_Function = function;
            d.m_Axis = 0;
            d.m_Output_Type = DataType::Signed32;
            ExpectAsReference(ReferenceCase(Name("deep", input), LayerType::ArgMinMax, d, {Stored(input, values)},
                                            TensorInfo({Columns}, DataType::Signed32)),
                              "CpuArgMinMax");
        }
    }
}

ISA_TEST(ArgMinMaxParity, NaNOnlyCountsWhereThereIsNothingElse)
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const unsigned int depth : {3U, 16U, 40U})
    {
        for (const bool isLast : {true, false})
        {
            for (const ArgMinMaxFunction function : {ArgMinMaxFunction::Max, ArgMinMaxFunction::Min})
            {
                // NaN alone; before and behind the worst value; around others.
                std::vector<float> values(4 * depth, nan);
                const float worst = function == ArgMinMaxFunction::Max ? -infinity : infinity;
                const auto at = [&](unsigned int row, unsigned int i) -> float&
                { return values[isLast ? row * depth + i : i * 4 + row]; };
                at(1, 1) = worst;
                at(2, 0) = worst;
                at(3, 1) = 1.0f;
                at(3, 2) = 2.0f;
                ArgMinMaxDescriptor d;
                d.m_Function = function;
                d.m_Axis = isLast ? 1 : 0;
                const TensorInfo input(isLast ? TensorShape({4, depth}) : TensorShape({depth, 4}), DataType::Float32);
                ExpectAsReference(ReferenceCase("NaN", LayerType::ArgMinMax, d,
                                                {Stored(input, std::vector<double>(values.begin(), values.end()))},
                                                TensorInfo({4}, DataType::Signed32)),
                                  "CpuArgMinMax");
            }
        }
    }
}

} // namespace tenon::test::rows_and_channels_parity_test
