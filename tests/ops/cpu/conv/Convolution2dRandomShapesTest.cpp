// SPDX-License-Identifier: Apache-2.0
// Convolutions of CpuAcc with random sizes, strides, dilations and padding, compared with CpuRef for all types. They
// cover cases that the tables of other tests omit, such as windows without taps, outside of the image or larger than
// it.
#include "ops/cpu/conv/WeightedSumKinds.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <iterator>
#include <random>

namespace tenon::test::convolution2d_random_shapes_test
{

namespace
{

constexpr uint32_t NumCases = 1000;
constexpr size_t MaxMultiplications = 2000000; // of a case, because CpuRef is slow

class RandomWindows
{
public:
    explicit RandomWindows(uint32_t seed) : m_Random(seed), m_Seed(seed) {}

    OpCase Make()
    {
        const SumKind& kind = GetKind();
        for (;;)
        {
            // Few channels and many, which have different kernels.
            const uint32_t channels = Roll(1, Roll(0, 1) == 0 ? 8 : 70);
            const uint32_t outputs = Roll(1, Roll(0, 1) == 0 ? 8 : 70);
            const Axis y = MakeAxis(14);
            const Axis x = MakeAxis(Roll(0, 3) == 0 ? 40 : 14);
            const bool isTransposed = Roll(0, 2) == 0;
            const int64_t height = isTransposed ? y.GetSpread() : y.GetWindows();
            const int64_t width = isTransposed ? x.GetSpread() : x.GetWindows();
            const uint32_t batches = Roll(1, 2);
            if (height < 1 || width < 1 ||
                static_cast<uint64_t>(batches * height * width) * channels * outputs * y.m_Kernel * x.m_Kernel >
                    MaxMultiplications)
            {
                continue;
            }
            const TensorShape data({batches, y.m_Size, x.m_Size, channels});
            const TensorShape output({batches, static_cast<uint32_t>(height), static_cast<uint32_t>(width), outputs});
            const TensorShape weights({outputs, y.m_Kernel, x.m_Kernel, channels});
            return isTransposed ? MakeCase<TransposeConvolution2dDescriptor>(kind, LayerType::TransposeConvolution2d, y,
                                                                             x, data, weights, output)
                                : MakeConvolution(kind, y, x, data, weights, output);
        }
    }

    const SumKind& GetKind() const { return SumKinds[m_Seed % std::size(SumKinds)]; }

private:
    struct Axis
    {
        uint32_t m_Size;
        uint32_t m_Kernel;
        uint32_t m_Stride;
        uint32_t m_Dilation;
        uint32_t m_Before;
        uint32_t m_After;

        int64_t GetWindows() const
        {
            const int64_t room = int64_t{m_Size} + m_Before + m_After - (int64_t{m_Kernel} - 1) * m_Dilation - 1;
            return room < 0 ? 0 : room / m_Stride + 1;
        }
        /// For the transposed convolution, which has no dilation.
        int64_t GetSpread() const { return (int64_t{m_Size} - 1) * m_Stride + m_Kernel - m_Before - m_After; }
    };

    uint32_t Roll(uint32_t least, uint32_t most)
    {
        return std::uniform_int_distribution<uint32_t>(least, most)(m_Random);
    }

    Axis MakeAxis(uint32_t maxSize)
    {
        const uint32_t kernel = Roll(1, 5);
        return {Roll(1, maxSize), kernel,         Roll(1, 4), Roll(0, 2) == 0 ? Roll(1, 3) : 1,
                Roll(0, kernel),  Roll(0, kernel)};
    }

    template <typename D>
    OpCase MakeCase(const SumKind& kind, LayerType type, const Axis& y, const Axis& x, const TensorShape& data,
                    const TensorShape& weights, const TensorShape& output, D descriptor = {})
    {
        descriptor.m_StrideX = x.m_Stride;
        descriptor.m_StrideY = y.m_Stride;
        descriptor.m_PadTop = y.m_Before;
        descriptor.m_PadBottom = y.m_After;
        descriptor.m_PadLeft = x.m_Before;
        descriptor.m_PadRight = x.m_After;
        descriptor.m_BiasEnabled = true;
        descriptor.m_DataLayout = DataLayout::NHWC;
        const std::string name = "seed " + std::to_string(m_Seed) + ", " + data.ToString() + " by " +
                                 weights.ToString() + " gives " + output.ToString();
        return MakeSumCase(name, kind, type, descriptor, data, weights, output, m_Seed);
    }

    OpCase MakeConvolution(const SumKind& kind, const Axis& y, const Axis& x, const TensorShape& data,
                           const TensorShape& weights, const TensorShape& output)
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_DilationX = x.m_Dilation;
        descriptor.m_DilationY = y.m_Dilation;
        return MakeCase(kind, LayerType::Convolution2d, y, x, data, weights, output, descriptor);
    }

    std::mt19937 m_Random;
    uint32_t m_Seed;
};

} // namespace

ISA_TEST(Convolution2dRandomShapes, ConvolutionsAsReference)
{
    for (uint32_t seed = 0; seed < NumCases; ++seed)
    {
        RandomWindows windows(seed);
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(windows.Make(), "", windows.GetKind().m_OfLargest));
    }
}

} // namespace tenon::test::convolution2d_random_shapes_test
