// SPDX-License-Identifier: Apache-2.0
// WinogradF32 with FastMathEnabled, compared with sums in double precision: sizes that divide into tiles of 4x4 outputs
// and into strips in different ways; and which layers are supported.
#include "ops/WeightedSumOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tenon::test::winograd_f32_test
{

namespace
{

/// CpuAcc with the option, as a model sees it.
class FastMath final : public IBackend
{
public:
    const BackendId& GetId() const override { return m_CpuAcc.GetId(); }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions&) const override
    {
        return m_CpuAcc.GetLayerSupport(m_Options);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions&) const override
    {
        return m_CpuAcc.CreateWorkloadFactory(m_Options);
    }

private:
    const IBackend& m_CpuAcc = FindTestBackend(Compute::CpuAcc);
    ModelOptions m_Options = {BackendOptions("CpuAcc", {{"FastMathEnabled", true}})};
};

constexpr const char* Winograd = "CpuConvolution2dWinogradF32";
constexpr const char* Products = "CpuConvolution2dF32";

struct Case
{
    TensorShape m_Data;
    unsigned int m_Outputs = 1;
    unsigned int m_PadTop = 0;
    unsigned int m_PadLeft = 0;
    unsigned int m_PadBottom = 0;
    unsigned int m_PadRight = 0;
    bool m_HasBias = true;
};

OpCase MakeOp(const Case& c, uint32_t seed, const Convolution2dDescriptor& like = {})
{
    Convolution2dDescriptor descriptor = like;
    descriptor.m_PadTop = c.m_PadTop;
    descriptor.m_PadLeft = c.m_PadLeft;
    descriptor.m_PadBottom = c.m_PadBottom;
    descriptor.m_PadRight = c.m_PadRight;
    descriptor.m_StrideX = descriptor.m_StrideY = std::max(1U, descriptor.m_StrideX);
    descriptor.m_BiasEnabled = c.m_HasBias;
    descriptor.m_DataLayout = DataLayout::NHWC;
    const auto random = [&seed](const TensorShape& shape)
    { return Random(TensorInfo(shape, DataType::Float32), seed++, -1, 1); };
    std::vector<TestTensor> inputs = {random(c.m_Data), Constant(random({c.m_Outputs, 3, 3, c.m_Data[3]}))};
    if (c.m_HasBias)
    {
        inputs.push_back(Constant(random({c.m_Outputs})));
    }
    WindowSum sum;
    sum.m_PadTop = c.m_PadTop;
    sum.m_PadLeft = c.m_PadLeft;
    sum.m_StrideX = sum.m_StrideY = descriptor.m_StrideX;
    sum.m_DilationX = sum.m_DilationY = descriptor.m_DilationX;
    const unsigned int window = 2 * descriptor.m_DilationX + 1;
    sum.m_Output =
        TensorShape({c.m_Data[0], (c.m_Data[1] + c.m_PadTop + c.m_PadBottom - window) / descriptor.m_StrideY + 1,
                     (c.m_Data[2] + c.m_PadLeft + c.m_PadRight - window) / descriptor.m_StrideX + 1, c.m_Outputs});
    return {"3x3 of " + c.m_Data.ToString() + " to " + sum.m_Output.ToString(),
            LayerType::Convolution2d,
            MakeDescriptor(descriptor),
            std::move(inputs),
            TensorInfo(sum.m_Output, DataType::Float32),
            sum};
}

std::vector<double> AskOracle(const OpCase& op)
{
    std::vector<RealTensor> inputs;
    for (const TestTensor& input : op.m_Inputs)
    {
        inputs.push_back(GetReal(input.m_Info, input.m_Bytes.data()));
    }
    return op.m_Oracle(inputs);
}

/// The error bound of this transform. Sums of 9 * channels products of random numbers in [-1, 1] have a root mean
/// square of sqrt(channels); the root mean square of the errors, relative to it, is at most this. (Exact products have
/// about half of it. The interpolation points 0, +-1, +-2 and infinity exceed it.)
double GetRmsBound(unsigned int channels)
{
    return 2e-7 + 1.3e-7 * std::sqrt(channels);
}

/// No error exceeds this multiple of the root mean square of all errors.
constexpr double Peak = 16;

/// Runs the case with fast math on several numbers of threads, which must give identical bits; returns the values.
std::vector<double> RunFast(const OpCase& op, const std::string& kernel)
{
    const FastMath fastMath;
    std::string name;
    const std::vector<std::byte> bytes = RunOp(fastMath, op, {true, 1, -1}, &name);
    if (cpu::GetCpuFeatures().m_Simd)
    {
        EXPECT_EQ(name, op.m_FusedActivation != nullptr ? kernel + "+Activation" : kernel) << op.m_Name;
    }
    for (const unsigned int threads : {2U, 3U})
    {
        EXPECT_TRUE(RunOp(fastMath, op, {true, threads, -1}) == bytes) << op.m_Name << ": threads change the result";
    }
    return GetStored(op.m_Output, bytes.data());
}

void CheckFast(const OpCase& op, double low = -1e30, double high = 1e30)
{
    SCOPED_TRACE(op.m_Name);
    const unsigned int channels = op.m_Inputs[0].m_Info.GetShape()[3];
    const double bound = Peak * GetRmsBound(channels) * std::sqrt(channels);
    const std::vector<double> got = RunFast(op, Winograd);
    const std::vector<double> want = AskOracle(op);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
    {
        ASSERT_NEAR(got[i], std::clamp(want[i], low, high), bound) << "element " << i;
    }
}

} // namespace

