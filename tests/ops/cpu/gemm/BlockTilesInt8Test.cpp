// SPDX-License-Identifier: Apache-2.0
// Microkernels for weights with a scale per block, one by one: all numbers of rows and vectors of the rows of
// int8_kernels.def that the processor has, with the ends of the ranges of data and weights, also with 4-bit weights as
// bytes, equal to sums in the order that the reference kernel defines; and the outputs of these sums. Packed weights
// whose scales do not fit float16, loops over blocks of rows and of the depth, and blocks that CpuAcc leaves to the
// reference kernel.
#include "backends/cpu/gemm/driver/GemmBlocksInt8.hpp"
#include "common/HalfFloat.hpp"
#include "harness/GuardedBuffer.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::block_tiles_int8_test
{

namespace
{

using cpu::KernelRoleInt8;
using cpu::MicrokernelSetInt8;
using cpu::WeightLayoutInt8;

enum class Values
{
    Any,
    MinByMin, ///< data and weights at the lower end of their range
    MinByMax,
    MaxByMin,
    MaxByMax
};

struct Sizes
{
    size_t m_Vectors;
    size_t m_Rows;
    size_t m_BlockSize;
    size_t m_Blocks;
};

/// A tile's operands in guarded memory of their own size.
class Operands
{
public:
    Operands(const MicrokernelSetInt8& tiles, const Sizes& sizes, size_t scaleBytes, Values values)
        : m_Tiles(tiles), m_Sizes(sizes), m_Depth(sizes.m_BlockSize * sizes.m_Blocks),
          m_Width(sizes.m_Vectors * GetLanes()), m_ScaleBytes(scaleBytes),
          m_IsInt4(tiles.m_Layout == WeightLayoutInt8::Int4x8), m_Random(static_cast<uint32_t>(m_Width + m_Depth)),
          m_Data(sizes.m_Rows * m_Depth * (tiles.IsDataInt16() ? 2 : 1)),
          m_Panel(sizes.m_Blocks * GetBlockBytes(), GetLanes() * tiles.GetGroupBytes()),
          m_Wide(tiles.m_WidenBlocks != nullptr ? sizes.m_Blocks * m_Width * (sizes.m_BlockSize + sizeof(float)) : 0,
                 GetLanes() * sizeof(float)),
          m_Starts(sizes.m_Rows * CountSlices() * sizeof(int32_t)),
          m_Sums(sizes.m_Rows * m_Width * sizeof(float), GetLanes() * sizeof(float))
    {
        const bool isMinData = values == Values::MinByMin || values == Values::MinByMax;
        const bool isMinWeight = values == Values::MinByMin || values == Values::MaxByMin;
        for (size_t i = 0; i < sizes.m_Rows * m_Depth; ++i)
        {
            m_DataValues.push_back(values == Values::Any ? Choose(-128, 127)
                                                         : static_cast<int8_t>(isMinData ? -128 : 127));
        }
        const int lowest = m_IsInt4 ? -8 : -128;
        const int highest = m_IsInt4 ? 7 : 127;
        for (size_t i = 0; i < m_Width * m_Depth; ++i)
        {
            m_Weights.push_back(values == Values::Any ? Choose(lowest, highest)
                                                      : static_cast<int8_t>(isMinWeight ? lowest : highest));
        }
        for (size_t i = 0; i < m_Width * sizes.m_Blocks; ++i)
        {
            m_Scales.push_back(static_cast<float>(i * 37 % 101) / 64.0f);
        }
        PutData();
        PutPanel();
        m_Data.MakeReadOnly();
        m_Panel.MakeReadOnly();
        m_Starts.MakeReadOnly();
    }

    /// `isWide`: with 4-bit weights as bytes.
    void Check(bool isWide) const
    {
        cpu::BlockRowsInt8 operands;
        operands.m_Data = m_Data.GetData();
        operands.m_DataStride = m_Depth * (m_Tiles.IsDataInt16() ? 2 : 1);
        operands.m_Starts = reinterpret_cast<const int32_t*>(m_Starts.GetData());
        operands.m_StartStride = CountSlices();
        operands.m_Panel = m_Panel.GetData();
        operands.m_ScaleBytes = m_ScaleBytes;
        operands.m_Blocks = m_Sizes.m_Blocks;
        operands.m_Groups = m_Sizes.m_BlockSize / m_Tiles.GetGroupDepth();
        operands.m_Sums = reinterpret_cast<float*>(m_Sums.GetData());
        for (size_t i = 0; i < m_Sizes.m_Rows * m_Width; ++i)
        {
            operands.m_Sums[i] = GetStart(i);
        }
        if (isWide)
        {
            m_Tiles.m_WidenBlocks(operands, m_Sizes.m_Vectors, m_Wide.GetData());
            EXPECT_TRUE(m_Wide.IsIntactAround());
            operands.m_Panel = m_Wide.GetData();
            operands.m_ScaleBytes = sizeof(float);
        }
        (isWide ? m_Tiles.m_WideBlockTiles : m_Tiles.m_BlockTiles)[m_Sizes.m_Vectors][m_Sizes.m_Rows](operands);
        EXPECT_TRUE(m_Sums.IsIntactAround());
        for (size_t r = 0; r < m_Sizes.m_Rows; ++r)
        {
            for (size_t c = 0; c < m_Width; ++c)
            {
                ASSERT_EQ(operands.m_Sums[r * m_Width + c], GetSum(r, c)) << "row " << r << ", column " << c;
            }
        }
    }

private:
    static size_t GetLanes() { return cpu::GetMicrokernelsInt8().m_Lanes; }
    size_t CountSlices() const
    {
        return m_Sizes.m_Blocks *
               cpu::DivideUp(m_Sizes.m_BlockSize, m_Tiles.m_BlockSums.GetSliceBytes(m_Sizes.m_BlockSize));
    }
    size_t GetScalesBytes() const { return cpu::GetBlockScaleBytes(m_Width, m_ScaleBytes, GetLanes()); }
    size_t GetBlockBytes() const
    {
        return GetScalesBytes() + m_Sizes.m_BlockSize / m_Tiles.GetGroupDepth() * m_Width * m_Tiles.GetGroupBytes();
    }

    int8_t Choose(int lowest, int highest)
    {
        const int any = std::uniform_int_distribution<int>(lowest, highest)(m_Random);
        return static_cast<int8_t>(m_Random() % 4 != 0 ? any : m_Random() % 2 != 0 ? lowest : highest);
    }

    /// Of the sums, what earlier blocks of the depth have left there.
    static float GetStart(size_t index) { return static_cast<float>(index % 7) - 3.0f; }

    /// In the order of the reference kernel.
    float GetSum(size_t row, size_t column) const
    {
        float sum = GetStart(row * m_Width + column);
        for (size_t block = 0; block < m_Sizes.m_Blocks; ++block)
        {
            int32_t products = 0;
            for (size_t k = block * m_Sizes.m_BlockSize; k < (block + 1) * m_Sizes.m_BlockSize; ++k)
            {
                products += m_DataValues[row * m_Depth + k] * m_Weights[column * m_Depth + k];
            }
            sum += static_cast<float>(products) * m_Scales[column * m_Sizes.m_Blocks + block];
        }
        return sum;
    }

    void PutData()
    {
        const cpu::MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
        for (size_t r = 0; r < m_Sizes.m_Rows; ++r)
        {
            const int8_t* const row = m_DataValues.data() + r * m_Depth;
            microkernels.m_StartBlocks(row, m_Sizes.m_Blocks, m_Sizes.m_BlockSize, m_Tiles.m_BlockSums,
                                       reinterpret_cast<int32_t*>(m_Starts.GetData()) + r * CountSlices());
        }
        for (size_t i = 0; i < m_DataValues.size(); ++i)
        {
            const int16_t wide = m_DataValues[i];
            const size_t size = m_Tiles.IsDataInt16() ? 2 : 1;
            std::memcpy(m_Data.GetData() + i * size, &wide, size);
        }
    }

    void PutPanel()
    {
        const int32_t offset = m_Tiles.m_BlockSums.m_Offset;
        std::memset(m_Panel.GetData(), 0, m_Sizes.m_Blocks * GetBlockBytes());
        for (size_t block = 0; block < m_Sizes.m_Blocks; ++block)
        {
            std::byte* const scales = m_Panel.GetData() + block * GetBlockBytes();
            std::byte* const weights = scales + GetScalesBytes();
            for (size_t c = 0; c < m_Width; ++c)
            {
                const float scale = m_Scales[c * m_Sizes.m_Blocks + block] * (offset != 0 ? -1.0f : 1.0f);
                const uint16_t half = FloatToHalf(scale);
                std::memcpy(scales + c * m_ScaleBytes, m_ScaleBytes == 2 ? static_cast<const void*>(&half) : &scale,
                            m_ScaleBytes);
                for (size_t k = 0; k < m_Sizes.m_BlockSize; ++k)
                {
                    const int32_t weight = m_Weights[c * m_Depth + block * m_Sizes.m_BlockSize + k];
                    PutWeight(weights, c, k, offset != 0 ? offset - weight : weight);
                }
            }
        }
    }

    void PutWeight(std::byte* weights, size_t column, size_t k, int32_t stored) const
    {
        if (m_IsInt4)
        {
            weights[(k / 8 * m_Width + column) * 4 + k % 4] |=
                static_cast<std::byte>(k / 4 % 2 == 0 ? stored : stored << 4);
            return;
        }
        const size_t run = m_Tiles.GetGroupBytes();
        weights[(k / run * m_Width + column) * run + k % run] = static_cast<std::byte>(stored);
    }

    const MicrokernelSetInt8& m_Tiles;
    Sizes m_Sizes;
    size_t m_Depth;
    size_t m_Width;
    size_t m_ScaleBytes;
    bool m_IsInt4;
    std::mt19937 m_Random;
    GuardedBuffer m_Data;
    GuardedBuffer m_Panel;
    GuardedBuffer m_Wide;
    GuardedBuffer m_Starts;
    GuardedBuffer m_Sums;
    std::vector<int8_t> m_DataValues; ///< [rows][depth]
    std::vector<int8_t> m_Weights;    ///< [width][depth]
    std::vector<float> m_Scales;      ///< [width][blocks]
};

void CheckTiles(const MicrokernelSetInt8& tiles, size_t vectors, size_t rows)
{
    for (const size_t blockSize : {8U, 24U, 32U, 64U, 72U, 136U, 256U})
    {
        for (const size_t blocks : {1U, 2U, 5U})
        {
            for (const Values values :
                 {Values::Any, Values::MinByMin, Values::MinByMax, Values::MaxByMin, Values::MaxByMax})
            {
                for (const size_t scaleBytes : {2U, 4U})
                {
                    SCOPED_TRACE(std::string(tiles.m_Row->m_Name) + ", " + std::to_string(vectors) + " vectors, " +
                                 std::to_string(rows) + " rows, " + std::to_string(blocks) + " blocks of " +
                                 std::to_string(blockSize));
                    const Operands operands(tiles, {vectors, rows, blockSize, blocks}, scaleBytes, values);
                    operands.Check(false);
                    if (tiles.m_WidenBlocks != nullptr)
                    {
                        operands.Check(true);
                    }
                    if (testing::Test::HasFatalFailure())
                    {
                        return;
                    }
                }
            }
        }
    }
}

/// A FullyConnected of rows `data` whose weights have scales up to five times `scale`.
OpCase MakeCase(const char* name, const TensorShape& data, DataType type, unsigned int block, float scale)
{
    const unsigned int outputs = 37;
    std::vector<float> scales(size_t{outputs} * (data[1] / block));
    for (size_t i = 0; i < scales.size(); ++i)
    {
        scales[i] = scale * static_cast<float>(i % 5 + 1);
    }
    TensorInfo weights({outputs, data[1]}, type, scales, 1);
    weights.SetQuantizationBlockSize(block);
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    return ReferenceCase(name, LayerType::FullyConnected, descriptor,
                         {Random(TensorInfo(data, DataType::Float32), data[0]), Constant(Random(weights, 3))},
                         TensorInfo({data[0], outputs}, DataType::Float32));
}

} // namespace

ISA_TEST(BlockTilesInt8, SumsOfBlocksTimesScales)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    const cpu::MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    for (const KernelRoleInt8 role :
         {KernelRoleInt8::Int4Blocks, KernelRoleInt8::Int4BlocksOneRow, KernelRoleInt8::Int8Blocks})
    {
        const MicrokernelSetInt8& tiles = microkernels.Get(role);
        for (size_t vectors = 1; vectors <= tiles.m_Vectors; ++vectors)
        {
            for (size_t rows = 1; rows <= tiles.m_Rows[vectors]; ++rows)
            {
                CheckTiles(tiles, vectors, rows);
            }
        }
    }
}

