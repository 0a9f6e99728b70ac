// SPDX-License-Identifier: Apache-2.0
// Average Pooling2d of quantized tensors in RequantizationMode::FloatHalfEven beside the definition: exact sums, times
// one Float32 factor, rounded half to even.
#include "backends/common/Quantization.hpp"
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/HalfEven.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::test::pooling2d_half_even_test
{

namespace
{

const TensorInfo Types[] = {TensorInfo({1}, DataType::QAsymmS8, 0.05f, -20),
                            TensorInfo({1}, DataType::QAsymmU8, 0.05f, 100),
                            TensorInfo({1}, DataType::QSymmS16, 0.05f, 0)};

TensorInfo Requantized(TensorInfo info, float scale, int32_t zeroPoint)
{
    info.SetQuantizationScale(scale);
    info.SetQuantizationOffset(zeroPoint);
    return info;
}

std::vector<double> Define(const Pooling2dDescriptor& d, const TestTensor& input, const TensorInfo& output)
{
    const std::vector<double> stored = GetStored(input.m_Info, input.m_Bytes.data());
    const TensorShape& in = input.m_Info.GetShape();
    const TensorShape& out = output.GetShape();
    const auto zero = static_cast<int64_t>(input.m_Info.GetQuantizationOffset());
    const int64_t height = in[1];
    const int64_t width = in[2];
    std::vector<double> results;
    for (size_t i = 0; i < output.GetNumElements(); ++i)
    {
        const size_t channel = i % out[3];
        const int64_t left = static_cast<int64_t>(i / out[3] % out[2]) * d.m_StrideX - d.m_PadLeft;
        const int64_t top = static_cast<int64_t>(i / out[3] / out[2] % out[1]) * d.m_StrideY - d.m_PadTop;
        const size_t batch = i / out[3] / out[2] / out[1];
        int64_t sum = 0;
        int64_t inside = 0;
        int64_t padded = 0;
        for (int64_t y = top; y < top + d.m_PoolHeight; ++y)
        {
            for (int64_t x = left; x < left + d.m_PoolWidth; ++x)
            {
                padded += y < height + d.m_PadBottom && x < width + d.m_PadRight ? 1 : 0;
                if (y >= 0 && y < height && x >= 0 && x < width)
                {
                    const size_t pixel = (batch * in[1] + static_cast<size_t>(y)) * in[2] + static_cast<size_t>(x);
                    sum += static_cast<int64_t>(stored[pixel * in[3] + channel]) - zero;
                    ++inside;
                }
            }
        }
        const int64_t count = d.m_PaddingMethod == PaddingMethod::IgnoreValue ? padded : inside;
        results.push_back(inside == 0 ? output.GetQuantizationOffset() : SumToMean(sum, count, input.m_Info, output));
    }
    return results;
}

Pooling2dDescriptor Describe(unsigned int height, unsigned int width, unsigned int stride, unsigned int pad)
{
    Pooling2dDescriptor d;
    d.m_PoolType = PoolingAlgorithm::Average;
    d.m_PoolHeight = height;
    d.m_PoolWidth = width;
    d.m_StrideX = d.m_StrideY = stride;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = pad;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_Requantization = RequantizationMode::FloatHalfEven;
    return d;
}

void Check(const Pooling2dDescriptor& d, const TestTensor& input, const TensorInfo& output,
           const char* kernel = "CpuPooling2d")
{
    ExpectStored(ReferenceCase(Name("average", input.m_Info) + " to " + output.ToString(), LayerType::Pooling2d, d,
                               {input}, output),
                 kernel, Define(d, input, output));
}

} // namespace

ISA_TEST(Pooling2dHalfEven, WindowsOfAllKinds)
{
    struct Case
    {
        unsigned int m_Size, m_Output, m_Kernel, m_Stride, m_Pad;
    };
    const Case cases[] = {{7, 7, 3, 1, 1}, {9, 4, 3, 2, 0}, {6, 3, 2, 2, 0}, {7, 6, 2, 1, 0},
                          {9, 5, 5, 1, 0}, {5, 1, 5, 1, 0}, {3, 8, 2, 1, 3}, {24, 12, 3, 2, 1}};
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : Channels)
        {
            for (const Case& c : cases)
            {
                Pooling2dDescriptor d = Describe(c.m_Kernel, c.m_Kernel, c.m_Stride, c.m_Pad);
                d.m_PaddingMethod = channels % 2 == 0 ? PaddingMethod::Exclude : PaddingMethod::IgnoreValue;
                const TestTensor input = Random(Shaped(type, {2, c.m_Size, c.m_Size, channels}), channels);
                const TensorInfo output = Requantized(Shaped(type, {2, c.m_Output, c.m_Output, channels}), 0.0317f, 11);
                Check(d, input, output);
            }
        }
    }
}

// With halves (powers of two), saturation, factors that are infinite, and zero points at the ends.
ISA_TEST(Pooling2dHalfEven, ScalesOfAllKinds)
{
    for (const TensorInfo& type : Types)
    {
        const backends::QuantizedRange range = backends::GetTypeRange(type.GetDataType());
        for (const std::pair<float, float>& scales :
             {std::pair{0.5f, 0.5f}, {0.25f, 0.5f}, {0.1f, 0.2f}, {0.1f, 0.0004f}, {3e38f, 1e-38f}, {1e-38f, 3e38f}})
        {
            for (const int32_t zero : {range.m_Min, range.m_Max, (range.m_Min + range.m_Max) / 2})
            {
                const bool isSymmetric = type.GetDataType() == DataType::QSymmS16;
                for (const unsigned int size : {2U, 4U, 7U})
                {
                    const TensorInfo input =
                        Requantized(Shaped(type, {1, size, 2 * size, 37}), scales.first, isSymmetric ? 0 : zero);
                    const TensorInfo output = Requantized(Shaped(type, {1, 1, 2, 37}), scales.second,
                                                          isSymmetric ? 0 : range.m_Min + range.m_Max - zero);
                    for (const TestTensor& data :
                         {Random(input, 5), Stored(input, std::vector<double>(input.GetNumElements(), range.m_Min)),
                          Stored(input, std::vector<double>(input.GetNumElements(), range.m_Max))})
                    {
                        Check(Describe(size, size, size, 0), data, output);
                    }
                }
            }
        }
    }
}

// Global ones, too large for the quotients of fixed point.
ISA_TEST(Pooling2dHalfEven, LargeWindows)
{
    for (const TensorInfo& type : Types)
    {
        const backends::QuantizedRange range = backends::GetTypeRange(type.GetDataType());
        const unsigned int maxTaps = (1U << 30) >> (8 * GetDataTypeSize(type.GetDataType()));
        for (const auto& [height, width] : {std::pair{7U, 7U}, {16U, 16U}, {112U, 112U}, {129U, 128U}})
        {
            const TensorInfo input = Shaped(type, {1, height, width, 19});
            for (const TestTensor& data :
                 {Random(input, 5), Stored(input, std::vector<double>(input.GetNumElements(), range.m_Min)),
                  Stored(input, std::vector<double>(input.GetNumElements(), range.m_Max))})
            {
                Check(Describe(height, width, 1, 0), data, Requantized(Shaped(type, {1, 1, 1, 19}), 0.041f, 3),
                      height * width > maxTaps ? "RefPooling2d" : "CpuPooling2d");
            }
        }
    }
}

} // namespace tenon::test::pooling2d_half_even_test
