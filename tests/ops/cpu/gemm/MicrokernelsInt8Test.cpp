// SPDX-License-Identifier: Apache-2.0
// int8 microkernels one by one: all numbers of rows and vectors of the rows of int8_kernels.def that the processor has,
// compared with plain sums; the functions of each row; and GEMMs whose rows of data are read in place, where whole
// vectors of the depth would read past them.
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include "harness/GuardedBuffer.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Products.hpp>

#include <cstring>
#include <random>
#include <utility>

namespace tenon::test::microkernels_int8_test
{

namespace
{

using cpu::MicrokernelSetInt8;
using cpu::OperandSignsInt8;
using cpu::WeightLayoutInt8;

/// A tile's operands in guarded memory. Its own memory: a tile reads all of its rows' groups, and nothing else.
class Operands
{
public:
    /// With all numbers at an end of their range, or any: what is added up on the way may not overflow.
    enum class Choice
    {
        Any,
        MinData,
        MaxData
    };

    Operands(const MicrokernelSetInt8& tiles, size_t vectors, size_t rows, size_t groups, Choice choice)
        : m_Tiles(tiles), m_Choice(choice), m_Rows(rows), m_Width(vectors * GetLanes()), m_Groups(groups),
          m_Depth(groups * tiles.GetGroupDepth()), m_Data(rows * groups * 4),
          m_Panel(m_Width * groups * tiles.GetGroupBytes(), GetLanes() * tiles.GetGroupBytes()),
          m_Bias(m_Width * sizeof(int32_t), GetLanes() * sizeof(int32_t)),
          m_Sums(rows * m_Width * sizeof(int32_t), GetLanes() * sizeof(int32_t))
    {
        std::mt19937 random(static_cast<uint32_t>(rows * 100 + vectors * 10 + groups));
        const bool isDataSigned =
            tiles.m_Signs == OperandSignsInt8::DataSigned || tiles.m_Signs == OperandSignsInt8::BothSigned;
        for (size_t i = 0; i < rows * m_Depth; ++i)
        {
            const auto [least, most] = tiles.IsDataInt16() ? std::pair(-255, 255)
                                       : isDataSigned      ? std::pair(-128, 127)
                                                           : std::pair(0, 255);
            m_DataValues.push_back(choice == Choice::Any       ? Choose(random, least, most)
                                   : choice == Choice::MinData ? least
                                                               : most);
            Put(m_Data, i, tiles.IsDataInt16(), m_DataValues.back() ^ (IsBiasedOnLoad(tiles) ? 0x80 : 0));
        }
        std::memset(m_Panel.GetData(), 0, m_Width * groups * tiles.GetGroupBytes());
        for (size_t k = 0; k < m_Depth; ++k)
        {
            for (size_t c = 0; c < m_Width; ++c)
            {
                PutWeight(random, k, c);
            }
        }
        for (size_t c = 0; c < m_Width; ++c)
        {
            const int32_t bias = Choose(random, -1000000, 1000000);
            std::memcpy(m_Bias.GetData() + c * sizeof(bias), &bias, sizeof(bias));
        }
        m_Data.MakeReadOnly();
        m_Panel.MakeReadOnly();
        m_Bias.MakeReadOnly();
    }

    void Check(cpu::MicrokernelInt8 tile) const
    {
        auto* sums = reinterpret_cast<int32_t*>(m_Sums.GetData());
        const auto* bias = reinterpret_cast<const int32_t*>(m_Bias.GetData());
        tile(m_Data.GetData(), m_Groups * 4, m_Panel.GetData(), m_Groups, bias, sums);
        EXPECT_TRUE(m_Sums.IsIntactAround());
        for (size_t r = 0; r < m_Rows; ++r)
        {
            for (size_t c = 0; c < m_Width; ++c)
            {
                int32_t want = bias[c];
                for (size_t k = 0; k < m_Depth; ++k)
                {
                    want += m_DataValues[r * m_Depth + k] * m_Weights[k * m_Width + c];
                }
                ASSERT_EQ(sums[r * m_Width + c], want) << "row " << r << ", column " << c;
            }
        }
    }

private:
    static bool IsBiasedOnLoad(const MicrokernelSetInt8& tiles)
    {
        return tiles.m_IsDataBiased && !tiles.m_IsQuantizedDataBiased && !tiles.m_IsPackedDataBiased;
    }
    static size_t GetLanes() { return cpu::GetMicrokernelsInt8().m_Lanes; }

