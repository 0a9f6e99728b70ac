// SPDX-License-Identifier: Apache-2.0
// Convolutions and fully connected layers of bytes with RequantizationMode::FloatHalfEven, by all of the kernels with
// constant weights, and fully connected ones with weights of the run: ties, saturation, clamps.
#include "ops/cpu/HalfEvenInt8.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test::gemm_int8_half_even_test
{

namespace
{

constexpr float DataScale = 0.5f;
constexpr float OutputScale = 0.25f;
constexpr float Unit = OutputScale / DataScale; ///< scale of weights whose products are steps of the output

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    TensorShape m_Weights; ///< [O, H, W, channels of a group]
    uint32_t m_Stride = 1;
    uint32_t m_Pad = 0;
    uint32_t m_Dilation = 1;
};

const Case Cases[] = {
    {"pixels", {1, 5, 7, 32}, {40, 1, 1, 32}},
    {"pixels of odd sizes", {2, 3, 5, 13}, {19, 1, 1, 13}},
    {"pixels of few outputs", {1, 9, 8, 96}, {3, 1, 1, 96}},
    {"pixels of many outputs", {1, 5, 5, 44}, {107, 1, 1, 44}},
    {"one pixel", {1, 1, 1, 96}, {67, 1, 1, 96}},
    {"many channels", {1, 3, 4, 600}, {24, 1, 1, 600}},
    {"3x3", {1, 9, 8, 16}, {33, 3, 3, 16}, 1, 1},
    {"3x3 of half a vector", {2, 7, 7, 24}, {8, 3, 3, 24}, 1, 1},
    {"3x3 of few channels, stride 2", {1, 17, 16, 3}, {24, 3, 3, 3}, 2, 1},
    {"dilated windows", {1, 11, 10, 20}, {17, 3, 2, 20}, 1, 2, 2},
    {"groups of whole vectors", {1, 6, 6, 64}, {64, 3, 3, 32}, 1, 1},
    {"groups of odd sizes", {1, 5, 7, 21}, {15, 1, 1, 7}},
    {"groups of four", {1, 12, 11, 40}, {40, 3, 3, 4}, 1, 1},
};

/// What the layers of a case differ in.
struct Quantization
{
    bool m_IsSigned = true;
    bool m_IsPerAxis = false;    ///< the weights
    unsigned int m_AboveMin = 0; ///< zero point of the output, above the smallest value
    bool m_HasClamp = false;
};

void ForEachQuantization(void (*run)(const Quantization& quantization))
{
    unsigned int i = 0;
    for (const unsigned int aboveMin : {0U, 9U, 128U, 255U})
    {
        for (const bool hasClamp : {false, true})
        {
            for (int kind = 0; kind < 3; ++kind)
            {
                SCOPED_TRACE("quantization " + std::to_string(i++));
                ASSERT_NO_FATAL_FAILURE(run({kind != 0, kind == 1, aboveMin, hasClamp}));
            }
        }
    }
}

ActivationDescriptor MakeClamp()
{
    ActivationDescriptor clamp(ActivationFunction::BoundedReLu, 12.5f * OutputScale, -2.5f * OutputScale);
    clamp.m_Requantization = RequantizationMode::FloatHalfEven;
    return clamp;
}

TensorInfo MakeData(const TensorShape& shape, const Quantization& q)
{
    return InfoInt8(shape, q.m_IsSigned, DataScale, (q.m_IsSigned ? -128 : 0) + 100);
}

TensorInfo MakeOutput(const TensorShape& shape, const Quantization& q)
{
    return InfoInt8(shape, q.m_IsSigned, OutputScale, (q.m_IsSigned ? -128 : 0) + static_cast<int32_t>(q.m_AboveMin));
}

Convolution2dDescriptor Describe(const Case& c)
{
    Convolution2dDescriptor d;
    d.m_StrideX = d.m_StrideY = c.m_Stride;
    d.m_PadTop = d.m_PadBottom = d.m_PadLeft = d.m_PadRight = c.m_Pad;
    d.m_DilationX = d.m_DilationY = c.m_Dilation;
    d.m_BiasEnabled = true;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_Requantization = RequantizationMode::FloatHalfEven;
    return d;
}

TensorShape GetOutputShape(const Case& c)
{
    const auto count = [&c](unsigned int size, unsigned int window)
    { return (size + 2 * c.m_Pad - c.m_Dilation * (window - 1) - 1) / c.m_Stride + 1; };
    return {c.m_Data[0], count(c.m_Data[1], c.m_Weights[1]), count(c.m_Data[2], c.m_Weights[2]), c.m_Weights[0]};
}

/// The stored values of a FullyConnected by weights [columns, depth]: each row is a pixel.
std::vector<double> ConnectHalfEven(OpCase op)
{
    const TensorShape rows = op.m_Inputs[0].m_Info.GetShape();
    const TensorShape weights = op.m_Inputs[1].m_Info.GetShape();
    op.m_Inputs[0].m_Info.SetShape({rows[0], 1, 1, rows[1]});
    op.m_Inputs[1].m_Info.SetShape({weights[0], 1, 1, weights[1]});
    op.m_Output.SetShape({rows[0], 1, 1, weights[0]});
    Convolution2dDescriptor d;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_BiasEnabled = op.m_Inputs.size() > 2;
    return ConvolveHalfEven(op, d);
}

void ExpectConnectedHalfEven(const OpCase& op, const std::string& kernel)
{
    SCOPED_TRACE(op.m_Name);
    const std::vector<std::byte> bytes = RunOp(FindTestBackend(Compute::CpuRef), op, {});
    ASSERT_EQ(GetStored(op.m_Output, bytes.data()), ConnectHalfEven(op));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, kernel));
}

