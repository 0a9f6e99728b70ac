// SPDX-License-Identifier: Apache-2.0
// Which loops an int8 depthwise convolution runs on each instruction set, and for how many channels, as profiles tell
// (m_Variant). All loops give the same bytes, so that no comparison of results sees which of them ran.
#include "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.hpp"
#include "common/AlignedMemory.hpp"
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace tenon::test::depthwise_variants_int8_test
{

namespace
{

struct Case
{
    const char* m_Name;
    std::array<unsigned int, 2> m_Window;   ///< rows and columns
    std::array<unsigned int, 2> m_Stride;   ///< y and x
    std::array<unsigned int, 2> m_Dilation; ///< y and x
    std::array<unsigned int, 3> m_Image;    ///< height, width and channels; there is no padding
    const char* m_Avx512Vnni;               ///< variant with AVX-512 VNNI
    const char* m_Avx2;                     ///< variant with AVX2 without dot products
    float m_OutputScale = 2.0f;
    int32_t m_WeightsZeroPoint = 0; ///< else weights are uint8
    unsigned int m_Multiplier = 1;
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint;
};

OpCase MakeCase(const Case& c)
{
    DepthwiseConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideY = c.m_Stride[0];
    d.m_StrideX = c.m_Stride[1];
    d.m_DilationY = c.m_Dilation[0];
    d.m_DilationX = c.m_Dilation[1];
    d.m_Requantization = c.m_Requantization;
    const auto count = [&c](size_t axis)
    { return (c.m_Image[axis] - c.m_Dilation[axis] * (c.m_Window[axis] - 1) - 1) / c.m_Stride[axis] + 1; };
    const unsigned int channels = c.m_Image[2] * c.m_Multiplier;
    const TensorShape weightsShape({1, c.m_Window[0], c.m_Window[1], channels});
    const bool isSigned = c.m_WeightsZeroPoint == 0;
    const TensorInfo weights = isSigned ? TensorInfo(weightsShape, DataType::QSymmS8, 0.1f, 0)
                                        : InfoInt8(weightsShape, false, 0.1f, c.m_WeightsZeroPoint);
    const TensorInfo data = InfoInt8({1, c.m_Image[0], c.m_Image[1], c.m_Image[2]}, isSigned, 0.1f, 3);
    return ReferenceCase(c.m_Name, LayerType::DepthwiseConvolution2d, d,
                         {Random(data, 1), Constant(Random(weights, 2))},
                         InfoInt8({1, count(0), count(1), channels}, isSigned, c.m_OutputScale, 5));
}

/// The variant that is wanted on the instruction set in force.
std::string GetWanted(const Case& c)
{
    const cpu::CpuFeatures& features = cpu::GetCpuFeatures();
    if (features.m_Avx512 && features.m_Avx512Vnni)
    {
        return c.m_Avx512Vnni;
    }
    if (features.m_Avx2 && !features.m_Avx512 && !features.m_AvxVnni)
    {
        return c.m_Avx2;
    }
    return "ring buffer to int32: " + std::to_string(c.m_Image[2] * c.m_Multiplier) + " channels";
}

void ExpectVariants(const std::vector<Case>& cases)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernel runs";
    }
    for (const Case& c : cases)
    {
        EXPECT_EQ(FindVariant(FindTestBackend(Compute::CpuAcc), MakeCase(c)), GetWanted(c)) << c.m_Name;
    }
}

constexpr const char* Strips64 = "row strips: 64 channels";
constexpr const char* Int8Of64 = "ring buffer to int8: 64 channels";
constexpr const char* Int32Of64 = "ring buffer to int32: 64 channels";

} // namespace

ISA_TEST(DepthwiseVariantsInt8, RowStripsByNumberOfChannels)
{
    constexpr std::array<unsigned int, 2> Window = {3, 3};
    constexpr std::array<unsigned int, 2> One = {1, 1};
    ExpectVariants({
        {"four row strips", Window, One, One, {10, 10, 64}, Strips64, Strips64},
        {"a block repeats channels",
         Window,
         One,
         One,
         {10, 10, 72},
         "row strips: 72 channels",
         "row strips: 72 channels"},
        {"one row strip",
         Window,
         One,
         One,
         {4, 10, 72},
         "row strips: 64 channels; ring buffer to int8: 8 channels",
         "row strips: 72 channels"},
        {"two row strips",
         Window,
         One,
         One,
         {6, 10, 40},
         "row strips: 32 channels; ring buffer to int8: 8 channels",
         "row strips: 40 channels"},
        {"the fewest channels", Window, One, One, {10, 10, 16}, "row strips: 16 channels", "row strips: 16 channels"},
        {"fewer channels",
         Window,
         One,
         One,
         {10, 10, 15},
         "ring buffer to int8: 15 channels",
         "ring buffer to int32: 15 channels"},
        {"too few channels for two row strips",
         Window,
         One,
         One,
         {6, 10, 31},
         "ring buffer to int8: 31 channels",
         "row strips: 31 channels"},
    });
}

