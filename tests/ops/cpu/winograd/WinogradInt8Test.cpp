// SPDX-License-Identifier: Apache-2.0
// WinogradInt8: exact agreement with CpuRef, for sizes that divide into tiles and strips in different ways and for the
// largest values; and which layers are supported.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/winograd/WinogradTransforms.hpp"
#include "ops/cpu/HalfEvenInt8.hpp"
#include "ops/cpu/gemm/LayerCasesInt8.hpp"
#include "ops/cpu/winograd/WinogradSupport.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tenon::cpu
{

extern const backends::Kernel CpuConvolution2dWinogradInt8Kernel;

} // namespace tenon::cpu

namespace tenon::test::winograd_int8_test
{

namespace
{

constexpr const char* Products = "CpuConvolution2dInt8";

/// The name of the kernel of supported convolutions on this processor.
const char* GetWinograd()
{
    return HasDots() ? Products : "CpuConvolution2dWinogradInt8";
}

struct Case
{
    TensorShape m_Data;
    unsigned int m_Outputs = 16;
    unsigned int m_PadTop = 0;
    unsigned int m_PadLeft = 0;
    unsigned int m_PadBottom = 0;
    unsigned int m_PadRight = 0;
    bool m_IsSigned = true;
    bool m_HasBias = true;
};

Convolution2dDescriptor Describe(const Case& c)
{
    Convolution2dDescriptor d;
    d.m_PadTop = c.m_PadTop;
    d.m_PadLeft = c.m_PadLeft;
    d.m_PadBottom = c.m_PadBottom;
    d.m_PadRight = c.m_PadRight;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_BiasEnabled = c.m_HasBias;
    d.m_DataLayout = DataLayout::NHWC;
    return d;
}

TensorInfo DescribeWeights(const Case& c)
{
    const TensorShape shape({c.m_Outputs, 3, 3, c.m_Data[3]});
    return c.m_IsSigned ? TensorInfo(shape, DataType::QSymmS8, std::vector<float>(c.m_Outputs, 0.02f), 0)
                        : TensorInfo(shape, DataType::QAsymmU8, 0.02f, 131);
}

/// `outputScale`: of the output; data have a scale of 0.1 and weights of 0.02.
OpCase MakeOp(const Case& c, const TestTensor& data, const TestTensor& weights, float outputScale,
              const Convolution2dDescriptor& d)
{
    std::vector<TestTensor> inputs = {data, Constant(weights)};
    if (c.m_HasBias)
    {
        inputs.push_back(
            Constant(Random(TensorInfo(TensorShape({c.m_Outputs}), DataType::Signed32, 0.002f, 0), 7, -9, 9)));
    }
    const auto count = [](unsigned int size, unsigned int pads, unsigned int window, unsigned int stride)
    { return (size + pads - window) / stride + 1; };
    const TensorShape& weightsShape = weights.m_Info.GetShape();
    const TensorShape output({c.m_Data[0], count(c.m_Data[1], c.m_PadTop + c.m_PadBottom, weightsShape[1], d.m_StrideY),
                              count(c.m_Data[2], c.m_PadLeft + c.m_PadRight, weightsShape[2], d.m_StrideX),
                              c.m_Outputs});
    return ReferenceCase("3x3 of " + c.m_Data.ToString() + " to " + output.ToString(), LayerType::Convolution2d, d,
                         std::move(inputs), InfoInt8(output, c.m_IsSigned, outputScale, c.m_IsSigned ? -5 : 120));
}

OpCase MakeOp(const Case& c, uint32_t seed)
{
    const TensorInfo data = InfoInt8(c.m_Data, c.m_IsSigned, 0.1f, c.m_IsSigned ? 3 : 125);
    const float steps = 4.0f * std::sqrt(static_cast<float>(c.m_Data[3]));
    return MakeOp(c, Random(data, seed), Random(DescribeWeights(c), seed + 1), 0.1f * steps, Describe(c));
}

} // namespace

ISA_TEST(WinogradInt8, ManySizes)
{
    const Case cases[] = {
        {{1, 14, 14, 16}, 16, 0, 0, 0, 0},              // whole tiles and vectors
        {{1, 13, 11, 17}, 33, 1, 1, 1, 1},              // broken tiles, a channel and a column over
        {{1, 13, 11, 31}, 40, 1, 1, 1, 1, false},       // the same of uint8
        {{2, 9, 10, 18}, 23, 0, 0, 1, 1},               // several images, padding at the ends alone
        {{1, 10, 9, 48}, 65, 2, 1, 0, 3, true, false},  // several panels, uneven padding, no bias
        {{1, 6, 8, 24}, 130, 3, 4, 5, 2, false},        // windows that see padding alone
        {{1, 4, 4, 16}, 24, 1, 1, 1, 1},                // few tiles
        {{1, 70, 65, 16}, 16, 1, 1, 1, 1},              // many strips
        {{1, 22, 30, 200}, 20, 1, 1, 1, 1},             // strips of few tiles
        {{3, 4, 50, 19}, 17, 1, 1, 1, 1, false, false}, // flat images
        {{1, 2, 40, 16}, 16, 3, 3, 3, 3},               // windows that are higher than the image
    };
    for (const Case& c : cases)
    {
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeOp(c, 1), GetWinograd()));
    }
}

