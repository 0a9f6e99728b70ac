// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of bytes with the reference kernel's numbers. A row needs one division only: for each number there is
// one result, so that results are made as a table first. Used by Softmax, and in parts by LogSoftmax.
#pragma once

#include "backends/cpu/elementwise/LookupTableInt8.hpp"
#include "backends/cpu/reduce/RowBlocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tenon::cpu
{

/// Powers by the difference of an element to the largest one of its row, as fractions of 2^19.
struct ByteSummands
{
    void Set(size_t difference, uint32_t summand)
    {
        m_Summands[difference] = summand;
        for (size_t byte = 0; byte < 3; ++byte)
        {
            m_Bytes[byte][difference] = static_cast<uint8_t>(summand >> (8 * byte));
        }
    }

    alignas(64) uint32_t m_Summands[256] = {};
    alignas(64) uint8_t m_Bytes[3][256] = {}; ///< of these, the lowest ones first
};

/// Results by number, of which those that occur in a row are written.
class ByteResults
{
public:
    static constexpr size_t MostLanes = 16; ///< that are written at once

    /// Where that of a number is, and behind it those of larger ones.
    uint8_t* At(size_t number) { return m_Results + 128 + number; }

    /// By what is stored, which is the number with `flip` applied.
    ByteTable Get(uint8_t flip) const
    {
        ByteTable table;
        std::memcpy(table.data(), m_Results + (flip == 0 ? 128 : 256), 128);
        std::memcpy(table.data() + 128, m_Results + (flip == 0 ? 256 : 128), 128);
        return table;
    }

private:
    alignas(64) uint8_t m_Results[128 + 256 + MostLanes]; // by the number plus 128, so that both halves are aligned
};

/// The smallest and the largest byte.
struct ByteRange
{
    uint8_t m_Min = 0;
    uint8_t m_Max = 0;
};

struct ByteSoftmaxFunctions
{
    static constexpr size_t ShortestRow = 32; ///< that they take

    /// Of `depth` bytes, each with `flip` applied.
    ByteRange (*m_FindRange)(const uint8_t* in, size_t depth, uint8_t flip) = nullptr;
    /// The sum of their summands, where `most` is the largest of them.
    uint64_t (*m_Sum)(const ByteSummands& summands, const uint8_t* in, size_t depth, uint8_t flip,
                      uint8_t most) = nullptr;
    /// bytes[i] = powers[i] * scale / 2^31, rounded, then / 2^shift, rounded, at most 255, with `flip` applied; for
    /// `count` of them and up to a vector more. shift in [1, 31].
    void (*m_ScalePowers)(const uint32_t* powers, size_t count, uint32_t scale, int shift, uint8_t flip,
                          uint8_t* bytes) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
ByteSoftmaxFunctions GetByteSoftmaxFunctions();

/// What the softmaxes of bytes have in common: the sums of the powers of rows, and which rows are written together.
/// Precondition: the processor has vectors, see CpuFeatures.
struct ByteSoftmaxRows
{
    explicit ByteSoftmaxRows(bool isSigned) : m_Flip(isSigned ? 0x80 : 0) {}

    /// Calls `write`(in, range, finished, out) for each row of `depth` bytes (1 or more), with finish(sum of its
    /// summands); for rows of few bytes `writeFew`(in, most, finished, out).
    template <typename Finish, typename Write, typename WriteFew>
    void ForEach(const uint8_t* in, size_t rows, size_t depth, uint8_t* out, const Finish& finish, const Write& write,
                 const WriteFew& writeFew) const
    {
        // Results for all numbers are made faster than those for more elements than a few.
        if (depth < ByteSoftmaxFunctions::ShortestRow)
        {
            for (size_t row = 0; row < rows; ++row, in += depth, out += depth)
            {
                const uint8_t most = GetMost(in, depth);
                writeFew(in, most, finish(SumFew(in, depth, most)), out);
            }
            return;
        }
        for (size_t first = 0; first < rows; first += MostRowsOfBlock)
        {
            const size_t count = std::min(MostRowsOfBlock, rows - first);
            const uint8_t* from = in + first * depth;
            ByteRange ranges[MostRowsOfBlock];
            decltype(finish(uint64_t{0})) finished[MostRowsOfBlock];
            for (size_t i = 0; i < count; ++i)
            {
                ranges[i] = m_Functions.m_FindRange(from + i * depth, depth, m_Flip);
                finished[i] = finish(m_Functions.m_Sum(m_Summands, from + i * depth, depth, m_Flip, ranges[i].m_Max));
            }
            for (size_t i = 0; i < count; ++i)
            {
                write(from + i * depth, ranges[i], finished[i], out + (first + i) * depth);
            }
        }
    }

    ByteSummands m_Summands;
    uint8_t m_Flip; ///< makes signed bytes unsigned ones of the same order
    ByteSoftmaxFunctions m_Functions = GetByteSoftmaxFunctions();

private:
    uint8_t GetMost(const uint8_t* in, size_t depth) const
    {
        uint8_t most = 0;
        for (size_t i = 0; i < depth; ++i)
        {
            most = std::max(most, static_cast<uint8_t>(in[i] ^ m_Flip));
        }
        return most;
    }
    uint64_t SumFew(const uint8_t* in, size_t depth, uint8_t most) const
    {
        uint64_t sum = 0;
        for (size_t i = 0; i < depth; ++i)
        {
            sum += m_Summands.m_Summands[most - (in[i] ^ m_Flip)];
        }
        return sum;
    }
};

/// A layer's tables. Precondition: the processor has vectors, see CpuFeatures.
class ByteSoftmax
{
public:
    /// Of differences times beta * scale, beta > 0. Unsigned bytes, or signed ones.
    ByteSoftmax(float beta, float scale, bool isSigned);

    /// Rows of `depth` bytes, one at least; `out` may be `in`.
    void Rows(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const;

private:
    /// One over the sum of a row's powers: m_Scale / 2^31, to be shifted.
    struct Factor
    {
        uint32_t m_Scale = 0;
        int m_Shift = 0;
    };

    static Factor MakeFactor(uint64_t sum);
    void WriteRow(const uint8_t* in, size_t depth, ByteRange range, Factor factor, uint8_t* out) const;
    void WriteFew(const uint8_t* in, size_t depth, uint8_t most, Factor factor, uint8_t* out) const;

    /// exp as a fraction of 2^31, by 255 minus the difference.
    alignas(64) uint32_t m_Powers[256 + ByteResults::MostLanes] = {};
    ByteSoftmaxRows m_Rows;
    std::array<uint16_t, 32> m_Reach{}; ///< by the shift of a factor: differences whose results may not be 0
    LookupFunction m_LookUp = FindByteLookup();
};

} // namespace tenon::cpu
