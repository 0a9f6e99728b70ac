// SPDX-License-Identifier: Apache-2.0
// MicrokernelsF32: all numbers of rows and vectors of this processor, two tiles one below the other, with the last
// vector full, half full and with one column, compared with plain sums.
#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"

#include "backends/cpu/simd/Isa.hpp"
#include "harness/IsaTest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace tenon::test::microkernels_f32_test
{

namespace
{

constexpr float Untouched = -12345.0f;
constexpr size_t Count = 2; // tiles

std::vector<float> RandomFloats(std::mt19937& random, size_t count)
{
    std::uniform_real_distribution<float> distribution(-1.0f, 1.0f);
    std::vector<float> values(count);
    std::generate(values.begin(), values.end(), [&] { return distribution(random); });
    return values;
}

/// The operands of the tiles, in two taps.
struct Product
{
    static constexpr size_t Taps = 2;
    static constexpr size_t Depth = 7;
    static constexpr size_t Alignment = 16; // floats

    Product(size_t rows, size_t vectors, size_t columns, size_t lanes)
        : m_NumRows(rows), m_Columns(columns), m_Width(vectors * lanes),
          m_Random(static_cast<uint32_t>(rows + columns)), m_Data(RandomFloats(m_Random, Taps * rows * Depth)),
          m_Bias(RandomFloats(m_Random, columns)), m_Added(RandomFloats(m_Random, rows * GetStride())),
          m_Memory(Taps * Depth * m_Width + Alignment)
    {
        const auto misplaced = reinterpret_cast<uintptr_t>(m_Memory.data()) / sizeof(float) % Alignment;
        m_Panel = m_Memory.data() + (Alignment - misplaced) % Alignment;
        for (size_t k = 0; k < Taps * Depth; ++k)
        {
            const std::vector<float> row = RandomFloats(m_Random, columns);
            std::copy(row.begin(), row.end(), m_Panel + k * m_Width);
        }
        for (size_t i = 0; i < Taps * rows; ++i)
        {
            m_Rows.push_back(m_Data.data() + i * Depth);
        }
    }

    size_t GetStride() const { return m_Columns + 3; }

    cpu::TileF32 GetTile(float* out) const
    {
        cpu::TileF32 tile;
        tile.m_Indirection = m_Rows.data();
        tile.m_TapStep = m_NumRows;
        tile.m_Taps = Taps;
        tile.m_Depth = Depth;
        tile.m_Panel = m_Panel;
        tile.m_Columns = m_Columns;
        tile.m_Out = out;
        tile.m_OutStride = GetStride();
        return tile;
    }

    double GetSum(size_t row, size_t column, size_t taps = Taps) const
    {
        double sum = 0;
        for (size_t k = 0; k < taps * Depth; ++k)
        {
            sum += static_cast<double>(m_Rows[k / Depth * m_NumRows + row][k % Depth]) *
                   static_cast<double>(m_Panel[k * m_Width + column]);
        }
        return sum;
    }

    size_t m_NumRows;
    size_t m_Columns;
    size_t m_Width;
    std::mt19937 m_Random;
    std::vector<float> m_Data;
    std::vector<float> m_Bias;
    std::vector<float> m_Added;
    std::vector<float> m_Memory;
    float* m_Panel = nullptr;
    std::vector<const float*> m_Rows;
};

/// How data are read, and what is added to the sums.
enum class Way
{
    Bias,
    Clamp,
    BiasAndAdded,
    Continues,
    FewRows,
    Rows ///< one tap at a stride: no indirection buffer
};
constexpr Way Ways[] = {Way::Bias, Way::Clamp, Way::BiasAndAdded, Way::Continues, Way::FewRows, Way::Rows};

void ExpectSums(const Product& product, cpu::MicrokernelF32 function, Way way)
{
    std::vector<float> out(product.m_NumRows * product.GetStride(), Untouched);
    std::vector<float> before = out;
    cpu::TileF32 tile = product.GetTile(out.data());
    tile.m_Bias = way == Way::Bias || way == Way::BiasAndAdded || way == Way::FewRows ? product.m_Bias.data() : nullptr;
    tile.m_Accumulates = way == Way::Continues;
    tile.m_HasFewRows = way == Way::FewRows;
    tile.m_Added = way == Way::BiasAndAdded ? product.m_Added.data() : nullptr;
    tile.m_HasClamp = way == Way::Clamp || way == Way::BiasAndAdded;
    tile.m_Low = -0.25f;
    tile.m_High = 0.5f;
    const bool isByRows = way == Way::Rows;
    if (isByRows)
    {
        tile.m_Indirection = nullptr;
        tile.m_Data = product.m_Data.data();
        tile.m_DataStride = Product::Depth;
    }
    for (size_t i = 0; tile.m_Accumulates && i < out.size(); ++i)
    {
        const bool isInside = i % product.GetStride() < product.m_Columns;
        out[i] = before[i] = isInside ? product.m_Added[i] : Untouched;
    }
    cpu::WeightPrefetcher next(product.m_Memory.data(), product.m_Memory.size() * sizeof(float));
    tile.m_Next = way == Way::Clamp ? &next : nullptr;
    function(tile, Count);
    for (size_t i = 0; i < out.size(); ++i)
    {
        const size_t row = i / product.GetStride();
        const size_t column = i % product.GetStride();
        if (column >= product.m_Columns)
        {
            ASSERT_EQ(out[i], Untouched) << "behind row " << row;
            continue;
        }
        double want = product.GetSum(row, column, isByRows ? 1 : Product::Taps);
        want += tile.m_Accumulates       ? static_cast<double>(before[i])
                : tile.m_Bias != nullptr ? static_cast<double>(product.m_Bias[column])
                                         : 0.0;
        want += tile.m_Added != nullptr ? static_cast<double>(product.m_Added[i]) : 0.0;
        want = tile.m_HasClamp ? std::clamp(want, -0.25, 0.5) : want;
        ASSERT_NEAR(out[i], want, 1e-5) << "row " << row << ", column " << column;
    }
}

} // namespace

ISA_TEST(MicrokernelsF32, AllSumsOfProducts)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    const cpu::MicrokernelsF32& microkernels = cpu::GetMicrokernelsF32();
    for (size_t vectors = 1; vectors <= microkernels.m_MaxVectors; ++vectors)
    {
        const size_t full = (vectors - 1) * microkernels.m_Lanes;
        for (const size_t columns : {full + 1, full + microkernels.m_Lanes / 2, full + microkernels.m_Lanes})
        {
            size_t maxRows = 0;
            const cpu::MicrokernelF32* const tiles = microkernels.FindTiles(vectors, columns, maxRows);
            ASSERT_GT(maxRows, 0U);
            for (size_t rows = 1; rows <= maxRows; ++rows)
            {
                SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(columns) + " columns");
                const Product product(Count * rows, vectors, columns, microkernels.m_Lanes);
                for (const Way way : Ways)
                {
                    ASSERT_NO_FATAL_FAILURE(ExpectSums(product, tiles[rows], way));
                }
            }
        }
    }
}

