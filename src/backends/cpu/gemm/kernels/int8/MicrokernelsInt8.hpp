// SPDX-License-Identifier: Apache-2.0
// int8 microkernels: the inner loops of GemmInt8, of Winograd on int8, of BatchedGemmInt8 and FewRowsInt8; one set per
// instruction.
//
//   C[r][c] = bias[c] + sum_k A[r][k] * B[k][c]      A: int8 or uint8 data, B: packed weights, C: int32 accumulators
//
// A tile of mr rows by nr = vectors * lanes columns stays in registers for the whole depth (lanes: 16, 8 or 4 int32):
//
//   panel of B, packed:   group 0 | c0: k0 k1 k2 k3 | c1: k0..k3 | ... | c(nr-1) |
//                         group 1 | c0: k4 k5 k6 k7 | ...
//   A, row r:  k0 k1 k2 k3 | k4 ...   -> broadcast of four bytes to all lanes, dot product with each vector of B
//
// The x86 instructions vpdpbusd and pmaddubsw take one unsigned and one signed operand, so one operand is biased by 128
// (XOR 0x80): ZeroPointCorrectionInt8.hpp says what that adds. Arm (sdot, udot, smmla, usmmla) and AMX (tdpbssd,
// tdpbusd) take the signs as they are. Layouts of B: WeightLayoutInt8. Epilogues: accumulators to memory, or
// requantized / dequantized in registers (AVX-512), also without accumulators in memory (fused epilogue).
// int8_kernels.def is the table of all sets, the source of each layout fills in their functions (FillRowsInt8-inl.hpp),
// KernelChoiceInt8 chooses.
#pragma once

#include "backends/cpu/gemm/kernels/int8/KernelRowsInt8.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// How sums are scaled: the scale class of an epilogue.
enum class ScaleInt8 : uint8_t
{
    Any,      ///< by multipliers with right shifts
    Positive, ///< the same where the clamp maps all negative sums to the same value
    Float     ///< by float factors
};
constexpr size_t NumScalesInt8 = 3;

/// Per-column parameters of requantization (int32 accumulators to int8 or uint8). Each array has whole vectors.
struct RequantizeColumns
{
    /// Largest right shift before which the zero point can be added, whatever the sum.
    static constexpr int32_t MaxShift = 21;
    /// Whether a QuantizedMultiplier's shift is one that the right-shifting loops take.
    static constexpr bool IsShifted(int32_t shift) { return shift < 0 && shift >= -MaxShift; }

    const int32_t* m_Multiplier = nullptr; ///< in [2^30, 2^31), or 0
    const int32_t* m_Right = nullptr;      ///< shifts to the right, in [0, 31]
    const int32_t* m_Left = nullptr;       ///< left shifts before the multiplication, where the right shifts are 0
    bool m_HasOnlyRightShifts = false;     ///< all shifts to the right are in [1, MaxShift]
    const double* m_Scale = nullptr;       ///< factor that replaces multiplier and shift; the product is rounded once
    /// Factor that replaces them, of RequantizationMode::FloatHalfEven: float(sum) * factor, rounded half to even.
    const float* m_FloatScale = nullptr;
    int32_t m_ZeroPoint = 0; ///< of the output
    int32_t m_Min = 0;       ///< of the stored values
    int32_t m_Max = 0;

    /// Whether the clamp maps all negative sums to the same value.
    bool IsNegativeUniform() const { return m_Min >= m_ZeroPoint; }
    /// Whether there are scale classes of accumulators in registers for them.
    bool FitsRegisters() const { return m_HasOnlyRightShifts || m_FloatScale != nullptr; }
    /// Precondition: FitsRegisters().
    ScaleInt8 GetScale() const
    {
        return m_FloatScale != nullptr ? ScaleInt8::Float : IsNegativeUniform() ? ScaleInt8::Positive : ScaleInt8::Any;
    }
};

/// Rows of accumulators to requantize.
struct RequantizeRows
{
    /// Number of accumulators that may be read past the last one.
    static constexpr size_t PastSums = 1;

