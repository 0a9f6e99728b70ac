// SPDX-License-Identifier: Apache-2.0
// Products of bytes at the ends of what their scales, weights and windows may be, beside CpuRef's: the largest shifts,
// weights that do not fit into a byte less their zero point, windows whose points lie far apart, data that are no
// numbers.
#include "backends/common/Quantization.hpp"
#include "backends/cpu/gemm/PackedWeightsF32.hpp"
#include "backends/cpu/gemm/Tiles8.hpp"
#include "ops/FastCompare.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::test
{

namespace
{

TensorInfo Bytes(const TensorShape& shape, bool isSigned, float scale, int32_t zeroPoint)
{
    return TensorInfo(shape, isSigned ? DataType::QAsymmS8 : DataType::QAsymmU8, scale, zeroPoint);
}

DepthwiseConvolution2dDescriptor NhwcDepthwise()
{
    DepthwiseConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    return d;
}

OpCase Depthwise(std::string name, const DepthwiseConvolution2dDescriptor& d, const TensorShape& data,
                 const TensorShape& weights, const TensorShape& output)
{
    return FastCase(
        std::move(name), LayerType::DepthwiseConvolution2d, d,
        {Random(Bytes(data, true, 0.1f, 3), 1), Constant(Random(TensorInfo(weights, DataType::QSymmS8, 0.1f, 0), 2))},
        Bytes(output, true, 0.9f, -4));
}

// Matrices that change from run to run, turned around or not, broadcast, with zero points.
void CheckProduct(unsigned int rows, unsigned int depth, unsigned int columns, const char* kernel)
{
    for (const unsigned int turns : {0U, 1U, 2U, 3U})
    {
        for (const bool isSigned : {false, true})
        {
            const int32_t least = isSigned ? -128 : 0;
            const BatchMatMulDescriptor d(turns % 2 != 0, turns / 2 != 0);
            const TensorShape x = d.m_TransposeX ? TensorShape({2, 1, depth, rows}) : TensorShape({2, 1, rows, depth});
            const TensorShape y =
                d.m_TransposeY ? TensorShape({1, 3, columns, depth}) : TensorShape({1, 3, depth, columns});
            const float scale = 0.01f * std::sqrt(static_cast<float>(depth));
            ExpectAsReference(FastCase(x.ToString() + " by " + y.ToString(), LayerType::BatchMatMul, d,
                                       {Random(Bytes(x, isSigned, 0.05f, least + 100 + static_cast<int32_t>(turns)), 1),
                                        Random(Bytes(y, isSigned, 0.02f, least + (rows % 2 == 0 ? 255 : 128)), 2)},
                                       Bytes({2, 3, rows, columns}, isSigned, 5 * scale, least + 120)),
                              kernel);
        }
    }
}

} // namespace

TEST(FastBytes, DepthwiseWeightsOf255StepsAsReference)
{
    for (const bool isSigned : {false, true})
    {
        for (const bool isLowest : {false, true}) // the zero point; the weights are at the other end
        {
            const int32_t least = isSigned ? -128 : 0;
            const int32_t zeroPoint = isLowest ? least : least + 255;
            for (const unsigned int channels : {2U, 19U, 70U})
            {
                const TensorInfo weights = Bytes({1, 3, 3, channels}, isSigned, 0.01f, zeroPoint);
                std::vector<double> stored = GetStored(weights, Random(weights, channels).m_Bytes.data());
                for (size_t i = 0; i < stored.size(); i += 3)
                {
                    stored[i] = isLowest ? least + 255 : least;
                }
                ExpectAsReference(FastCase("255 steps", LayerType::DepthwiseConvolution2d, NhwcDepthwise(),
                                           {Random(Bytes({1, 5, 5, channels}, isSigned, 0.01f, least + 40), 7),
                                            Constant(Stored(weights, stored))},
                                           Bytes({1, 3, 3, channels}, isSigned, 0.08f, least + 128)),
                                  "CpuDepthwiseConvolution2dBytes");
            }
        }
    }
}

TEST(FastBytes, DepthwiseWindowsWhosePointsLieFarApart)
{
    struct Case
    {
        TensorShape m_Data;
        TensorShape m_Weights;
        uint32_t m_Stride;
        uint32_t m_Dilation;
        uint32_t m_Pad; ///< to the left and on top
        TensorShape m_Output;
        const char* m_Kernel = "CpuDepthwiseConvolution2dBytes";
    };
    const Case cases[] = {
        {{1, 1, 1, 2}, {1, 1, 2, 2}, 1, 1U << 28, 1U << 28, {1, 1, 1, 2}}, // the second point only
        {{2, 3, 90, 5}, {1, 2, 3, 5}, 1, 40, 20, {2, 3, 50, 5}},
        {{1, 5, 200, 70}, {1, 2, 3, 70}, 5, 37, 9, {1, 2, 28, 70}},
        {{1, 6, 300, 4}, {1, 2, 2, 12}, 9, 20, 3, {1, 2, 31, 12}}, // channels with three outputs each
        {{1, 1, 4, 3}, {1, 1, 3, 3}, 4000000000U, 3, 2, {1, 1, 1, 3}},
        {{1, 40, 40, 16}, {1, 33, 36, 16}, 1, 1, 0, {1, 40, 5, 16}}, // many points
        {{4, 1, 1, 16}, {1, 1U << 20, 2, 16}, 1, 0xFFFFFFFF, 0xFFFFFFFF, {4, 1, 1, 16}, "RefDepthwiseConvolution2d"},
    };
    for (const Case& c : cases)
    {
        DepthwiseConvolution2dDescriptor d = NhwcDepthwise();
        d.m_StrideX = d.m_StrideY = c.m_Stride;
        d.m_DilationX = c.m_Dilation;
        d.m_PadLeft = c.m_Pad;
        d.m_PadTop = c.m_Weights[1] - 1;
        const OpCase op = Depthwise(c.m_Data.ToString(), d, c.m_Data, c.m_Weights, c.m_Output);
        ExpectAsReference(op, c.m_Kernel);
    }
}
// Rows that neighbouring output rows share are laid out once, in bands of rows, by several threads.
TEST(FastBytes, DepthwiseOfTallImagesAsReference)
{
    for (const unsigned int kernel : {1U, 2U, 3U, 4U, 5U, 7U})
    {
        for (const unsigned int stride : {1U, 2U, 3U})
        {
            for (const unsigned int dilation : {1U, 2U})
            {
                DepthwiseConvolution2dDescriptor d = NhwcDepthwise();
                d.m_StrideX = d.m_StrideY = stride;
                d.m_DilationX = d.m_DilationY = dilation;
                d.m_PadTop = d.m_PadBottom = d.m_PadLeft = d.m_PadRight = kernel / 2;
                constexpr unsigned int Height = 75;
                constexpr unsigned int Width = 36;
                const auto count = [&](unsigned int size)
                { return (size + 2 * (kernel / 2) - dilation * (kernel - 1) - 1) / stride + 1; };
                OpCase op = FastCase("kernel " + std::to_string(kernel) + ", stride " + std::to_string(stride) +
                                         ", dilation " + std::to_string(dilation),
                                     LayerType::DepthwiseConvolution2d, d,
                                     {Random(Bytes({2, Height, Width, 24}, true, 0.1f, -7), kernel),
                                      Constant(Random(Bytes({1, kernel, kernel, 24}, true, 0.1f, 0), stride))},
                                     Bytes({2, count(Height), count(Width), 24}, true, 3.0f, 5));
                ExpectAsReference(op, "CpuDepthwiseConvolution2dBytes");
            }
        }
    }
}

TEST(FastBytes, ShiftsBy31AsReference)
{
    constexpr unsigned int Channels = 40;
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    const TestTensor data = Random(Bytes({1, 4, 4, 24}, true, std::exp2(-15.6f), 0), 1);
    for (const bool isMixed : {false, true}) // with a channel that is shifted to the left
    {
        std::vector<float> scales(Channels, std::exp2(-16.0f));
        if (isMixed)
        {
            scales[7] = std::exp2(17.0f);
        }
        const TensorInfo weights(TensorShape({Channels, 1, 1, 24}), DataType::QSymmS8, scales, 0);
        ExpectAsReference(FastCase(isMixed ? "mixed" : "all", LayerType::Convolution2d, d,
                                   {data, Constant(Random(weights, 2))}, Bytes({1, 4, 4, Channels}, true, 1.0f, 5)),
                          "CpuConvolution2dBytes");
    }
}

// All of the shifts: for whole vectors by one, and for lanes by different ones.
TEST(FastBytes, RequantizeAsTheScalarFunction)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "without vectors the reference kernels run";
    }
    constexpr size_t Columns = 64;
    constexpr int32_t Most = (1 << 30) - 1;
    constexpr int32_t ZeroPoint = -3;
    for (int shift = -31; shift <= 30; ++shift)
    {
        for (const int step : {0, 1}) // between the shifts of lanes
        {
            alignas(64) int32_t multiplier[Columns];
            alignas(64) int32_t right[Columns];
            alignas(64) int32_t left[Columns];
            alignas(64) int32_t sums[Columns];
            std::vector<backends::QuantizedMultiplier> multipliers;
            for (size_t c = 0; c < Columns; ++c)
            {
                const int ofLane = (shift + 31 + static_cast<int>(c) * step) % 62 - 31;
                multiplier[c] = c % 3 == 0 ? 1 << 30 : c % 3 == 1 ? 1518500250 : std::numeric_limits<int32_t>::max();
                right[c] = std::max(0, -ofLane);
                left[c] = std::max(0, ofLane);
                multipliers.push_back({multiplier[c], ofLane});
            }
            cpu::RequantizeColumns columns;
            columns.m_Multiplier = multiplier;
            columns.m_Right = right;
            columns.m_Left = left;
            columns.m_AllShift = *std::min_element(right, right + Columns) > 0;
            columns.m_ZeroPoint = ZeroPoint;
            columns.m_Max = 127;
            for (int sample = 0; sample < 200; ++sample)
            {
                columns.m_Min = sample % 3 == 0 ? ZeroPoint : -128; // negative sums do not count, or do
                for (size_t c = 0; c < Columns; ++c)
                {
                    // Of all magnitudes, and the halves of what the shift divides by.
                    const int32_t value =
                        sample % 2 == 0
                            ? (sample * 7919 + static_cast<int32_t>(c) * 104729) * (1 + sample) % Most >> sample % 31
                            : (Most >> sample % 31) + 1 - sample % 3;
                    sums[c] = std::clamp(c % 2 == 0 ? value : -value, -Most, Most) >> left[c];
                }
                int8_t bytes[Columns];
                const int32_t term = sample % 5 - 2;
                cpu::RequantizeRows rows;
                if (sample % 4 < 2)
                {
                    std::for_each(sums, sums + Columns, [term](int32_t& sum) { sum -= term; });
                    rows.m_RowTerms = &term;
                }
                rows.m_Sums = sums;
                rows.m_SumStride = Columns;
                rows.m_Rows = 1;
                rows.m_Columns = sample % 7 == 0 ? 1 + static_cast<size_t>(sample) * 13 % Columns : Columns;
                rows.m_Out = bytes;
                rows.m_OutStride = Columns;
                rows.m_IsSigned = true;
                cpu::GetEngine8().m_Requantize(rows, columns);
                for (size_t c = 0; c < rows.m_Columns; ++c)
                {
                    const int32_t sum = sums[c] + (rows.m_RowTerms != nullptr ? term : 0);
                    const int64_t scaled = backends::MultiplyByQuantizedMultiplier(sum, multipliers[c]);
                    ASSERT_EQ(bytes[c], std::clamp<int64_t>(scaled + ZeroPoint, columns.m_Min, 127))
                        << sum << " * " << multiplier[c] << " << " << multipliers[c].m_Shift;
                }
            }
        }
    }
}

