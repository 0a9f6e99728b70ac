// SPDX-License-Identifier: Apache-2.0
// Tiles of products of 8-bit matrices: the inner loops of Product8, one set for each kind of processor.
#pragma once

#include "backends/cpu/gemm/kernels/int8/FusedEpilogueInt8.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// How the bytes of a product are laid out for its inner loop.
enum class Layout8 : uint8_t
{
    Dots,        ///< four bytes of the depth beside each other, data as they are stored
    WidePairs,   ///< two int16 of the depth beside each other: weights less their zero point, data less theirs or as
                 ///< stored
    NarrowPairs, ///< the same data; weights are int8 without a zero point, which become int16 when they are read
    Nibbles,  ///< data as with Dots, weights of four bits: two groups of four of a column are the halves of four bytes
    Splits,   ///< data as with Dots, weights as terms whose products fit 16 bits, see SplitWeightsInt8.hpp
    Permuted, ///< data as windows, weights in an order whose products fit 16 bits, see PermutedWeightsInt8.hpp
    Stored    ///< data and weights as they are stored, see StoredDots8
};

/// Which of the operands a dot product takes as signed.
enum class Signs8 : uint8_t
{
    DataUnsigned, ///< uint8 data, int8 weights
    DataSigned,   ///< int8 data, uint8 weights
    BothSigned,
    BothUnsigned
};

/// How the sums of a panel's columns become bytes. Arrays are as long as the panel, whole vectors.
struct RequantizeColumns
{
    /// Up to which shift to the right a zero point can be added before it, whatever the sum.
    static constexpr int32_t MostShift = 21;
    /// Whether vectors with shifts to the right take this one, of a QuantizedMultiplier.
    static constexpr bool IsShifted(int32_t shift) { return shift < 0 && shift >= -MostShift; }

    const int32_t* m_Multiplier = nullptr; ///< in [2^30, 2^31), or 0
    const int32_t* m_Right = nullptr;      ///< shifts to the right, in [0, 31]
    const int32_t* m_Left = nullptr;       ///< shifts to the left before, where those to the right are 0
    bool m_AllShift = false;               ///< all shifts to the right are in [1, MostShift]
    const double* m_Scale = nullptr;       ///< in place of multiplier and shift: what to multiply by and round once
    int32_t m_ZeroPoint = 0;               ///< of the output
    int32_t m_Min = 0;                     ///< of the stored values
    int32_t m_Max = 0;

    /// Whether the clamp makes the same of all negative sums.
    bool AreNegativesAlike() const { return m_Min >= m_ZeroPoint; }
};

/// Rows of sums to turn into bytes.
struct RequantizeRows
{
    /// So many more than there are sums are read.
    static constexpr size_t PastSums = 1;

    const int32_t* m_Sums = nullptr; ///< [rows][sumStride], bias and corrections for zero points in them
    size_t m_SumStride = 0;
    size_t m_Rows = 0;
    size_t m_Columns = 0;                ///< to write of each row
    const int32_t* m_RowTerms = nullptr; ///< to add to each row; null: nothing
    void* m_Out = nullptr;               ///< bytes
    size_t m_OutStride = 0;
    bool m_IsSigned = false; ///< int8 output, else uint8
    /// Sums are in blocks of four vectors, in the order that two interleavings of bytes within 128-bit lanes give: lane
    /// l of vector v has the channels 16 l + 4 v and the three that follow. So are the arrays of RequantizeColumns.
    bool m_IsInterleaved = false;
};

/// Rows of sums to turn into floats: the data were floats, quantized while running.
struct FloatRows
{
    const int32_t* m_Sums = nullptr; ///< [rows][sumStride]
    size_t m_SumStride = 0;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    const int32_t* m_RowTerms = nullptr;   ///< to add to each row; null: nothing
    const int32_t* m_ZeroPoints = nullptr; ///< of each row's data
    const float* m_Scales = nullptr;       ///< of each row's data
    float* m_Out = nullptr;
    size_t m_OutStride = 0;
    bool m_HaveOneScale = false; ///< all rows' data have the same scale and zero point
    /// Of rows that a table names: where they are written, in elements from m_Out on; null: one stride after the other.
    const size_t* m_Places = nullptr;
};