ISA_TEST(WinogradInt8, RandomSizes)
{
    std::mt19937 random(3);
    const auto pick = [&random](unsigned int first, unsigned int last)
    { return std::uniform_int_distribution<unsigned int>(first, last)(random); };
    for (uint32_t i = 0; i < 20; ++i)
    {
        Case c = {{pick(1, 2), pick(11, 26), pick(11, 26), pick(16, 40)}, pick(16, 40)};
        c.m_PadTop = pick(0, 2);
        c.m_PadLeft = pick(0, 2);
        c.m_PadBottom = pick(0, 2);
        c.m_PadRight = pick(0, 2);
        c.m_IsSigned = pick(0, 1) != 0;
        c.m_HasBias = pick(0, 3) != 0;
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeOp(c, 10 * i), GetWinograd()));
    }
}

// Largest sums, transforms and products: all values are at one limit of their type, either all equal, or with signs of
// data and weights that agree in one tile and in all weights of a column.
ISA_TEST(WinogradInt8, LargestValues)
{
    for (const bool isSigned : {false, true})
    {
        for (const unsigned int channels : {16U, 512U})
        {
            const Case c = {{1, 8, 8, channels}, 20, 1, 1, 1, 1, isSigned};
            for (const int32_t zeroPoint : {isSigned ? -128 : 0, isSigned ? 127 : 255})
            {
                for (uint32_t kind = 0; kind < 6; ++kind)
                {
                    const auto pickEnd = [kind, isSigned](size_t i, bool isData)
                    {
                        const bool isMost = kind == 0   ? true
                                            : kind == 1 ? isData
                                            : kind == 2 ? !isData
                                            : kind == 3 ? false
                                            : kind == 4 ? i % 2 == 0
                                                        : i * 2654435761U >> 7 & 1;
                        return static_cast<uint8_t>(isSigned ? (isMost ? 0x7F : 0x80) : (isMost ? 0xFF : 0));
                    };
                    const auto fill = [&pickEnd](const TensorInfo& info, bool isData)
                    {
                        std::vector<uint8_t> bytes(info.GetNumElements());
                        for (size_t i = 0; i < bytes.size(); ++i)
                        {
                            bytes[i] = pickEnd(i, isData);
                        }
                        return StoreBytes(info, bytes);
                    };
                    const TestTensor data = fill(InfoInt8(c.m_Data, isSigned, 0.1f, zeroPoint), true);
                    TensorInfo weights = DescribeWeights(c);
                    if (!isSigned)
                    {
                        weights.SetQuantizationOffset(zeroPoint);
                    }
                    const float steps = 130.0f * static_cast<float>(channels);
                    SCOPED_TRACE("kind " + std::to_string(kind) + ", zero point " + std::to_string(zeroPoint));
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                        MakeOp(c, data, fill(weights, false), 0.002f * steps, Describe(c)), GetWinograd()));
                }
            }
        }
    }
}

ISA_TEST(WinogradInt8, AppliesActivations)
{
    for (const bool isSigned : {false, true})
    {
        OpCase op = MakeOp({{1, 13, 14, 24}, 20, 1, 1, 1, 1, isSigned}, 5);
        ActivationDescriptor relu;
        relu.m_Function = ActivationFunction::BoundedReLu;
        relu.m_A = 6.0f;
        op.m_FusedActivation = &relu;
        ExpectAsReference(op, GetWinograd());
    }
}

