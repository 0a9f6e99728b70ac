// SPDX-License-Identifier: Apache-2.0
// KernelRowInt8: what is known of a set of int8 microkernels without its functions, one row of int8_kernels.def. The
// rows that a processor has are found from its features alone, so that KernelChoiceInt8 can be asked, and tested, for
// any processor. Users: MicrokernelsInt8 (the functions of the rows), KernelChoiceInt8.
#pragma once

#include "backends/cpu/simd/Isa.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon::cpu
{

/// Layout of packed weights, and of the data that they are multiplied with.
enum class WeightLayoutInt8 : uint8_t
{
    Int8x4,   ///< groups of four bytes of the depth; data as they are stored
    Int16x2,  ///< pairs of int16 of the depth: weights less their zero point; data less theirs or as stored
    Int8x2,   ///< data as in Int16x2; weights are int8 without a zero point, widened to int16 on load
    Int4x8,   ///< data as in Int8x4, 4-bit weights: two groups of four of a column in the two halves of four bytes
    Split,    ///< data as in Int8x4, weights as terms whose products fit int16, see SplitWeightsInt8.hpp
    Permuted, ///< data as complement blocks, weights in an order whose products fit int16, see PermutedWeightsInt8.hpp
    Unpacked  ///< weights as the model has them, see UnpackedDotsInt8
};

/// Signs of the operands as the instruction takes them.
enum class OperandSignsInt8 : uint8_t
{
    DataUnsigned, ///< uint8 data, int8 weights
    DataSigned,   ///< int8 data, uint8 weights
    BothSigned,
    BothUnsigned
};

/// The data and weights that a row is for.
enum class KernelRoleInt8 : uint8_t
{
    Int8,              ///< int8 data
    UInt8,             ///< uint8 data
    Hybrid,            ///< floats quantized to int8; no row: that of Int8 serves
    Int8x2,            ///< weights without a zero point, where the rows of Int8 and UInt8 are Int16x2
    SplitInt8,         ///< int8 data and weights that split into few extra terms
    SplitUInt8,        ///< uint8 data, likewise
    Permuted,          ///< int8 data and int8 weights that would take more terms
    SignTransferInt8,  ///< few rows or columns of int8 data, weights without -128
    SignTransferUInt8, ///< few rows or columns of uint8 data, weights without 0; both are biased to int8
    Int4,              ///< int8 data, 4-bit weights
    Int4OneRow,        ///< one row of int8 data; no row: that of Int4 serves
    Int4Blocks,        ///< floats quantized to int8, 4-bit weights with a scale per block
    Int4BlocksOneRow,  ///< one row of them; no row: that of Int4Blocks serves
    Int8Blocks,        ///< floats quantized to int8, int8 weights with a scale per block
    /// Few rows or columns of int8 data and int8 weights. A row that cannot take -128 comes with one of
    /// SignTransferInt8.
    UnpackedInt8,
    UnpackedUInt8, ///< few rows or columns of uint8 data and uint8 weights
    /// Few rows of int8 data, or a short depth, where the row of Int8 has tile registers, which these would leave
    /// empty.
    ShallowInt8,
    ShallowUInt8, ///< likewise of uint8 data
    Count         ///< the number of roles
};
constexpr auto NumKernelRolesInt8 = static_cast<size_t>(KernelRoleInt8::Count);

/// A row of int8_kernels.def.
enum class KernelIdInt8 : uint8_t
{
#define TENON_INT8_KERNEL(targets, id, ...) id,
#include "backends/cpu/gemm/kernels/int8/int8_kernels.def"
#undef TENON_INT8_KERNEL
};

/// The properties that a driver or a packer reads; the same for all microkernels of a set.
struct KernelTraitsInt8
{
    static constexpr size_t MaxVectors = 4;
    static constexpr size_t MaxRows = 32;
    /// Neighbouring weights of a column among which m_MaxMinWeights counts.
    static constexpr uint8_t MinWeightsGroup = 8;

    WeightLayoutInt8 m_Layout = WeightLayoutInt8::Int8x4;
    OperandSignsInt8 m_Signs = OperandSignsInt8::DataSigned;
    bool m_IsDataBiased = false;          ///< data are multiplied biased by 128 (XOR 0x80): on load, unless
    bool m_IsPackedDataBiased = false;    ///< rows that the driver copies are biased already
    bool m_IsQuantizedDataBiased = false; ///< quantized floats are biased already
    /// How many weights of a group of MinWeightsGroup may be -128 (uint8: 0). Kernels that negate weights cannot take
    /// it, as int8 has no +128: sign transfer none, Permuted two.
    uint8_t m_MaxMinWeights = MinWeightsGroup;
    size_t m_Vectors = 0;               ///< in the widest panel; 0: the set is empty
    size_t m_Rows[MaxVectors + 1] = {}; ///< mr of the highest tile, by vectors of the panel
    size_t m_RowUnit = 1;               ///< mr is a multiple of it: whole units of rows are read and written
    size_t m_GroupUnit = 1;             ///< depths are padded to a multiple of it by zero weights
    size_t m_ColumnGroups = 1;          ///< adjacent groups of a column, a divisor of m_GroupUnit

    /// Whether any number of weights may be -128 (uint8: 0).
    bool TakesAnyMinWeights() const { return m_MaxMinWeights == MinWeightsGroup; }
    /// Whether weights stay in the model's layout.
    bool IsUnpacked() const { return m_Layout == WeightLayoutInt8::Unpacked; }
    /// Whether data are int16, less their zero point.
    bool IsDataInt16() const { return m_Layout == WeightLayoutInt8::Int16x2 || m_Layout == WeightLayoutInt8::Int8x2; }
    /// Whether a value of the data takes two bytes: as int16, or with its complement.
    bool IsDataDoubled() const { return IsDataInt16() || m_Layout == WeightLayoutInt8::Permuted; }
    /// Values of the depth in a group.
    size_t GetGroupDepth() const { return IsDataDoubled() ? 2 : 4; }
    /// Bytes of a column's weights for one group of the data.
    size_t GetGroupBytes() const
    {
        return m_Layout == WeightLayoutInt8::Int8x2 || m_Layout == WeightLayoutInt8::Int4x8 ? 2 : 4;
    }
};

/// Epilogues of a row besides accumulators to memory.
struct KernelEpiloguesInt8
{
    static constexpr unsigned int Sums = 0;  ///< none besides
    static constexpr unsigned int Rq = 1;    ///< requantizes in registers, without row corrections
    static constexpr unsigned int RqRow = 2; ///< requantizes in registers, with row corrections
    static constexpr unsigned int Ig = 4;    ///< implicit GEMM that requantizes
    static constexpr unsigned int Dq = 8;    ///< dequantizes in registers
    static constexpr unsigned int IgDq = 16; ///< implicit GEMM that dequantizes
    /// Sums with a scale per block, as floats, by m_BlockTiles; no accumulators to memory.
    static constexpr unsigned int Blocks = 32;
};

/// Vector targets of simd/Foreach.hpp, as bits.
struct KernelTargetsInt8
{
    static constexpr unsigned int Sse4 = 1;
    static constexpr unsigned int Avx2 = 2;
    static constexpr unsigned int Avx3 = 4; ///< AVX-512
    static constexpr unsigned int Neon32 = 8;
    static constexpr unsigned int Neon64 = 16;
    static constexpr unsigned int Sse4OrAvx2 = Sse4 | Avx2;
    static constexpr unsigned int X86 = Sse4 | Avx2 | Avx3;
    static constexpr unsigned int All = X86 | Neon32 | Neon64;
};

struct KernelRowInt8 : KernelTraitsInt8
{
    KernelIdInt8 m_Id = {};
    const char* m_Name = nullptr; ///< of m_Id
    KernelRoleInt8 m_Role = {};
    unsigned int m_Targets = 0;   ///< KernelTargetsInt8
    unsigned int m_Epilogues = 0; ///< KernelEpiloguesInt8
    /// Whether a processor has it; `hasDots`: some row takes dot products of bytes there.
    bool (*m_IsThere)(const CpuFeatures& f, bool hasDots) = nullptr;
    size_t m_MinDepth = 0; ///< smallest depth of unpacked weights

    bool Has(unsigned int epilogue) const { return (m_Epilogues & epilogue) != 0; }
};

/// The rows that a processor has, by role.
struct KernelRowsInt8
{
    size_t m_Lanes = 0; ///< columns of a vector
    const KernelRowInt8* m_Rows[NumKernelRolesInt8] = {};

    /// Null: the processor has none.
    const KernelRowInt8* Find(KernelRoleInt8 role) const { return m_Rows[static_cast<size_t>(role)]; }
    bool Has(KernelRoleInt8 role) const { return Find(role) != nullptr; }
    bool Has(KernelIdInt8 id) const
    {
        for (const KernelRowInt8* const row : m_Rows)
        {
            if (row != nullptr && row->m_Id == id)
            {
                return true;
            }
        }
        return false;
    }
};

/// The rows for one target (a bit of KernelTargetsInt8) and these features.
KernelRowsInt8 FindKernelRowsInt8(unsigned int target, const CpuFeatures& features);

/// All rows, with the heights of a target.
std::span<const KernelRowInt8> GetAllKernelRowsInt8(unsigned int target);

} // namespace tenon::cpu
