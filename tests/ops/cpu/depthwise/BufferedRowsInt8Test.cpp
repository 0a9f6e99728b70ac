// SPDX-License-Identifier: Apache-2.0
// Buffered rows of int8 with two row groups, where several pixels are computed together: all widths of blocks of
// channels, runs whose last pixels are fewer, and runs without a rest.
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <string>

namespace tenon::test::buffered_rows_int8_test
{

namespace
{

struct Case
{
    unsigned int m_Rows; ///< rows and columns of the window
    unsigned int m_Columns;
    unsigned int m_StrideY;
    unsigned int m_StrideX;
    unsigned int m_Width; ///< width and channels of the image
    unsigned int m_Channels;
};

void Check(const Case& c, bool isSigned, bool isPositive)
{
    DepthwiseConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = c.m_StrideX;
    d.m_StrideY = c.m_StrideY;
    d.m_PadLeft = d.m_PadRight = c.m_Columns / 2;
    d.m_PadTop = d.m_PadBottom = c.m_Rows / 2;
    constexpr unsigned int Height = 10;
    const auto count = [](unsigned int size, unsigned int window, unsigned int stride)
    { return (size + 2 * (window / 2) - window) / stride + 1; };
    const TensorShape output(
        {2, count(Height, c.m_Rows, c.m_StrideY), count(c.m_Width, c.m_Columns, c.m_StrideX), c.m_Channels});
    const int32_t least = isSigned ? -128 : 0;
    const int32_t zeroPoint = isPositive ? least : least + 131; // whether the clamp maps all negative sums to one value
    const std::string name = std::to_string(c.m_Rows) + "x" + std::to_string(c.m_Columns) + ", strides " +
                             std::to_string(c.m_StrideY) + " and " + std::to_string(c.m_StrideX) + ", width " +
                             std::to_string(c.m_Width) + ", " + std::to_string(c.m_Channels) + " channels" +
                             (isSigned ? ", int8" : ", uint8");
    ExpectAsReference(
        ReferenceCase(name, LayerType::DepthwiseConvolution2d, d,
                      {Random(InfoInt8({2, Height, c.m_Width, c.m_Channels}, isSigned, 0.1f, least + 120), c.m_Width),
                       Constant(Random(InfoInt8({1, c.m_Rows, c.m_Columns, c.m_Channels}, isSigned, 0.1f, least + 128),
                                       c.m_Channels))},
                      InfoInt8(output, isSigned, 4.0f, zeroPoint)),
        "CpuDepthwiseConvolution2dInt8");
}

} // namespace

ISA_TEST(BufferedRowsInt8, OfAllWidthsOfBlocks)
{
    for (const unsigned int window : {5U, 7U})
    {
        for (const unsigned int stride : {1U, 2U})
        {
            for (const unsigned int channels : {3U, 16U, 17U, 40U, 48U, 64U, 100U, 130U})
            {
                for (const unsigned int width : {1U, 6U, 7U, 9U, 13U, 70U})
                {
                    const bool isSigned = (channels + width) % 2 == 0;
                    ASSERT_NO_FATAL_FAILURE(
                        Check({window, window, stride, stride, width, channels}, isSigned, width % 3 == 0));
                }
            }
        }
    }
}

ISA_TEST(BufferedRowsInt8, OfOtherRowsThanColumns)
{
    for (const unsigned int rows : {4U, 5U, 6U, 7U, 8U, 9U})
    {
        for (const unsigned int columns : {4U, 5U, 6U, 7U})
        {
            for (const unsigned int strides : {0U, 1U, 2U, 3U})
            {
                const Case c = {rows, columns, 1 + strides / 2, 1 + strides % 2, 20 + columns, 12 * rows};
                ASSERT_NO_FATAL_FAILURE(Check(c, rows % 2 == 0, columns % 2 == 0));
            }
        }
    }
}

} // namespace tenon::test::buffered_rows_int8_test