// Rows of any range, and results that are no numbers, which a clamp leaves.
ISA_TEST(BlockTilesInt8, OutputsOfSums)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    constexpr size_t Rows = 3;
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    const cpu::MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    const cpu::ScaleAndZeroPoint scales[Rows] = {{0.1f, -7}, {Infinity, 0}, {0x1p-20f, 127}};
    for (size_t columns = 1; columns <= 2 * microkernels.m_Lanes + 1; ++columns)
    {
        const size_t width = cpu::DivideUp(columns, microkernels.m_Lanes) * microkernels.m_Lanes;
        const size_t vectorBytes = microkernels.m_Lanes * sizeof(float);
        const GuardedBuffer sums(Rows * width * sizeof(float), vectorBytes);
        const GuardedBuffer factors(width * sizeof(float), vectorBytes);
        const GuardedBuffer bias(width * sizeof(float), vectorBytes);
        const GuardedBuffer out((Rows - 1) * (columns + 3) * sizeof(float) + columns * sizeof(float), sizeof(float));
        const auto at = [](const GuardedBuffer& buffer) { return reinterpret_cast<float*>(buffer.GetData()); };
        for (size_t i = 0; i < Rows * width; ++i)
        {
            at(sums)[i] = static_cast<float>(i * 37 % 101) - 50.0f;
        }
        for (size_t c = 0; c < width; ++c)
        {
            at(factors)[c] = static_cast<float>(c % 5) / 3.0f;
            at(bias)[c] = c % 4 == 3 ? -Infinity : static_cast<float>(c) / 7.0f;
        }
        for (const bool hasClamp : {false, true})
        {
            const float untouched = 77.0f;
            std::fill_n(at(out), (Rows - 1) * (columns + 3) + columns, untouched);
            microkernels.m_FinishBlocks({at(sums), width, Rows, columns, scales, at(factors), at(bias), hasClamp, -1.0f,
                                         6.0f, at(out), columns + 3});
            EXPECT_TRUE(out.IsIntactAround());
            for (size_t i = 0; i < out.GetBytes() / sizeof(float); ++i)
            {
                const size_t row = i / (columns + 3);
                const size_t column = i % (columns + 3);
                float want = untouched;
                if (column < columns)
                {
                    const float product = at(factors)[column] * static_cast<float>(scales[row].m_ZeroPoint);
                    want = (at(sums)[row * width + column] - product) * scales[row].m_Scale + at(bias)[column];
                    want = hasClamp ? std::min(std::max(want, -1.0f), 6.0f) : want;
                }
                const float got = at(out)[i];
                ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
                    << "row " << row << ", column " << column << " of " << columns << ": " << got << " for " << want;
            }
        }
    }
}

