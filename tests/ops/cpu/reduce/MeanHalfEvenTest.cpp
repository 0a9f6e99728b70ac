// SPDX-License-Identifier: Apache-2.0
// Mean of quantized tensors in RequantizationMode::FloatHalfEven beside the definition: exact sums, times one Float32
// factor, rounded half to even.
#include "backends/common/Quantization.hpp"
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/HalfEven.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::test::mean_half_even_test
{

namespace
{

using Axes = std::vector<unsigned int>;

bool IsReduced(const Axes& axes, unsigned int dim)
{
    return std::find(axes.begin(), axes.end(), dim) != axes.end();
}

/// A mean of four dimensions that are kept.
void Check(const TestTensor& input, const Axes& axes, float scale, int32_t zeroPoint, const char* kernel = "CpuMean")
{
    const TensorShape& shape = input.m_Info.GetShape();
    TensorShape reduced = shape;
    for (const unsigned int axis : axes)
    {
        reduced.SetDimensionSize(axis, 1);
    }
    const TensorInfo output(reduced, input.m_Info.GetDataType(), scale, zeroPoint);
    const std::vector<double> stored = GetStored(input.m_Info, input.m_Bytes.data());
    std::vector<int64_t> sums(output.GetNumElements());
    for (size_t i = 0; i < stored.size(); ++i)
    {
        size_t to = 0;
        size_t size = stored.size();
        size_t rest = i;
        for (unsigned int dim = 0; dim < shape.GetNumDimensions(); ++dim)
        {
            size /= shape[dim];
            to = to * reduced[dim] + (IsReduced(axes, dim) ? 0 : rest / size);
            rest %= size;
        }
        sums[to] += static_cast<int64_t>(stored[i]) - input.m_Info.GetQuantizationOffset();
    }
    std::vector<double> want;
    for (const int64_t sum : sums)
    {
        want.push_back(SumToMean(sum, static_cast<int64_t>(stored.size() / sums.size()), input.m_Info, output));
    }
    MeanDescriptor mean;
    mean.m_Axis = axes;
    mean.m_KeepDims = true;
    mean.m_Requantization = RequantizationMode::FloatHalfEven;
    ExpectStored(
        ReferenceCase(Name("mean", input.m_Info) + " to " + output.ToString(), LayerType::Mean, mean, {input}, output),
        kernel, want);
}

const TensorInfo Types[] = {TensorInfo({1}, DataType::QAsymmS8, 0.05f, -20),
                            TensorInfo({1}, DataType::QAsymmU8, 0.05f, 100),
                            TensorInfo({1}, DataType::QSymmS16, 0.05f, 0)};

} // namespace

ISA_TEST(MeanHalfEven, AxesOfAllKinds)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : Channels)
        {
            const TestTensor input = Random(Shaped(type, {2, 13, 50, channels}), channels);
            for (const Axes& axes : {Axes{1, 2}, Axes{3}, Axes{0, 1, 2, 3}, Axes{1}, Axes{2, 3}})
            {
                Check(input, axes, 0.0031f, 0);
            }
            Check(input, {0, 2}, 0.0031f, 0, "RefMean");
        }
    }
}

// With halves (powers of two), saturation, factors that are infinite, and zero points at the ends.
ISA_TEST(MeanHalfEven, ScalesOfAllKinds)
{
    for (const TensorInfo& type : Types)
    {
        const DataType dataType = type.GetDataType();
        const backends::QuantizedRange range = backends::GetTypeRange(dataType);
        for (const std::pair<float, float>& scales :
             {std::pair{0.5f, 0.5f}, {0.25f, 0.5f}, {0.1f, 0.2f}, {0.1f, 0.0004f}, {3e38f, 1e-38f}, {1e-38f, 3e38f}})
        {
            for (const int32_t end : {range.m_Min, range.m_Max, (range.m_Min + range.m_Max) / 2})
            {
                const int32_t zero = dataType == DataType::QSymmS16 ? 0 : end;
                for (const unsigned int rows : {2U, 4U, 49U})
                {
                    const TensorInfo input({1, rows, 1, 37}, dataType, scales.first, zero);
                    for (const TestTensor& data :
                         {Random(input, rows), Stored(input, std::vector<double>(input.GetNumElements(), range.m_Min)),
                          Stored(input, std::vector<double>(input.GetNumElements(), range.m_Max))})
                    {
                        for (const Axes& axes : {Axes{1}, Axes{3}})
                        {
                            Check(data, axes, scales.second,
                                  dataType == DataType::QSymmS16 ? 0 : range.m_Min + range.m_Max - zero);
                        }
                    }
                }
            }
        }
    }
}

// More rows than have sums of 32 bits.
ISA_TEST(MeanHalfEven, ManyRows)
{
    const TensorInfo shorts({1, 40000, 1, 3}, DataType::QSymmS16, 0.01f, 0);
    const TensorInfo bytes({1, (1 << 22) + 100, 1, 1}, DataType::QAsymmS8, 0.01f, 127);
    for (const TensorInfo& input : {shorts, bytes})
    {
        const int32_t minimum = backends::GetTypeRange(input.GetDataType()).m_Min;
        Check(Random(input, 1), {1}, 0.003f, 0);
        Check(Stored(input, std::vector<double>(input.GetNumElements(), minimum)), {1}, 0.0101f, 0);
    }
}

} // namespace tenon::test::mean_half_even_test