/// How the sums of a panel's columns become floats. Arrays are as long as the panel, whole vectors.
struct FloatColumns
{
    const int32_t* m_WeightSums = nullptr; ///< what a zero point of the data has to be multiplied by
    const float* m_Scales = nullptr;       ///< of the weights
    const float* m_Bias = nullptr;
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
};

/// How the sums of rows of an image, see ImageRows8, become floats.
struct ImageFloats8
{
    FloatRows m_Rows; ///< where they are written; without sums, of one scale and zero point
    FloatColumns m_Columns;
};

using ImageFloatsFunction8 = void (*)(const ImageRows8& rows, const ImageFloats8& floats);

/// How a run of floats became bytes.
struct FloatScale
{
    float m_Scale = 1.0f;
    int32_t m_ZeroPoint = 0;
};

/// How floats become int8.
struct QuantizeSteps8
{
    float m_Inverse = 0.0f; ///< steps of 1
    int32_t m_ZeroPoint = 0;
    int32_t m_Lowest = 0; ///< of the bytes; the highest one is 127
    uint8_t m_Flip = 0;   ///< bits in which the bytes that are written differ: 0x80 makes uint8 of them, 128 more
};

struct FloatRange
{
    float m_Least = 0.0f;
    float m_Most = 0.0f;
};

/// sums[rows][vectors * lanes] = bias[vectors * lanes] + data[rows][groups] * panel[groups][vectors * lanes]; a group
/// is four bytes of the data. `dataStride` is in bytes. TileSet8::m_ColumnGroups groups of a column follow upon each
/// other in the panel, before the next column's.
using TileFunction8 = void (*)(const void* data, size_t dataStride, const void* panel, size_t groups,
                               const int32_t* bias, int32_t* sums);

/// Where rows of data are that are windows of an image, read in place: what a row has of a point lies in one piece.
struct PointTable8
{
    const uint8_t* const* m_Table = nullptr; ///< [points][rows]; null: rows are not read so
    size_t m_Points = 1;
    size_t m_Rows = 0;
    size_t m_Offset = 0; ///< bytes from what the table names to the data
    /// What the table names outside of the image: points that all rows of a tile have there are skipped. Null: none
    /// are.
    const uint8_t* m_Padding = nullptr;
    int32_t* m_Skipped = nullptr; ///< [points][vectors * lanes]: what to add to sums for each that is
};

/// Rows of data by a panel, to become floats.
struct FloatProduct8
{
    const void* m_Data = nullptr;
    size_t m_DataStride = 0;  ///< bytes
    PointTable8 m_DataPoints; ///< in place of the data, if there is a table
    const void* m_Panel = nullptr;
    size_t m_Groups = 0;             ///< of a point
    const int32_t* m_Bias = nullptr; ///< what sums begin with
    FloatRows m_Rows;                ///< without sums
};

/// Writes all rows; false, and nothing is done, where it is not made for so few, or for terms. Of rows that a table
/// names it is made for any number from TileSet8::m_LeastTableRows on.
using FloatRowsFunction8 = bool (*)(const FloatProduct8& product, const FloatColumns& columns);

/// Rows of data by columns that are where the model has them: dot products over the depth. Of few rows, for which the
/// time is that of reading the weights once, or of few columns.
struct StoredDots8
{
    const uint8_t* m_Data = nullptr; ///< as they are stored
    size_t m_DataStride = 0;         ///< bytes
    size_t m_Rows = 0;
    const uint8_t* m_Weights = nullptr; ///< [columns][depth]
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    const int32_t* m_Bias = nullptr; ///< [columns], what sums begin with
    int32_t* m_Sums = nullptr;       ///< [rows][sumStride]
    size_t m_SumStride = 0;
};