    const int32_t* m_Sums = nullptr; ///< [rows][sumStride], bias and zero-point corrections included
    size_t m_SumStride = 0;
    size_t m_Rows = 0;
    size_t m_Columns = 0;                      ///< to write of each row
    const int32_t* m_RowCorrections = nullptr; ///< added to each row; null: none
    void* m_Out = nullptr;                     ///< int8 or uint8
    size_t m_OutStride = 0;
    bool m_IsSigned = false; ///< int8 output, else uint8
    /// Accumulators are in blocks of four vectors, in the order that two interleavings of bytes within 128-bit lanes
    /// give: lane l of vector v has the channels 16 l + 4 v to 16 l + 4 v + 3. The arrays of RequantizeColumns have the
    /// same order.
    bool m_IsInterleaved = false;
};

/// Rows of accumulators to dequantize (hybrid: the data were floats, quantized at run time).
struct DequantizeRows
{
    const int32_t* m_Sums = nullptr; ///< [rows][sumStride]
    size_t m_SumStride = 0;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    const int32_t* m_RowCorrections = nullptr; ///< added to each row; null: none
    const int32_t* m_ZeroPoints = nullptr;     ///< of each row's data
    const float* m_Scales = nullptr;           ///< of each row's data
    float* m_Out = nullptr;
    size_t m_OutStride = 0;
    bool m_HasOneScale = false; ///< all rows' data have the same scale and zero point
    /// Offset of each row's output from m_Out, in elements, for rows that an indirection buffer names; null: rows are
    /// m_OutStride apart.
    const size_t* m_OutputOffsets = nullptr;
};

/// Per-column parameters of dequantization (int32 accumulators to float). Each array has whole vectors.
struct DequantizeColumns
{
    const int32_t* m_ColumnSums = nullptr; ///< multiplied by the zero point of the data
    const float* m_Scales = nullptr;       ///< of the weights
    const float* m_Bias = nullptr;
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
};

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

/// Dequantization of the rows of an implicit GEMM, see ImplicitGemmRowsInt8.
struct ImplicitGemmDequantizeInt8
{
    DequantizeRows m_Rows; ///< their outputs; without sums; one scale and zero point
    DequantizeColumns m_Columns;
};

using ImplicitGemmDequantizeKernelInt8 = void (*)(const ImplicitGemmRowsInt8& rows,
                                                  const ImplicitGemmDequantizeInt8& floats);

/// Scale and zero point that floats were quantized with.
struct ScaleAndZeroPoint
{
    float m_Scale = 1.0f;
    int32_t m_ZeroPoint = 0;
};

/// Parameters of quantization from float to int8.
struct QuantizeParametersInt8
{
    float m_Inverse = 0.0f; ///< 1 / scale
    int32_t m_ZeroPoint = 0;
    int32_t m_Lowest = 0;  ///< smallest int8 value; the largest one is 127
    uint8_t m_SignXor = 0; ///< XOR mask of the written bytes: 0x80 biases them by 128, to uint8
};

struct FloatRange
{
    float m_Min = 0.0f;
    float m_Max = 0.0f;
};

/// sums[rows][vectors * lanes] = bias[vectors * lanes] + data[rows][groups] * panel[groups][vectors * lanes]; a group
/// is four bytes of the data. `dataStride` is in bytes. In the panel, KernelTraitsInt8::m_ColumnGroups groups of one
/// column are adjacent, then follow those of the next column.
using MicrokernelInt8 = void (*)(const void* data, size_t dataStride, const void* panel, size_t groups,
                                 const int32_t* bias, int32_t* sums);

/// Indirection buffer: for each kernel tap and each row of A the address of that tap's channels in the image, as
/// XNNPACK's indirect convolution has it. The channels of one tap are contiguous.
struct IndirectionBufferInt8
{
    const uint8_t* const* m_Table = nullptr; ///< [taps][rows]; null: no indirection
    size_t m_Taps = 1;
    size_t m_Rows = 0;
    size_t m_Offset = 0; ///< bytes from an address of the table to the data
    /// Address of the padding pixel. A tap that has this address for all rows of a tile is skipped. Null: no tap is
    /// skipped.
    const uint8_t* m_Padding = nullptr;
    int32_t* m_Skipped = nullptr; ///< [taps][vectors * lanes]: added to the accumulators for each skipped tap
};