// The same for the multiplier that elementwise kernels share.
TEST(FastBytes, ProductsOfAllScalesAsReference)
{
    const TensorInfo input = Bytes({4096}, true, 1.0f, 0);
    for (int exponent = -30; exponent <= 31; ++exponent)
    {
        ExpectAsReference(FastCase("output of 2^" + std::to_string(exponent), LayerType::ElementwiseBinary,
                                   ElementwiseBinaryDescriptor(BinaryOperation::Mul),
                                   {Random(input, 1), Random(input, 2)},
                                   Bytes({4096}, true, std::ldexp(1.4f, exponent), -1)),
                          "CpuElementwiseBinary");
    }
}

// Vectors of one column would take many times the memory of such weights, and so would whole groups of one row.
TEST(FastBytes, WeightsThatPaddingWouldMultiplyStayAsTheyAre)
{
    const auto kernelOf = [](DataType type, const TensorShape& weights, bool isTransposed)
    {
        FullyConnectedDescriptor d;
        d.m_TransposeWeightMatrix = isTransposed;
        const bool isQuantized = type == DataType::QAsymmS8;
        const TensorInfo info = isQuantized ? Bytes(weights, true, 0.1f, 0) : TensorInfo(weights, type);
        const TensorInfo data = Shaped(info, {1, weights[isTransposed ? 1 : 0]});
        const auto zeros = [](const TensorInfo& all) { return Stored(all, std::vector<double>(all.GetNumElements())); };
        OpCase op = FastCase("connected", LayerType::FullyConnected, d, {zeros(data), Constant(zeros(info))},
                             Shaped(info, {1, weights[isTransposed ? 0 : 1]}));
        std::string kernel;
        RunOp(FindTestBackend(Compute::CpuAcc), op, {}, &kernel);
        return kernel;
    };
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "without vectors the reference kernels run";
    }
    constexpr unsigned int Long = 1U << 21;
    const cpu::Engine8& engine = cpu::GetEngine8();
    const bool areFew =
        engine.m_Signed.m_Layout == cpu::Layout8::Dots && engine.m_Lanes <= 4; // bytes of a vector's columns
    EXPECT_EQ(kernelOf(DataType::QAsymmS8, {1, Long}, true), areFew ? "CpuFullyConnectedBytes" : "RefFullyConnected");
    EXPECT_EQ(kernelOf(DataType::QAsymmS8, {Long, 1}, true), "RefFullyConnected");
    EXPECT_EQ(kernelOf(DataType::QAsymmS8, {2, 2048}, true), "CpuFullyConnectedBytes");
    EXPECT_EQ(kernelOf(DataType::Float32, {1, Long}, true), "CpuFullyConnectedF32");
    const float weight = 0.0f; // not looked at
    backends::FillingStore store;
    EXPECT_TRUE(cpu::PackMatrix(cpu::FloatWeights(&weight), {1, 1, Long}, cpu::WeightOrder::Depth, Long, store)
                    ->RefersToConstants());
}

