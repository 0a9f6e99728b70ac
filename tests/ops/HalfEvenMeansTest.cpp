// SPDX-License-Identifier: Apache-2.0
// Mean and Pooling2d by RequantizationMode::FloatHalfEven: exact sums times one factor, padding that counts and padding
// that does not, other quantizations of the output, and what is refused.
#include "ops/ElementwiseOracle.hpp"
#include "ops/HalfEvenOracle.hpp"

#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::half_even_means_test
{

namespace
{

using Numbers = std::vector<double>;

constexpr auto HalfEven = RequantizationMode::FloatHalfEven;

OpCase MakeMean(TestTensor input, const std::vector<unsigned int>& axes, const TensorInfo& output)
{
    MeanDescriptor descriptor(axes, false);
    descriptor.m_Requantization = HalfEven;
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + output.ToString();
    op.m_Type = LayerType::Mean;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {std::move(input)};
    op.m_Output = output;
    op.m_Steps = 0;
    return op;
}

OpCase MakePool(Pooling2dDescriptor descriptor, TestTensor input, const TensorInfo& output)
{
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_Requantization = HalfEven;
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + output.ToString();
    op.m_Type = LayerType::Pooling2d;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {std::move(input)};
    op.m_Output = output;
    op.m_Steps = 0;
    return op;
}

void CheckStored(OpCase op, const Numbers& expected)
{
    op.m_Oracle = Expect(op.m_Output, expected);
    CheckOp(op);
}

Pooling2dDescriptor Pool(PoolingAlgorithm algorithm, uint32_t size, uint32_t stride, uint32_t pad,
                         PaddingMethod method = PaddingMethod::Exclude)
{
    Pooling2dDescriptor d;
    d.m_PoolType = algorithm;
    d.m_PoolHeight = d.m_PoolWidth = size;
    d.m_StrideX = d.m_StrideY = stride;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = pad;
    d.m_PaddingMethod = method;
    return d;
}

/// The stored averages of windows over NHWC data.
Numbers AverageWindows(const Pooling2dDescriptor& d, const TestTensor& input, const TensorInfo& output)
{
    const RealTensor steps = GetSteps(input);
    const TensorShape& shape = output.GetShape();
    Numbers expected;
    for (int64_t n = 0; n < shape[0]; ++n)
    {
        for (int64_t y = 0; y < shape[1]; ++y)
        {
            for (int64_t x = 0; x < shape[2]; ++x)
            {
                for (int64_t c = 0; c < shape[3]; ++c)
                {
                    int64_t sum = 0;
                    size_t inside = 0;
                    size_t padded = 0;
                    for (int64_t i = 0; i < int64_t{d.m_PoolHeight} * d.m_PoolWidth; ++i)
                    {
                        const int64_t iy = y * d.m_StrideY - d.m_PadTop + i / d.m_PoolWidth;
                        const int64_t ix = x * d.m_StrideX - d.m_PadLeft + i % d.m_PoolWidth;
                        padded += iy < steps.Dim(1) + d.m_PadBottom && ix < steps.Dim(2) + d.m_PadRight ? 1 : 0;
                        if (iy >= 0 && iy < steps.Dim(1) && ix >= 0 && ix < steps.Dim(2))
                        {
                            ++inside;
                            sum += static_cast<int64_t>(steps.At(n, iy, ix, c));
                        }
                    }
                    const size_t count = d.m_PaddingMethod == PaddingMethod::Exclude ? inside : padded;
                    expected.push_back(inside == 0
                                           ? output.GetQuantizationOffset()
                                           : RescaleHalfEven(sum, FactorOfMeans(input.m_Info, output, count), output));
                }
            }
        }
    }
    return expected;
}

/// Quantizations of data and of output.
const std::pair<TensorInfo, TensorInfo> Quantizations[] = {
    {{TensorShape({1}), DataType::QAsymmS8, 0.1f, 7}, {TensorShape({1}), DataType::QAsymmS8, 0.1f, 7}},
    {{TensorShape({1}), DataType::QAsymmS8, 0.1f, -100}, {TensorShape({1}), DataType::QAsymmS8, 0.07f, 30}},
    {{TensorShape({1}), DataType::QAsymmU8, 0.25f, 130}, {TensorShape({1}), DataType::QAsymmU8, 0.5f, 3}},
    {{TensorShape({1}), DataType::QAsymmU8, 0.3f, 255}, {TensorShape({1}), DataType::QAsymmU8, 0.01f, 255}},
    {{TensorShape({1}), DataType::QSymmS16, 0.001f, 0}, {TensorShape({1}), DataType::QSymmS16, 0.0007f, 0}}};

TensorInfo WithShape(TensorInfo info, const TensorShape& shape)
{
    info.SetShape(shape);
    return info;
}

} // namespace

ISA_TEST(HalfEvenMean, IsExact)
{
    const std::pair<std::vector<unsigned int>, TensorShape> cases[] = {{{1, 2}, TensorShape({2, 19})},
                                                                       {{3}, TensorShape({2, 5, 7})},
                                                                       {{0}, TensorShape({5, 7, 19})},
                                                                       {{0, 1, 2, 3}, ShapeOf({})},
                                                                       {{}, TensorShape({2, 5, 7, 19})}};
    for (const auto& [from, to] : Quantizations)
    {
        const TestTensor input = Random(WithShape(from, {2, 5, 7, 19}), 1);
        for (const auto& [axes, shape] : cases)
        {
            const TensorInfo output = WithShape(to, shape);
            const size_t count = input.m_Info.GetNumElements() / output.GetNumElements();
            const float factor = FactorOfMeans(input.m_Info, output, count);
            const Oracle mean = Reduction(
                axes, 0, [](double a, double x) { return a + x; },
                [&](double sum, double) { return RescaleHalfEven(static_cast<int64_t>(sum), factor, output); });
            CheckStored(MakeMean(input, axes, output), mean({GetSteps(input)}));
        }
    }
}

ISA_TEST(HalfEvenMean, TiesGoToEvenAndResultsSaturate)
{
    const TensorInfo input({8, 2}, DataType::QAsymmS8, 1.0f, 3);
    const Numbers data = {3, 4, 4, 5, 5, 6, 3, 2, 2, 1, 1, 0, 127, 127, -128, -128};
    // Means of 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 124 and -131.
    const TensorInfo same({8}, DataType::QAsymmS8, 1.0f, 3);
    CheckStored(MakeMean(Stored(input, data), {1}, same), {3, 5, 5, 3, 1, 1, 127, -128});
    const TensorInfo moved({8}, DataType::QAsymmS8, 1.0f, 10);
    CheckStored(MakeMean(Stored(input, data), {1}, moved), {10, 12, 12, 10, 8, 8, 127, -121});
    // A factor beyond Float32 leaves a sum of 0 alone.
    const TensorInfo large({3, 2}, DataType::QAsymmU8, 1e20f, 100);
    const TensorInfo tiny({3}, DataType::QAsymmU8, 1e-20f, 9);
    CheckStored(MakeMean(Stored(large, {99, 101, 100, 101, 0, 100}), {1}, tiny), {9, 255, 0});
}

// The sum is exact: in Float32 one more than 2^24 elements of 1 and an even sum would differ.
ISA_TEST(HalfEvenMean, OfManyShorts)
{
    const TensorInfo input({70000}, DataType::QSymmS16, 1.0f, 0);
    Numbers data(70000, 32767);
    data[0] = -32768;
    const TensorInfo output(ShapeOf({}), DataType::QSymmS16, 0.5f, 0);
    CheckStored(MakeMean(Stored(input, data), {0}, output), {32767});
    data.assign(70000, -1);
    CheckStored(MakeMean(Stored(input, data), {0}, output), {-2});
}

ISA_TEST(HalfEvenPool, AveragesAreExact)
{
    const struct
    {
        TensorShape m_Input;
        TensorShape m_Output;
        uint32_t m_Size;
        uint32_t m_Stride;
        uint32_t m_Pad;
    } cases[] = {{{2, 4, 6, 9}, {2, 2, 3, 9}, 2, 2, 0},      {{1, 5, 5, 17}, {1, 5, 5, 17}, 3, 1, 1},
                 {{1, 7, 7, 20}, {1, 1, 1, 20}, 7, 1, 0},    {{1, 5, 4, 3}, {1, 3, 2, 3}, 2, 2, 0},
                 {{1, 2, 2, 3}, {1, 6, 6, 3}, 1, 1, 2},      {{1, 3, 4, 5}, {1, 3, 3, 5}, 4, 2, 2},
                 {{1, 200, 200, 2}, {1, 1, 1, 2}, 200, 1, 0}};
    for (const auto& [from, to] : Quantizations)
    {
        for (const auto& c : cases)
        {
            for (const PaddingMethod method : {PaddingMethod::Exclude, PaddingMethod::IgnoreValue})
            {
                const Pooling2dDescriptor d = Pool(PoolingAlgorithm::Average, c.m_Size, c.m_Stride, c.m_Pad, method);
                const TestTensor input = Random(WithShape(from, c.m_Input), 3);
                const TensorInfo output = WithShape(to, c.m_Output);
                CheckStored(MakePool(d, input, output), AverageWindows(d, input, output));
            }
        }
    }
}

// Windows of 2x2 of an image of one pixel of padding: 4 elements where it counts, else 1 or 2.
ISA_TEST(HalfEvenPool, TiesOfWindowsWithPadding)
{
    const TensorInfo input({1, 1, 2, 1}, DataType::QAsymmS8, 1.0f, 10);
    const TensorInfo output({1, 2, 3, 1}, DataType::QAsymmS8, 0.5f, -1);
    const TestTensor data = Stored(input, {15, 8}); // 5 and -2
    // Sums of 5, 3 and -2 in both rows: by 2 / 4, and by 2, 1 and 2.
    CheckStored(MakePool(Pool(PoolingAlgorithm::Average, 2, 1, 1, PaddingMethod::IgnoreValue), data, output),
                {1, 1, -2, 1, 1, -2});
    CheckStored(MakePool(Pool(PoolingAlgorithm::Average, 2, 1, 1), data, output), {9, 2, -5, 9, 2, -5});
}

ISA_TEST(HalfEvenPool, MaximaAreStoredNumbers)
{
    const TensorInfo input({1, 2, 2, 3}, DataType::QAsymmS8, 0.3f, 10);
    const TestTensor data = Stored(input, {1, -128, 5, 2, -127, 5, -3, -126, 4, 127, -128, 6});
    const TensorInfo output({1, 1, 1, 3}, DataType::QAsymmS8, 0.3f, 10);
    CheckStored(MakePool(Pool(PoolingAlgorithm::Max, 2, 1, 0), data, output), {127, -126, 6});
    // Of another quantization, through Float32: 1.5, 2.5 and 100 steps.
    const TensorInfo halves({1, 1, 2, 3}, DataType::QAsymmU8, 0.5f, 0);
    CheckStored(MakePool(Pool(PoolingAlgorithm::Max, 2, 1, 0), Stored(halves, {3, 4, 200, 2, 5, 100}),
                         TensorInfo({1, 1, 1, 3}, DataType::QAsymmU8, 1.0f, 7)),
                {9, 9, 107});
}

ISA_TEST(HalfEvenPool, L2ThroughFloats)
{
    // Roots of the mean of 3 and 5, 1 and 7, 0 and 0 squared: halves of them are 2.06, 2.5 and 0.
    const TensorInfo input({1, 1, 2, 3}, DataType::QAsymmS8, 1.0f, -5);
    const TensorInfo output({1, 1, 1, 3}, DataType::QAsymmS8, 2.0f, 7);
    Pooling2dDescriptor d = Pool(PoolingAlgorithm::L2, 1, 1, 0);
    d.m_PoolWidth = 2;
    CheckStored(MakePool(d, Stored(input, {-2, -4, -5, 0, 2, -5}), output), {9, 9, 7});
}

ISA_TEST(HalfEvenPool, IsRefused)
{
    const auto check = [](DataType type, const TensorInfo& output, SupportCode code, const char* reason)
    {
        const TestTensor input = Random(TensorInfo({1, 2, 2, 3}, type, 0.5f, 0), 1);
        CheckUnsupported(MakePool(Pool(PoolingAlgorithm::Average, 2, 1, 0), input, output), code, reason);
    };
    const TensorShape pixel({1, 1, 1, 3});
    check(DataType::QSymmS8, TensorInfo(pixel, DataType::QSymmS8, 0.5f, 0), SupportCode::UnsupportedType, "input 0");
    check(DataType::QAsymmS8, TensorInfo(pixel, DataType::QAsymmU8, 0.5f, 0), SupportCode::UnsupportedType, "output 0");
    check(DataType::QAsymmS8, TensorInfo(pixel, DataType::Signed32), SupportCode::UnsupportedType, "output 0");
    check(DataType::QAsymmS8, TensorInfo(pixel, DataType::QAsymmS8, 0.5f, 200), SupportCode::UnsupportedParameters,
          "output 0");
    CheckUnsupported(MakeMean(Random(TensorInfo({4}, DataType::QAsymmS8, 0.5f, 0), 1), {0},
                              TensorInfo(ShapeOf({}), DataType::QAsymmS8, 0.5f, 200)),
                     SupportCode::UnsupportedParameters, "output 0");
}

} // namespace tenon::test::half_even_means_test
