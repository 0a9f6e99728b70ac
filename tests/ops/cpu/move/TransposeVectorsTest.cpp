// SPDX-License-Identifier: Apache-2.0
// TransposeElements beside two loops: matrices of all remainders of tiles and pieces, at any place of a cache line,
// with and without gaps; what lies around them stays.
#include "backends/cpu/move/TransposeVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/IsaCases.hpp"
#include "harness/IsaTest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

namespace tenon::test::transpose_vectors_test
{

namespace
{

/// A matrix of the target, and where it lies in memory that begins with a cache line.
struct Place
{
    size_t m_Rows;
    size_t m_Columns;
    size_t m_Stride; ///< of the target, in elements
    size_t m_First;  ///< bytes before the target
    bool m_IsLarge = false;
};

/// A matrix whose memory ends with its last row: behind it there is a page that may not be read.
class Source
{
public:
    Source(size_t rows, size_t columns, size_t stride, size_t bytes)
        : m_Stride(stride), m_Memory((columns - 1) * stride * bytes + rows * bytes)
    {
        for (size_t column = 0; column < columns; ++column) // and the gaps keep the memory's pattern
        {
            std::byte* const to = m_Memory.GetData() + column * stride * bytes;
            for (size_t i = 0; i < rows * bytes; ++i)
            {
                to[i] = static_cast<std::byte>((column * stride * bytes + i) * 2654435761U >> 11U);
            }
        }
    }

    const std::byte* GetData() const { return m_Memory.GetData(); }
    size_t GetStride() const { return m_Stride; } ///< in elements

private:
    size_t m_Stride;
    GuardedBuffer m_Memory;
};

template <size_t Bytes>
void ExpectTransposed(const Source& source, const Place& place)
{
    const size_t fromStride = source.GetStride();
    const std::byte* const from = source.GetData();
    // The last row has no gap: what is read or written behind it is out of bounds.
    constexpr size_t Line = 64;
    const size_t bytes = ((place.m_Rows - 1) * place.m_Stride + place.m_Columns) * Bytes;
    std::vector<std::byte> memory(Line + place.m_First + bytes, std::byte{0xa5});
    const size_t lead = (Line - reinterpret_cast<uintptr_t>(memory.data()) % Line) % Line;
    memory.resize(lead + place.m_First + bytes);
    std::vector<std::byte> expected = memory;
    std::byte* const to = memory.data() + lead + place.m_First;
    for (size_t row = 0; row < place.m_Rows; ++row)
    {
        for (size_t column = 0; column < place.m_Columns; ++column)
        {
            std::memcpy(expected.data() + (to - memory.data()) + (row * place.m_Stride + column) * Bytes,
                        from + (column * fromStride + row) * Bytes, Bytes);
        }
    }
    const std::vector<std::byte> before = memory;
    const auto check = [&]
    {
        std::copy(before.begin(), before.end(), memory.begin());
        cpu::TransposeElements<Bytes>(from, fromStride * Bytes, place.m_Rows, place.m_Columns, to,
                                      place.m_Stride * Bytes, place.m_IsLarge);
        ASSERT_EQ(memory, expected) << Bytes << " bytes, " << place.m_Rows << " x " << place.m_Columns << ", stride "
                                    << place.m_Stride << ", first " << place.m_First << ", from " << fromStride
                                    << (place.m_IsLarge ? ", of many" : "");
    };
    ForEachIsa(check);
}

template <size_t Bytes>
void ExpectAllTransposed()
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    constexpr size_t Line = 64 / Bytes;
    constexpr size_t Block = 16 / Bytes;
    std::vector<size_t> rows = {4 * Line + 1, 8 * Line, 8 * Line + Block / 2 + 1};
    for (size_t row = 1; row <= 3 * Block; ++row)
    {
        rows.push_back(row);
    }
    const size_t columns[] = {1,        Block - 1,    Block,        Block + 1,    2 * Block + 1,    Line - 1,
                              Line,     Line + 1,     Line + Block, 2 * Line - 1, 2 * Line + Block, 3 * Line + Line / 2,
                              8 * Line, 9 * Line + 2, 17 * Line - 3};
    for (const size_t row : rows)
    {
        for (const size_t column : columns)
        {
            // Sources without gaps and with some, in few sets of a cache, and in a page for each row: each of them, of
            // few and of many, comes with all rows and columns.
            const Source sources[] = {Source(row, column, row, Bytes), Source(row, column, row + 2, Bytes),
                                      Source(row, column, row + 1024 - row % 1024, Bytes),
                                      Source(row, column, 5000 / Bytes + row, Bytes)};
            size_t turn = 0;
            const size_t lines = (column + Line - 1) / Line * Line;
            for (const size_t stride : {column, column + 1, lines, lines + Block})
            {
                for (const size_t first : {size_t{0}, Bytes, size_t{16}, size_t{40}, 64 - Bytes, size_t{4}})
                {
                    const bool isLarge = turn / std::size(sources) % 2 != 0;
                    ExpectTransposed<Bytes>(sources[turn % std::size(sources)], {row, column, stride, first, isLarge});
                    ++turn;
                    if (testing::Test::HasFatalFailure())
                    {
                        return;
                    }
                }
            }
        }
    }
}

} // namespace

ISA_TEST(TransposeVectors, Bytes)
{
    ExpectAllTransposed<1>();
}
ISA_TEST(TransposeVectors, Shorts)
{
    ExpectAllTransposed<2>();
}
ISA_TEST(TransposeVectors, Words)
{
    ExpectAllTransposed<4>();
}
ISA_TEST(TransposeVectors, Pairs)
{
    ExpectAllTransposed<8>();
}

} // namespace tenon::test::transpose_vectors_test