// RequantizationMode::FloatHalfEven: ties, saturation and clamps.
ISA_TEST(WinogradInt8, RoundsHalfToEven)
{
    constexpr float DataScale = 0.5f;
    constexpr float OutputScale = 0.25f;
    constexpr float Unit = OutputScale / DataScale;
    for (const bool isSigned : {false, true})
    {
        for (const unsigned int aboveMin : {0U, 121U, 255U})
        {
            for (const bool hasClamp : {false, true})
            {
                const Case c = {{2, 13, 11, 17}, 49, 1, 1, 1, 1, isSigned};
                Convolution2dDescriptor d = Describe(c);
                d.m_Requantization = RequantizationMode::FloatHalfEven;
                const int32_t lowest = isSigned ? -128 : 0;
                const TestTensor weights = MakeTieWeights({c.m_Outputs, 3, 3, c.m_Data[3]}, 0, isSigned,
                                                          isSigned && aboveMin != 121, Unit, -9);
                OpCase op = ReferenceCase(
                    "zero point " + std::to_string(aboveMin), LayerType::Convolution2d, d,
                    {Random(InfoInt8(c.m_Data, isSigned, DataScale, lowest + 99), aboveMin), Constant(weights),
                     Constant(MakeTieBias(weights.m_Info, 0, Unit))},
                    InfoInt8({2, 13, 11, c.m_Outputs}, isSigned, OutputScale, lowest + static_cast<int32_t>(aboveMin)));
                ActivationDescriptor clamp(ActivationFunction::BoundedReLu, 12.5f * OutputScale, -2.5f * OutputScale);
                clamp.m_Requantization = RequantizationMode::FloatHalfEven;
                op.m_FusedActivation = hasClamp ? &clamp : nullptr;
                ASSERT_NO_FATAL_FAILURE(ExpectHalfEven(op, d, GetWinograd()));
            }
        }
    }
}

// Layers that gain nothing from Winograd are left to GemmInt8.
ISA_TEST(WinogradInt8, LayersThatTakeNoPart)
{
    const Case taken = {{1, 14, 14, 16}, 16, 1, 1, 1, 1};
    const auto expectProducts = [](const Case& c, const Convolution2dDescriptor& d, unsigned int window)
    {
        TensorInfo weights = DescribeWeights(c);
        weights.SetShape(TensorShape({c.m_Outputs, window, window, c.m_Data[3]}));
        const TensorInfo data = InfoInt8(c.m_Data, true, 0.1f, 3);
        ExpectAsReference(MakeOp(c, Random(data, 1), Random(weights, 2), 1.0f, d), Products);
    };
    expectProducts({{1, 14, 14, 15}, 16, 1, 1, 1, 1}, Describe(taken), 3); // few channels
    expectProducts({{1, 14, 14, 16}, 15, 1, 1, 1, 1}, Describe(taken), 3); // few outputs
    expectProducts({{1, 1, 30, 16}, 16, 1, 1, 1, 1}, Describe(taken), 3);  // tiles half empty
    expectProducts({{1, 2, 2, 16}, 16, 1, 1, 1, 1}, Describe(taken), 3);   // one tile
    expectProducts({{1, 8, 8, 520}, 16, 1, 1, 1, 1}, Describe(taken), 3);  // sums that may not fit 32 bits
    expectProducts({{1, 6, 6, 256}, 80, 1, 1, 1, 1}, Describe(taken), 3);  // many weights for few tiles
    expectProducts({{1, 9, 9, 288}, 256, 1, 1, 1, 1}, Describe(taken), 3); // more weights than the caches hold
    expectProducts({{1, 14, 14, 16}, 16, 1, 1, 1, 1}, Describe(taken), 5); // kernels other than 3x3
    Convolution2dDescriptor strided = Describe(taken);
    strided.m_StrideX = strided.m_StrideY = 2;
    expectProducts(taken, strided, 3);
}

// Sums that the bias takes beyond their limit of a quarter of int32 are those of the reference kernel.
ISA_TEST(WinogradInt8, LargestBias)
{
    OpCase op = MakeOp({{1, 8, 8, 16}, 16, 1, 1, 1, 1}, 7);
    std::vector<int32_t> bias(16);
    for (size_t i = 0; i < bias.size(); ++i)
    {
        bias[i] = (i % 2 == 0 ? 1 : -1) * (i < 8 ? (int32_t{1} << 30) - 100 : std::numeric_limits<int32_t>::max());
    }
    std::memcpy(op.m_Inputs[2].m_Bytes.data(), bias.data(), bias.size() * sizeof(int32_t));
    ExpectAsReference(op, ""); // any kernel
}