// Infinite data make NaN of the outputs whose weights are zeros, and a clamp makes a number of those again.
TEST(FastBytes, ActivationsOfQuantizedFloatsAsReference)
{
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::ReLu;
    ActivationDescriptor bounded;
    bounded.m_Function = ActivationFunction::BoundedReLu;
    bounded.m_A = 6.0f;
    bounded.m_B = -1.0f;
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = true;
    const TensorInfo weights(TensorShape({19, 16}), DataType::QSymmS8, 0.1f, 0);
    std::vector<double> stored = GetStored(weights, Random(weights, 2).m_Bytes.data());
    std::fill_n(stored.begin() + 16, 16, 0.0);
    for (const float special : {Infinity, -Infinity, NaN})
    {
        for (const bool isAsymmetric : {false, true})
        {
            std::vector<double> values(2 * 16, 0.5);
            values[3] = special;
            d.m_AsymmetricQuantizeInputs = isAsymmetric;
            OpCase op = FastCase("beside " + std::to_string(special), LayerType::FullyConnected, d,
                                 {Stored(TensorInfo(TensorShape({2, 16}), DataType::Float32), values),
                                  Constant(Stored(weights, stored))},
                                 TensorInfo(TensorShape({2, 19}), DataType::Float32));
            for (const ActivationDescriptor* activation :
                 {static_cast<ActivationDescriptor*>(nullptr), &relu, &bounded})
            {
                op.m_FusedActivation = activation;
                ExpectAsReference(op, "CpuFullyConnectedHybrid", 1e-6);
            }
        }
    }
}