/// Operands of a microkernel whose epilogue dequantizes: rows of data times a panel.
struct DequantizedRowsInt8
{
    const void* m_Data = nullptr;
    size_t m_DataStride = 0;             ///< bytes
    IndirectionBufferInt8 m_Indirection; ///< replaces m_Data where it has a table
    const void* m_Panel = nullptr;
    size_t m_Groups = 0;             ///< per tap
    const int32_t* m_Bias = nullptr; ///< initial accumulators
    DequantizeRows m_Rows;           ///< without sums
};

/// Writes all rows. Returns false without any effect where it has no tiles for that few rows, or rows have corrections.
/// With an indirection buffer it takes any number of rows from MicrokernelSetInt8::m_MinIndirectRows on.
using DequantizedKernelInt8 = bool (*)(const DequantizedRowsInt8& product, const DequantizeColumns& columns);

/// Rows of data times columns of weights in the model's own layout: dot products along the depth. For few rows, where
/// reading the weights once takes most of the time, or for few columns.
struct UnpackedDotsInt8
{
    const uint8_t* m_Data = nullptr; ///< as stored
    size_t m_DataStride = 0;         ///< bytes
    size_t m_Rows = 0;
    const uint8_t* m_Weights = nullptr; ///< [columns][depth]
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    const int32_t* m_Bias = nullptr; ///< [columns], initial accumulators
    int32_t* m_Sums = nullptr;       ///< [rows][sumStride]
    size_t m_SumStride = 0;
};

using UnpackedKernelInt8 = void (*)(const UnpackedDotsInt8& dots);

/// How sums of a block begin where weights have a scale per block. Instructions that take unsigned weights get
/// m_Offset - w in place of a weight w, and the sums of a slice of the depth begin with -m_Offset * sum(data):
///
///   sum q (m_Offset - w)  -  m_Offset * sum q  =  -sum q w
///
/// so that the panels' scales are negative.
struct BlockSumsInt8
{
    /// A slice of a longer depth could exceed int16. The bound holds for 4-bit weights with m_Offset 7: each term,
    /// -7 q or -w q, is in -1024..1016, and there are 32 of them.
    static constexpr size_t MaxPairedDepth = 64;

    int32_t m_Offset = 0;    ///< 0: weights as they are, and sums begin with 0
    bool m_IsPaired = false; ///< sums begin as two int16, of the even and the odd pairs of bytes; else as int32

    /// Bytes of the data of a slice: of the whole block, or of an equal part of it but for the last one.
    size_t GetSliceBytes(size_t blockBytes) const
    {
        return m_IsPaired && blockBytes > MaxPairedDepth ? MaxPairedDepth : blockBytes;
    }
};

/// Bytes of the scales of `width` columns in a panel, up to a whole vector of `lanes` lanes.
constexpr size_t GetBlockScaleBytes(size_t width, size_t scaleBytes, size_t lanes)
{
    const size_t vectorBytes = lanes * sizeof(float);
    return (width * scaleBytes + vectorBytes - 1) / vectorBytes * vectorBytes;
}

/// Operands of a microkernel for weights with a scale per block: a tile of rows of data times a panel.
struct BlockRowsInt8
{
    static constexpr size_t MaxRows = 8;

    const void* m_Data = nullptr;
    size_t m_DataStride = 0;           ///< bytes
    const int32_t* m_Starts = nullptr; ///< [rows][startStride], by slice: see BlockSumsInt8
    size_t m_StartStride = 0;
    const std::byte* m_Panel = nullptr; ///< see BlockTiles-inl.hpp
    size_t m_ScaleBytes = 0;            ///< of a scale: 2 for float16, 4 for float32
    size_t m_Blocks = 0;
    size_t m_Groups = 0;     ///< of a block, an even number
    float* m_Sums = nullptr; ///< [rows][vectors * lanes]; the tile adds to them
};