    void PutWeight(std::mt19937& random, size_t k, size_t c)
    {
        const bool isSigned =
            m_Tiles.m_Signs == OperandSignsInt8::DataUnsigned || m_Tiles.m_Signs == OperandSignsInt8::BothSigned;
        const bool isWide = m_Tiles.m_Layout == WeightLayoutInt8::Int16x2;
        const bool isInt4 = m_Tiles.m_Layout == WeightLayoutInt8::Int4x8;
        const auto [least, most] = isWide     ? std::pair(-255, 255)
                                   : isInt4   ? std::pair(0, 15)
                                   : isSigned ? std::pair(m_Tiles.TakesAnyMinWeights() ? -128 : -127, 127)
                                              : std::pair(0, 255);
        const int32_t weight = m_Choice == Choice::Any ? Choose(random, least, most) : most;
        m_Weights.push_back(weight);
        const size_t run = m_Tiles.IsDataInt16() ? 2 : 4 * m_Tiles.m_ColumnGroups;
        if (!isInt4)
        {
            Put(m_Panel, (k / run * m_Width + c) * run + k % run, isWide, weight);
            return;
        }
        std::byte& both = m_Panel.GetData()[(k / (2 * run) * m_Width + c) * run + k % run];
        both |= static_cast<std::byte>(k / run % 2 == 0 ? weight : weight << 4);
    }

    /// One of the ends more often than others.
    static int32_t Choose(std::mt19937& random, int32_t least, int32_t most)
    {
        const int32_t any = std::uniform_int_distribution<int32_t>(least, most)(random);
        return random() % 4 != 0 ? any : random() % 2 != 0 ? least : most;
    }

    static void Put(const GuardedBuffer& to, size_t index, bool isWide, int32_t value)
    {
        const auto wide = static_cast<int16_t>(value);
        const size_t size = isWide ? 2 : 1;
        std::memcpy(to.GetData() + index * size, &wide, size);
    }