using StoredFunction8 = void (*)(const StoredDots8& dots);

/// The tiles for data and weights of one form.
struct TileSet8
{
    static constexpr size_t MostVectors = 4;
    static constexpr size_t MostRows = 32;

    Layout8 m_Layout = Layout8::Dots;
    Signs8 m_Signs = Signs8::DataSigned;
    bool m_FlipsData = false;            ///< data are read as bytes of the other sign, 128 more or less
    bool m_FlipsRows = false;            ///< and so are rows of data written before the tiles read them
    bool m_FlipsFloats = false;          ///< and floats quantized to such
    size_t m_Vectors = 0;                ///< in the widest panel; 0: there are no tiles
    size_t m_Rows[MostVectors + 1] = {}; ///< rows of the highest tile for a panel of so many vectors
    size_t m_RowUnit = 1;        ///< tiles have a multiple of it: data are read, and sums written, for whole ones
    size_t m_GroupUnit = 1;      ///< depths are padded to a multiple of it, by zeros in the weights
    size_t m_ColumnGroups = 1;   ///< a divisor of it: groups of a column beside each other
    void (*m_Begin)() = nullptr; ///< to be called on a thread before its first tile; null: nothing is to be done
    void (*m_End)() = nullptr;   ///< and after its last one
    TileFunction8 m_Tiles[MostVectors + 1][MostRows + 1] = {}; ///< by vectors and rows
    /// Tiles whose sums become bytes without memory in between: by whether the clamp makes the same of all negative
    /// sums, whether rows have terms, and vectors of the panel. Null where there are none.
    ByteRowsFunction8 m_WriteRows[2][2][MostVectors + 1] = {};
    /// The same, without terms, for any number of rows of an image whose bytes have the other sign already, see
    /// m_FlipsData; and those whose sums become floats.
    ImageRowsFunction8 m_WriteImage[2][MostVectors + 1] = {};
    ImageFloatsFunction8 m_WriteImageFloats[MostVectors + 1] = {};
    /// Rows, as m_WriteRows has them, whose sums become floats, by vectors.
    FloatRowsFunction8 m_WriteFloats[MostVectors + 1] = {};
    StoredFunction8 m_StoredDots = nullptr; ///< in place of tiles: for weights that are not packed, else null
    size_t m_LeastDepth = 0;                ///< of these
    size_t m_LeastTableRows = 0;            ///< that these read by a table; 0: they read none

    /// Whether weights are left as they are stored.
    bool AreStored() const { return m_Layout == Layout8::Stored; }
    /// Whether -128 may be among the weights, or what becomes it, as often as it likes: products of two signed bytes
    /// move signs to them, and so do numbers that are taken as mirrored.
    bool TakesLeastByte() const { return m_Signs != Signs8::BothSigned && m_Layout != Layout8::Permuted; }
    /// Whether data are int16, less their zero point.
    bool IsWide() const { return m_Layout == Layout8::WidePairs || m_Layout == Layout8::NarrowPairs; }
    /// Whether data take two bytes for each number: as int16, or with their mirrors.
    bool AreDoubled() const { return IsWide() || m_Layout == Layout8::Permuted; }
    /// Numbers of the depth in a group.
    size_t GetGroupDepth() const { return AreDoubled() ? 2 : 4; }
    /// Bytes of a column's weights for a group of the data.
    size_t GetGroupBytes() const { return m_Layout == Layout8::NarrowPairs || m_Layout == Layout8::Nibbles ? 2 : 4; }

    void Add(size_t vectors, size_t rows, TileFunction8 tile)
    {
        m_Tiles[vectors][rows] = tile;
        m_Rows[vectors] = m_Rows[vectors] < rows ? rows : m_Rows[vectors];
        m_Vectors = m_Vectors < vectors ? vectors : m_Vectors;
    }
};

/// The inner loops of a kind of processor.
struct Engine8
{
    static constexpr size_t MostLanes = 16; ///< int32 in 512 bits
    /// What weights of four bits are stored with more than their value.
    static constexpr int32_t NibbleZero = 8;