ISA_TEST(DepthwiseVariantsInt8, RowStripsByWindow)
{
    constexpr std::array<unsigned int, 2> One = {1, 1};
    constexpr std::array<unsigned int, 3> Image = {10, 10, 64};
    ExpectVariants({
        {"stride 2", {3, 3}, {2, 2}, One, Image, Strips64, Strips64},
        {"y stride 2", {3, 3}, {2, 1}, One, Image, Strips64, Strips64},
        {"x stride 2", {3, 3}, {1, 2}, One, Image, Int8Of64, Int32Of64},
        {"y dilation", {3, 3}, One, {2, 1}, Image, Strips64, Strips64},
        {"four rows", {4, 3}, One, One, Image, Strips64, Strips64},
        {"four rows, x stride 2", {4, 3}, {1, 2}, One, Image, Int8Of64, Int32Of64},
        {"two rows", {2, 3}, One, One, Image, Int8Of64, Int32Of64},
        {"two rows, y dilation", {2, 3}, One, {2, 1}, Image, Strips64, Int32Of64},
        {"two rows, y stride 2", {2, 3}, {2, 1}, One, Image, Int8Of64, Int32Of64},
        {"two rows, y stride 3", {2, 3}, {3, 1}, One, Image, Strips64, Int32Of64},
        {"one row", {1, 3}, One, One, Image, Int8Of64, Int32Of64},
        {"one row, y stride 3", {1, 3}, {3, 1}, One, Image, Int8Of64, Int32Of64},
        {"one row, y stride 4", {1, 3}, {4, 1}, One, Image, Strips64, Int32Of64},
        {"an image of one row", {1, 3}, One, One, {1, 10, 64}, Strips64, Int32Of64},
    });
}

ISA_TEST(DepthwiseVariantsInt8, RingBuffer)
{
    constexpr std::array<unsigned int, 2> One = {1, 1};
    constexpr std::array<unsigned int, 2> Two = {2, 2};
    constexpr std::array<unsigned int, 3> Image = {20, 20, 64};
    ExpectVariants({
        {"x dilation", {3, 3}, One, Two, Image, Int32Of64, Int32Of64},
        {"x stride as the dilation", {3, 3}, Two, Two, Image, Int8Of64, Int32Of64},
        {"x stride 3", {3, 3}, {3, 3}, One, Image, Int32Of64, Int32Of64},
        {"5x5", {5, 5}, One, One, Image, Int8Of64, Int32Of64},
        {"5x5, stride 2", {5, 5}, Two, One, Image, Int8Of64, Int32Of64},
        {"7x7", {7, 7}, One, One, Image, Int8Of64, Int32Of64},
        {"9x9", {9, 9}, One, One, Image, Int32Of64, Int32Of64},
        {"5x3", {5, 3}, One, One, Image, Int32Of64, Int32Of64},
        {"5x5, four pixels", {5, 5}, One, One, {20, 8, 64}, Int8Of64, Int32Of64},
        {"5x5, three pixels", {5, 5}, One, One, {20, 7, 64}, Int32Of64, Int32Of64},
        {"5x5, 70 pixels in two runs",
         {5, 5},
         One,
         One,
         {8, 74, 100},
         "ring buffer to int8: 100 channels",
         "ring buffer to int32: 100 channels"},
        {"a scale that is no right shift", {3, 3}, One, One, Image, Int32Of64, Int32Of64, 0.001f},
        {"weights of two terms", {3, 3}, One, One, Image, Int8Of64, Strips64, 2.0f, 255},
        {"5x5, weights of two terms", {5, 5}, One, One, Image, Int32Of64, Int32Of64, 2.0f, 255},
        {"channel multiplier 2", {3, 3}, One, One, {20, 20, 32}, Int8Of64, Int32Of64, 2.0f, 0, 2},
    });
}

