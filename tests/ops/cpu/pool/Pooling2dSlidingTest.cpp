// SPDX-License-Identifier: Apache-2.0
// CpuAcc's pools of windows that overlap beside CpuRef's: all sizes, steps and borders, and rows that are pooled in
// parts.
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::pooling2d_sliding_test
{

namespace
{

const TensorInfo Types[] = {TensorInfo({1}, DataType::Float32), TensorInfo({1}, DataType::BFloat16),
                            TensorInfo({1}, DataType::QAsymmU8, 0.05f, 100),
                            TensorInfo({1}, DataType::QAsymmS8, 0.05f, -20),
                            TensorInfo({1}, DataType::QSymmS16, 0.001f, 0)};

struct Sizes
{
    unsigned int m_Height, m_Width, m_Stride, m_Pad;
};

/// Pads of up to that many elements on each side, as far as each window sees some of the image.
void ExpectPool(const TensorInfo& input, PoolingAlgorithm algorithm, const Sizes& sizes)
{
    Pooling2dDescriptor d;
    d.m_PoolType = algorithm;
    d.m_PoolHeight = sizes.m_Height;
    d.m_PoolWidth = sizes.m_Width;
    d.m_StrideX = d.m_StrideY = sizes.m_Stride;
    d.m_PadTop = d.m_PadBottom = std::min(sizes.m_Pad, sizes.m_Height - 1);
    d.m_PadLeft = d.m_PadRight = std::min(sizes.m_Pad, sizes.m_Width - 1);
    d.m_PaddingMethod = sizes.m_Pad == 1 ? PaddingMethod::IgnoreValue : PaddingMethod::Exclude;
    d.m_DataLayout = DataLayout::NHWC;
    const TensorShape& shape = input.GetShape();
    const bool isHalf = input.GetDataType() == DataType::BFloat16;
    if (shape[1] + 2 * d.m_PadTop < sizes.m_Height || shape[2] + 2 * d.m_PadLeft < sizes.m_Width ||
        (algorithm == PoolingAlgorithm::L2 && (isHalf || input.IsQuantized())))
    {
        return;
    }
    const TensorInfo output =
        Shaped(input, {shape[0], (shape[1] + 2 * d.m_PadTop - sizes.m_Height) / sizes.m_Stride + 1,
                       (shape[2] + 2 * d.m_PadLeft - sizes.m_Width) / sizes.m_Stride + 1, shape[3]});
    const std::string name = std::to_string(sizes.m_Height) + "x" + std::to_string(sizes.m_Width) + " by " +
                             std::to_string(sizes.m_Stride) + " with " + std::to_string(sizes.m_Pad) + " of " +
                             GetDataTypeName(input.GetDataType()) + " " + shape.ToString();
    const bool isExact = input.IsQuantized() || algorithm == PoolingAlgorithm::Max;
    ExpectAsReference(ReferenceCase(name, LayerType::Pooling2d, d, {Random(input, sizes.m_Width)}, output),
                      isHalf ? "CpuPooling2dF16" : "CpuPooling2d",
                      isExact  ? 0
                      : isHalf ? 1.0 / 128
                               : 1e-6);
}

constexpr PoolingAlgorithm Algorithms[] = {PoolingAlgorithm::Max, PoolingAlgorithm::Average, PoolingAlgorithm::L2};

} // namespace

ISA_TEST(Pooling2dSliding, AsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const auto& [rows, columns] : {std::pair{7U, 19U}, {6U, 4U}, {1U, 9U}, {9U, 1U}, {4U, 2U}, {3U, 3U}})
        {
            const TensorInfo input = Shaped(type, {2, rows, columns, rows % 2 == 1 ? 33U : 3U});
            for (const unsigned int width : {1U, 2U, 3U, 4U, 5U})
            {
                for (const unsigned int height : {1U, width, 5U})
                {
                    for (const unsigned int stride : {1U, 2U, 3U})
                    {
                        for (const PoolingAlgorithm algorithm : Algorithms)
                        {
                            ExpectPool(input, algorithm, {height, width, stride, 0});
                            ExpectPool(input, algorithm, {height, width, stride, 1});
                            ExpectPool(input, algorithm, {height, width, stride, 4});
                        }
                    }
                }
            }
        }
    }
}

// Rows whose windows see more than stays in the cache, and few rows, whose windows threads share.
ISA_TEST(Pooling2dSliding, LongRowsAsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : {64U, 130U, 700U})
        {
            for (const PoolingAlgorithm algorithm : Algorithms)
            {
                const TensorInfo input = Shaped(type, {1, channels == 64 ? 11U : 5U, 101, channels});
                ExpectPool(input, algorithm, {3, 3, 1, 1});
                ExpectPool(input, algorithm, {3, 3, 2, 1});
                ExpectPool(input, algorithm, {2, 2, 1, 0});
                ExpectPool(input, algorithm, {2, 2, 2, 0});
                ExpectPool(input, algorithm, {5, 5, 1, 2});
            }
        }
    }
}

// Sums come in an order that shows where a window was pooled with its neighbours.
ISA_TEST(Pooling2dSliding, ThreadsMakeNoDifference)
{
    const TensorInfo type({1}, DataType::Float32);
    for (const unsigned int columns : {33U, 49U, 64U, 100U, 129U})
    {
        for (const unsigned int size : {2U, 3U, 5U})
        {
            Pooling2dDescriptor d;
            d.m_PoolType = PoolingAlgorithm::Average;
            d.m_PoolHeight = d.m_PoolWidth = size;
            d.m_StrideX = d.m_StrideY = 1;
            d.m_PadLeft = d.m_PadRight = size / 2;
            d.m_DataLayout = DataLayout::NHWC;
            const TensorInfo input = Shaped(type, {1, size + 2, columns, 250});
            const TensorInfo output = Shaped(type, {1, 3, columns + 2 * (size / 2) - size + 1, 250});
            const OpCase op = ReferenceCase("threads", LayerType::Pooling2d, d, {Random(input, columns)}, output);
            const IBackend& backend = FindTestBackend(Compute::CpuAcc);
            const std::vector<std::byte> one = RunOp(backend, op, {});
            for (const unsigned int threads : {2U, 3U, 7U})
            {
                RunVariant variant;
                variant.m_Threads = threads;
                EXPECT_TRUE(RunOp(backend, op, variant) == one) << columns << " columns, " << threads << " threads";
            }
        }
    }
}

} // namespace tenon::test::pooling2d_sliding_test
