// SPDX-License-Identifier: Apache-2.0
// Sums of products by RequantizationMode::FloatHalfEven: ties, saturation, zero points, scales per axis, fused clamps,
// factors at the ends of Float32, types that only this mode has, and what is refused. All operators get the same sums,
// of one product and a bias. Sums of many products are in the tests of the operators.
#include "ops/HalfEvenOracle.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::half_even_sums_test
{

namespace
{

using Numbers = std::vector<double>;

constexpr auto FixedPoint = RequantizationMode::FixedPoint;
constexpr auto HalfEven = RequantizationMode::FloatHalfEven;

constexpr LayerType WeightedLayers[] = {LayerType::Convolution2d, LayerType::DepthwiseConvolution2d,
                                        LayerType::TransposeConvolution2d, LayerType::FullyConnected};

/// A tensor's type, scales and zero point.
struct Quantization
{
    DataType m_Type;
    std::vector<float> m_Scales;
    int32_t m_ZeroPoint = 0;

    TensorInfo Of(const TensorShape& shape, unsigned int axis = 0) const
    {
        return m_Scales.size() == 1 ? TensorInfo(shape, m_Type, m_Scales[0], m_ZeroPoint)
                                    : TensorInfo(shape, m_Type, m_Scales, axis);
    }
};

/// Each number of the data, a row, times each weight, plus its bias. An empty bias is none.
struct Products
{
    Quantization m_Data;
    Quantization m_Weights;
    Quantization m_Output;
    DataType m_BiasType = DataType::Signed32;
};

template <typename D>
std::shared_ptr<const BaseDescriptor> Describe(RequantizationMode mode, bool hasBias)
{
    D descriptor;
    descriptor.m_Requantization = mode;
    if constexpr (requires { descriptor.m_BiasEnabled; })
    {
        descriptor.m_BiasEnabled = hasBias;
    }
    if constexpr (requires { descriptor.m_StrideX; })
    {
        descriptor.m_StrideX = descriptor.m_StrideY = 1;
        descriptor.m_DataLayout = DataLayout::NHWC;
    }
    if constexpr (requires { descriptor.m_TransposeWeightMatrix; })
    {
        descriptor.m_TransposeWeightMatrix = true;
    }
    return MakeDescriptor(descriptor);
}

/// The layer with one input channel. DepthwiseConvolution2d has as many output channels for it.
OpCase MakeCase(LayerType type, const Products& p, const Numbers& data, const Numbers& weights, const Numbers& bias,
                RequantizationMode mode = HalfEven)
{
    const auto rows = static_cast<unsigned int>(data.size());
    const auto channels = static_cast<unsigned int>(weights.size());
    const bool hasBias = !bias.empty();
    OpCase op;
    op.m_Name = GetLayerTypeAsCString(type);
    op.m_Type = type;
    op.m_Steps = 0;
    const TensorShape image({1, 1, rows, 1});
    TestTensor kernel;
    switch (type)
    {
    case LayerType::Convolution2d:
        op.m_Descriptor = Describe<Convolution2dDescriptor>(mode, hasBias);
        kernel = Stored(p.m_Weights.Of({channels, 1, 1, 1}), weights);
        break;
    case LayerType::DepthwiseConvolution2d:
        op.m_Descriptor = Describe<DepthwiseConvolution2dDescriptor>(mode, hasBias);
        kernel = Stored(p.m_Weights.Of({1, 1, 1, channels}, 3), weights);
        break;
    case LayerType::TransposeConvolution2d:
        op.m_Descriptor = Describe<TransposeConvolution2dDescriptor>(mode, hasBias);
        kernel = Stored(p.m_Weights.Of({channels, 1, 1, 1}), weights);
        break;
    case LayerType::FullyConnected:
        op.m_Descriptor = Describe<FullyConnectedDescriptor>(mode, hasBias);
        kernel = Stored(p.m_Weights.Of({channels, 1}), weights);
        break;
    default:
        op.m_Descriptor = Describe<BatchMatMulDescriptor>(mode, hasBias);
        kernel = Stored(p.m_Weights.Of({1, channels}, 1), weights);
        break;
    }
    const bool isMatrix = type == LayerType::FullyConnected || type == LayerType::BatchMatMul;
    op.m_Inputs = {Stored(p.m_Data.Of(isMatrix ? TensorShape({rows, 1}) : image), data), Constant(std::move(kernel))};
    if (hasBias)
    {
        op.m_Inputs.push_back(Constant(Stored(TensorInfo({channels}, p.m_BiasType), bias)));
    }
    op.m_Output = p.m_Output.Of(isMatrix ? TensorShape({rows, channels}) : TensorShape({1, 1, rows, channels}));
    return op;
}

void CheckStored(OpCase op, const Numbers& expected)
{
    op.m_Oracle = Expect(op.m_Output, expected);
    CheckOp(op);
}

/// All operators with these sums; BatchMatMul where there is no bias.
void CheckAll(const Products& p, const Numbers& data, const Numbers& weights, const Numbers& bias,
              const Numbers& expected)
{
    for (const LayerType type : WeightedLayers)
    {
        CheckStored(MakeCase(type, p, data, weights, bias), expected);
    }
    if (bias.empty() && (p.m_Data.m_Type == p.m_Weights.m_Type || p.m_Data.m_Type != DataType::QAsymmU8))
    {
        CheckStored(MakeCase(LayerType::BatchMatMul, p, data, weights, bias), expected);
    }
}

std::string KernelOf(const OpCase& op)
{
    std::string kernel;
    RunOp(*GetTestBackends().front(), op, RunVariant(), &kernel);
    return kernel;
}

} // namespace

// Sums of -7 to 7 halves, by weights of 1: those between two numbers become the even one, then the zero point is added.
ISA_TEST(HalfEvenSums, TiesGoToEven)
{
    using D = DataType;
    const Numbers steps = {-7, -5, -3, -2, -1, 0, 1, 2, 3, 5, 7};
    const Numbers whole = {-4, -2, -2, -1, 0, 0, 0, 1, 2, 2, 4};
    const auto moved = [](Numbers numbers, double by)
    {
        for (double& number : numbers)
        {
            number += by;
        }
        return numbers;
    };
    const auto check = [&](Quantization data, Quantization weights, Quantization output)
    {
        CheckAll({data, weights, output}, moved(steps, data.m_ZeroPoint), {weights.m_ZeroPoint + 1.0}, {},
                 moved(whole, output.m_ZeroPoint));
    };
    check({D::QAsymmS8, {0.5f}, 3}, {D::QAsymmS8, {1.0f}, 100}, {D::QAsymmS8, {1.0f}, 7});
    check({D::QAsymmS8, {2.0f}, -120}, {D::QAsymmS8, {1.0f}, -128}, {D::QAsymmS8, {4.0f}, -120});
    check({D::QAsymmS8, {1.0f}, 120}, {D::QSymmS8, {0.5f}}, {D::QAsymmS8, {1.0f}, 0});
    check({D::QAsymmU8, {1.0f}, 7}, {D::QAsymmU8, {0.125f}, 254}, {D::QAsymmU8, {0.25f}, 251});
    check({D::QAsymmU8, {1.0f}, 248}, {D::QAsymmU8, {0.125f}, 0}, {D::QAsymmU8, {0.25f}, 4});
    check({D::QAsymmU8, {1.0f}, 128}, {D::QAsymmS8, {0.125f}, 126}, {D::QAsymmU8, {0.25f}, 128});
    check({D::QAsymmU8, {1.0f}, 128}, {D::QSymmS8, {0.125f}}, {D::QAsymmU8, {0.25f}, 5});
    check({D::QSymmS16, {0.5f}}, {D::QSymmS8, {1.0f}}, {D::QSymmS16, {1.0f}});
}

ISA_TEST(HalfEvenSums, SaturateAtBothEnds)
{
    using D = DataType;
    const Products int8{{D::QAsymmS8, {1.0f}, 0}, {D::QAsymmS8, {1.0f}, 0}, {D::QAsymmS8, {2.0f}, 10}};
    CheckAll(int8, {-128, -70, -69, 0, 58, 59, 60, 127}, {4}, {}, {-128, -128, -128, 10, 126, 127, 127, 127});
    const Products uint8{{D::QAsymmU8, {1.0f}, 100}, {D::QAsymmU8, {1.0f}, 0}, {D::QAsymmU8, {2.0f}, 20}};
    CheckAll(uint8, {0, 90, 91, 99, 217, 218, 255}, {4}, {}, {0, 0, 2, 18, 254, 255, 255});
    const Products mixed{{D::QAsymmU8, {1.0f}, 100}, {D::QSymmS8, {1.0f}}, {D::QAsymmU8, {2.0f}, 20}};
    CheckAll(mixed, {0, 90, 91, 109, 110, 255}, {-4}, {}, {220, 40, 38, 2, 0, 0});
}

// Channels with a bias and a scale each: halves, thirds, and a scale that takes all but 0 out of the type.
ISA_TEST(HalfEvenSums, PerAxisScalesAndBias)
{
    using D = DataType;
    const std::vector<float> scales = {0.5f, 0.25f, 1024.0f, 1.0f / 1024.0f};
    const Products int8{{D::QAsymmS8, {1.0f}, -1}, {D::QSymmS8, scales}, {D::QAsymmS8, {1.0f}, 2}};
    // Sums 1 * weight + bias and -3 * weight + bias: 5, -10, 1, 512 and -7, 10, 1, 1536 steps of the channels' scales.
    CheckAll(int8, {0, -4}, {3, -5, 0, -128}, {2, -5, 1, 640}, {4, 0, 127, 2, -2, 4, 127, 3});
    const Products uint8{{D::QAsymmU8, {1.0f}, 128}, {D::QSymmS8, scales}, {D::QAsymmU8, {1.0f}, 2}};
    CheckAll(uint8, {129, 125}, {3, -5, 0, -128}, {2, -5, -1, 640}, {4, 0, 0, 2, 0, 4, 0, 3});
}

// The sum becomes Float32 before it is multiplied, and the product is one of Float32.
ISA_TEST(HalfEvenSums, ComputeInFloat32)
{
    using D = DataType;
    // 2^24 + 1 becomes 2^24, half a step; 2^24 + 3 becomes 2^24 + 4.
    const Products wide{{D::QAsymmS8, {0x1p-25f}, 0}, {D::QAsymmS8, {1.0f}, 0}, {D::QAsymmS8, {1.0f}, 9}};
    CheckAll(wide, {0}, {1, 1, 1, 1}, {16777217, 16777219, -16777217, -16777219}, {9, 10, 9, 8});
    // A third of a half as Float32 is a little more than that; three times it in Float32 is 0.5 again.
    const float sixth = static_cast<float>(0.5 / 3);
    EXPECT_GT(3 * double{sixth}, 0.5);
    const Products thirds{{D::QAsymmS8, {sixth}, 0}, {D::QAsymmS8, {1.0f}, 0}, {D::QAsymmS8, {1.0f}, 0}};
    CheckAll(thirds, {3, -3, 9, -9}, {1}, {}, {0, 0, 2, -2});
    // (scale of the data * scale of the weights) / scale of the output, each in Float32.
    const float tenth = 0.1f;
    const float output = 0.3f;
    const Products tenths{{D::QAsymmS8, {tenth}, 0}, {D::QAsymmS8, {output}, 0}, {D::QAsymmS8, {output}, 0}};
    Numbers data;
    Numbers expected;
    for (int i = -128; i < 128; ++i)
    {
        data.push_back(i);
        expected.push_back(
            RoundHalfEven(double{MultiplyF32(static_cast<float>(i), FactorOfSums(tenth, output, output))}));
    }
    CheckAll(tenths, data, {1}, {}, expected);
}

// Quotients of scales beyond Float32 are bounded, so that a sum of 0 stays 0; products below it vanish.
ISA_TEST(HalfEvenSums, FactorsAtTheEndsOfFloat32)
{
    using D = DataType;
    const Numbers data = {-128, -1, 0, 1, 127};
    const Products huge{{D::QAsymmS8, {1e30f}, 0}, {D::QAsymmS8, {1e30f}, 0}, {D::QAsymmS8, {1.0f}, 5}};
    CheckAll(huge, data, {1}, {}, {-128, -128, 5, 127, 127});
    CheckAll(huge, data, {-1}, {}, {127, 127, 5, -128, -128});
    const Products fine{{D::QAsymmS8, {1e20f}, 0}, {D::QSymmS8, {1e10f, 1.0f}}, {D::QAsymmS8, {1e-30f}, -5}};
    CheckAll(fine, data, {1, 1}, {}, {-128, -128, -128, -128, -5, -5, 127, 127, 127, 127});
    const Products tiny{{D::QAsymmU8, {1e-30f}, 0}, {D::QAsymmU8, {1e-30f}, 0}, {D::QAsymmU8, {1.0f}, 5}};
    CheckAll(tiny, {0, 1, 255}, {1}, {}, {5, 5, 5});
    const Products large{{D::QAsymmU8, {1.0f}, 0}, {D::QAsymmU8, {1.0f}, 0}, {D::QAsymmU8, {1e38f}, 5}};
    CheckAll(large, {0, 1, 255}, {255}, {}, {5, 5, 5});
}

// Sums of 16-bit data are exact in 64 bits before they become Float32.
ISA_TEST(HalfEvenSums, OfShortsHave64Bits)
{
    using D = DataType;
    const Products wide{{D::QSymmS16, {0x1p-32f}}, {D::QSymmS8, {1.0f}}, {D::QSymmS16, {1.0f}}, D::Signed64};
    const double half = 0x1p31;
    CheckAll(wide, {0}, {1, 1, 1, 1, 1}, {3 * half, 5 * half, -3 * half, 6 * half, 1e17}, {2, 2, -2, 3, 32767});
}

// A bound is rounded as the activation says; the sum always to even.
ISA_TEST(HalfEvenSums, FusedClamps)
{
    using D = DataType;
    const Products p{{D::QAsymmS8, {0.5f}, 0}, {D::QAsymmS8, {1.0f}, 0}, {D::QAsymmS8, {1.0f}, -10}};
    const Numbers data = {-128, -5, -3, 0, 3, 5, 7, 11, 127};
    ActivationDescriptor relu(ActivationFunction::ReLu);
    ActivationDescriptor bounded(ActivationFunction::BoundedReLu, 4.5f, -2.5f);
    ActivationDescriptor boundedToEven = bounded;
    boundedToEven.m_Requantization = HalfEven;
    const std::pair<const ActivationDescriptor*, Numbers> clamps[] = {
        {nullptr, {-74, -12, -12, -10, -8, -8, -6, -4, 54}},
        {&relu, {-10, -10, -10, -10, -8, -8, -6, -4, 54}},
        {&bounded, {-13, -12, -12, -10, -8, -8, -6, -5, -5}},
        {&boundedToEven, {-12, -12, -12, -10, -8, -8, -6, -6, -6}}};
    for (const LayerType type : WeightedLayers)
    {
        for (const auto& [activation, expected] : clamps)
        {
            OpCase op = MakeCase(type, p, data, {1}, {});
            op.m_FusedActivation = activation;
            CheckStored(op, expected);
        }
    }
}

// Unlike TFLite's: the bias is the sum.
ISA_TEST(HalfEvenSums, OfNothingAreTheBias)
{
    const TensorInfo output({2, 3}, DataType::QAsymmS8, 1.0f, 5);
    OpCase op;
    op.m_Name = "no inputs";
    op.m_Type = LayerType::FullyConnected;
    op.m_Descriptor = Describe<FullyConnectedDescriptor>(HalfEven, true);
    op.m_Inputs = {Stored(TensorInfo({2, 0}, DataType::QAsymmS8, 0.5f, 1), {}),
                   Constant(Stored(TensorInfo({3, 0}, DataType::QAsymmS8, 1.0f, 0), {})),
                   Constant(Stored(TensorInfo({3}, DataType::Signed32), {3, -1000, -5}))};
    op.m_Output = output;
    op.m_Steps = 0;
    CheckStored(op, {7, -128, 3, 7, -128, 3});
}

// TFLite's layout: blocks of 4 outputs by 16 inputs, and a zero point of 128 for all.
ISA_TEST(HalfEvenSums, ShuffledWeights)
{
    Numbers data(16, 128);
    data[2] = 129;
    Numbers weights(64, 0);
    const Numbers signedWeights = {1, 3, -1, -3};
    for (size_t o = 0; o < 4; ++o)
    {
        weights[o * 16 + 2] = signedWeights[o] < 0 ? signedWeights[o] + 256 : signedWeights[o];
    }
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    descriptor.m_ShuffledWeights = true;
    descriptor.m_Requantization = HalfEven;
    OpCase op;
    op.m_Name = "shuffled weights";
    op.m_Type = LayerType::FullyConnected;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {Stored(TensorInfo({1, 16}, DataType::QAsymmU8, 0.5f, 128), data),
                   Constant(Stored(TensorInfo({4, 16}, DataType::QAsymmU8, 1.0f, 128), weights))};
    op.m_Output = TensorInfo({1, 4}, DataType::QSymmS16, 1.0f, 0);
    op.m_MoreOutputs = {TensorInfo({1, 16}, DataType::QAsymmU8, 1.0f, 0)};
    op.m_Steps = 0;
    op.m_Oracle = [](const std::vector<RealTensor>&)
    {
        Numbers expected(20, 0); // the numbers, and the data with the top bit flipped
        expected[1] = 2;
        expected[3] = -2;
        expected[4 + 2] = 1;
        return expected;
    };
    CheckOp(op);
}

// TFLite has no kernels for uint8 data with signed weights: in fixed point such layers run through Float32.
ISA_TEST(HalfEvenSums, Uint8DataWithSignedWeightsIsNotForFixedPoint)
{
    using D = DataType;
    const Products p{{D::QAsymmU8, {0.5f}, 100}, {D::QAsymmS8, {1.0f}, 0}, {D::QAsymmU8, {1.0f}, 9}};
    for (const LayerType type : WeightedLayers)
    {
        const std::string own = std::string("Ref") + GetLayerTypeAsCString(type);
        EXPECT_EQ(KernelOf(MakeCase(type, p, {101, 103}, {1}, {2})), own);
        const OpCase fixed = MakeCase(type, p, {101, 103}, {1}, {2}, FixedPoint);
        EXPECT_EQ(KernelOf(fixed), own + "AsFloat");
        CheckStored(fixed, {11, 12}); // 1.5 and 2.5 steps, away from zero
        // Nothing runs 4-bit weights through Float32.
        const auto withNibbles = [&](RequantizationMode mode)
        {
            OpCase op = MakeCase(type, p, {101, 105}, {1}, {2}, mode);
            op.m_Inputs[1].m_Info.SetDataType(DataType::QSymmS4);
            return op;
        };
        EXPECT_EQ(RunOp(*GetTestBackends().front(), withNibbles(HalfEven), RunVariant()),
                  (std::vector<std::byte>{std::byte{11}, std::byte{13}}));
        CheckUnsupported(withNibbles(FixedPoint), SupportCode::UnsupportedType,
                         "only for RequantizationMode::FloatHalfEven");
    }
}

ISA_TEST(HalfEvenSums, AreRefused)
{
    using D = DataType;
    const Products p{{D::QAsymmS8, {0.5f}, 0}, {D::QAsymmS8, {1.0f}, 0}, {D::QAsymmS8, {1.0f}, 9}};
    for (const LayerType type : WeightedLayers)
    {
        const auto refuse = [type](const Products& refused, SupportCode code, const char* reason) {
            CheckUnsupported(MakeCase(type, refused, {1, 3}, {1}, {2}), code, reason);
        };
        Products other = p;
        other.m_Output = {D::Signed32, {1.0f}};
        refuse(other, SupportCode::UnsupportedType, "output 0");
        // Types and zero points that run through Float32 in fixed point.
        other = p;
        other.m_Data.m_Type = D::QSymmS8;
        refuse(other, SupportCode::UnsupportedType, "input 0");
        other = p;
        other.m_Output.m_ZeroPoint = 200;
        refuse(other, SupportCode::UnsupportedParameters, "zero point");
        other = p;
        other.m_Weights.m_ZeroPoint = -129;
        refuse(other, SupportCode::UnsupportedParameters, "zero point");
    }
    Products mixed = p;
    mixed.m_Data.m_Type = mixed.m_Output.m_Type = D::QAsymmU8;
    CheckUnsupported(MakeCase(LayerType::BatchMatMul, mixed, {1, 3}, {1}, {}), SupportCode::UnsupportedType, "input 1");
}

// A product of bytes without a scale says a mode in vain.
ISA_TEST(HalfEvenSums, PlainOutputsIgnoreTheMode)
{
    using D = DataType;
    const Products p{{D::QAsymmS8, {0.5f}, 3}, {D::QAsymmS8, {1.0f}, 4}, {D::Signed32, {1.0f}}};
    CheckStored(MakeCase(LayerType::BatchMatMul, p, {-128, 5, 127}, {-128, 3}, {}),
                {16384, -384, -640, 15, -16256, 381});
    const Products floats{{D::Float32, {0.0f}}, {D::Float32, {0.0f}}, {D::Float32, {0.0f}}, D::Float32};
    for (const LayerType type : WeightedLayers)
    {
        CheckStored(MakeCase(type, floats, {0.5, -3}, {1.5, 2}, {0.25, 1}), {1, 2, -4.25, -5});
    }
}

} // namespace tenon::test::half_even_sums_test