// Depths at which slices of packing end, in groups that are whole and that are not; with weights of 4 bits a column may
// begin in the middle of a byte.
TEST(FastBytes, WeightsOfAnyDepthAsReference)
{
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = true;
    for (const unsigned int depth : {1U, 3U, 37U, 127U, 128U, 129U, 255U, 256U, 257U, 261U})
    {
        for (const DataType type : {DataType::QSymmS4, DataType::QSymmS8})
        {
            const TensorInfo weights(TensorShape({69, depth}), type, 0.1f, 0);
            const auto bytes = static_cast<unsigned int>(weights.GetNumBytes());
            const TestTensor stored = {weights, Random(Bytes({bytes}, true, 0.1f, 0), 2).m_Bytes};
            for (const unsigned int rows : {1U, 3U, 4U, 5U, 43U})
            {
                d.m_AsymmetricQuantizeInputs = rows % 2 == 0;
                const TensorInfo data(TensorShape({rows, depth}), DataType::Float32);
                ExpectAsReference(FastCase(std::to_string(rows) + " rows of depth " + std::to_string(depth),
                                           LayerType::FullyConnected, d, {Random(data, rows, -1, 1), Constant(stored)},
                                           TensorInfo(TensorShape({rows, 69}), DataType::Float32)),
                                  "CpuFullyConnectedHybrid", 1e-6);
            }
        }
        ExpectAsReference(FastCase("depth " + std::to_string(depth), LayerType::FullyConnected, d,
                                   {Random(Bytes({3, depth}, true, 0.1f, -7), 1),
                                    Constant(Random(Bytes({69, depth}, true, 0.1f, 0), 2))},
                                   Bytes({3, 69}, true, 9.0f, 5)),
                          "CpuFullyConnectedBytes");
    }
}