// Height, width and channels must be known before a run; the batch need not.
ISA_TEST(WinogradInt8, DimensionsToBeKnown)
{
    const Case c = {{1, 14, 14, 16}, 16, 1, 1, 1, 1};
    const Convolution2dDescriptor descriptor = Describe(c);
    const std::string name = "layer under test";
    const std::vector<std::byte> zeros(size_t{16} * 9 * 16);
    const TensorInfo weights = Constant({DescribeWeights(c), {}}).m_Info;
    const TensorInfo bias(TensorShape({16}), DataType::Signed32, 0.002f, 0, true);
    const auto ask = [&](const TensorShape& dataShape, const TensorShape& outputShape)
    {
        const TensorInfo data(dataShape, DataType::QAsymmS8, 0.1f, 3);
        const TensorInfo output(outputShape, DataType::QAsymmS8, 0.1f, 3);
        const std::vector<const TensorInfo*> inputs = {&data, &weights, &bias};
        const std::vector<const TensorInfo*> outputs = {&output};
        const std::vector<const void*> constants = {nullptr, zeros.data(), zeros.data()};
        LayerView view;
        view.m_Type = LayerType::Convolution2d;
        view.m_Name = &name;
        view.m_Descriptor = &descriptor;
        view.m_Inputs = inputs;
        view.m_Outputs = outputs;
        view.m_ConstantData = constants;
        const SupportResult result = backends::AskKernel(cpu::CpuConvolution2dWinogradInt8Kernel, view);
        return result ? std::string("taken") : result.m_Reason;
    };
    const bool isUsed = cpu::GetCpuFeatures().m_Simd && !HasDots();
    const TensorShape whole({1, 14, 14, 16});
    const auto shape = [](bool batch, bool height, bool channels)
    {
        const bool known[] = {batch, height, true, channels};
        const unsigned int sizes[] = {batch ? 1U : 0U, height ? 14U : 0U, 14, channels ? 16U : 0U};
        return TensorShape(4, sizes, known);
    };
    EXPECT_EQ(ask(whole, whole), isUsed ? "taken" : ask(whole, whole));
    EXPECT_EQ(ask(shape(false, true, true), shape(false, true, true)), ask(whole, whole));
    if (isUsed)
    {
        EXPECT_THAT(ask(shape(true, false, true), shape(true, false, true)), testing::HasSubstr("not known"));
        EXPECT_THAT(ask(shape(true, true, false), whole), testing::HasSubstr("not known"));
        EXPECT_THAT(ask(TensorShape(Dimensionality::NotSpecified), whole), testing::HasSubstr("not known"));
        EXPECT_THAT(ask(whole, TensorShape(Dimensionality::NotSpecified)), testing::HasSubstr("not known"));
    }
}

// The transforms of random numbers add up to four times the sums of the direct convolution.
ISA_TEST(WinogradInt8, TransformsAreExact)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    constexpr size_t Channels = 2 * cpu::WinogradTransformsInt8::MaxLanes;
    std::mt19937 random(1);
    const auto pick = [&random](int least, int most)
    { return static_cast<int16_t>(std::uniform_int_distribution<int>(least, most)(random)); };
    int16_t data[4][4][Channels];
    int16_t weights[3][3][Channels];
    std::generate_n(&data[0][0][0], 16 * Channels, [&pick] { return pick(0, 255); });
    std::generate_n(&weights[0][0][0], 9 * Channels, [&pick] { return pick(-255, 255); });
    int16_t points[16][Channels];
    cpu::GetWinogradTransformsInt8().m_TransformWeights(&weights[0][0][0], Channels, &points[0][0], Channels);
    // Bt of the paper (Lavin and Gray, 2015) for the data, and At for the sums.
    constexpr int ToPoints[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
    constexpr int FromPoints[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
    for (size_t y = 0; y < 2; ++y)
    {
        for (size_t x = 0; x < 2; ++x)
        {
            int64_t sum = 0;
            int64_t transformed = 0;
            for (size_t c = 0; c < Channels; ++c)
            {
                for (size_t k = 0; k < 9; ++k)
                {
                    sum += data[y + k / 3][x + k % 3][c] * weights[k / 3][k % 3][c];
                }
                for (size_t p = 0; p < 16; ++p)
                {
                    int64_t value = 0;
                    for (size_t k = 0; k < 16; ++k)
                    {
                        value += ToPoints[p / 4][k / 4] * ToPoints[p % 4][k % 4] * data[k / 4][k % 4][c];
                    }
                    transformed += FromPoints[y][p / 4] * FromPoints[x][p % 4] * value * points[p][c];
                }
            }
            EXPECT_EQ(transformed, cpu::WinogradTileInt8::Scale * sum);
        }
    }
}

} // namespace tenon::test::winograd_int8_test