using BlockTileInt8 = void (*)(const BlockRowsInt8& operands);
/// [vectors][rows]
using BlockTilesInt8 = BlockTileInt8[KernelTraitsInt8::MaxVectors + 1][BlockRowsInt8::MaxRows + 1];

/// Rows of sums with a scale per block to turn into outputs. Arrays by column have whole vectors.
struct BlockOutputsInt8
{
    const float* m_Sums = nullptr; ///< [rows][sumStride]
    size_t m_SumStride = 0;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    const ScaleAndZeroPoint* m_Scales = nullptr; ///< of each row's data
    const float* m_Factors = nullptr;            ///< of the zero point
    const float* m_Bias = nullptr;
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    float* m_Out = nullptr;
    size_t m_OutStride = 0;
};

/// The microkernels of one instruction, one weight layout and one pair of operand signs. A microkernel computes a tile
/// of mr rows by `vectors` vectors of columns, C[mr][nr] = bias + A[mr][depth] * B[depth][nr], with all accumulators in
/// registers.
struct MicrokernelSetInt8 : KernelTraitsInt8
{
    void (*m_Begin)() = nullptr; ///< called on a thread before its first tile; null: nothing to do
    void (*m_End)() = nullptr;   ///< called after its last tile
    MicrokernelInt8 m_Tiles[MaxVectors + 1][MaxRows + 1] = {}; ///< [vectors][rows]
    /// Microkernels that requantize in registers: [ScaleInt8][do rows have corrections][vectors of the panel]. Null
    /// where there are none.
    RequantizedKernelInt8 m_RequantizedKernels[NumScalesInt8][2][MaxVectors + 1] = {};
    /// Implicit GEMM, for any number of rows of an image that is biased already (see m_IsDataBiased), without row
    /// corrections: the requantizing kernels by ScaleInt8, then the dequantizing ones.
    ImplicitGemmKernelInt8 m_ImplicitGemmKernels[NumScalesInt8][MaxVectors + 1] = {};
    ImplicitGemmDequantizeKernelInt8 m_ImplicitGemmDequantizeKernels[MaxVectors + 1] = {};
    /// Microkernels that dequantize in registers, by vectors.
    DequantizedKernelInt8 m_DequantizedKernels[MaxVectors + 1] = {};
    /// Replace microkernels for weights with a scale per block.
    BlockTilesInt8 m_BlockTiles = {};
    BlockSumsInt8 m_BlockSums;
    /// The same for 4-bit weights as bytes, which are faster where many tiles share these. Null where there are none:
    /// sums of pairs take as long with either.
    BlockTilesInt8 m_WideBlockTiles = {};
    /// Makes such a panel of one of `vectors` vectors: scales in float32, each group of four weights in a column's four
    /// bytes.
    void (*m_WidenBlocks)(const BlockRowsInt8& panel, size_t vectors, std::byte* wide) = nullptr;
    UnpackedKernelInt8 m_UnpackedDots = nullptr; ///< replaces microkernels for weights that are not packed, else null
    size_t m_MinIndirectRows = 0; ///< fewest rows that m_DequantizedKernels take by indirection; 0: no indirection
    const KernelRowInt8* m_Row = nullptr; ///< its row of int8_kernels.def; null: the set is empty

    void Add(size_t vectors, size_t rows, MicrokernelInt8 tile) { m_Tiles[vectors][rows] = tile; }
};

/// All int8 microkernels and row loops of one instruction set.
struct MicrokernelsInt8
{
    static constexpr size_t MaxLanes = 16; ///< int32 in 512 bits
    /// 4-bit weights are stored plus this number, as unsigned 0..15.
    static constexpr int32_t ZeroPointInt4 = 8;

