// SPDX-License-Identifier: Apache-2.0
// Which convolutions of bytes read windows where they lie in a padded image, and the weights that are padded for it.
#include "backends/cpu/gemm/driver/ImplicitGemmInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "harness/IsaTest.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"
#include "ops/cpu/gemm/PackingCasesInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tenon::cpu
{

extern const backends::Kernel CpuConvolution2dInt8Kernel;

} // namespace tenon::cpu

namespace tenon::test::patch_runs_int8_test
{

namespace
{

using cpu::PatchRunsInt8;

/// Of windows of `height` x `width` points in an image of 9 x 11 pixels.
cpu::Im2col MakeIm2col(int64_t height, int64_t width, int64_t channels, int64_t groupChannels, int64_t stride = 1)
{
    cpu::Im2col windows = {9,      11,   (9 - height) / stride + 1, (11 - width) / stride + 1, channels, groupChannels,
                           height, width};
    windows.m_StrideX = windows.m_StrideY = stride;
    return windows;
}

struct Weights
{
    unsigned int m_Depth = 0;
    size_t m_PaddedRunBytes = 0;
    float m_OutputScale = 9.0f;
    bool m_IsSigned = true;
};

/// Whether such weights are read so beside these windows, of so many images.
bool IsUsed(const Weights& w, const cpu::Im2col& windows, size_t images = 1)
{
    const int32_t zeroPoint = w.m_IsSigned ? 0 : 100;
    const Packing packing(
        InfoInt8({8, w.m_Depth}, w.m_IsSigned, 0.1f, 3), InfoInt8({24, w.m_Depth}, w.m_IsSigned, 0.1f, zeroPoint),
        std::vector<uint8_t>(size_t{24} * w.m_Depth, 1), InfoInt8({8, 24}, w.m_IsSigned, w.m_OutputScale, 0));
    backends::FillingStore store;
    const auto packed = packing.Pack(store, 64, false, w.m_PaddedRunBytes);
    const auto pixels = static_cast<size_t>(windows.m_OutputHeight * windows.m_OutputWidth);
    return cpu::ImplicitGemmInt8(*packed, windows, images * pixels).IsUsed();
}

bool HasImplicitGemm()
{
    return cpu::GetCpuFeatures().m_Simd &&
           cpu::GetMicrokernelsInt8().GetPlain(true).m_ImplicitGemmKernels[0][1] != nullptr;
}

} // namespace

ISA_TEST(PatchRunsInt8, WhereItIsUsed)
{
    if (!HasImplicitGemm())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    EXPECT_TRUE(IsUsed({144}, MakeIm2col(3, 3, 16, 16)));
    EXPECT_FALSE(IsUsed({90}, MakeIm2col(3, 5, 6, 6))) << "rows of 30 bytes";
    EXPECT_TRUE(IsUsed({96, 30}, MakeIm2col(3, 5, 6, 6))) << "the same, padded";
    EXPECT_FALSE(IsUsed({96}, MakeIm2col(3, 5, 6, 6))) << "weights for other windows";
    EXPECT_FALSE(IsUsed({96, 29}, MakeIm2col(3, 5, 6, 6))) << "weights for other windows";
    EXPECT_TRUE(IsUsed({36}, MakeIm2col(3, 3, 24, 4))) << "points of a group";
    EXPECT_FALSE(IsUsed({36}, MakeIm2col(3, 3, 24, 2))) << "weights for other channels";
    EXPECT_TRUE(IsUsed({36, 2}, MakeIm2col(3, 3, 24, 2))) << "padded ones for these";
    EXPECT_FALSE(IsUsed({36, 1}, MakeIm2col(3, 3, 24, 2))) << "padded ones for others";
    EXPECT_FALSE(IsUsed({45}, MakeIm2col(3, 3, 25, 5))) << "points of 5 bytes";
    EXPECT_TRUE(IsUsed({72, 5}, MakeIm2col(3, 3, 25, 5))) << "the same, padded";
    EXPECT_FALSE(IsUsed({16}, MakeIm2col(1, 1, 16, 16))) << "pixels";
    EXPECT_FALSE(IsUsed({64}, MakeIm2col(2, 2, 16, 16, 2))) << "windows that share nothing";
    EXPECT_FALSE(IsUsed({144, 0, 0.01f}, MakeIm2col(3, 3, 16, 16))) << "shifts to the left";
    EXPECT_FALSE(IsUsed({144, 0, 9.0f, false}, MakeIm2col(3, 3, 16, 16))) << "uint8";
    EXPECT_TRUE(IsUsed({144}, MakeIm2col(3, 3, 16, 16), 3)) << "images of 63 pixels";
    EXPECT_TRUE(IsUsed({480}, MakeIm2col(6, 5, 16, 16), 1)) << "of 28 pixels";
    EXPECT_FALSE(IsUsed({480}, MakeIm2col(6, 5, 16, 16), 2)) << "several of 28 pixels";
    cpu::Im2col wide = MakeIm2col(3, 3, 16, 16);
    wide.m_DilationX = 1000;
    EXPECT_FALSE(IsUsed({144}, wide)) << "more bytes than the windows have";
}

ISA_TEST(PatchRunsInt8, RunsArePaddedWhereThatIsLessThanCopies)
{
    const PatchRunsInt8 rows(3, 5, 6, true);
    EXPECT_EQ(rows.m_Count, 3U);
    EXPECT_EQ(rows.m_Bytes, 30U);
    EXPECT_EQ(rows.GetPaddedDepth(), 96U);
    EXPECT_FALSE(rows.IsWhole());
    EXPECT_TRUE(PatchRunsInt8(1, 5, 6, true).IsWhole()) << "padding of one run is at its end";
    EXPECT_TRUE(PatchRunsInt8(3, 2, 6, true).IsWhole());
    EXPECT_FALSE(PatchRunsInt8(3, 2, 6, false).IsWhole());
    // 24 groups in place of 23, for three runs.
    EXPECT_TRUE(rows.IsPaddable(9));
    EXPECT_FALSE(rows.IsPaddable(10));
    EXPECT_EQ(PatchRunsInt8(2, 1, 3, true).Pad(std::vector<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).data(), 2),
              std::vector<uint8_t>({1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 0}));
}

