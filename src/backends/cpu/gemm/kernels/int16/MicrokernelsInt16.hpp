// SPDX-License-Identifier: Apache-2.0
// Tiles of products of 16-bit data and weights of at most nine bits: the inner loops of Product16, one set for each
// kind of processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// How sums of products become 16-bit numbers.
enum class Rounding16 : uint8_t
{
    HalfUp,     ///< sums of 64 bits times a 15-bit multiplier: TFLite's convolutions with a 64-bit bias, or none
    FixedPoint, ///< by a 31-bit multiplier, as sums of bytes: its convolutions with a 32-bit bias
    Double      ///< in double precision, rounded half away from zero: its FullyConnected
};

/// A tile of a product: a few rows of data by a panel of packed weights, over a part of the depth, which is counted in
/// groups of two numbers. A row's data lie in several places: for a matrix in one, for a convolution in one for each
/// point of the window.
struct Tile16
{
    const int16_t* const* m_Data = nullptr; ///< [taps][m_TapStep]: where the rows' data are
    size_t m_TapStep = 0;
    size_t m_TapGroups = 0;  ///< of a whole tap
    size_t m_FirstGroup = 0; ///< of the first tap
    size_t m_Groups = 0;     ///< of all taps from there on
    /// What points outside of the image are: those that all rows lack are skipped. Null: no rows lack any together.
    const int16_t* m_Zeros = nullptr;
    const void* m_Panel = nullptr; ///< [groups][vectors * lanes] pairs of int16, or of int8; aligned
    int32_t* m_Sums = nullptr;     ///< [rows][vectors * lanes], which wrap around
};
using TileFunction16 = void (*)(const Tile16& tile);

/// A tile of a depthwise convolution, or of one in small groups of channels that give as many: a few pixels by two
/// vectors' worth of numbers of the channels.
struct DepthwiseTile16
{
    const int16_t* const* m_Data = nullptr; ///< [steps * taps of a step][m_TapStep]: where the taps' channels are
    size_t m_TapStep = 0;
    size_t m_Steps = 0;    ///< pairs of taps; taps of groups
    size_t m_Offset = 0;   ///< to add to each of the pointers
    size_t m_Channels = 0; ///< two vectors, or fewer: then nothing past them is read
    /// Pairs of int16, aligned: [steps][2 * lanes]; of groups [steps][channels of a group][lanes], a vector for each
    /// output of a group, whose lanes are pairs of channels.
    const int32_t* m_Weights = nullptr;
    /// Of groups: what sums begin with, [2 * lanes]; these are in the order of their columns then. Null: as in Rows16.
    const int32_t* m_Bias = nullptr;
    int32_t* m_Sums = nullptr; ///< [pixels][2 * lanes]
};
using DepthwiseTileFunction16 = void (*)(const DepthwiseTile16& tile);

/// Those of up to so many pixels.
struct DepthwiseTiles16
{
    static constexpr size_t MostPixels = 4;

    size_t m_Pixels = 0; ///< of the highest tile; 0: there are none
    DepthwiseTileFunction16 m_Run[MostPixels + 1] = {};
};

/// How the sums of a panel's columns become numbers. Arrays are as long as the panel, whole vectors.
struct Columns16
{
    Rounding16 m_Rounding = Rounding16::HalfUp;
    const double* m_Scale = nullptr;       ///< unless in fixed point: what to multiply sums by
    const double* m_Bias = nullptr;        ///< to be added before, or with HalfUp behind: scaled, and a half more
    const int32_t* m_IntBias = nullptr;    ///< in fixed point, as the following
    const int32_t* m_Multiplier = nullptr; ///< in [2^30, 2^31), or 0
    const int32_t* m_Right = nullptr;      ///< shifts to the right, in [0, 31]
    const int32_t* m_Left = nullptr;       ///< shifts to the left before, where those to the right are 0
    int16_t m_Min = 0;
    int16_t m_Max = 0;
};

/// Rows of sums. Two vectors of them hold columns in the order that an interleaving within 128-bit lanes gives: lane l
/// of the first one has column 8 (l / 4) + l % 4, and the second one the fourth after it. A vector without a second
/// one holds them in their order. The arrays of Columns16 are likewise; see GetPlace16.
struct Rows16
{
    const int32_t* m_Sums = nullptr;  ///< [rows][m_SumStride]
    const double* m_Totals = nullptr; ///< what to add to them; null: nothing
    size_t m_SumStride = 0;           ///< whole vectors
    size_t m_Rows = 0;
    size_t m_Columns = 0; ///< to write of each row
    int16_t* m_Out = nullptr;
    size_t m_OutStride = 0;
};

/// Where a column's sum is in rows of so many whole vectors.
inline size_t GetPlace16(size_t column, size_t vectors, size_t lanes)
{
    const size_t vector = column / (2 * lanes) * 2;
    if (vector + 1 == vectors)
    {
        return column;
    }
    const size_t inPair = column % (2 * lanes);
    return (vector + inPair % 8 / 4) * lanes + inPair / 8 * 4 + inPair % 4;
}

/// The inner loops of a kind of processor.
struct Engine16
{
    static constexpr size_t MostVectors = 4;
    static constexpr size_t MostRows = 8;
    static constexpr size_t MostByteRows = 4;
    static constexpr size_t MostLanes = 16; ///< int32 in 512 bits
    static constexpr size_t MostGroup = 8;  ///< channels of a small group

    size_t m_Lanes = 0;                                         ///< columns of a vector
    size_t m_Vectors = 0;                                       ///< in the widest panel
    size_t m_Rows[MostVectors + 1] = {};                        ///< of the highest tile for a panel of so many vectors
    TileFunction16 m_Tiles[MostVectors + 1][MostRows + 1] = {}; ///< by vectors and rows
    /// For weights that are packed as bytes: products of a few rows wait for them to come from memory.
    TileFunction16 m_ByteTiles[MostVectors + 1][MostByteRows + 1] = {};
    DepthwiseTiles16 m_Depthwise;
    DepthwiseTiles16 m_Groups[MostGroup + 1]; ///< by channels of a group, which are a power of 2

    /// totals[i] = sums[i], or += sums[i].
    void (*m_Accumulate)(const int32_t* sums, size_t count, bool isFirst, double* totals) = nullptr;
    /// Writes what CpuRef's SumRequantizer does. Unless in fixed point, |sum| * scale must be below 2^31 - 1, and with
    /// HalfUp |sum| at most 2^37.
    void (*m_Requantize)(const Rows16& rows, const Columns16& columns) = nullptr;
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
const Engine16& GetEngine16();

} // namespace tenon::cpu
