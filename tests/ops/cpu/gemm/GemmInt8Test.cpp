// SPDX-License-Identifier: Apache-2.0
// Convolutions and fully connected layers of bytes, and of floats by weights of bytes or four bits, beside CpuRef's:
// weights of any depth, windows of few channels, data that are no numbers.
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test::gemm_int8_test
{

// Vectors of one column would take many times the memory of such weights, and so would whole groups of one row.
ISA_TEST(GemmInt8, WeightsThatPaddingWouldMultiplyStayAsTheyAre)
{
    const auto kernelOf = [](DataType type, const TensorShape& weights, bool isTransposed)
    {
        FullyConnectedDescriptor d;
        d.m_TransposeWeightMatrix = isTransposed;
        const bool isQuantized = type == DataType::QAsymmS8;
        const TensorInfo info = isQuantized ? InfoInt8(weights, true, 0.1f, 0) : TensorInfo(weights, type);
        const TensorInfo data = Shaped(info, {1, weights[isTransposed ? 1 : 0]});
        const auto zeros = [](const TensorInfo& all) { return Stored(all, std::vector<double>(all.GetNumElements())); };
        OpCase op = ReferenceCase("connected", LayerType::FullyConnected, d, {zeros(data), Constant(zeros(info))},
                                  Shaped(info, {1, weights[isTransposed ? 0 : 1]}));
        std::string kernel;
        RunOp(FindTestBackend(Compute::CpuAcc), op, {}, &kernel);
        return kernel;
    };
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    constexpr unsigned int Long = 1U << 21;
    const cpu::MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    const bool isFew = microkernels.GetPlain(true).m_Layout == cpu::WeightLayoutInt8::Int8x4 &&
                       microkernels.m_Lanes <= 4; // bytes of a vector's columns
    EXPECT_EQ(kernelOf(DataType::QAsymmS8, {1, Long}, true), isFew ? "CpuFullyConnectedInt8" : "RefFullyConnected");
    EXPECT_EQ(kernelOf(DataType::QAsymmS8, {Long, 1}, true), "RefFullyConnected");
    EXPECT_EQ(kernelOf(DataType::QAsymmS8, {2, 2048}, true), "CpuFullyConnectedInt8");
    EXPECT_EQ(kernelOf(DataType::Float32, {1, Long}, true), "CpuFullyConnectedF32");
    const float weight = 0.0f; // not looked at
    backends::FillingStore store;
    EXPECT_TRUE(cpu::PackMatrix(cpu::FloatWeights(&weight), {1, 1, Long}, cpu::WeightOrder::Depth, Long, store)
                    ->RefersToConstants());
}

// Infinite data make NaN of the outputs whose weights are zeros, and a clamp makes a number of those again.
ISA_TEST(GemmInt8, ActivationsOfQuantizedFloatsAsReference)
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
            OpCase op = ReferenceCase("beside " + std::to_string(special), LayerType::FullyConnected, d,
                                      {Stored(TensorInfo(TensorShape({2, 16}), DataType::Float32), values),
                                       Constant(Stored(weights, stored))},
                                      TensorInfo(TensorShape({2, 19}), DataType::Float32));
            for (const ActivationDescriptor* activation :
                 {static_cast<ActivationDescriptor*>(nullptr), &relu, &bounded})
            {
                op.m_FusedActivation = activation;
                ExpectAsReference(op, "CpuFullyConnectedHybrid");
            }
        }
    }
}

