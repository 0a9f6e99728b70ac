// SPDX-License-Identifier: Apache-2.0
// CpuAcc's resizing beside CpuRef's, of channels around those of vectors.
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <limits>
#include <utility>
#include <vector>

namespace tenon::test::resize_parity_test
{

namespace
{

const TensorInfo Types[] = {TensorInfo({1}, DataType::Float32),
                            TensorInfo({1}, DataType::QAsymmU8, 0.05f, 100),
                            TensorInfo({1}, DataType::QAsymmS8, 0.05f, -20),
                            TensorInfo({1}, DataType::QSymmS16, 0.001f, 0),
                            TensorInfo({1}, DataType::Signed16),
                            TensorInfo({1}, DataType::BFloat16)};

ResizeDescriptor Bilinear(unsigned int height, unsigned int width, bool hasHalfPixels)
{
    ResizeDescriptor d;
    d.m_Method = ResizeMethod::Bilinear;
    d.m_HalfPixelCenters = hasHalfPixels;
    d.m_TargetHeight = height;
    d.m_TargetWidth = width;
    d.m_DataLayout = DataLayout::NHWC;
    return d;
}

} // namespace

ISA_TEST(ResizeParity, AsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : Channels)
        {
            for (const ResizeMethod method : {ResizeMethod::Bilinear, ResizeMethod::NearestNeighbor})
            {
                for (const std::pair<unsigned int, unsigned int>& sizes :
                     {std::pair{7U, 14U}, {9U, 23U}, {20U, 6U}, {1U, 5U}, {6U, 6U}, {5U, 1U}})
                {
                    const unsigned int width = sizes.second == 1 ? 1 : sizes.second + 1;
                    ResizeDescriptor d;
                    d.m_Method = method;
                    d.m_TargetHeight = sizes.second;
                    d.m_TargetWidth = width;
                    d.m_AlignCorners = channels % 3 == 1;
                    d.m_HalfPixelCenters = channels % 3 == 2;
                    d.m_DataLayout = DataLayout::NHWC;
                    const TensorInfo input = Shaped(type, {2, sizes.first, sizes.first, channels});
                    OpCase op = ReferenceCase(Name("resize", input), LayerType::Resize, d, {Random(input, channels)},
                                              Shaped(type, {2, sizes.second, width, channels}));
                    // Floats are blended in other steps, of which BFloat16 may show a bit.
                    if (method == ResizeMethod::Bilinear && type.GetDataType() == DataType::Float32)
                    {
                        op.m_Absolute = 2e-6;
                    }
                    if (method == ResizeMethod::Bilinear && type.GetDataType() == DataType::BFloat16)
                    {
                        op.m_Absolute = 2e-6;
                        op.m_Relative = 0x1p-7;
                    }
                    ExpectAsReference(op, "CpuResize");
                }
            }
        }
    }
}

// Each pixel comes as often as the factors say, which has a way of its own; but with a factor of 41 as scale of floats
// some come once more or less, and with aligned corners.
ISA_TEST(ResizeParity, NearestByWholeFactorsAsReference)
{
    struct Factors
    {
        unsigned int m_Vertical;
        unsigned int m_Horizontal;
        bool m_AlignCorners = false;
    };
    constexpr Factors Each[] = {{2, 2}, {4, 4}, {1, 3}, {3, 1}, {8, 2}, {1, 41}, {41, 1}, {2, 2, true}, {1, 3, true}};
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : {1U, 2U, 3U, 4U, 8U, 16U, 24U, 32U, 33U, 96U, 140U, 200U})
        {
            for (const Factors& factors : Each)
            {
                const TensorInfo input = Shaped(type, {2, 9, 13, channels});
                ResizeDescriptor d;
                d.m_Method = ResizeMethod::NearestNeighbor;
                d.m_TargetHeight = 9 * factors.m_Vertical;
                d.m_TargetWidth = 13 * factors.m_Horizontal;
                d.m_AlignCorners = factors.m_AlignCorners;
                d.m_HalfPixelCenters = channels % 2 == 0 && !factors.m_AlignCorners && factors.m_Horizontal < 41;
                d.m_DataLayout = DataLayout::NHWC;
                ExpectAsReference(ReferenceCase(Name("resize", input), LayerType::Resize, d, {Random(input, channels)},
                                                Shaped(type, {2, d.m_TargetHeight, d.m_TargetWidth, channels})),
                                  "CpuResize");
            }
        }
    }
}