// Float factors fit registers, whatever their size.
ISA_TEST(DepthwiseVariantsInt8, RoundingHalfToEven)
{
    constexpr auto HalfEven = RequantizationMode::FloatHalfEven;
    constexpr std::array<unsigned int, 2> One = {1, 1};
    constexpr std::array<unsigned int, 2> Two = {2, 2};
    constexpr std::array<unsigned int, 3> Image = {20, 20, 64};
    ExpectVariants({
        {"stride 1", {3, 3}, One, One, Image, Strips64, Strips64, 2.0f, 0, 1, HalfEven},
        {"stride 2", {3, 3}, Two, One, Image, Strips64, Strips64, 2.0f, 0, 1, HalfEven},
        {"a factor above 1", {3, 3}, One, One, Image, Strips64, Strips64, 0.001f, 0, 1, HalfEven},
        {"5x5", {5, 5}, One, One, Image, Int8Of64, Int32Of64, 0.001f, 0, 1, HalfEven},
        {"stride as dilation", {3, 3}, Two, Two, Image, Int8Of64, Int32Of64, 0.001f, 0, 1, HalfEven},
    });
}

// The question that the variant comes from, against the microkernels themselves.
ISA_TEST(DepthwiseVariantsInt8, MicrokernelsToInt8TakeTheRunsThatTheySay)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernel runs";
    }
    const cpu::DepthwiseMicrokernelsInt8& kernels = cpu::GetDepthwiseMicrokernelsInt8();
    ASSERT_EQ(kernels.m_IsSummedToInt8 != nullptr, kernels.m_SumToInt8[1] != nullptr);
    if (kernels.m_IsSummedToInt8 == nullptr)
    {
        ISA_SKIP() << "the instruction set has no such microkernels";
    }
    constexpr size_t MaxBlockBytes = cpu::DepthwiseMicrokernelsInt8::MaxChunks * 64;
    constexpr size_t GroupColumns = 64;
    constexpr size_t MaxTaps = 2 * 3 * 7;
    const AlignedMemory columns(3 * GroupColumns * MaxBlockBytes);
    const AlignedMemory weights(MaxTaps * MaxBlockBytes);
    std::memset(columns.Data(), 0, 3 * GroupColumns * MaxBlockBytes);
    std::memset(weights.Data(), 0, MaxTaps * MaxBlockBytes);
    const cpu::PreparedRequantizationInt8 requantization{}; // of no channel: nothing is written
    uint8_t out[1] = {};
    size_t taken = 0;
    for (size_t i = 0; i < 3 * 2 * 7 * 4 * 6 * 2; ++i)
    {
        size_t rest = i;
        const auto next = [&rest](size_t count)
        {
            const size_t value = rest % count;
            rest /= count;
            return value;
        };
        const size_t groups = 1 + next(3);
        const size_t terms = 1 + next(2);
        const size_t width = 1 + next(7);
        const size_t step = next(4); // columns from a pixel to the next
        const size_t pixels = 1 + next(6);
        const size_t dilation = 1 + next(2);
        for (size_t chunks = 1; chunks <= kernels.m_MaxChunks; ++chunks)
        {
            const size_t columnBytes = chunks * 64;
            std::vector<size_t> offsets;
            for (size_t tap = 0; tap < terms * groups * width; ++tap)
            {
                const size_t group = tap / width % groups;
                offsets.push_back((group * GroupColumns + tap % width * dilation) * columnBytes);
            }
            cpu::BufferedRunInt8 run;
            run.m_Columns = columns.Data();
            run.m_PixelStep = step * columnBytes;
            run.m_Pixels = pixels;
            run.m_Offsets = offsets.data();
            run.m_Taps = offsets.size();
            run.m_Weights = weights.Data();
            cpu::BufferedOutputInt8 bytes;
            bytes.m_Requantization = &requantization;
            bytes.m_Out = out;
            const bool isTaken = kernels.m_IsSummedToInt8(run);
            taken += isTaken ? 1 : 0;
            ASSERT_EQ(isTaken, kernels.m_SumToInt8[chunks](run, bytes))
                << groups << " row groups, " << terms << " terms, " << width << " columns, " << pixels << " pixels, "
                << step << " columns apart, dilation " << dilation;
        }
    }
    EXPECT_GT(taken, 0U);
}

} // namespace tenon::test::depthwise_variants_int8_test