// Depths at which slices of packing end, in groups that are whole and that are not; with weights of 4 bits a column may
// begin in the middle of a byte.
ISA_TEST(GemmInt8, WeightsOfAnyDepthAsReference)
{
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = true;
    for (const unsigned int depth : {1U, 3U, 37U, 127U, 128U, 129U, 255U, 256U, 257U, 261U})
    {
        for (const DataType type : {DataType::QSymmS4, DataType::QSymmS8})
        {
            const TensorInfo weights(TensorShape({69, depth}), type, 0.1f, 0);
            const auto bytes = static_cast<unsigned int>(weights.GetNumBytes());
            const TestTensor stored = {weights, Random(InfoInt8({bytes}, true, 0.1f, 0), 2).m_Bytes};
            for (const unsigned int rows : {1U, 3U, 4U, 5U, 43U})
            {
                d.m_AsymmetricQuantizeInputs = rows % 2 == 0;
                const TensorInfo data(TensorShape({rows, depth}), DataType::Float32);
                ExpectAsReference(ReferenceCase(std::to_string(rows) + " rows of depth " + std::to_string(depth),
                                                LayerType::FullyConnected, d,
                                                {Random(data, rows, -1, 1), Constant(stored)},
                                                TensorInfo(TensorShape({rows, 69}), DataType::Float32)),
                                  "CpuFullyConnectedHybrid");
            }
        }
        ExpectAsReference(ReferenceCase("depth " + std::to_string(depth), LayerType::FullyConnected, d,
                                        {Random(InfoInt8({3, depth}, true, 0.1f, -7), 1),
                                         Constant(Random(InfoInt8({69, depth}, true, 0.1f, 0), 2))},
                                        InfoInt8({3, 69}, true, 9.0f, 5)),
                          "CpuFullyConnectedInt8");
    }
}

namespace
{

/// Floats by bytes: rows that are all the same one, which have one scale, or have scales of their own.
void ExpectFloatsAsReference(unsigned int rows, unsigned int columns, unsigned int depth)
{
    ActivationDescriptor bounded(ActivationFunction::BoundedReLu, 0.5f, -1.0f);
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = true;
    d.m_AsymmetricQuantizeInputs = rows % 2 == 0;
    const TensorInfo weights(TensorShape({columns, depth}), DataType::QSymmS8, 0.1f, 0);
    TestTensor data = Random(TensorInfo(TensorShape({rows, depth}), DataType::Float32), rows, -1, 1);
    const size_t rowBytes = depth * sizeof(float);
    for (size_t row = 1; rows % 3 == 0 && row < rows; ++row)
    {
        std::copy_n(data.m_Bytes.begin(), rowBytes, data.m_Bytes.begin() + static_cast<ptrdiff_t>(row * rowBytes));
    }
    OpCase op = ReferenceCase(std::to_string(rows) + " rows, " + std::to_string(columns) + " columns, depth " +
                                  std::to_string(depth),
                              LayerType::FullyConnected, d, {data, Constant(Random(weights, 2))},
                              TensorInfo(TensorShape({rows, columns}), DataType::Float32));
    op.m_FusedActivation = rows % 4 < 2 ? &bounded : nullptr;
    ExpectAsReference(op, "CpuFullyConnectedHybrid");
}

} // namespace

// Tiles of all heights and widths.
ISA_TEST(GemmInt8, ProductsOfFloatsOfAllSizesAsReference)
{
    for (const unsigned int columns : {1U, 8U, 9U, 16U, 17U, 24U, 32U, 41U, 48U, 56U, 63U, 64U, 65U, 130U})
    {
        for (unsigned int rows = 1; rows <= 26; ++rows)
        {
            ExpectFloatsAsReference(rows, columns, 20);
        }
    }
}

// Tiles that end beside the next one's products, see ProductsOfManyRowsAsReference.
ISA_TEST(GemmInt8, ProductsOfManyRowsOfFloatsAsReference)
{
    for (const unsigned int columns : {5U, 16U, 24U, 27U, 40U, 48U, 56U, 64U, 90U})
    {
        for (const unsigned int depth : {15U, 50U, 270U})
        {
            for (const unsigned int rows : {47U, 48U, 64U, 66U, 71U})
            {
                ExpectFloatsAsReference(rows, columns, depth);
            }
        }
    }
}