    size_t m_Lanes = 0;       ///< columns of a vector
    TileSet8 m_Signed;        ///< for int8 data
    TileSet8 m_Unsigned;      ///< for uint8 data
    TileSet8 m_OfFloats;      ///< for floats quantized to int8; without AVX-512 VNNI, and with AMX, m_Signed is
    TileSet8 m_Narrow;        ///< where m_Signed and m_Unsigned are WidePairs
    TileSet8 m_SplitSigned;   ///< for int8 data and weights with few terms more; some processors have none
    TileSet8 m_SplitUnsigned; ///< the same for uint8 data
    TileSet8 m_Permuted;      ///< for int8 data and int8 weights with more terms; some processors have none
    TileSet8 m_FewRows;       ///< for few rows, or columns, of int8 data and weights that are not -128; some have none
    TileSet8 m_FewRowsUnsigned; ///< for those of uint8 data and weights that are not 0, both of which become int8
    TileSet8 m_Nibbles;         ///< for int8 data; some processors have none
    TileSet8 m_OneRowNibbles;   ///< the same for one row of data; some have none for it alone
    /// For few rows, or columns, of int8 data and int8 weights, where it does not take the least byte beside m_FewRows;
    /// some processors have none.
    TileSet8 m_StoredSigned;
    TileSet8 m_StoredUnsigned; ///< for those of uint8 data and uint8 weights
    size_t m_NibbleRows = 0;   ///< with more rows, unpacked weights are faster

    /// Writes bytes: TFLite's MultiplyByQuantizedMultiplier, or a product in double precision rounded half away from
    /// zero; then zero point and clamp. |sum + row term| must be below 2^30 for multipliers.
    void (*m_Requantize)(const RequantizeRows& rows, const RequantizeColumns& columns) = nullptr;
    /// For tiles that write bytes: all shifts are to the right. `bias`: what the sums begin with. Null
    /// where there are no such tiles.
    void (*m_PrepareColumns)(const RequantizeColumns& columns, const int32_t* bias, size_t count, bool isSigned,
                             ByteColumns8& prepared) = nullptr;
    /// sums[row] = factor * (sum of the row's bytes), `depth` of them.
    void (*m_SumRows)(const void* data, size_t dataStride, size_t rows, size_t depth, bool isSigned, int32_t factor,
                      int32_t* sums) = nullptr;
    /// out = clamp(float(sum + row term - zero point * weight sum) * (row scale * column scale) + bias)
    void (*m_ToFloats)(const FloatRows& rows, const FloatColumns& columns) = nullptr;
    /// The least and the most of the values, 0 among them; NaN do not count.
    FloatRange (*m_FindRange)(const float* values, size_t count) = nullptr;
    /// Steps of values, rounded half away from zero, plus the zero point; NaN become the lowest one. Precondition: the
    /// steps are those of a range that has all values in it that are finite.
    void (*m_Quantize)(const float* values, size_t count, const QuantizeSteps8& steps, int8_t* bytes) = nullptr;
    /// The same less the zero point, as floats.
    void (*m_QuantizeToFloats)(const float* values, size_t count, const QuantizeSteps8& steps, float* whole) = nullptr;
    /// wide[i] = bytes[i] - zeroPoint
    void (*m_Widen)(const void* bytes, size_t count, bool isSigned, int32_t zeroPoint, int16_t* wide) = nullptr;
    /// flipped[i] = bytes[i] + 128 of int8, or less 128 of uint8; may be in place.
    void (*m_Flip)(const uint8_t* bytes, size_t count, uint8_t* flipped) = nullptr;
    /// Data of permuted weights, see PermutedWeightsInt8.hpp: windows of `count` int8, a multiple of eight. Null where
    /// there are no such tiles.
    void (*m_MakeWindows)(const uint8_t* bytes, size_t count, uint8_t* windows) = nullptr;
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
const Engine8& GetEngine8();

} // namespace tenon::cpu