    size_t m_Lanes = 0;         ///< columns of a vector
    bool m_ConvertsF16 = false; ///< float16 becomes float32 by an instruction
    KernelRowsInt8 m_Rows;
    MicrokernelSetInt8 m_Sets[NumKernelRolesInt8]; ///< by role

    /// The set of a role; empty (m_Vectors is 0) where the processor has none.
    const MicrokernelSetInt8& Get(KernelRoleInt8 role) const { return m_Sets[static_cast<size_t>(role)]; }
    MicrokernelSetInt8& Get(KernelRoleInt8 role) { return m_Sets[static_cast<size_t>(role)]; }
    bool Has(KernelRoleInt8 role) const { return m_Rows.Has(role); }
    /// The set for any weights, by the type of the data.
    const MicrokernelSetInt8& GetPlain(bool isDataSigned) const
    {
        return Get(isDataSigned ? KernelRoleInt8::Int8 : KernelRoleInt8::UInt8);
    }

    /// Requantizes: TFLite's MultiplyByQuantizedMultiplier, a product in double precision rounded half away from zero,
    /// or one in float rounded half to even; then zero point and clamp. |sum + row correction| must be below 2^30 for
    /// multipliers.
    void (*m_Requantize)(const RequantizeRows& rows, const RequantizeColumns& columns) = nullptr;
    /// Prepares the columns of a requantizing microkernel; they fit registers. `bias`: initial accumulators. Null where
    /// there are no such microkernels.
    void (*m_PrepareRequantization)(const RequantizeColumns& columns, const int32_t* bias, size_t count, bool isSigned,
                                    PreparedRequantizationInt8& prepared) = nullptr;
    /// sums[row] = factor * (sum of the row's bytes), `depth` of them.
    void (*m_SumRows)(const void* data, size_t dataStride, size_t rows, size_t depth, bool isSigned, int32_t factor,
                      int32_t* sums) = nullptr;
    /// out = clamp(float(sum + row correction - zero point * column sum) * (row scale * column scale) + bias)
    void (*m_Dequantize)(const DequantizeRows& rows, const DequantizeColumns& columns) = nullptr;
    /// out = clamp((sum - zero point * factor) * row scale + bias)
    void (*m_FinishBlocks)(const BlockOutputsInt8& rows) = nullptr;
    /// Minimum and maximum of the values and 0; NaN are ignored.
    FloatRange (*m_FindRange)(const float* values, size_t count) = nullptr;
    /// round(value / scale) half away from zero, plus the zero point; NaN give the lowest value. Precondition: the
    /// scale is that of a range that contains all finite values.
    void (*m_Quantize)(const float* values, size_t count, const QuantizeParametersInt8& steps, int8_t* bytes) = nullptr;
    /// The same less the zero point, as floats.
    void (*m_QuantizeToFloats)(const float* values, size_t count, const QuantizeParametersInt8& steps,
                               float* whole) = nullptr;
    /// The initial sums of the slices of a row, one block after the other. Blocks have a multiple of eight bytes.
    void (*m_StartBlocks)(const int8_t* row, size_t blocks, size_t blockBytes, const BlockSumsInt8& sums,
                          int32_t* starts) = nullptr;
    /// wide[i] = bytes[i] - zeroPoint
    void (*m_Widen)(const void* bytes, size_t count, bool isSigned, int32_t zeroPoint, int16_t* wide) = nullptr;
    /// out[i] = bytes[i] XOR 0x80: int8 + 128, or uint8 - 128; may be in place.
    void (*m_SignXor)(const uint8_t* bytes, size_t count, uint8_t* flipped) = nullptr;
    /// Makes complement blocks, the data of permuted weights (PermutedWeightsInt8.hpp), from `count` int8, a multiple
    /// of eight. Null where there are no permuted microkernels.
    void (*m_MakeComplementBlocks)(const uint8_t* bytes, size_t count, uint8_t* windows) = nullptr;
};

/// The table of the best instruction set that the processor has. Precondition: it has vectors, see CpuFeatures.
const MicrokernelsInt8& GetMicrokernelsInt8();

} // namespace tenon::cpu
