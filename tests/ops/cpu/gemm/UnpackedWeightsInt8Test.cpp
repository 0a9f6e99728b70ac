// SPDX-License-Identifier: Apache-2.0
// Products of few rows or few columns of bytes by weights that stay where the model has them: the bytes of CpuRef.
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"
#include "ops/cpu/gemm/LayerCasesInt8.hpp"
#include "ops/cpu/gemm/PackingCasesInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <iterator>
#include <random>

namespace tenon::test::unpacked_weights_int8_test
{

namespace
{

/// The ends of either type often. `hasMinByte`: also the least byte, which products of two signed bytes don't take.
std::vector<uint8_t> MakeWeights(size_t count, bool isSigned, bool hasMinByte)
{
    std::mt19937 random(static_cast<uint32_t>(count));
    std::vector<uint8_t> weights(count);
    const uint8_t least = isSigned ? 0x80 : 0x00;
    for (uint8_t& weight : weights)
    {
        constexpr uint8_t ends[] = {0x7F, 0x80, 0x81, 0x00, 0x01, 0xFF};
        weight = static_cast<uint8_t>(random() % 3 != 0 ? random() : ends[random() % std::size(ends)]);
        weight = weight == least && !hasMinByte ? static_cast<uint8_t>(least + 1) : weight;
    }
    if (hasMinByte)
    {
        weights.back() = least;
    }
    return weights;
}

/// Whether tiles of the processor read weights where they are, with the least byte among them or not.
bool MayStay(bool hasMinByte)
{
    return !hasMinByte || cpu::GetMicrokernelsInt8().Get(cpu::KernelRoleInt8::UnpackedInt8).TakesAnyMinWeights();
}

bool HasUnpacked()
{
    return cpu::GetCpuFeatures().m_Simd && cpu::GetMicrokernelsInt8().Has(cpu::KernelRoleInt8::UnpackedInt8);
}

} // namespace

ISA_TEST(UnpackedWeightsInt8, WeightsForFewRows)
{
    if (!HasUnpacked())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (unsigned int bits = 0; bits < 8; ++bits)
    {
        const bool isSigned = (bits & 1) != 0;
        const bool mayStay = (bits & 2) != 0;
        const bool hasMinByte = (bits & 4) != 0;
        for (const unsigned int depth : {63U, 64U})
        {
            for (const size_t rows : {1U, 4U, 5U})
            {
                const size_t count = size_t{40} * depth;
                ForgedStore store;
                const auto packed =
                    Packing(InfoInt8({8, depth}, isSigned, 0.1f, 3), InfoInt8({40, depth}, isSigned, 0.1f, 0),
                            MakeWeights(count, isSigned, hasMinByte), InfoInt8({8, 40}, isSigned, 1.0f, 0))
                        .Pack(store, rows, mayStay);
                const bool isUnpacked = mayStay && depth == 64 && rows < 5 && MayStay(hasMinByte);
                EXPECT_EQ(packed->GetTiles().IsUnpacked(), isUnpacked)
                    << rows << " rows of " << depth << ", case " << bits;
                EXPECT_EQ(packed->RefersToConstants(), isUnpacked);
                const auto isWeight = [count](const std::vector<std::byte>& block) { return block.size() >= count; };
                EXPECT_NE(std::any_of(store.m_Blocks.begin(), store.m_Blocks.end(), isWeight), isUnpacked);
            }
        }
    }
}

ISA_TEST(UnpackedWeightsInt8, LargeWeights)
{
    if (!HasUnpacked())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (const unsigned int columns : {512U, 513U})
    {
        const bool hasMinByte = MayStay(true);
        backends::FillingStore store;
        const auto packed =
            Packing(InfoInt8({1, 1024}, true, 0.1f, 3), InfoInt8({columns, 1024}, true, 0.1f, 0),
                    MakeWeights(size_t{columns} * 1024, true, hasMinByte), InfoInt8({1, columns}, true, 1.0f, 0))
                .Pack(store, 1, true);
        EXPECT_EQ(packed->GetTiles().IsUnpacked(), columns == 512) << columns << " columns";
    }
}

// Depths and columns around those of vectors.
ISA_TEST(UnpackedWeightsInt8, LayersAsReference)
{
    for (const bool isSigned : {false, true})
    {
        const int32_t middle = isSigned ? 0 : 128;
        for (const unsigned int depth : {64U, 65U, 95U, 96U, 127U, 128U, 200U})
        {
            for (const unsigned int columns : {1U, 3U, 4U, 7U, 8U, 13U, 67U})
            {
                for (unsigned int rows = 1; rows <= 5; ++rows)
                {
                    // Of each number of rows with the least byte and without it.
                    const bool hasMinByte = (rows + columns + depth) % 2 == 0;
                    const std::vector<uint8_t> bytes = MakeWeights(size_t{columns} * depth, isSigned, hasMinByte);
                    const int32_t shift = static_cast<int32_t>(rows) * 40;
                    const TestTensor stored =
                        StoreBytes(InfoInt8({columns, depth}, isSigned, 0.1f, middle + shift - 100), bytes);
                    const TensorInfo data = InfoInt8({rows, depth}, isSigned, 0.1f, middle - shift + 100);
                    const std::string name =
                        std::to_string(rows) + " x " + std::to_string(depth) + " x " + std::to_string(columns);
                    ASSERT_NO_FATAL_FAILURE(ExpectConnectedAsReference(name, Random(data, rows), stored, 80.0f));
                    const TensorInfo centred(TensorShape({columns, depth}), DataType::QSymmS8, 0.1f, 0);
                    if (isSigned)
                    {
                        ASSERT_NO_FATAL_FAILURE(ExpectHybridAsReference(name, rows, StoreBytes(centred, bytes)));
                    }
                }
            }
        }
    }
}

ISA_TEST(UnpackedWeightsInt8, WeightsForFewColumns)
{
    if (!HasUnpacked())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    const bool isInt8x4 = cpu::GetMicrokernelsInt8().Get(cpu::KernelRoleInt8::UnpackedInt8).TakesAnyMinWeights();
    for (unsigned int columns = 1; columns <= 9; ++columns)
    {
        for (const unsigned int depth : {63U, 64U, 96U, 128U, 160U, 192U, 2047U, 2048U})
        {
            for (unsigned int bits = 0; bits < 4; ++bits)
            {
                const bool isSigned = (bits & 1) != 0;
                const bool hasMinByte = (bits & 2) != 0;
                const unsigned int most = isInt8x4 ? 4 : depth == 2048 && isSigned ? 8 : 5;
                backends::FillingStore store;
                const auto packed =
                    Packing(InfoInt8({90, depth}, isSigned, 0.1f, 3), InfoInt8({columns, depth}, isSigned, 0.1f, 0),
                            MakeWeights(size_t{columns} * depth, isSigned, hasMinByte),
                            InfoInt8({90, columns}, isSigned, 1.0f, 0))
                        .Pack(store, 90, true);
                const bool isUnpacked = columns <= most && depth >= std::max(64U, 32 * columns) && MayStay(hasMinByte);
                EXPECT_EQ(packed->GetTiles().IsUnpacked(), isUnpacked)
                    << columns << " columns of " << depth << ", case " << bits;
                EXPECT_EQ(packed->RefersToConstants(), isUnpacked);
            }
        }
    }
}

// More rows than sums are held of at a time.
ISA_TEST(UnpackedWeightsInt8, FewColumnsAsReference)
{
    for (const bool isSigned : {false, true})
    {
        for (const unsigned int depth : {64U, 101U, 128U, 333U})
        {
            for (unsigned int columns = 1; columns <= 6; ++columns)
            {
                for (const unsigned int rows : {6U, 33U, 70U})
                {
                    const bool hasMinByte = (rows + columns + depth) % 3 == 0;
                    const TestTensor stored = StoreBytes(InfoInt8({columns, depth}, isSigned, 0.1f, isSigned ? 0 : 120),
                                                         MakeWeights(size_t{columns} * depth, isSigned, hasMinByte));
                    const TensorInfo data = InfoInt8({rows, depth}, isSigned, 0.1f, isSigned ? -7 : 133);
                    ASSERT_NO_FATAL_FAILURE(
                        ExpectConnectedAsReference(std::to_string(rows), Random(data, rows), stored, 80.0f));
                }
            }
        }
    }
}

// Of one pixel, and windows that are laid out with padding around them; of few rows, and of few columns.
ISA_TEST(UnpackedWeightsInt8, ConvolutionsAsReference)
{
    const auto expect = [](bool isSigned, unsigned int size, unsigned int stride, unsigned int image,
                           unsigned int outputs, bool hasMinByte)
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_StrideX = descriptor.m_StrideY = stride;
        descriptor.m_PadLeft = descriptor.m_PadTop = size / 2;
        descriptor.m_PadRight = descriptor.m_PadBottom = size / 2;
        const TensorInfo data = InfoInt8({1, image, image, 67}, isSigned, 0.1f, 9);
        const TensorInfo weights = InfoInt8({outputs, size, size, 67}, isSigned, 0.1f, isSigned ? 0 : 120);
        const TestTensor stored = StoreBytes(weights, MakeWeights(weights.GetNumElements(), isSigned, hasMinByte));
        const TensorInfo bias(TensorShape({outputs}), DataType::Signed32, 0.01f, 0);
        const unsigned int last = (image - 1) / stride + 1;
        ExpectAsReference(ReferenceCase(std::to_string(size), LayerType::Convolution2d, descriptor,
                                        {Random(data, size), Constant(stored), Constant(Random(bias, 2, -900, 900))},
                                        InfoInt8({1, last, last, outputs}, isSigned, 20.0f, 4)),
                          "CpuConvolution2dInt8");
    };
    for (const bool isSigned : {false, true})
    {
        for (const unsigned int size : {1U, 3U})
        {
            ASSERT_NO_FATAL_FAILURE(expect(isSigned, size, 2, 3, 21, MayStay(true)));
            for (unsigned int outputs = 1; outputs <= 6; ++outputs)
            {
                ASSERT_NO_FATAL_FAILURE(expect(isSigned, size, 1, 11, outputs, false));
                ASSERT_NO_FATAL_FAILURE(expect(isSigned, size, 2, 9, outputs, true));
            }
        }
    }
}

} // namespace tenon::test::unpacked_weights_int8_test
