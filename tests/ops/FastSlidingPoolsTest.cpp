// SPDX-License-Identifier: Apache-2.0
// CpuAcc's largest integers of windows that overlap beside CpuRef's: all sizes, steps and borders, and rows that are
// pooled in parts.
#include "ops/ElementwiseOracle.hpp"
#include "ops/FastCompare.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tenon::test
{

namespace
{

const TensorInfo Types[] = {TensorInfo({1}, DataType::QAsymmU8, 0.05f, 100),
                            TensorInfo({1}, DataType::QAsymmS8, 0.05f, -20),
                            TensorInfo({1}, DataType::QSymmS16, 0.001f, 0)};

/// Pads of up to `pad` on each side, as far as the windows stay inside of them.
void ExpectPool(const TensorInfo& input, unsigned int height, unsigned int width, unsigned int stride, unsigned int pad)
{
    Pooling2dDescriptor d;
    d.m_PoolType = PoolingAlgorithm::Max;
    d.m_PoolHeight = height;
    d.m_PoolWidth = width;
    d.m_StrideX = d.m_StrideY = stride;
    d.m_PadTop = d.m_PadBottom = std::min(pad, height - 1);
    d.m_PadLeft = d.m_PadRight = std::min(pad, width - 1);
    d.m_PaddingMethod = PaddingMethod::Exclude;
    d.m_DataLayout = DataLayout::NHWC;
    const TensorShape& shape = input.GetShape();
    if (shape[1] + 2 * d.m_PadTop < height || shape[2] + 2 * d.m_PadLeft < width)
    {
        return;
    }
    const TensorInfo output = Shaped(input, {shape[0], (shape[1] + 2 * d.m_PadTop - height) / stride + 1,
                                             (shape[2] + 2 * d.m_PadLeft - width) / stride + 1, shape[3]});
    const std::string name = std::to_string(height) + "x" + std::to_string(width) + " by " + std::to_string(stride) +
                             " with " + std::to_string(pad) + " of " + GetDataTypeName(input.GetDataType()) + " " +
                             shape.ToString();
    ExpectAsReference(FastCase(name, LayerType::Pooling2d, d, {Random(input, width)}, output), "CpuPooling2d");
}

} // namespace

TEST(FastSlidingPools, AsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : {3U, 33U})
        {
            for (const auto& [rows, columns] : {std::pair{7U, 19U}, {6U, 4U}, {1U, 9U}, {9U, 1U}, {4U, 2U}, {3U, 3U}})
            {
                const TensorInfo input = Shaped(type, {2, rows, columns, channels});
                for (const unsigned int width : {1U, 2U, 3U, 4U, 5U})
                {
                    for (const unsigned int height : {1U, width, 5U})
                    {
                        for (const unsigned int stride : {1U, 2U, 3U})
                        {
                            ExpectPool(input, height, width, stride, 0);
                            ExpectPool(input, height, width, stride, 1);
                            ExpectPool(input, height, width, stride, 4);
                        }
                    }
                }
            }
        }
    }
}

// Rows whose windows see more than stays in the cache, and few rows, whose windows threads share.
TEST(FastSlidingPools, LongRowsAsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : {31U, 64U, 130U, 700U})
        {
            for (const unsigned int rows : {3U, 11U})
            {
                const TensorInfo input = Shaped(type, {1, rows, 101, channels});
                ExpectPool(input, 3, 3, 1, 1);
                ExpectPool(input, 3, 3, 2, 1);
                ExpectPool(input, 2, 2, 1, 0);
                ExpectPool(input, 2, 2, 2, 0);
                ExpectPool(input, 5, 5, 1, 2);
            }
        }
    }
}

} // namespace tenon::test