// Weights that are padded serve no other products than these: the reference kernel would run in their place.
ISA_TEST(PatchRunsInt8, WeightsThatArePadded)
{
    if (!HasImplicitGemm())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    const auto getDepth = [](const TensorShape& shape, unsigned int channels, uint32_t stride = 1, bool isFloat = false)
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_StrideX = descriptor.m_StrideY = stride;
        const TensorInfo weights = InfoInt8(shape, true, 0.1f, 0);
        const TensorShape data({1, 30, 30, channels});
        const TensorShape output({1, 30, 30, shape[0]});
        const TensorInfo floats(data, DataType::Float32);
        const Packing packing(isFloat ? floats : InfoInt8(data, true, 0.1f, 3), weights,
                              std::vector<uint8_t>(weights.GetNumElements()),
                              isFloat ? TensorInfo(output, DataType::Float32) : InfoInt8(output, true, 9.0f, 0));
        backends::FillingStore store;
        const auto pack = [&](const LayerView& view) { return cpu::CpuConvolution2dInt8Kernel.m_Pack(view, store); };
        const auto packed = packing.WithView(LayerType::Convolution2d, &descriptor, pack);
        return static_cast<const cpu::PackedWeightsInt8&>(*packed).GetDepth();
    };
    EXPECT_EQ(getDepth({16, 3, 3, 5}, 5), 48U);
    EXPECT_EQ(getDepth({16, 3, 3, 8}, 8), 72U);
    EXPECT_EQ(getDepth({16, 3, 3, 5}, 5, 3), 45U) << "windows share nothing";
    EXPECT_EQ(getDepth({4, 3, 3, 5}, 5), 45U) << "few outputs";
    EXPECT_EQ(getDepth({32, 80, 1, 1}, 1), 80U) << "perhaps of images of one column";
    EXPECT_EQ(getDepth({32, 1, 80, 1}, 1), 80U) << "one run";
    EXPECT_EQ(getDepth({16, 3, 3, 5}, 10), 72U) << "groups";
    EXPECT_EQ(getDepth({16, 3, 3, 5}, 5, 1, true), 48U) << "floats";
    EXPECT_EQ(getDepth({4, 3, 3, 5}, 5, 1, true), 48U) << "of floats there are no dot products for few outputs";
    EXPECT_EQ(getDepth({16, 3, 3, 5}, 5, 3, true), 45U) << "windows share nothing";
}

} // namespace tenon::test::patch_runs_int8_test