// Where many sums lie between two numbers, or close to there, and at edges, where weights are beyond 0 and 1.
ISA_TEST(ResizeParity, HalvesOfUnsignedBytesAsReference)
{
    for (const unsigned int factor : {2U, 3U, 6U, 8U, 10U, 14U, 30U})
    {
        for (const unsigned int channels : {1U, 3U, 4U, 7U})
        {
            for (const double most : {1.0, 3.0, 255.0})
            {
                const ResizeDescriptor d = Bilinear(5 * factor, 4 * factor, true);
                const TensorInfo input({1, 5, 4, channels}, DataType::Unsigned8);
                const TensorInfo output({1, 5 * factor, 4 * factor, channels}, DataType::Unsigned8);
                ExpectAsReference(ReferenceCase(Name("halves", output), LayerType::Resize, d,
                                                {Random(input, factor + channels, 0, most)}, output),
                                  "CpuResize");
            }
        }
    }
}

// All sums lie close to a half, and the last vector of a row overlaps the one before.
ISA_TEST(ResizeParity, RowsOfHalvesAsReference)
{
    for (const unsigned int width : {31U, 33U, 63U, 65U, 127U})
    {
        const ResizeDescriptor d = Bilinear(4, width, false);
        const TensorInfo input({1, 2, 5, 1}, DataType::Unsigned8);
        const TensorInfo output({1, 4, width, 1}, DataType::Unsigned8);
        ExpectAsReference(ReferenceCase(Name("rows of halves", output), LayerType::Resize, d,
                                        {Stored(input, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1})}, output),
                          "CpuResize");
    }
}

// No numbers and infinities, whose weight may be 0.
ISA_TEST(ResizeParity, SpecialFloatsAsReference)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    for (const unsigned int channels : {1U, 3U, 19U})
    {
        for (const bool hasHalfPixels : {false, true})
        {
            const ResizeDescriptor d = Bilinear(16, 13, hasHalfPixels);
            const TensorInfo input({1, 8, 5, channels}, DataType::Float32);
            const TensorInfo output({1, 16, 13, channels}, DataType::Float32);
            std::vector<double> values(input.GetNumElements());
            for (size_t i = 0; i < values.size(); ++i)
            {
                constexpr double Special[] = {Infinity, -Infinity, std::numeric_limits<double>::quiet_NaN()};
                values[i] = i % 7 == 3 ? Special[i / 7 % 3] : 0.25 * static_cast<double>(i % 11);
            }
            OpCase op = ReferenceCase(Name("special", output), LayerType::Resize, d, {Values(input, values)}, output);
            op.m_Absolute = 2e-6;
            ExpectAsReference(op, "CpuResize");
        }
    }
}

// Sums at the ends of their range, and such as lie between two numbers.
ISA_TEST(ResizeParity, ExtremesOfShortsAsReference)
{
    const ResizeDescriptor d = Bilinear(16, 13, true);
    const TensorInfo input({1, 8, 5, 19}, DataType::QSymmS16, 0.001f, 0);
    const TensorInfo output({1, 16, 13, 19}, DataType::QSymmS16, 0.001f, 0);
    for (const std::vector<double>& values : {std::vector{-32768.0}, {32767.0}, {-32768.0, 32767.0}, {0.0, 1.0, -1.0}})
    {
        std::vector<double> all;
        for (size_t i = 0; i < input.GetNumElements(); ++i)
        {
            all.push_back(values[i % values.size()]);
        }
        ExpectAsReference(ReferenceCase("extremes", LayerType::Resize, d, {Stored(input, all)}, output), "CpuResize");
    }
}

} // namespace tenon::test::resize_parity_test
