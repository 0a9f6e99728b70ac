// SPDX-License-Identifier: Apache-2.0
// Operands of the microkernels in MicrokernelsInt8.hpp that requantize in registers (fused epilogue): rows of data
// times a panel become int8 without accumulators in memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Whether the last of the vectors that hold `columns` columns uses its lower half only.
constexpr bool IsLastVectorHalf(size_t columns)
{
    constexpr size_t Lanes = 16;
    return columns % Lanes >= 1 && columns % Lanes <= Lanes / 2;
}

/// Per-column constants of a fused requantization, prepared for the microkernels.
struct PreparedRequantizationInt8
{
    static constexpr size_t MaxVectors = 4;
    static constexpr size_t MaxLanes = 16;
    static constexpr size_t VectorBytes = 320;

    alignas(64) std::byte m_Scales[MaxVectors * VectorBytes]; ///< format of the instruction set's scale class
    alignas(64) int32_t m_Bias[MaxVectors * MaxLanes];        ///< initial accumulators
    alignas(64) uint8_t m_Min[4 * MaxLanes];                  ///< as int8, the same in all lanes
    alignas(64) uint8_t m_Max[4 * MaxLanes];
    alignas(64) uint8_t m_SignXor[4 * MaxLanes]; ///< XOR mask from int8 to the output's type
    /// IsLastVectorHalf; the upper half then repeats the lower one.
    bool m_IsLastVectorHalf = false;
    bool m_IsPlain = false; ///< the output is int8 and not clamped
    uint64_t m_Mask = 0;    ///< one bit for each column that is written
};

/// Operands of a microkernel whose epilogue requantizes: rows of data times a panel.
struct RequantizedRowsInt8
{
    const void* m_Data = nullptr;
    size_t m_DataStride = 0; ///< bytes
    size_t m_Rows = 0;
    const void* m_Panel = nullptr;
    size_t m_Groups = 0;
    const int32_t* m_RowCorrections = nullptr; ///< added to each row
    uint8_t* m_Out = nullptr;
    size_t m_OutStride = 0;
};

/// Writes all rows. Returns false without any effect where it has no tiles for that few rows.
using RequantizedKernelInt8 = bool (*)(const RequantizedRowsInt8& rows, const PreparedRequantizationInt8& columns);

/// Operands of an implicit GEMM, with a requantizing or a dequantizing epilogue. Rows are receptive fields in a padded
/// image: runs of bytes at the same distances from the start of each row.
struct ImplicitGemmRowsInt8
{
    /// The last row is repeated this many times at the end of m_RowOffsets and m_OutputOffsets, so that a full tile may
    /// read past it.
    static constexpr size_t PastRows = 8;

    const uint8_t* m_Image = nullptr;        ///< padded, and biased where the microkernels need it
    const uint32_t* m_RowOffsets = nullptr;  ///< [rows]: bytes from the image's start to the row's
    const size_t* m_OutputOffsets = nullptr; ///< [rows]: elements from the output's start to the row's
    size_t m_Rows = 0;                       ///< at least 1
    /// [groups]: bytes from the start of a row to the group. The last group of a run may extend past the run's end: its
    /// weights are zero there.
    const uint32_t* m_GroupOffsets = nullptr;
    const void* m_Panel = nullptr;
    size_t m_Groups = 0;
    uint8_t* m_Out = nullptr; ///< null for floats, see ImplicitGemmDequantizeInt8
};

using ImplicitGemmKernelInt8 = void (*)(const ImplicitGemmRowsInt8& rows, const PreparedRequantizationInt8& columns);

} // namespace tenon::cpu