ISA_TEST(BlockTilesInt8, KernelsOfLayers)
{
    const auto check = [](const char* name, const TensorShape& data, unsigned int block, float scale,
                          const char* kernel = "CpuFullyConnectedBlocks")
    {
        for (const DataType type : {DataType::QSymmS4, DataType::QSymmS8})
        {
            ExpectAsReference(MakeCase(name, data, type, block, scale), kernel, 0);
        }
    };
    for (const unsigned int rows : {1U, 3U, 50U})
    {
        check("scales of 16 bits", {rows, 128}, 32, 0.25f);
        check("scales of 32 bits", {rows, 128}, 32, 0.1f);
        check("scales beyond 16 bits", {rows, 256}, 64, 1e5f);
        check("blocks that are no multiple of eight", {rows, 48}, 12, 0.25f, "RefFullyConnected");
    }
    for (const unsigned int block : {8U, 16U, 40U, 64U, 128U, 256U, 1280U})
    {
        check("several blocks of the depth", {17, 1280}, block, 0.25f);
    }
    check("several blocks of rows", {270, 64}, 32, 0.25f);
    check("several blocks of few rows", {31, 10240}, 64, 0.25f);
}

ISA_TEST(BlockTilesInt8, VariantsOfLayers)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    const auto check = [](unsigned int rows, DataType type, KernelRoleInt8 role, const char* path)
    {
        const OpCase op = MakeCase("variant", {rows, 64}, type, 32, 0.25f);
        EXPECT_EQ(FindVariant(FindTestBackend(Compute::CpuAcc), op),
                  cpu::GetMicrokernelsInt8().Get(role).m_Row->m_Name + std::string(path) + ": a scale per block")
            << rows << " rows";
    };
    const bool hasOneRow = cpu::GetMicrokernelsInt8().Has(KernelRoleInt8::Int4BlocksOneRow);
    check(1, DataType::QSymmS4, hasOneRow ? KernelRoleInt8::Int4BlocksOneRow : KernelRoleInt8::Int4Blocks, "");
    check(2, DataType::QSymmS4, KernelRoleInt8::Int4Blocks, "");
    const bool hasWide = cpu::GetMicrokernelsInt8().Get(KernelRoleInt8::Int4Blocks).m_WidenBlocks != nullptr;
    check(100, DataType::QSymmS4, KernelRoleInt8::Int4Blocks, hasWide ? ", weights as bytes" : "");
    check(100, DataType::QSymmS8, KernelRoleInt8::Int8Blocks, "");
}

} // namespace tenon::test::block_tiles_int8_test