ISA_TEST(WinogradF32, ManySizes)
{
    const Case cases[] = {
        {{1, 14, 14, 16}, 16},                  // whole tiles and vectors
        {{1, 12, 12, 4}, 1, 1, 1, 1, 1},        // padding, one output, a broken vector
        {{1, 13, 11, 17}, 33, 1, 1, 1, 1},      // broken tiles, a channel and a column over
        {{2, 9, 10, 8}, 7, 0, 0, 1, 1},         // several images, padding at the ends alone
        {{1, 10, 9, 5}, 65, 2, 1, 0, 3, false}, // several panels, uneven padding, no bias
        {{1, 6, 8, 24}, 130, 3, 4, 5, 2},       // windows that see padding alone
        {{1, 8, 7, 16}, 24, 1, 1, 1, 1},        // few tiles
        {{1, 70, 65, 4}, 16, 1, 1, 1, 1},       // many strips
        {{1, 22, 30, 129}, 20, 1, 1, 1, 1},     // strips of few tiles
        {{3, 3, 50, 6}, 12, 1, 1, 1, 1},        // flat images
        {{1, 1, 40, 8}, 8, 3, 3, 3, 3},         // less than a tile high
    };
    for (const Case& c : cases)
    {
        ASSERT_NO_FATAL_FAILURE(CheckFast(MakeOp(c, 1)));
    }
}

ISA_TEST(WinogradF32, RandomSizes)
{
    std::mt19937 random(3);
    const auto pick = [&random](unsigned int first, unsigned int last)
    { return std::uniform_int_distribution<unsigned int>(first, last)(random); };
    for (uint32_t i = 0; i < 30; ++i)
    {
        Case c = {{pick(1, 2), pick(10, 26), pick(10, 26), pick(4, 20)}, pick(1, 40)};
        c.m_PadTop = pick(0, 3);
        c.m_PadLeft = pick(0, 3);
        c.m_PadBottom = pick(0, 3);
        c.m_PadRight = pick(0, 3);
        c.m_HasBias = pick(0, 3) != 0;
        ASSERT_NO_FATAL_FAILURE(CheckFast(MakeOp(c, 10 * i)));
    }
}

