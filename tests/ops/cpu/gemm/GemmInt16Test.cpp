// SPDX-License-Identifier: Apache-2.0
// GemmInt16 by weights of 8 or 4 bits: exact agreement with CpuRef for all roundings and kinds of bias and weights, and
// at the limits of sums and scales.
#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/conv/SmallGroups.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tenon::test::gemm_int16_test
{

namespace
{

constexpr float DataScale = 1.0f / 32768.0f;
constexpr float WeightScale = 0.01f;

TensorInfo Shorts(const TensorShape& shape, float scale)
{
    return TensorInfo(shape, DataType::QSymmS16, scale, 0);
}

/// An output scale at which random sums of `depth` products cover most of the range, and some saturate.
float OutputScale(size_t depth)
{
    return DataScale * WeightScale * 100.0f * std::sqrt(static_cast<float>(depth));
}

enum class WeightKind
{
    PerChannel,
    PerTensor,
    ZeroPoint,
    FourBits
};
constexpr WeightKind WeightKinds[] = {WeightKind::PerChannel, WeightKind::PerTensor, WeightKind::ZeroPoint,
                                      WeightKind::FourBits};

TensorInfo WeightInfo(const TensorShape& shape, WeightKind kind, unsigned int axis)
{
    std::vector<float> scales;
    for (unsigned int c = 0; c < shape[axis]; ++c)
    {
        scales.push_back(WeightScale * (0.4f + 0.17f * static_cast<float>(c % 7)));
    }
    switch (kind)
    {
    case WeightKind::PerChannel: return TensorInfo(shape, DataType::QSymmS8, scales, axis);
    case WeightKind::PerTensor: return TensorInfo(shape, DataType::QSymmS8, WeightScale, 0);
    case WeightKind::ZeroPoint: return TensorInfo(shape, DataType::QAsymmS8, WeightScale, -100);
    default: return TensorInfo(shape, DataType::QSymmS4, 16 * WeightScale, 0);
    }
}

/// Random constant weights. The harness has no elements of 4 bits, so two of them are drawn as a byte.
TestTensor MakeWeights(const TensorShape& shape, WeightKind kind, unsigned int axis)
{
    const TensorInfo info = WeightInfo(shape, kind, axis);
    if (kind != WeightKind::FourBits)
    {
        return Constant(Random(info, shape[axis]));
    }
    const auto count = static_cast<unsigned int>(info.GetNumBytes());
    TestTensor weights = Random(TensorInfo({count}, DataType::Signed8), shape[axis]);
    weights.m_Info = info;
    return Constant(weights);
}

/// A random bias; none for AnyType.
void AddBias(std::vector<TestTensor>& inputs, DataType type, unsigned int channels)
{
    if (type == DataType::Signed32 || type == DataType::Signed64)
    {
        inputs.push_back(Constant(Random(TensorInfo({channels}, type), channels, -3e6, 3e6)));
    }
}
constexpr DataType BiasTypes[] = {DataType::Signed32, DataType::Signed64, DataType::Float32 /* none */};

struct Conv
{
    TensorShape m_Data;
    TensorShape m_Weights;
    unsigned int m_Stride = 1;
    unsigned int m_Dilation = 1;
    unsigned int m_Pad = 0;
};

unsigned int OutputSize(unsigned int input, unsigned int kernel, const Conv& c)
{
    return (input + 2 * c.m_Pad - (kernel - 1) * c.m_Dilation - 1) / c.m_Stride + 1;
}

template <typename D>
D Describe(const Conv& c, bool hasBias)
{
    D d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = d.m_StrideY = c.m_Stride;
    d.m_DilationX = d.m_DilationY = c.m_Dilation;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = c.m_Pad;
    d.m_BiasEnabled = hasBias;
    return d;
}

OpCase MakeCase(std::string name, const Conv& c, WeightKind kind, DataType bias)
{
    const bool hasBias = bias != DataType::Float32;
    const TensorShape& w = c.m_Weights;
    std::vector<TestTensor> inputs = {Random(Shorts(c.m_Data, DataScale), 3), MakeWeights(w, kind, 0)};
    AddBias(inputs, bias, w[0]);
    const TensorShape output({c.m_Data[0], OutputSize(c.m_Data[1], w[1], c), OutputSize(c.m_Data[2], w[2], c), w[0]});
    return ReferenceCase(std::move(name), LayerType::Convolution2d, Describe<Convolution2dDescriptor>(c, hasBias),
                         std::move(inputs), Shorts(output, OutputScale(size_t{w[1]} * w[2] * w[3])));
}

OpCase MakeConnected(std::string name, unsigned int rows, const TensorShape& weights, bool isTransposed,
                     WeightKind kind, DataType bias)
{
    const unsigned int axis = isTransposed ? 0 : 1;
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = isTransposed;
    d.m_BiasEnabled = bias != DataType::Float32;
    std::vector<TestTensor> inputs = {Random(Shorts({rows, weights[1 - axis]}, DataScale), rows),
                                      MakeWeights(weights, kind, axis)};
    AddBias(inputs, bias, weights[axis]);
    return ReferenceCase(std::move(name), LayerType::FullyConnected, d, std::move(inputs),
                         Shorts({rows, weights[axis]}, OutputScale(weights[1 - axis])));
}

/// All of one value.
TestTensor Filled(const TensorInfo& info, double value)
{
    return Stored(info, std::vector<double>(info.GetNumElements(), value));
}

} // namespace

ISA_TEST(GemmInt16, ConvolutionsAsReference)
{
    const Conv convs[] = {
        {{1, 5, 7, 24}, {40, 1, 1, 24}},        // pixels
        {{2, 5, 7, 3}, {5, 1, 1, 3}},           // pixels of an odd depth
        {{1, 9, 8, 3}, {17, 3, 3, 3}, 2, 1, 1}, // im2col
        {{1, 12, 11, 3}, {9, 5, 5, 3}, 1, 1, 2},
        {{2, 9, 9, 16}, {33, 3, 3, 16}, 1, 1, 1},   // tap by tap
        {{1, 11, 10, 9}, {20, 3, 2, 9}, 1, 2, 2},   // im2col, dilated
        {{1, 12, 9, 10}, {144, 2, 3, 10}, 3, 2, 1}, // tap by tap, strided and dilated
        {{1, 6, 6, 24}, {48, 3, 3, 8}, 1, 1, 1},    // three groups
        {{1, 6, 6, 15}, {10, 3, 3, 3}, 2, 1, 1},    // five groups of an odd depth
        {{1, 4, 4, 20}, {70, 1, 1, 10}},            // two groups of pixels
        {{1, 20, 30, 8}, {8, 1, 1, 8}, 2},          // strided pixels
        {{1, 6, 5, 24}, {48, 3, 2, 2}, 1, 1, 1},    // small groups that share matrices
        {{1, 6, 5, 40}, {40, 3, 2, 5}, 1, 1, 1},
        {{1, 6, 5, 70}, {70, 3, 3, 2}, 1, 1, 1}, // as many outputs as channels
        {{1, 6, 5, 44}, {44, 2, 3, 4}, 2, 1, 1},
        {{2, 5, 6, 56}, {56, 3, 3, 8}, 1, 2, 2},
        {{2, 7, 8, 16}, {20, 3, 3, 16}, 1, 1, 1},   // border rows with missing taps
        {{1, 9, 7, 34}, {9, 5, 5, 34}, 1, 2, 4},    // and border columns
        {{1, 6, 7, 160}, {17, 3, 3, 160}, 1, 1, 1}, // sums of several slices
    };
    const ActivationDescriptor relu(ActivationFunction::ReLu);
    for (const Conv& c : convs)
    {
        const char* const kernel =
            HasSmallGroups(c.m_Data, c.m_Weights) ? "CpuConvolution2dGroupsInt16" : "CpuConvolution2dInt16";
        for (const WeightKind kind : WeightKinds)
        {
            for (const DataType bias : BiasTypes)
            {
                OpCase op = MakeCase(c.m_Data.ToString() + c.m_Weights.ToString(), c, kind, bias);
                ExpectAsReference(op, kernel);
                if (kind == WeightKind::PerChannel)
                {
                    op.m_FusedActivation = &relu;
                    ExpectAsReference(op, kernel);
                }
            }
        }
        OpCase op = MakeCase("sums of 32 bits", c, WeightKind::PerChannel, DataType::Float32);
        auto d = Describe<Convolution2dDescriptor>(c, false);
        d.m_SumsOf32Bits = true;
        op.m_Descriptor = MakeDescriptor(d);
        ExpectAsReference(op, kernel);
    }
}

ISA_TEST(GemmInt16, ConnectedAsReference)
{
    for (const unsigned int rows : {1U, 2U, 5U, 13U, 61U})
    {
        for (const auto& [inputs, outputs] : {std::pair(16U, 10U), std::pair(33U, 70U), std::pair(258U, 144U)})
        {
            for (const bool isTransposed : {false, true})
            {
                for (const WeightKind kind : WeightKinds)
                {
                    const TensorShape weights =
                        isTransposed ? TensorShape({outputs, inputs}) : TensorShape({inputs, outputs});
                    for (const DataType bias : BiasTypes)
                    {
                        ExpectAsReference(MakeConnected("connected", rows, weights, isTransposed, kind, bias),
                                          "CpuFullyConnectedInt16");
                    }
                }
            }
        }
    }
}

ISA_TEST(GemmInt16, DepthwiseAsReference)
{
    const ActivationDescriptor relu(ActivationFunction::BoundedReLu, 0.5f, -0.25f);
    const Conv windows[] = {{{}, {1, 3, 3, 1}, 1, 1, 1},
                            {{}, {1, 3, 3, 1}, 2, 1, 1},
                            {{}, {1, 5, 4, 1}, 1, 1, 2},
                            {{}, {1, 2, 2, 1}, 1, 3, 1},
                            {{}, {1, 1, 1, 1}}};
    for (Conv c : windows)
    {
        for (const unsigned int channels : {1U, 5U, 8U, 16U, 23U, 32U, 40U, 72U})
        {
            c.m_Data = TensorShape({2, 9, 11, channels});
            c.m_Weights = TensorShape({1, c.m_Weights[1], c.m_Weights[2], channels});
            const TensorShape& w = c.m_Weights;
            const TensorShape output({2, OutputSize(9, w[1], c), OutputSize(11, w[2], c), channels});
            for (const WeightKind kind : WeightKinds)
            {
                for (const DataType bias : BiasTypes)
                {
                    std::vector<TestTensor> inputs = {Random(Shorts(c.m_Data, DataScale), channels),
                                                      MakeWeights(w, kind, 3)};
                    AddBias(inputs, bias, channels);
                    OpCase op = ReferenceCase("depthwise " + w.ToString(), LayerType::DepthwiseConvolution2d,
                                              Describe<DepthwiseConvolution2dDescriptor>(c, bias != DataType::Float32),
                                              std::move(inputs), Shorts(output, OutputScale(size_t{w[1]} * w[2])));
                    op.m_FusedActivation = kind == WeightKind::PerTensor ? &relu : nullptr;
                    ExpectAsReference(op, "CpuDepthwiseConvolution2dInt16");
                }
            }
        }
    }
}

// Several outputs for each channel.
ISA_TEST(GemmInt16, DepthwiseMultipliersAsReference)
{
    for (const auto& [channels, multiplier] :
         {std::pair(1U, 1U), {1U, 8U}, {1U, 37U}, {2U, 3U}, {5U, 4U}, {16U, 2U}, {20U, 5U}})
    {
        for (const unsigned int stride : {1U, 2U})
        {
            const unsigned int outputs = channels * multiplier;
            const Conv c{{2, 9, 11, channels}, {1, 3, 3, outputs}, stride, 1, 1};
            std::vector<TestTensor> inputs = {Random(Shorts(c.m_Data, DataScale), channels),
                                              MakeWeights(c.m_Weights, WeightKind::PerChannel, 3)};
            AddBias(inputs, DataType::Signed64, outputs);
            const TensorShape output({2, OutputSize(9, 3, c), OutputSize(11, 3, c), outputs});
            ExpectAsReference(ReferenceCase("depthwise " + c.m_Data.ToString() + c.m_Weights.ToString(),
                                            LayerType::DepthwiseConvolution2d,
                                            Describe<DepthwiseConvolution2dDescriptor>(c, true), std::move(inputs),
                                            Shorts(output, OutputScale(9))),
                              "CpuDepthwiseConvolution2dInt16");
        }
    }
}

ISA_TEST(GemmInt16, ProductsByAConstantMatrixAsReference)
{
    for (const bool isTransposed : {false, true})
    {
        for (const DataType type : {DataType::QSymmS8, DataType::QAsymmS8})
        {
            BatchMatMulDescriptor d;
            d.m_TransposeY = isTransposed;
            const TensorShape y = isTransposed ? TensorShape({70, 34}) : TensorShape({34, 70});
            ExpectAsReference(ReferenceCase("batches", LayerType::BatchMatMul, d,
                                            {Random(Shorts({3, 5, 34}, DataScale), 1),
                                             Constant(Random(TensorInfo(y, type, WeightScale, 0), 2))},
                                            Shorts({3, 5, 70}, OutputScale(34))),
                              "CpuBatchMatMulConstantInt16");
        }
    }
    // Several scales count as none.
    const TensorInfo several = WeightInfo({12, 9}, WeightKind::PerChannel, 1);
    ExpectAsReference(ReferenceCase("several scales", LayerType::BatchMatMul, BatchMatMulDescriptor(),
                                    {Random(Shorts({5, 12}, DataScale), 1), Constant(Random(several, 2))},
                                    Shorts({5, 9}, OutputScale(12))),
                      "CpuBatchMatMulConstantInt16");
}

// Two matrices of int16: transposed or not, broadcast, of odd sizes, with sums that fit doubles or not.
ISA_TEST(GemmInt16, ProductsOfTwoMatricesAsReference)
{
    struct Sizes
    {
        unsigned int m_Rows, m_Depth, m_Columns;
        const char* m_Kernel = "CpuBatchMatMulInt16";
    };
    constexpr Sizes All[] = {{1, 1, 1},    {5, 34, 70},  {3, 33, 7},    {130, 64, 128}, {67, 128, 65},
                             {9, 129, 33}, {8, 511, 40}, {70, 256, 17}, {1, 48, 300},   {4, 512, 8, "RefBatchMatMul"}};
    for (const Sizes& sizes : All)
    {
        for (const unsigned int turns : {0U, 1U, 2U, 3U})
        {
            const BatchMatMulDescriptor d(turns % 2 != 0, turns / 2 != 0);
            const TensorShape x = d.m_TransposeX ? TensorShape({2, 1, sizes.m_Depth, sizes.m_Rows})
                                                 : TensorShape({2, 1, sizes.m_Rows, sizes.m_Depth});
            const TensorShape y = d.m_TransposeY ? TensorShape({1, 3, sizes.m_Columns, sizes.m_Depth})
                                                 : TensorShape({1, 3, sizes.m_Depth, sizes.m_Columns});
            const TensorInfo infoX = Shorts(x, DataScale);
            const TensorInfo infoY = Shorts(y, DataScale);
            const float ordinary = DataScale * std::sqrt(static_cast<float>(sizes.m_Depth));
            for (const float scale : {ordinary, DataScale * static_cast<float>(sizes.m_Depth), 1e-12f, 1e6f})
            {
                const TensorInfo output = Shorts({2, 3, sizes.m_Rows, sizes.m_Columns}, scale);
                for (const auto& [first, second] : {std::pair(Random(infoX, 1), Random(infoY, 2)),
                                                    std::pair(Random(infoX, 1, 0, 70), Random(infoY, 2)),
                                                    std::pair(Filled(infoX, -32768), Filled(infoY, -32768)),
                                                    std::pair(Filled(infoX, -32768), Filled(infoY, 32767))})
                {
                    ExpectAsReference(ReferenceCase(x.ToString() + " by " + y.ToString() + ", " + std::to_string(scale),
                                                    LayerType::BatchMatMul, d, {first, second}, output),
                                      sizes.m_Kernel);
                }
            }
        }
    }
}

// Depths whose sums exceed 32 bits: random products, and the largest ones, which cancel out or not.
ISA_TEST(GemmInt16, SumsOf64BitsAsReference)
{
    for (const DataType bias : BiasTypes)
    {
        for (const WeightKind kind : {WeightKind::PerChannel, WeightKind::ZeroPoint})
        {
            for (const unsigned int rows : {3U, 7U}) // weights packed as int8, and as int16
            {
                OpCase op = MakeConnected("deep", rows, {70, 4099}, true, kind, bias);
                ExpectAsReference(op, "CpuFullyConnectedInt16");
                op.m_Inputs[0] = Filled(op.m_Inputs[0].m_Info, -32768);
                ExpectAsReference(op, "CpuFullyConnectedInt16");
            }
        }
        for (const double weight : {-128.0, 127.0})
        {
            OpCase op = MakeCase("extremes", {{1, 5, 5, 130}, {35, 3, 3, 130}, 1, 1, 1}, WeightKind::PerTensor, bias);
            op.m_Inputs[0] = Filled(op.m_Inputs[0].m_Info, -32768);
            op.m_Inputs[1] = Constant(Filled(op.m_Inputs[1].m_Info, weight));
            op.m_Output = Shorts(op.m_Output.GetShape(), DataScale * WeightScale * 128 * 1170 * 1.1f);
            ExpectAsReference(op, "CpuConvolution2dInt16");
        }
        Conv deep{{1, 6, 5, 250}, {38, 3, 3, 250}, 1, 1, 1};
        ExpectAsReference(MakeCase("deep", deep, WeightKind::PerChannel, bias), "CpuConvolution2dInt16");
    }
}

// With a bias of 32 bits, sums may need more than 32 bits, and any scale is possible.
ISA_TEST(GemmInt16, SumsBeyond32BitsAsReference)
{
    for (const int exponent : {-40, -31, -16, -3, 0, 5, 17})
    {
        OpCase op = MakeCase("beyond", {{1, 3, 3, 900}, {40, 1, 1, 900}}, WeightKind::PerTensor, DataType::Signed32);
        op.m_Inputs[0] = Random(op.m_Inputs[0].m_Info, 5);
        std::vector<double> bias(40);
        for (size_t c = 0; c < bias.size(); ++c)
        {
            bias[c] = (c % 2 == 0 ? 1 : -1) * (2147483647.0 - static_cast<double>(c));
        }
        op.m_Inputs[1] = Constant(Filled(op.m_Inputs[1].m_Info, -128));
        op.m_Inputs[2] = Constant(Stored(op.m_Inputs[2].m_Info, bias));
        op.m_Output = Shorts(op.m_Output.GetShape(), std::ldexp(DataScale * WeightScale * 1.1f, -exponent));
        ExpectAsReference(op, "CpuConvolution2dInt16");
    }
}

// Layers whose sums exceed doubles, or whose results exceed the reference kernel's 32 bits, are left to the reference
// kernel.
ISA_TEST(GemmInt16, ResultsThatWouldWrapAreLeftToTheReference)
{
    OpCase op = MakeCase("large bias", {{1, 3, 3, 8}, {4, 1, 1, 8}}, WeightKind::PerTensor, DataType::Signed64);
    op.m_Inputs[2] = Constant(Stored(op.m_Inputs[2].m_Info, {0, std::ldexp(1.0, 40), -std::ldexp(1.0, 62), 5}));
    ExpectAsReference(op, "RefConvolution2d");
    OpCase tiny = MakeCase("small scale", {{1, 3, 3, 8}, {4, 1, 1, 8}}, WeightKind::PerTensor, DataType::Signed64);
    tiny.m_Output = Shorts(tiny.m_Output.GetShape(), DataScale * WeightScale * 1e-4f);
    ExpectAsReference(tiny, "RefConvolution2d");
    OpCase connected = MakeConnected("small scale", 3, {4, 8}, true, WeightKind::PerTensor, DataType::Signed64);
    connected.m_Output = tiny.m_Output;
    connected.m_Output.SetShape({3, 4});
    ExpectAsReference(connected, "RefFullyConnected");
}

// All shifts of sums of 64 bits, and sums halfway between two results.
ISA_TEST(GemmInt16, RequantizeAsTheScalarFunctions)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    constexpr size_t Count = 64;
    std::mt19937_64 engine(1);
    alignas(64) int32_t sums[Count];
    alignas(64) double totals[Count];
    alignas(64) double bias[Count] = {};
    alignas(64) double scale[Count];
    alignas(64) int32_t zeros[Count] = {};
    alignas(64) int32_t multiplier[Count];
    alignas(64) int32_t right[Count];
    alignas(64) int32_t left[Count];
    int16_t out[Count];
    const size_t lanes = cpu::GetMicrokernelsInt16().m_Lanes;
    const size_t vectors = Count / lanes;
    cpu::RequantizeRowsInt16 rows;
    rows.m_Sums = sums;
    rows.m_SumStride = Count;
    rows.m_Rows = 1;
    rows.m_Columns = Count;
    rows.m_Out = out;
    rows.m_OutStride = Count;
    cpu::RequantizeColumnsInt16 columns;
    columns.m_Bias = bias;
    columns.m_Scale = scale;
    columns.m_IntBias = zeros;
    columns.m_Multiplier = multiplier;
    columns.m_Right = right;
    columns.m_Left = left;
    columns.m_Min = std::numeric_limits<int16_t>::min();
    columns.m_Max = std::numeric_limits<int16_t>::max();
    const auto clamp = [](double value) { return static_cast<int16_t>(std::clamp(value, -32768.0, 32767.0)); };
    for (int shift = -31; shift <= 15; ++shift)
    {
        for (int sample = 0; sample < 100; ++sample)
        {
            std::vector<backends::QuantizedMultiplier> multipliers(Count);
            for (size_t i = 0; i < Count; ++i)
            {
                multipliers[i] = {static_cast<int32_t>((engine() >> 34) | (1U << 30)), shift};
                const int32_t reduced = (std::min(multipliers[i].m_Multiplier, 0x7FFEFFFF) + (1 << 15)) >> 16;
                scale[i] = std::ldexp(reduced, shift - 15);
                // Sums with results of all magnitudes, and sums around a half.
                const double most = std::min(std::ldexp(1.0, 37), std::ldexp(1.0, 30 - shift));
                const double part = static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0;
                const double result = std::floor(part * 32768.0) + 0.5;
                const double wanted = i % 2 == 0 ? part * most : result / scale[i];
                const double sum = std::clamp(std::round(wanted), -most, most);
                sums[i] = static_cast<int32_t>(engine());
                totals[i] = sum - sums[i];
                multiplier[i] = multipliers[i].m_Multiplier;
                right[i] = std::max(0, -shift);
                left[i] = std::max(0, shift);
            }
            const auto expect = [&](cpu::RoundingInt16 rounding, bool hasTotals, auto want)
            {
                columns.m_Rounding = rounding;
                std::fill_n(bias, Count, rounding == cpu::RoundingInt16::HalfUp ? 0.5 : 0.0);
                rows.m_Totals = hasTotals ? totals : nullptr;
                cpu::GetMicrokernelsInt16().m_Requantize(rows, columns);
                for (size_t c = 0; c < Count; ++c)
                {
                    const size_t place = cpu::GetPaddedColumnInt16(c, vectors, lanes);
                    ASSERT_EQ(out[c], want(place)) << sums[place] << " + " << totals[place] << " shifted by " << shift;
                }
            };
            expect(cpu::RoundingInt16::HalfUp, true,
                   [&](size_t i)
                   {
                       const auto sum = static_cast<int64_t>(totals[i] + sums[i]);
                       return clamp(backends::MultiplyReducedSaturating(sum, multipliers[i]));
                   });
            expect(cpu::RoundingInt16::FixedPoint, false,
                   [&](size_t i) { return clamp(backends::MultiplySaturating(sums[i], multipliers[i])); });
            expect(cpu::RoundingInt16::FixedPoint, true,
                   [&](size_t i)
                   {
                       const auto sum = static_cast<int64_t>(totals[i] + sums[i]);
                       return clamp(backends::MultiplySumSaturating(sum, multipliers[i]));
                   });
            expect(cpu::RoundingInt16::Double, true,
                   [&](size_t i) { return clamp(std::round((totals[i] + sums[i]) * scale[i])); });
        }
    }
}

} // namespace tenon::test::gemm_int16_test
