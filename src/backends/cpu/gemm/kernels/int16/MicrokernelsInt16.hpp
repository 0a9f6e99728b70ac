// SPDX-License-Identifier: Apache-2.0
// MicrokernelsInt16: the inner loops of GemmInt16, one set for each kind of processor: int32 sums of int16 data by
// weights of at most nine bits (int8 less a zero point), by pmaddwd, vpdpwssd or their like. Sums of a slice of the
// depth cannot overflow; slices are added up in double.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Rounding from sums to int16.
enum class RoundingInt16 : uint8_t
{
    HalfUp,     ///< int64 sums times a 15-bit multiplier: TFLite's convolutions with a 64-bit bias, or none
    FixedPoint, ///< by a 31-bit multiplier, as for int8: TFLite's convolutions with a 32-bit bias
    Double      ///< in double precision, rounded half away from zero: TFLite's FullyConnected
};

/// Operands of a microkernel: a few rows of data by a panel of packed weights, over a slice of the depth, counted in
/// groups of two numbers. The indirection buffer has one pointer for each row and kernel tap; a matrix has one tap.
struct TileInt16
{
    const int16_t* const* m_Indirection = nullptr; ///< [taps][m_TapStep] pointers to the rows' data
    size_t m_TapStep = 0;
    size_t m_TapGroups = 0;  ///< of a whole tap
    size_t m_FirstGroup = 0; ///< within the first tap
    size_t m_Groups = 0;     ///< of all taps from m_FirstGroup on
    /// Pointer that marks taps in the padding: a tap is skipped if all rows of the tile have it. Null: none is skipped.
    const int16_t* m_Zeros = nullptr;
    const void* m_Panel = nullptr; ///< [groups][vectors * lanes] pairs of int16, or of int8; aligned
    int32_t* m_Sums = nullptr;     ///< [rows][vectors * lanes], which wrap around
};
using MicrokernelInt16 = void (*)(const TileInt16& tile);

/// Operands of a microkernel of a depthwise convolution, or of a grouped one with small groups and as many outputs as
/// inputs: a few pixels by two vectors of channels.
struct DepthwiseTileInt16
{
    const int16_t* const* m_Indirection =
        nullptr; ///< [steps * taps of a step][m_TapStep] pointers to the taps' channels
    size_t m_TapStep = 0;
    size_t m_Steps = 0;    ///< depthwise: pairs of taps; groups: taps
    size_t m_Offset = 0;   ///< added to each of the pointers
    size_t m_Channels = 0; ///< up to two vectors; nothing past them is read
    /// Aligned pairs of int16. Depthwise: [steps][2 * lanes]. Groups: [steps][channels of a group][lanes], one vector
    /// for each output of a group, whose lanes are pairs of channels.
    const int32_t* m_Weights = nullptr;
    /// Groups: initial sums, [2 * lanes], which makes the sums ascend by column. Null: the order of
    /// RequantizeRowsInt16.
    const int32_t* m_Bias = nullptr;
    int32_t* m_Sums = nullptr; ///< [pixels][2 * lanes]
};
using DepthwiseMicrokernelInt16 = void (*)(const DepthwiseTileInt16& tile);

/// The microkernels, by pixels.
struct DepthwiseMicrokernelsInt16
{
    static constexpr size_t MaxPixels = 4;

    size_t m_Pixels = 0; ///< of the highest tile; 0: there are none
    DepthwiseMicrokernelInt16 m_Run[MaxPixels + 1] = {};
};

/// Constants of requantization of a panel's columns. The arrays have the panel's padded length.
struct RequantizeColumnsInt16
{
    RoundingInt16 m_Rounding = RoundingInt16::HalfUp;
    const double* m_Scale = nullptr;       ///< unless in fixed point: factor of the sums
    const double* m_Bias = nullptr;        ///< added before scaling; with HalfUp after it: scaled, plus one half
    const int32_t* m_IntBias = nullptr;    ///< in fixed point, as the following ones
    const int32_t* m_Multiplier = nullptr; ///< in [2^30, 2^31), or 0
    const int32_t* m_Right = nullptr;      ///< right shifts, in [0, 31]
    const int32_t* m_Left = nullptr;       ///< left shifts, applied first; 0 unless the right shift is 0
    int16_t m_Min = 0;
    int16_t m_Max = 0;
};

/// Rows of sums. A pair of vectors holds columns in the order that packssdw undoes when it narrows them (16 lanes):
///     first vector    0..3   8..11  16..19  24..27
///     second vector   4..7  12..15  20..23  28..31
/// A single last vector holds its columns in order. The arrays of RequantizeColumnsInt16 have the same order; see
/// GetPaddedColumnInt16.
struct RequantizeRowsInt16
{
    const int32_t* m_Sums = nullptr;  ///< [rows][m_SumStride]
    const double* m_Totals = nullptr; ///< added to the sums; null: nothing
    size_t m_SumStride = 0;           ///< a multiple of a vector
    size_t m_Rows = 0;
    size_t m_Columns = 0; ///< written columns of each row
    int16_t* m_Out = nullptr;
    size_t m_OutStride = 0;
};

/// Index of a column's sum in rows of `vectors` vectors.
inline size_t GetPaddedColumnInt16(size_t column, size_t vectors, size_t lanes)
{
    const size_t vector = column / (2 * lanes) * 2;
    if (vector + 1 == vectors)
    {
        return column;
    }
    const size_t inPair = column % (2 * lanes);
    return (vector + inPair % 8 / 4) * lanes + inPair / 8 * 4 + inPair % 4;
}

/// The microkernels for a kind of processor.
struct MicrokernelsInt16
{
    static constexpr size_t MaxVectors = 4;
    static constexpr size_t MaxRows = 8;
    static constexpr size_t MaxInt8Rows = 4;
    static constexpr size_t MaxLanes = 16; ///< int32 in 512 bits
    static constexpr size_t MaxGroup = 8;  ///< channels of a small group

    size_t m_Lanes = 0;                                         ///< columns of a vector
    size_t m_Vectors = 0;                                       ///< in the widest panel
    size_t m_Rows[MaxVectors + 1] = {};                         ///< of the highest tile, by vectors of the panel
    MicrokernelInt16 m_Tiles[MaxVectors + 1][MaxRows + 1] = {}; ///< by vectors and rows
    /// For weights packed as int8: with few rows the GEMM is bound by reading them from memory.
    MicrokernelInt16 m_Int8WeightTiles[MaxVectors + 1][MaxInt8Rows + 1] = {};
    DepthwiseMicrokernelsInt16 m_Depthwise;
    DepthwiseMicrokernelsInt16 m_Groups[MaxGroup + 1]; ///< by channels of a group, a power of 2

    /// totals[i] = sums[i], or += sums[i].
    void (*m_Accumulate)(const int32_t* sums, size_t count, bool isFirst, double* totals) = nullptr;
    /// Exactly CpuRef's SumRequantizer. Unless in fixed point, |sum| * scale must be below 2^31 - 1, and with HalfUp
    /// |sum| at most 2^37.
    void (*m_Requantize)(const RequantizeRowsInt16& rows, const RequantizeColumnsInt16& columns) = nullptr;
};

/// The best set for this processor. Precondition: the processor has vectors, see CpuFeatures.
const MicrokernelsInt16& GetMicrokernelsInt16();

} // namespace tenon::cpu