// Short rows of windows are moved with more bytes than they have, up to the end of the image.
TEST(FastBytes, ConvolutionsOfFewChannelsAsReference)
{
    for (const unsigned int channels : {1U, 3U, 7U})
    {
        for (const unsigned int kernel : {1U, 2U, 3U, 4U})
        {
            for (const unsigned int width : {4U, 5U, 13U, 40U})
            {
                for (const unsigned int stride : {1U, 2U, 3U})
                {
                    Convolution2dDescriptor d;
                    d.m_DataLayout = DataLayout::NHWC;
                    d.m_PadLeft = width % 3;
                    d.m_PadRight = kernel / 2;
                    d.m_PadTop = kernel % 2;
                    d.m_PadBottom = stride % 2;
                    d.m_StrideX = d.m_StrideY = stride;
                    d.m_DilationY = 1 + (channels + stride) % 2;
                    const unsigned int height = 5 + kernel;
                    const unsigned int outWidth = (width + d.m_PadLeft + d.m_PadRight - kernel) / stride + 1;
                    const unsigned int outHeight =
                        (height + d.m_PadTop + d.m_PadBottom - d.m_DilationY * (kernel - 1) - 1) / stride + 1;
                    ExpectAsReference(
                        FastCase("window of " + std::to_string(kernel) + " by " + std::to_string(kernel) + " of " +
                                     std::to_string(channels) + " in " + std::to_string(width) + ", stride " +
                                     std::to_string(stride),
                                 LayerType::Convolution2d, d,
                                 {Random(Bytes({2, height, width, channels}, true, 0.1f, -7), width),
                                  Constant(Random(Bytes({9, kernel, kernel, channels}, true, 0.1f, 0), kernel))},
                                 Bytes({2, outHeight, outWidth, 9}, true, 3.0f, 5)),
                        "CpuConvolution2dBytes");
                }
            }
        }
    }
}

TEST(FastBytes, ProductsOfMatricesAsReference)
{
    const unsigned int sizes[][3] = {{1, 1, 1}, {1, 64, 70}, {7, 5, 19}, {33, 30, 16}, {17, 129, 40}};
    for (const auto& [rows, depth, columns] : sizes)
    {
        CheckProduct(rows, depth, columns, "CpuBatchMatMulBytes");
    }
}

// More panels and rows than are packed and laid out at a time. One whose sums could overflow is the reference kernel's.
TEST(FastBytes, ProductsOfLargeMatricesAsReference)
{
    CheckProduct(3, 700, 600, "CpuBatchMatMulBytes");
    CheckProduct(1100, 70, 9, "CpuBatchMatMulBytes");
    CheckProduct(2, 9000, 3, "CpuBatchMatMulBytes");
    CheckProduct(1, 17000, 2, "RefBatchMatMul");
}

// Around the image lies the zero point of its own data; a column of weights begins in the middle of a byte.
TEST(FastBytes, ConvolutionsOfFloatsByFourBitsAsReference)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = 1;
    d.m_StrideX = d.m_StrideY = 1;
    const TensorInfo weights(TensorShape({19, 3, 3, 5}), DataType::QSymmS4, 0.1f, 0);
    const auto bytes = static_cast<unsigned int>(weights.GetNumBytes());
    const TestTensor stored = {weights, Random(Bytes({bytes}, true, 0.1f, 0), 2).m_Bytes};
    for (const unsigned int height : {1U, 2U, 9U})
    {
        ExpectAsReference(FastCase("height " + std::to_string(height), LayerType::Convolution2d, d,
                                   {Random(TensorInfo(TensorShape({2, height, 2, 5}), DataType::Float32), 1, -1, 1),
                                    Constant(stored)},
                                   TensorInfo(TensorShape({2, height, 2, 19}), DataType::Float32)),
                          "CpuConvolution2dHybrid", 1e-6);
    }
}

} // namespace tenon::test