/// Data or weights of -1, 0 and 1 step.
TestTensor MakeFewSteps(const TensorInfo& info, size_t seed)
{
    std::vector<double> stored;
    for (size_t k = 0; k < info.GetNumElements(); ++k)
    {
        stored.push_back(info.GetQuantizationOffset() + static_cast<double>((k * 7 + k / 5 + seed) % 3) - 1);
    }
    return Stored(info, stored);
}

} // namespace

ISA_TEST(GemmInt8HalfEven, Convolutions)
{
    ForEachQuantization(
        [](const Quantization& q)
        {
            const ActivationDescriptor clamp = MakeClamp();
            for (const Case& c : Cases)
            {
                const Convolution2dDescriptor d = Describe(c);
                const TestTensor weights = MakeTieWeights(c.m_Weights, 0, q.m_IsSigned, q.m_IsPerAxis, Unit, -9);
                OpCase op = ReferenceCase(c.m_Name, LayerType::Convolution2d, d,
                                          {Random(MakeData(c.m_Data, q), c.m_Weights[0]), Constant(weights),
                                           Constant(MakeTieBias(weights.m_Info, 0, Unit))},
                                          MakeOutput(GetOutputShape(c), q));
                op.m_FusedActivation = q.m_HasClamp ? &clamp : nullptr;
                ASSERT_NO_FATAL_FAILURE(ExpectHalfEven(op, d, ""));
                std::string kernel;
                RunOp(FindTestBackend(Compute::CpuAcc), op, {}, &kernel);
                EXPECT_EQ(kernel.find("Ref") == std::string::npos, cpu::GetCpuFeatures().m_Simd) << kernel;
            }
        });
}

ISA_TEST(GemmInt8HalfEven, FullyConnected)
{
    ForEachQuantization(
        [](const Quantization& q)
        {
            const ActivationDescriptor clamp = MakeClamp();
            FullyConnectedDescriptor d;
            d.m_BiasEnabled = true;
            d.m_TransposeWeightMatrix = true;
            d.m_Requantization = RequantizationMode::FloatHalfEven;
            for (const unsigned int rows : {1U, 3U, 17U})
            {
                for (const unsigned int columns : {2U, 19U, 64U})
                {
                    constexpr unsigned int Depth = 75;
                    const TestTensor weights =
                        MakeTieWeights({columns, Depth}, 0, q.m_IsSigned, q.m_IsPerAxis, Unit, -9);
                    const TestTensor bias = MakeTieBias(weights.m_Info, 0, Unit);
                    OpCase op = ReferenceCase(
                        std::to_string(rows) + " rows, " + std::to_string(columns) + " columns",
                        LayerType::FullyConnected, d,
                        {Random(MakeData(TensorShape({rows, Depth}), q), rows), Constant(weights), Constant(bias)},
                        MakeOutput(TensorShape({rows, columns}), q));
                    op.m_FusedActivation = q.m_HasClamp ? &clamp : nullptr;
                    ASSERT_NO_FATAL_FAILURE(ExpectConnectedHalfEven(op, "CpuFullyConnectedInt8"));
                    op.m_Inputs[1] = weights;
                    op.m_Inputs[2] = bias;
                    ASSERT_NO_FATAL_FAILURE(
                        ExpectConnectedHalfEven(op, rows > 8 ? "CpuFullyConnectedRunTimeInt8" : ""));
                }
            }
        });
}

// Products beyond int32 saturate, also by factors that are no finite floats.
ISA_TEST(GemmInt8HalfEven, FloatsBeyondInt32Saturate)
{
    Convolution2dDescriptor d = Describe(Cases[0]);
    d.m_BiasEnabled = false;
    for (const float weightScale : {1.0f, 1e9f, 1e30f})
    {
        for (const unsigned int columns : {1U, 7U, 16U, 71U})
        {
            for (const unsigned int pixels : {1U, 6U, 20U})
            {
                const TensorInfo data = InfoInt8({1, 1, pixels, 40}, true, std::min(weightScale, 1e20f), 2);
                const TensorInfo weights({columns, 1, 1, 40}, DataType::QSymmS8, weightScale, 0);
                ASSERT_NO_FATAL_FAILURE(ExpectHalfEven(
                    ReferenceCase("scale " + std::to_string(weightScale) + ", " + std::to_string(columns) + " columns",
                                  LayerType::Convolution2d, d,
                                  {MakeFewSteps(data, 1), Constant(MakeFewSteps(weights, columns))},
                                  InfoInt8({1, 1, pixels, columns}, true, 0.01f, -7)),
                    d, "CpuConvolution2dInt8"));
            }
        }
    }
}

} // namespace tenon::test::gemm_int8_half_even_test
