// SPDX-License-Identifier: Apache-2.0
// CpuAcc's Pooling2d beside CpuRef's, of all types. Sizes around those of vectors, and some that are
// split over threads.
#include "backends/common/Quantization.hpp"
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace tenon::test::pooling2d_parity_test
{

using namespace channel_types;

namespace
{

const TensorInfo PoolTypes[] = {
    Float, Unsigned, Signed, Shorts, TensorInfo({1}, DataType::BFloat16), TensorInfo({1}, DataType::Float16)};

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

} // namespace tenon::test::pooling2d_parity_test