    const MicrokernelSetInt8& m_Tiles;
    Choice m_Choice;
    size_t m_Rows;
    size_t m_Width;
    size_t m_Groups;
    size_t m_Depth;
    GuardedBuffer m_Data;
    GuardedBuffer m_Panel;
    GuardedBuffer m_Bias;
    GuardedBuffer m_Sums;
    std::vector<int32_t> m_DataValues;
    std::vector<int32_t> m_Weights; ///< [depth][width]
};

} // namespace

ISA_TEST(MicrokernelsInt8, AllSumsOfProducts)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    const cpu::MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    for (const cpu::KernelRowInt8* const row : microkernels.m_Rows.m_Rows)
    {
        // Layouts with offsets or of the model's own, and blocks, have tests of their own.
        if (row == nullptr || row->IsUnpacked() || row->Has(cpu::KernelEpiloguesInt8::Blocks) ||
            row->m_Layout == WeightLayoutInt8::Split || row->m_Layout == WeightLayoutInt8::Permuted)
        {
            continue;
        }
        const MicrokernelSetInt8& tiles = microkernels.Get(row->m_Role);
        for (size_t vectors = 1; vectors <= tiles.m_Vectors; ++vectors)
        {
            for (size_t rows = tiles.m_RowUnit; rows <= tiles.m_Rows[vectors]; rows += tiles.m_RowUnit)
            {
                ASSERT_NE(tiles.m_Tiles[vectors][rows], nullptr);
                for (const size_t units : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 18U})
                {
                    for (const auto choice :
                         {Operands::Choice::Any, Operands::Choice::MinData, Operands::Choice::MaxData})
                    {
                        SCOPED_TRACE(std::string(row->m_Name) + ", " + std::to_string(vectors) + " vectors, " +
                                     std::to_string(rows) + " rows, " + std::to_string(units) + " units of groups");
                        const Operands operands(tiles, vectors, rows, units * tiles.m_GroupUnit, choice);
                        if (tiles.m_Begin != nullptr)
                        {
                            tiles.m_Begin();
                        }
                        operands.Check(tiles.m_Tiles[vectors][rows]);
                        if (tiles.m_End != nullptr)
                        {
                            tiles.m_End();
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
}

// Nobody else compares the columns of int8_kernels.def with the functions that they are about.
ISA_TEST(MicrokernelsInt8, SetsAreTheirRows)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    using Epilogues = cpu::KernelEpiloguesInt8;
    const cpu::MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    EXPECT_EQ(microkernels.m_Lanes, microkernels.m_Rows.m_Lanes);
    for (size_t role = 0; role < cpu::NumKernelRolesInt8; ++role)
    {
        const cpu::KernelRowInt8* const row = microkernels.m_Rows.m_Rows[role];
        const MicrokernelSetInt8& set = microkernels.m_Sets[role];
        ASSERT_EQ(set.m_Row, row);
        if (row == nullptr)
        {
            EXPECT_EQ(set.m_Vectors, 0U);
            continue;
        }
        SCOPED_TRACE(row->m_Name);
        EXPECT_EQ(static_cast<size_t>(row->m_Role), role);
        EXPECT_EQ(set.m_Layout, row->m_Layout);
        EXPECT_EQ(set.m_Signs, row->m_Signs);
        EXPECT_EQ(set.m_UnpackedDots != nullptr, row->IsUnpacked());
        EXPECT_EQ(set.m_Begin != nullptr, row->m_RowUnit != 1);
        EXPECT_EQ(set.m_MinIndirectRows != 0, row->Has(Epilogues::Dq));
        const bool hasWideBlocks =
            row->Has(Epilogues::Blocks) && row->m_Layout == WeightLayoutInt8::Int4x8 && !set.m_BlockSums.m_IsPaired;
        EXPECT_EQ(set.m_WidenBlocks != nullptr, hasWideBlocks);
        for (size_t vectors = 0; vectors <= MicrokernelSetInt8::MaxVectors; ++vectors)
        {
            SCOPED_TRACE(vectors);
            for (size_t rows = 0; rows <= MicrokernelSetInt8::MaxRows; ++rows)
            {
                const bool isThere =
                    !row->IsUnpacked() && rows != 0 && rows <= row->m_Rows[vectors] && rows % row->m_RowUnit == 0;
                const bool hasBlocks = row->Has(Epilogues::Blocks);
                EXPECT_EQ(set.m_Tiles[vectors][rows] != nullptr, isThere && !hasBlocks) << rows << " rows";
                if (rows <= cpu::BlockRowsInt8::MaxRows)
                {
                    EXPECT_EQ(set.m_BlockTiles[vectors][rows] != nullptr, isThere && hasBlocks) << rows << " rows";
                    EXPECT_EQ(set.m_WideBlockTiles[vectors][rows] != nullptr, isThere && hasWideBlocks)
                        << rows << " rows";
                }
            }
            const bool isPanel = vectors != 0 && vectors <= row->m_Vectors;
            for (size_t scale = 0; scale < cpu::NumScalesInt8; ++scale)
            {
                EXPECT_EQ(set.m_RequantizedKernels[scale][0][vectors] != nullptr, isPanel && row->Has(Epilogues::Rq));
                EXPECT_EQ(set.m_RequantizedKernels[scale][1][vectors] != nullptr,
                          isPanel && row->Has(Epilogues::RqRow));
                EXPECT_EQ(set.m_ImplicitGemmKernels[scale][vectors] != nullptr, isPanel && row->Has(Epilogues::Ig));
            }
            EXPECT_EQ(set.m_DequantizedKernels[vectors] != nullptr, isPanel && row->Has(Epilogues::Dq));
            EXPECT_EQ(set.m_ImplicitGemmDequantizeKernels[vectors] != nullptr, isPanel && row->Has(Epilogues::IgDq));
        }
    }
}

// Signed and unsigned data and weights, with zero points and by channel.
ISA_TEST(MicrokernelsInt8, RowsThatAreReadInPlace)
{
    for (const unsigned int depth : {4U, 12U, 16U, 28U, 44U, 100U})
    {
        for (const unsigned int rows : {1U, 2U, 7U, 11U, 40U})
        {
            for (const unsigned int columns : {3U, 16U, 17U, 52U})
            {
                FullyConnectedDescriptor d;
                d.m_TransposeWeightMatrix = true;
                const TensorShape weights({columns, depth});
                const TensorShape output({rows, columns});
                const std::string name =
                    std::to_string(rows) + " x " + std::to_string(depth) + " x " + std::to_string(columns);
                const auto check = [&](const std::string& types, const TensorInfo& data, const TensorInfo& of,
                                       const TensorInfo& out, const char* kernel, double bound)
                {
                    ExpectAsReference(ReferenceCase(types + name, LayerType::FullyConnected, d,
                                                    {Random(Shaped(data, {rows, depth}), rows),
                                                     Constant(Random(Shaped(of, weights), columns))},
                                                    Shaped(out, output)),
                                      kernel, bound);
                };
                const TensorShape any({1});
                const TensorInfo int8(any, DataType::QAsymmS8, 0.1f, 5);
                const TensorInfo uint8(any, DataType::QAsymmU8, 0.1f, 131);
                const TensorInfo outInt8(any, DataType::QAsymmS8, 3.0f, -4);
                const TensorInfo outUint8(any, DataType::QAsymmU8, 3.0f, 120);
                const char* const bytes = "CpuFullyConnectedInt8";
                check("int8 ", int8, TensorInfo(any, DataType::QSymmS8, 0.1f, 0), outInt8, bytes, 0);
                check("int8 asymmetric ", int8, int8, outInt8, bytes, 0);
                check("uint8 ", uint8, TensorInfo(any, DataType::QAsymmU8, 0.1f, 3), outUint8, bytes, 0);
                check("uint8 about 128 ", uint8, TensorInfo(any, DataType::QAsymmU8, 0.1f, 128), outUint8, bytes, 0);
                const TensorInfo floats(any, DataType::Float32);
                d.m_AsymmetricQuantizeInputs = rows % 2 == 0;
                check("floats ", floats, TensorInfo(any, DataType::QSymmS8, 0.1f, 0), floats, "CpuFullyConnectedHybrid",
                      1e-6);
            }
        }
    }
}

} // namespace tenon::test::microkernels_int8_test