ISA_TEST(WinogradF32, RoundingErrors)
{
    for (const unsigned int channels : {4U, 16U, 64U, 256U})
    {
        const OpCase op = MakeOp({{1, 26, 26, channels}, 16, 0, 0, 0, 0, false}, channels);
        const std::vector<double> got = RunFast(op, Winograd);
        const std::vector<double> want = AskOracle(op);
        double errors = 0;
        double squares = 0;
        for (size_t i = 0; i < want.size(); ++i)
        {
            errors += (got[i] - want[i]) * (got[i] - want[i]);
            squares += want[i] * want[i];
        }
        EXPECT_LE(std::sqrt(errors / squares), GetRmsBound(channels)) << channels << " channels";
    }
}

ISA_TEST(WinogradF32, AppliesActivations)
{
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::ReLu;
    OpCase op = MakeOp({{1, 13, 14, 9}, 20, 1, 1, 1, 1}, 5);
    op.m_FusedActivation = &relu;
    CheckFast(op, 0.0);

    ActivationDescriptor bounded;
    bounded.m_Function = ActivationFunction::BoundedReLu;
    bounded.m_A = 0.75f;
    bounded.m_B = -0.5f;
    op.m_FusedActivation = &bounded;
    CheckFast(op, -0.5, 0.75);
}

ISA_TEST(WinogradF32, IsLeftOutWithoutTheOption)
{
    const OpCase op = MakeOp({{1, 14, 14, 16}, 16}, 1);
    std::string kernel;
    RunOp(FindTestBackend(Compute::CpuAcc), op, {}, &kernel);
    EXPECT_EQ(kernel, cpu::GetCpuFeatures().m_Simd ? Products : "RefConvolution2d");
}

ISA_TEST(WinogradF32, LeavesOtherLayersAsTheyAre)
{
    const auto expectSame = [](const OpCase& op, const std::string& kernel)
    {
        SCOPED_TRACE(op.m_Name);
        const std::vector<std::byte> plain = RunOp(FindTestBackend(Compute::CpuAcc), op, {});
        EXPECT_EQ(RunFast(op, kernel), GetStored(op.m_Output, plain.data()));
    };
    expectSame(MakeOp({{1, 14, 14, 3}, 16}, 1), Products);              // too few channels
    expectSame(MakeOp({{1, 6, 6, 16}, 16}, 1), Products);               // too few tiles
    expectSame(MakeOp({{1, 3, 60, 16}, 16}, 1), Products);              // tiles with one row inside the output
    expectSame(MakeOp({{1, 8, 8, 256}, 520, 1, 1, 1, 1}, 1), Products); // many weights for few tiles
    Convolution2dDescriptor descriptor;
    descriptor.m_StrideX = 2;
    expectSame(MakeOp({{1, 25, 25, 16}, 8}, 1, descriptor), Products);
    descriptor.m_StrideX = 1;
    descriptor.m_DilationX = descriptor.m_DilationY = 2;
    expectSame(MakeOp({{1, 16, 16, 16}, 8}, 1, descriptor), Products);

    OpCase grouped = MakeOp({{1, 14, 14, 8}, 8}, 1);
    grouped.m_Inputs[1] = Constant(Random(TensorInfo({8, 3, 3, 4}, DataType::Float32), 2, -1, 1));
    expectSame(grouped, "CpuConvolution2dGroupsF32");
    OpCase large = MakeOp({{1, 14, 14, 8}, 8, 1, 1, 1, 1}, 1);
    large.m_Inputs[1] = Constant(Random(TensorInfo({8, 5, 5, 8}, DataType::Float32), 2, -1, 1));
    large.m_Output.SetShape({1, 12, 12, 8});
    expectSame(large, Products);
    OpCase dynamic = MakeOp({{1, 14, 14, 8}, 8}, 1);
    dynamic.m_Inputs[1].m_Constant = false;
    expectSame(dynamic, "RefConvolution2d");
}

} // namespace tenon::test::winograd_f32_test
