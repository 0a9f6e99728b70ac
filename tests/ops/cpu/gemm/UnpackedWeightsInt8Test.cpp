// SPDX-License-Identifier: Apache-2.0
// Products of few rows or few columns of bytes by weights that stay where the model has them: the bytes of CpuRef.
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"
#include "ops/cpu/gemm/LayerCasesInt8.hpp"
#include "ops/cpu/gemm/PackingCasesInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <iterator>
#include <random>

namespace tenon::test::fast_stored_test
{

namespace
{

/// The ends of either type often. `hasLeast`: also the least byte, which products of two signed bytes don't take.
std::vector<uint8_t> MakeWeights(size_t count, bool isSigned, bool hasLeast)
{
    std::mt19937 random(static_cast<uint32_t>(count));
    std::vector<uint8_t> weights(count);
    const uint8_t least = isSigned ? 0x80 : 0x00;
    for (uint8_t& weight : weights)
    {
        constexpr uint8_t ends[] = {0x7F, 0x80, 0x81, 0x00, 0x01, 0xFF};
        weight = static_cast<uint8_t>(random() % 3 != 0 ? random() : ends[random() % std::size(ends)]);
        weight = weight == least && !hasLeast ? static_cast<uint8_t>(least + 1) : weight;
    }
    if (hasLeast)
    {
        weights.back() = least;
    }
    return weights;
}

/// Whether tiles of the processor read weights where they are, with the least byte among them or not.
bool MayStay(bool hasLeast)
{
    return !hasLeast || cpu::GetEngine8().m_StoredSigned.TakesLeastByte();
}

bool HasStored()
{
    return cpu::GetCpuFeatures().m_Simd && cpu::GetEngine8().m_StoredSigned.m_Vectors != 0;
}

} // namespace

ISA_TEST(FastStored, WeightsForFewRows)
{
    if (!HasStored())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (unsigned int bits = 0; bits < 8; ++bits)
    {
        const bool isSigned = (bits & 1) != 0;
        const bool mayStay = (bits & 2) != 0;
        const bool hasLeast = (bits & 4) != 0;
        for (const unsigned int depth : {63U, 64U})
        {
            for (const size_t rows : {1U, 4U, 5U})
            {
                const size_t count = size_t{40} * depth;
                ForgedStore store;
                const auto packed =
                    Packing(BytesInfo({8, depth}, isSigned, 0.1f, 3), BytesInfo({40, depth}, isSigned, 0.1f, 0),
                            MakeWeights(count, isSigned, hasLeast), BytesInfo({8, 40}, isSigned, 1.0f, 0))
                        .Pack(store, rows, mayStay);
                const bool isStored = mayStay && depth == 64 && rows < 5 && MayStay(hasLeast);
                EXPECT_EQ(packed->GetTiles().AreStored(), isStored)
                    << rows << " rows of " << depth << ", case " << bits;
                EXPECT_EQ(packed->RefersToConstants(), isStored);
                const auto areWeights = [count](const std::vector<std::byte>& block) { return block.size() >= count; };
                EXPECT_NE(std::any_of(store.m_Blocks.begin(), store.m_Blocks.end(), areWeights), isStored);
            }
        }
    }
}

ISA_TEST(FastStored, LargeWeights)
{
    if (!HasStored())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (const unsigned int columns : {512U, 513U})
    {
        const bool hasLeast = MayStay(true);
        backends::FillingStore store;
        const auto packed =
            Packing(BytesInfo({1, 1024}, true, 0.1f, 3), BytesInfo({columns, 1024}, true, 0.1f, 0),
                    MakeWeights(size_t{columns} * 1024, true, hasLeast), BytesInfo({1, columns}, true, 1.0f, 0))
                .Pack(store, 1, true);
        EXPECT_EQ(packed->GetTiles().AreStored(), columns == 512) << columns << " columns";
    }
}

// Depths and columns around those of vectors.
ISA_TEST(FastStored, LayersAsReference)
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
                    const bool hasLeast = (rows + columns + depth) % 2 == 0;
                    const std::vector<uint8_t> bytes = MakeWeights(size_t{columns} * depth, isSigned, hasLeast);
                    const int32_t shift = static_cast<int32_t>(rows) * 40;
                    const TestTensor stored =
                        StoreBytes(BytesInfo({columns, depth}, isSigned, 0.1f, middle + shift - 100), bytes);
                    const TensorInfo data = BytesInfo({rows, depth}, isSigned, 0.1f, middle - shift + 100);
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

ISA_TEST(FastStored, WeightsForFewColumns)
{
    if (!HasStored())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    const bool areDots = cpu::GetEngine8().m_StoredSigned.TakesLeastByte();
    for (unsigned int columns = 1; columns <= 9; ++columns)
    {
        for (const unsigned int depth : {63U, 64U, 96U, 128U, 160U, 192U, 2047U, 2048U})
        {
            for (unsigned int bits = 0; bits < 4; ++bits)
            {
                const bool isSigned = (bits & 1) != 0;
                const bool hasLeast = (bits & 2) != 0;
                const unsigned int most = areDots ? 4 : depth == 2048 && isSigned ? 8 : 5;
                backends::FillingStore store;
                const auto packed =
                    Packing(BytesInfo({90, depth}, isSigned, 0.1f, 3), BytesInfo({columns, depth}, isSigned, 0.1f, 0),
                            MakeWeights(size_t{columns} * depth, isSigned, hasLeast),
                            BytesInfo({90, columns}, isSigned, 1.0f, 0))
                        .Pack(store, 90, true);
                const bool isStored = columns <= most && depth >= std::max(64U, 32 * columns) && MayStay(hasLeast);
                EXPECT_EQ(packed->GetTiles().AreStored(), isStored)
                    << columns << " columns of " << depth << ", case " << bits;
                EXPECT_EQ(packed->RefersToConstants(), isStored);
            }
        }
    }
}

// More rows than sums are held of at a time.
ISA_TEST(FastStored, FewColumnsAsReference)
{
    for (const bool isSigned : {false, true})
    {
        for (const unsigned int depth : {64U, 101U, 128U, 333U})
        {
            for (unsigned int columns = 1; columns <= 6; ++columns)
            {
                for (const unsigned int rows : {6U, 33U, 70U})
                {
                    const bool hasLeast = (rows + columns + depth) % 3 == 0;
                    const TestTensor stored =
                        StoreBytes(BytesInfo({columns, depth}, isSigned, 0.1f, isSigned ? 0 : 120),
                                   MakeWeights(size_t{columns} * depth, isSigned, hasLeast));
                    const TensorInfo data = BytesInfo({rows, depth}, isSigned, 0.1f, isSigned ? -7 : 133);
                    ASSERT_NO_FATAL_FAILURE(
                        ExpectConnectedAsReference(std::to_string(rows), Random(data, rows), stored, 80.0f));
                }
            }
        }
    }
}

// Of one pixel, and windows that are laid out with padding around them; of few rows, and of few columns.
ISA_TEST(FastStored, ConvolutionsAsReference)
{
    const auto expect = [](bool isSigned, unsigned int size, unsigned int stride, unsigned int image,
                           unsigned int outputs, bool hasLeast)
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_StrideX = descriptor.m_StrideY = stride;
        descriptor.m_PadLeft = descriptor.m_PadTop = size / 2;
        descriptor.m_PadRight = descriptor.m_PadBottom = size / 2;
        const TensorInfo data = BytesInfo({1, image, image, 67}, isSigned, 0.1f, 9);
        const TensorInfo weights = BytesInfo({outputs, size, size, 67}, isSigned, 0.1f, isSigned ? 0 : 120);
        const TestTensor stored = StoreBytes(weights, MakeWeights(weights.GetNumElements(), isSigned, hasLeast));
        const TensorInfo bias(TensorShape({outputs}), DataType::Signed32, 0.01f, 0);
        const unsigned int last = (image - 1) / stride + 1;
        ExpectAsReference(FastCase(std::to_string(size), LayerType::Convolution2d, descriptor,
                                   {Random(data, size), Constant(stored), Constant(Random(bias, 2, -900, 900))},
                                   BytesInfo({1, last, last, outputs}, isSigned, 20.0f, 4)),
                          "CpuConvolution2dBytes");
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

} // namespace tenon::test::fast_stored_test
