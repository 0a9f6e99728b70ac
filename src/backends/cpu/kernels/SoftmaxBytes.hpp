// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of bytes with the reference kernel's numbers. A row needs one division only: for each number there is
// one result, so that results are made as a table first. Used by Softmax.
#pragma once

#include "backends/cpu/elementwise/ByteTable.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Powers by the difference of an element to the largest one of its row.
struct ByteSoftmaxTables
{
    static constexpr size_t MostLanes = 16; ///< that are read and written at once

    alignas(64) uint32_t m_Powers[256 + MostLanes] = {}; ///< exp as a fraction of 2^31; of 255 minus the difference
    alignas(64) uint32_t m_Summands[256] = {};           ///< the same as a fraction of 2^19, rounded
    alignas(64) uint8_t m_SummandBytes[3][256] = {};     ///< bytes of these, the lowest ones first
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
    uint64_t (*m_Sum)(const ByteSoftmaxTables& tables, const uint8_t* in, size_t depth, uint8_t flip,
                      uint8_t most) = nullptr;
    /// bytes[i] = powers[i] * scale / 2^31, rounded, then / 2^shift, rounded, at most 255, with `flip` applied; for
    /// `count` of them and up to a vector more. shift in [1, 31].
    void (*m_ScalePowers)(const uint32_t* powers, size_t count, uint32_t scale, int shift, uint8_t flip,
                          uint8_t* bytes) = nullptr;
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
    void RowOfFew(const uint8_t* in, size_t depth, uint8_t* out) const;

    ByteSoftmaxTables m_Tables;
    std::array<uint16_t, 32> m_Reach{}; ///< by the shift of a factor: differences whose results may not be 0
    uint8_t m_Flip;                     ///< makes signed bytes unsigned ones of the same order
    ByteSoftmaxFunctions m_Functions;
    LookupFunction m_LookUp = FindByteLookup();
};

} // namespace tenon::cpu
