// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of int8 and uint8, bit for bit as the reference kernel:
//     y = round(256 * exp(beta * scale * (x - max)) / sum exp(beta * scale * (x - max)))
// in fixed point. A row has no more than 256 different results, so four passes suffice: range of the row, sum of
// exponentials by a table, one reciprocal, and a table of results that replaces each element by one lookup. int8 is
// biased by 128 (XOR 0x80, m_SignXor), which keeps the order. LogSoftmaxInt8 shares range, sum and tables. Softmax
// creates both.
#pragma once

#include "backends/cpu/elementwise/LookupTableInt8.hpp"
#include "backends/cpu/reduce/RowBlocks.hpp"
#include "backends/reference/kernels/LogSoftmaxTablesInt8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tenon::cpu
{

/// exp(-difference) by the difference of an element to the largest of its row, as fractions of 2^19. Three tables of
/// bytes hold the same numbers for lookups in registers (AVX-512 VBMI).
struct ExpTableInt8
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
    alignas(64) uint8_t m_Bytes[3][256] = {}; ///< the lowest bytes first
};

/// Results by value. Only those of values that occur in the row are written.
///     [ 128 unused | value 0 ... 127 | value 128 ... 255 | one vector ]    Get() swaps the halves for int8
class ResultTableInt8
{
public:
    static constexpr size_t MaxStoreLanes = 16; ///< lanes of one store

    /// The address of the result of a value; the results of larger values are behind it.
    uint8_t* At(size_t number) { return m_Results + 128 + number; }

    /// The table indexed by stored bytes, which are the value XOR signXor.
    LookupTableInt8 Get(uint8_t signXor) const
    {
        LookupTableInt8 table;
        std::memcpy(table.data(), m_Results + (signXor == 0 ? 128 : 256), 128);
        std::memcpy(table.data() + 128, m_Results + (signXor == 0 ? 256 : 128), 128);
        return table;
    }

private:
    alignas(
        64) uint8_t m_Results[128 + 256 + MaxStoreLanes]; // indexed by value plus 128, so that both halves are aligned
};

/// The range of a row.
struct RangeInt8
{
    uint8_t m_Min = 0;
    uint8_t m_Max = 0;
};

struct SoftmaxFunctionsInt8
{
    static constexpr size_t MinDepth = 32; ///< elements of the shortest row that the functions accept

    /// The range of `depth` bytes, each XOR signXor.
    RangeInt8 (*m_FindRange)(const uint8_t* in, size_t depth, uint8_t signXor) = nullptr;
    /// The sum of the row's exponentials by the table, for the largest element `maxByte`.
    uint64_t (*m_Sum)(const ExpTableInt8& summands, const uint8_t* in, size_t depth, uint8_t signXor,
                      uint8_t maxByte) = nullptr;
    /// bytes[i] = exps[i] * scale / 2^31, rounded, then / 2^shift, rounded, 255 if more, XOR signXor; for `count`
    /// elements and up to a vector more. shift is in [1, 31].
    void (*m_ScaleExps)(const uint32_t* exps, size_t count, uint32_t scale, int shift, uint8_t signXor,
                        uint8_t* bytes) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
SoftmaxFunctionsInt8 GetSoftmaxFunctionsInt8();

/// Shared by Softmax and LogSoftmax of 8 bits: range and sum of each row, and blocks of rows. Precondition: the
/// processor has vectors, see CpuFeatures.
struct SoftmaxRowsInt8
{
    explicit SoftmaxRowsInt8(bool isSigned) : m_SignXor(isSigned ? 0x80 : 0) {}

    /// Calls `write`(in, range, finished, out) for each row of `depth` bytes (1 or more), or `writeFew`(in, maxByte,
    /// finished, out) if rows are short; `finished` is finish(sum of the exponentials).
    template <typename Finish, typename Write, typename WriteFew>
    void ForEach(const uint8_t* in, size_t rows, size_t depth, uint8_t* out, const Finish& finish, const Write& write,
                 const WriteFew& writeFew) const
    {
        // A table of all results takes less time than single results of more than a few elements.
        if (depth < SoftmaxFunctionsInt8::MinDepth)
        {
            for (size_t row = 0; row < rows; ++row, in += depth, out += depth)
            {
                const uint8_t maxByte = GetMax(in, depth);
                writeFew(in, maxByte, finish(SumFew(in, depth, maxByte)), out);
            }
            return;
        }
        for (size_t first = 0; first < rows; first += MaxRowsOfBlock)
        {
            const size_t count = std::min(MaxRowsOfBlock, rows - first);
            const uint8_t* from = in + first * depth;
            RangeInt8 ranges[MaxRowsOfBlock];
            decltype(finish(uint64_t{0})) finished[MaxRowsOfBlock];
            for (size_t i = 0; i < count; ++i)
            {
                ranges[i] = m_Functions.m_FindRange(from + i * depth, depth, m_SignXor);
                finished[i] =
                    finish(m_Functions.m_Sum(m_Summands, from + i * depth, depth, m_SignXor, ranges[i].m_Max));
            }
            for (size_t i = 0; i < count; ++i)
            {
                write(from + i * depth, ranges[i], finished[i], out + (first + i) * depth);
            }
        }
    }

