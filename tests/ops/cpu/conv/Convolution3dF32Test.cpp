// SPDX-License-Identifier: Apache-2.0
// Convolution3d of CpuAcc against CpuRef, and layers that CpuAcc leaves to CpuRef.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <cmath>
#include <random>

namespace tenon::test::convolution3d_f32_test
{

namespace
{

constexpr const char* Kernel = "CpuConvolution3dF32";
constexpr double OfLargest = 1e-5;

struct Axis
{
    uint32_t m_Stride = 1;
    uint32_t m_Pad = 0;
    uint32_t m_Dilation = 1;
};

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    TensorShape m_Weights; ///< [D, H, W, I, O]
    Axis m_Z = {};
    Axis m_Y = {};
    Axis m_X = {};
    bool m_HasBias = true;
};

const Case Cases[] = {
    {"3x3x3, padded", {1, 6, 9, 8, 8}, {3, 3, 3, 8, 16}, {1, 1}, {1, 1}, {1, 1}},
    {"no padding, odd channels", {2, 5, 6, 7, 3}, {2, 3, 2, 3, 5}},
    {"strides in all directions", {1, 7, 9, 8, 4}, {3, 3, 3, 4, 9}, {2, 1}, {2, 1}, {3, 1}},
    {"dilated", {1, 8, 9, 10, 6}, {3, 2, 3, 6, 8}, {1, 2, 2}, {1, 1, 2}, {1, 2, 2}},
    {"frames of padding alone", {1, 2, 5, 5, 4}, {2, 3, 3, 4, 8}, {1, 4}, {1, 1}, {1, 1}},
    {"pixels", {2, 3, 4, 5, 16}, {1, 1, 1, 16, 24}},
    {"pixels of several frames", {1, 6, 4, 5, 16}, {3, 1, 1, 16, 24}, {1, 1}},
    {"deep windows, no bias", {1, 4, 6, 6, 70}, {3, 3, 3, 70, 20}, {1, 1}, {1, 1}, {1, 1}, false},
    {"many pixels", {1, 8, 40, 41, 8}, {3, 3, 3, 8, 8}, {1, 1}, {1, 1}, {1, 1}},
};

unsigned int CountOutputs(unsigned int input, unsigned int kernel, const Axis& axis)
{
    return (input + 2 * axis.m_Pad - axis.m_Dilation * (kernel - 1) - 1) / axis.m_Stride + 1;
}

OpCase MakeOp(const Case& c)
{
    Convolution3dDescriptor d;
    d.m_StrideZ = c.m_Z.m_Stride;
    d.m_StrideY = c.m_Y.m_Stride;
    d.m_StrideX = c.m_X.m_Stride;
    d.m_DilationZ = c.m_Z.m_Dilation;
    d.m_DilationY = c.m_Y.m_Dilation;
    d.m_DilationX = c.m_X.m_Dilation;
    d.m_PadFront = d.m_PadBack = c.m_Z.m_Pad;
    d.m_PadTop = d.m_PadBottom = c.m_Y.m_Pad;
    d.m_PadLeft = d.m_PadRight = c.m_X.m_Pad;
    d.m_BiasEnabled = c.m_HasBias;
    d.m_DataLayout = DataLayout::NDHWC;
    const TensorShape output({c.m_Data[0], CountOutputs(c.m_Data[1], c.m_Weights[0], c.m_Z),
                              CountOutputs(c.m_Data[2], c.m_Weights[1], c.m_Y),
                              CountOutputs(c.m_Data[3], c.m_Weights[2], c.m_X), c.m_Weights[4]});
    const auto floats = [](const TensorShape& shape) { return TensorInfo(shape, DataType::Float32); };
    std::vector<TestTensor> inputs = {Random(floats(c.m_Data), 1, -1, 1),
                                      Constant(Random(floats(c.m_Weights), 2, -1, 1))};
    if (c.m_HasBias)
    {
        inputs.push_back(Constant(Random(floats(TensorShape({c.m_Weights[4]})), 3, -1, 1)));
    }
    return ReferenceCase(c.m_Name, LayerType::Convolution3d, d, std::move(inputs), floats(output));
}

} // namespace

ISA_TEST(Convolution3dF32, AsReference)
{
    for (const Case& c : Cases)
    {
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeOp(c), Kernel, OfLargest));
    }
}

ISA_TEST(Convolution3dF32, RandomSizes)
{
    std::mt19937 random(9);
    const auto pick = [&random](unsigned int least, unsigned int most)
    { return std::uniform_int_distribution<unsigned int>(least, most)(random); };
    for (int i = 0; i < 30; ++i)
    {
        const unsigned int channels = pick(1, 12);
        Case c = {"random",
                  {pick(1, 2), pick(5, 8), pick(5, 10), pick(5, 10), channels},
                  {pick(1, 3), pick(1, 3), pick(1, 3), channels, pick(1, 20)}};
        for (Axis* axis : {&c.m_Z, &c.m_Y, &c.m_X})
        {
            *axis = {pick(1, 3), pick(0, 3), pick(1, 2)};
        }
        SCOPED_TRACE("case " + std::to_string(i) + ", " + c.m_Data.ToString() + " by " + c.m_Weights.ToString());
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeOp(c), Kernel, OfLargest));
    }
}

// The reference kernel fuses no activation, so its results are clamped here.
ISA_TEST(Convolution3dF32, AppliesActivations)
{
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::BoundedReLu;
    relu.m_A = 1.5f;
    for (const Case& c : Cases)
    {
        SCOPED_TRACE(c.m_Name);
        OpCase op = MakeOp(c);
        if (!cpu::GetCpuFeatures().m_Simd)
        {
            ISA_SKIP() << "without vectors the reference kernels run";
        }
        std::vector<double> want = GetStored(op.m_Output, RunOp(FindTestBackend(Compute::CpuRef), op, {}).data());
        // The tolerance is that of the sums before the clamp.
        double largest = 1.5;
        for (double& x : want)
        {
            largest = std::max(largest, std::abs(x));
            x = std::clamp(x, 0.0, 1.5);
        }
        op.m_FusedActivation = &relu;
        std::string name;
        RunVariant variant;
        variant.m_Constants = true;
        const std::vector<std::byte> got = RunOp(FindTestBackend(Compute::CpuAcc), op, variant, &name);
        EXPECT_EQ(name, std::string(Kernel) + "+Activation");
        ASSERT_NO_FATAL_FAILURE(ExpectNear(op, GetStored(op.m_Output, got.data()), want, OfLargest * largest / 1.5));
    }
}

ISA_TEST(Convolution3dF32, ShapesThatDoNotFit)
{
    OpCase op = MakeOp(Cases[0]);
    op.m_Output.SetShape({2, 6, 9, 8, 16});
    CheckRejectsShapes(op, "do not fit"); // on both backends
}

} // namespace tenon::test::convolution3d_f32_test