// Tiles that end beside the products of the next one: of all widths, of depths from those that are not worth it to
// those whose panels are too large, the last tile over none to all but one of the rows before; sums with terms of each
// row and without, clamped and not.
ISA_TEST(GemmInt8, ProductsOfManyRowsAsReference)
{
    ActivationDescriptor relu(ActivationFunction::ReLu);
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    for (const bool isSigned : {false, true})
    {
        for (const unsigned int columns : {4U, 8U, 13U, 16U, 20U, 24U, 32U, 37U, 40U, 48U, 53U, 64U, 88U})
        {
            for (const unsigned int depth : {12U, 16U, 23U, 97U, 1100U})
            {
                // A weight zero point of 128 leaves no terms of rows.
                const int weightZero = isSigned ? 0 : 128 - static_cast<int>(depth % 2) * 9;
                const TestTensor weights =
                    Random(InfoInt8({columns, 1, 1, depth}, isSigned, 0.1f, weightZero), columns);
                for (const unsigned int rows : {6U, 47U, 48U, 65U, 85U})
                {
                    const TensorInfo data = InfoInt8({1, 1, rows, depth}, isSigned, 0.1f, isSigned ? -7 : 119);
                    OpCase op = ReferenceCase(std::to_string(rows) + " rows, " + std::to_string(columns) +
                                                  " columns, depth " + std::to_string(depth),
                                              LayerType::Convolution2d, d, {Random(data, rows), Constant(weights)},
                                              InfoInt8({1, 1, rows, columns}, isSigned, 9.0f, isSigned ? -3 : 125));
                    op.m_FusedActivation = rows % 2 == 0 ? &relu : nullptr;
                    ExpectAsReference(op, "CpuConvolution2dInt8");
                }
            }
        }
    }
}

// Rows of windows, or points of groups, of one byte to several vectors.
ISA_TEST(GemmInt8, ConvolutionsOfManyChannelsAsReference)
{
    for (const unsigned int channels : {1U, 2U, 5U, 8U, 11U, 21U, 22U, 32U, 43U, 64U, 70U})
    {
        for (const unsigned int groups : {1U, 2U, 3U})
        {
            for (const unsigned int dilation : {1U, 2U})
            {
                Convolution2dDescriptor d;
                d.m_DataLayout = DataLayout::NHWC;
                d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = dilation;
                d.m_DilationX = d.m_DilationY = dilation;
                const TensorShape data({2, 5, 7, channels * groups});
                const TestTensor weights = Random(InfoInt8({4 * groups, 3, 3, channels}, true, 0.1f, 0), channels);
                ExpectAsReference(
                    ReferenceCase("channels " + std::to_string(channels) + ", groups " + std::to_string(groups),
                                  LayerType::Convolution2d, d,
                                  {Random(InfoInt8(data, true, 0.1f, -7), groups), Constant(weights)},
                                  InfoInt8({2, 5, 7, 4 * groups}, true, 9.0f, 5)),
                    "CpuConvolution2dInt8");
            }
        }
    }
}

// Short rows of windows are moved with more bytes than they have, up to the end of the image.
ISA_TEST(GemmInt8, ConvolutionsOfFewChannelsAsReference)
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
                        ReferenceCase(
                            "window of " + std::to_string(kernel) + " by " + std::to_string(kernel) + " of " +
                                std::to_string(channels) + " in " + std::to_string(width) + ", stride " +
                                std::to_string(stride),
                            LayerType::Convolution2d, d,
                            {Random(InfoInt8({2, height, width, channels}, true, 0.1f, -7), width),
                             Constant(Random(InfoInt8({9, kernel, kernel, channels}, true, 0.1f, 0), kernel))},
                            InfoInt8({2, outHeight, outWidth, 9}, true, 3.0f, 5)),
                        "CpuConvolution2dInt8");
                }
            }
        }
    }
}

// Around the image lies the zero point of its own data; a column of weights begins in the middle of a byte.
ISA_TEST(GemmInt8, ConvolutionsOfFloatsByFourBitsAsReference)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = 1;
    d.m_StrideX = d.m_StrideY = 1;
    const TensorInfo weights(TensorShape({19, 3, 3, 5}), DataType::QSymmS4, 0.1f, 0);
    const auto bytes = static_cast<unsigned int>(weights.GetNumBytes());
    const TestTensor stored = {weights, Random(InfoInt8({bytes}, true, 0.1f, 0), 2).m_Bytes};
    for (const unsigned int height : {1U, 2U, 9U})
    {
        ExpectAsReference(
            ReferenceCase(
                "height " + std::to_string(height), LayerType::Convolution2d, d,
                {Random(TensorInfo(TensorShape({2, height, 2, 5}), DataType::Float32), 1, -1, 1), Constant(stored)},
                TensorInfo(TensorShape({2, height, 2, 19}), DataType::Float32)),
            "CpuConvolution2dHybrid");
    }
}

} // namespace tenon::test::gemm_int8_test
