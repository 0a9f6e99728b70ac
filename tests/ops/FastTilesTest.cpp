// SPDX-License-Identifier: Apache-2.0
// The tiles of products of bytes one by one: all numbers of rows and vectors that the processor at hand has them for,
// beside plain sums. And products whose rows of data are read in place, where whole vectors of the depth would read
// past them.
#include "backends/cpu/gemm/Tiles8.hpp"
#include "harness/GuardedBuffer.hpp"
#include "ops/FastCompare.hpp"

#include <tenon/Descriptors.hpp>

#include <cstring>
#include <random>

namespace tenon::test
{

namespace
{

using cpu::Engine8;
using cpu::Layout8;
using cpu::Signs8;

/// A tile's operands in guarded memory. Its own memory: a tile reads all of its rows' groups, and nothing else.
class Operands
{
public:
    Operands(bool isSigned, size_t vectors, size_t rows, size_t groups)
        : m_Engine(cpu::GetEngine8()), m_Signs(isSigned ? m_Engine.m_SignedData : m_Engine.m_UnsignedData),
          m_Rows(rows), m_Width(vectors * m_Engine.m_Lanes), m_Groups(groups), m_Depth(groups * (IsWide() ? 2 : 4)),
          m_Data(rows * groups * 4), m_Panel(m_Width * groups * 4, m_Engine.m_Lanes * sizeof(int32_t)),
          m_Bias(m_Width * sizeof(int32_t), m_Engine.m_Lanes * sizeof(int32_t)),
          m_Sums(rows * m_Width * sizeof(int32_t), m_Engine.m_Lanes * sizeof(int32_t))
    {
        std::mt19937 random(static_cast<uint32_t>(rows * 100 + vectors * 10 + groups));
        const bool flips = isSigned && !IsWide() && m_Engine.m_FlipsSignedData;
        const bool isDataSigned = isSigned && !flips;
        const bool areWeightsSigned = m_Signs == Signs8::DataUnsigned || m_Signs == Signs8::BothSigned;
        for (size_t i = 0; i < rows * m_Depth; ++i)
        {
            m_DataValues.push_back(IsWide() ? Choose(random, -255, 255)
                                            : Choose(random, isDataSigned ? -128 : 0, isDataSigned ? 127 : 255));
            Put(m_Data, i, m_DataValues.back() ^ (flips ? 0x80 : 0));
        }
        for (size_t k = 0; k < m_Depth; ++k)
        {
            for (size_t c = 0; c < m_Width; ++c)
            {
                m_Weights.push_back(IsWide()
                                        ? Choose(random, -255, 255)
                                        : Choose(random, areWeightsSigned ? -128 : 0, areWeightsSigned ? 127 : 255));
                const size_t run = IsWide() ? 2 : 4 * m_Engine.m_ColumnGroups;
                Put(m_Panel, (k / run * m_Width + c) * run + k % run, m_Weights.back());
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

    void Check(cpu::TileFunction8 tile) const
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
    bool IsWide() const { return m_Engine.m_Layout == Layout8::WidePairs; }

    /// One of the ends more often than others.
    static int32_t Choose(std::mt19937& random, int32_t least, int32_t most)
    {
        const int32_t any = std::uniform_int_distribution<int32_t>(least, most)(random);
        return random() % 4 != 0 ? any : random() % 2 != 0 ? least : most;
    }

    void Put(const GuardedBuffer& to, size_t index, int32_t value) const
    {
        const auto wide = static_cast<int16_t>(value);
        const size_t size = IsWide() ? 2 : 1;
        std::memcpy(to.GetData() + index * size, &wide, size);
    }

    const Engine8& m_Engine;
    Signs8 m_Signs;
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

TEST(FastTiles, AllSumsOfProducts)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "without vectors the reference kernels run";
    }
    const Engine8& engine = cpu::GetEngine8();
    for (const bool isSigned : {false, true})
    {
        const auto& tiles = isSigned ? engine.m_SignedTiles : engine.m_UnsignedTiles;
        for (size_t vectors = 1; vectors <= engine.m_Vectors; ++vectors)
        {
            for (size_t rows = engine.m_RowUnit; rows <= engine.m_Rows[vectors]; rows += engine.m_RowUnit)
            {
                ASSERT_NE(tiles[vectors][rows], nullptr);
                for (const size_t units : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 18U})
                {
                    SCOPED_TRACE((isSigned ? "int8, " : "uint8, ") + std::to_string(vectors) + " vectors, " +
                                 std::to_string(rows) + " rows, " + std::to_string(units) + " units of groups");
                    const Operands operands(isSigned, vectors, rows, units * engine.m_GroupUnit);
                    if (engine.m_Begin != nullptr)
                    {
                        engine.m_Begin();
                    }
                    operands.Check(tiles[vectors][rows]);
                    if (engine.m_End != nullptr)
                    {
                        engine.m_End();
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

// Signed and unsigned data and weights, with zero points and by channel.
TEST(FastTiles, RowsThatAreReadInPlace)
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
                    ExpectAsReference(FastCase(types + name, LayerType::FullyConnected, d,
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
                const char* const bytes = "CpuFullyConnectedBytes";
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

} // namespace tenon::test