    ExpTableInt8 m_Summands;
    uint8_t m_SignXor; ///< biases int8 by 128 (XOR 0x80), which keeps the order; 0 for uint8
    SoftmaxFunctionsInt8 m_Functions = GetSoftmaxFunctionsInt8();

private:
    uint8_t GetMax(const uint8_t* in, size_t depth) const
    {
        uint8_t maxByte = 0;
        for (size_t i = 0; i < depth; ++i)
        {
            maxByte = std::max(maxByte, static_cast<uint8_t>(in[i] ^ m_SignXor));
        }
        return maxByte;
    }
    uint64_t SumFew(const uint8_t* in, size_t depth, uint8_t maxByte) const
    {
        uint64_t sum = 0;
        for (size_t i = 0; i < depth; ++i)
        {
            sum += m_Summands.m_Summands[maxByte - (in[i] ^ m_SignXor)];
        }
        return sum;
    }
};

/// The tables of a layer. Precondition: the processor has vectors, see CpuFeatures.
class SoftmaxInt8
{
public:
    /// The tables of differences times beta * scale, beta > 0, for int8 (`isSigned`) or uint8.
    SoftmaxInt8(float beta, float scale, bool isSigned);

    /// Computes rows of `depth` elements (1 or more); `out` may be `in`.
    void Rows(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const;

private:
    /// The reciprocal of the sum of a row's exponentials: m_Scale / 2^31, to be shifted.
    struct Factor
    {
        uint32_t m_Scale = 0;
        int m_Shift = 0;
    };

    static Factor MakeFactor(uint64_t sum);
    void WriteRow(const uint8_t* in, size_t depth, RangeInt8 range, Factor factor, uint8_t* out) const;
    void WriteFew(const uint8_t* in, size_t depth, uint8_t maxByte, Factor factor, uint8_t* out) const;

    /// exp as a fraction of 2^31, indexed by 255 minus the difference.
    alignas(64) uint32_t m_Exps[256 + ResultTableInt8::MaxStoreLanes] = {};
    SoftmaxRowsInt8 m_Rows;
    std::array<uint16_t, 32> m_Reach{}; ///< by shift of a factor: number of differences with results above 0
    LookupFunction m_LookUp = FindLookupInt8();
};

/// bytes[i] = (scaled[i] - logSum), rounded to output steps, plus 255, clamped to [0, 255], XOR signXor; for `count`
/// elements and up to a vector more.
using MakeLogSoftmaxTableFunction = void (*)(const int32_t* scaled, size_t count, int32_t logSum, uint8_t signXor,
                                             uint8_t* bytes);

/// LogSoftmax: beta * scale * (x - max) - log(sum), in output steps. As in SoftmaxInt8, the results of a row are a
/// table by value. Precondition: the processor has vectors, see CpuFeatures.
class LogSoftmaxInt8
{
public:
    /// The tables of differences times beta * scale, beta > 0, for int8 (`isSigned`) or uint8.
    LogSoftmaxInt8(float beta, float scale, bool isSigned);

    /// Computes rows of `depth` elements (1 or more); `out` may be `in`.
    void Rows(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const;

private:
    using RowSum = ref::LogSoftmaxTablesInt8::RowSum;

    void WriteRow(const uint8_t* in, size_t depth, RangeInt8 range, RowSum sum, uint8_t* out) const;
    void WriteFew(const uint8_t* in, size_t depth, uint8_t maxByte, RowSum sum, uint8_t* out) const;

    ref::LogSoftmaxTablesInt8 m_Reference;
    SoftmaxRowsInt8 m_Rows;
    alignas(64) int32_t m_Scaled[256 + ResultTableInt8::MaxStoreLanes] = {}; ///< indexed by 255 minus the difference
    MakeLogSoftmaxTableFunction m_MakeResults;
    LookupFunction m_LookUp = FindLookupInt8();
};

} // namespace tenon::cpu
