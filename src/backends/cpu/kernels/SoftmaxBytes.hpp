// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of bytes with the reference kernel's numbers. A row needs one division only: for each number there is
// one result, so that results are made as a table first. Used by Softmax, and in parts by LogSoftmax.
#pragma once

#include "backends/cpu/elementwise/ByteTable.hpp"

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
    void RowOfFew(const uint8_t* in, size_t depth, uint8_t* out) const;

    /// exp as a fraction of 2^31, by 255 minus the difference.
    alignas(64) uint32_t m_Powers[256 + ByteResults::MostLanes] = {};
    ByteSummands m_Summands;
    std::array<uint16_t, 32> m_Reach{}; ///< by the shift of a factor: differences whose results may not be 0
    uint8_t m_Flip;                     ///< makes signed bytes unsigned ones of the same order
    ByteSoftmaxFunctions m_Functions;
    LookupFunction m_LookUp = FindByteLookup();
};

} // namespace tenon::cpu