// A tap is skipped if and only if it lies in the padding for all rows of the tile: its weights are NaN here.
ISA_TEST(MicrokernelsF32, PointsThatAllRowsLackAreSkipped)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    const cpu::MicrokernelsF32& microkernels = cpu::GetMicrokernelsF32();
    const std::vector<float> zeros(Product::Depth);
    for (size_t vectors = 1; vectors <= microkernels.m_MaxVectors; ++vectors)
    {
        const size_t columns = vectors * microkernels.m_Lanes;
        size_t maxRows = 0;
        const cpu::MicrokernelF32* const tiles = microkernels.FindTiles(vectors, columns, maxRows);
        for (size_t rows = 1; rows <= maxRows; ++rows)
        {
            SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(columns) + " columns");
            Product product(Count * rows, vectors, columns, microkernels.m_Lanes);
            std::fill_n(product.m_Rows.begin(), product.m_NumRows, zeros.data());
            std::fill_n(product.m_Panel, Product::Depth * product.m_Width, 0.0f);
            std::vector<double> want(product.m_NumRows * columns);
            for (size_t i = 0; i < want.size(); ++i)
            {
                want[i] = product.GetSum(i / columns, i % columns);
            }
            std::fill_n(product.m_Panel, Product::Depth * product.m_Width, NAN);
            std::vector<float> out(product.m_NumRows * product.GetStride());
            cpu::TileF32 tile = product.GetTile(out.data());
            tile.m_Zeros = zeros.data();
            tiles[rows](tile, Count);
            for (size_t i = 0; i < want.size(); ++i)
            {
                ASSERT_NEAR(out[i / columns * product.GetStride() + i % columns], want[i], 1e-5) << "sum " << i;
            }
            const std::vector<float> others(Product::Depth);
            product.m_Rows[rows - 1] = others.data();
            tiles[rows](tile, Count);
            ASSERT_TRUE(std::isnan(out[0]));
            ASSERT_FALSE(std::isnan(out.back()));
        }
    }
}

} // namespace tenon::test::microkernels_f32_test
