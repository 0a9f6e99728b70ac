// SPDX-License-Identifier: Apache-2.0
// The table of int8 depthwise microkernels of one instruction set, and their arguments.
//
// Rows of the image are interleaved in groups: one dot product takes a whole column of the window for a channel.
//   four rows a..d as int8:   | a0 b0 c0 d0 | a1 b1 c1 d1 | ..   one int32 lane a channel (vpdpbusd, sdot)
//   two rows a, b as int16:   | a0 b0 | a1 b1 | ..                the same (pmaddwd)
// m_RunRowStrips reads the image and interleaves in registers (RowStripsInt8); m_SumToInt8 and m_SumToInt32 read
// interleaved columns from RowRingBufferInt8 (BufferedRunInt8). Called by RowStripDriverInt8 and
// DepthwiseConvolution2dInt8.cpp.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Arguments of m_Interleave: columns of a row group to interleave.
struct InterleaveArgsInt8
{
    static constexpr size_t MaxRows = 4;
    // Only the rows of a group are set: initializing all four would cost measurable time per column.
    const uint8_t* m_Rows[MaxRows]; ///< the first pixel in each row, at the first channel of the block
    size_t m_Steps[MaxRows];        ///< bytes to the next pixel: 0 repeats one
    size_t m_Columns = 0;
    size_t m_Channels = 0; ///< channels of the block, without padding
    bool m_IsSigned = false;
};

/// Arguments of m_SumToInt32 and m_SumToInt8: a run of output pixels.
struct BufferedRunInt8
{
    const std::byte* m_Columns = nullptr; ///< interleaved columns in the row ring buffer
    size_t m_PixelStep = 0;               ///< bytes in m_Columns from one output pixel to the next
    size_t m_Pixels = 0;
    const size_t* m_Offsets = nullptr; ///< bytes in m_Columns of each tap for the first pixel
    size_t m_Taps = 0;
    const void* m_Weights = nullptr; ///< [taps][vectors of the block]
    const int32_t* m_Bias = nullptr; ///< [vectors of the block]
    int32_t* m_Sums = nullptr;       ///< [pixels][vectors of the block]
};

/// The int8 output of m_SumToInt8.
struct BufferedOutputInt8
{
    /// By MicrokernelsInt8::m_PrepareRequantization; has the bias as well.
    const PreparedRequantizationInt8* m_Requantization = nullptr;
    ScaleInt8 m_Scale = ScaleInt8::Any; ///< see RequantizeColumns::GetScale
    uint8_t* m_Out = nullptr;
    size_t m_OutStride = 0; ///< bytes from an output pixel to the next
};

/// Arguments of m_RunRowStrips. A row strip is one output row, or two whose windows begin one image row apart. The
/// microkernel computes the same pixels of m_StripCount row strips at once, for m_MaxStripBlockChannels / m_StripCount
/// channels each. Windows have three columns, at most four rows, and an x stride of 1 or 2.
struct RowStripsInt8
{
    static constexpr size_t MaxStripCount = 4;
    static constexpr size_t MaxRows = 4;

    size_t m_StripCount = 1; ///< 1, 2 or 4, up to m_MaxStripCount of the instruction set
    /// Rows of the image, at the first image column that windows read; or padding.
    const uint8_t* m_Rows[MaxStripCount][MaxRows];
    size_t m_Steps[MaxStripCount][MaxRows]; ///< bytes to the next column; 0: padding
    const uint8_t* m_Padding = nullptr;
    size_t m_Before = 0; ///< columns of padding on the left; m_Inside image columns and the right padding follow
    size_t m_Inside = 0;
    bool m_IsSigned = false;
    /// Columns from a window to the next; with 2, windows have up to three rows and row strips one output row.
    size_t m_Stride = 1;
    size_t m_Pixels = 0;                    ///< output pixels of a row
    const void* m_Weights = nullptr;        ///< see BufferedRunInt8; the weights of the second output row follow
    const void* m_Requantization = nullptr; ///< by DepthwiseMicrokernelsInt8::m_PrepareStripRequantization
    ScaleInt8 m_Scale = ScaleInt8::Any;     ///< see BufferedOutputInt8
    bool m_HasSecond = false;               ///< whether row strips have two output rows
    uint8_t* m_Out[MaxStripCount];
    /// The second output row. For a row strip without one: the first row, which is written after the second.
    uint8_t* m_Second[MaxStripCount];
    size_t m_OutStride = 0;
};

/// The int8 depthwise microkernels of one instruction set.
struct DepthwiseMicrokernelsInt8
{
    static constexpr size_t ChunkChannels = 16; ///< a block has 1 to m_MaxChunks chunks of channels
    static constexpr size_t MaxChunks = 4;
    static constexpr size_t ChunkBytes = 64; ///< bytes of an interleaved column and chunk

    WeightLayoutInt8 m_Layout = WeightLayoutInt8::Int16x2;
    /// Signedness of the data that the dot product takes; other data are biased by 128 (XOR 0x80).
    bool m_TakesSigned = false;
    size_t m_MaxChunks = 0;
    /// Whether the widest buffered block has its channels in lane order, as unpacklo/unpackhi give it (see
    /// RequantizeRows::m_IsInterleaved). Narrower blocks have them in natural order; strip blocks are always in lane
    /// order.
    bool m_InterleavesFullBlocks = false;
    size_t m_Lanes128 = 0; ///< 128-bit lanes of a vector, for blocks in lane order
    void (*m_Interleave)(const InterleaveArgsInt8& columns, size_t chunks, std::byte* out) = nullptr;
    void (*m_SumToInt32[MaxChunks + 1])(const BufferedRunInt8& run) = {};
    /// Sums and requantizes to int8; RequantizeColumns::FitsRegisters is required. Returns false without effect for
    /// windows that it has no loop for. Null if the instruction set has none.
    bool (*m_SumToInt8[MaxChunks + 1])(const BufferedRunInt8& run, const BufferedOutputInt8& bytes) = {};
    /// Whether m_SumToInt8 has a loop for the run's windows, by its m_Taps, m_Offsets, m_PixelStep and m_Pixels alone.
    /// Null if the instruction set has none.
    bool (*m_IsSummedToInt8)(const BufferedRunInt8& run) = nullptr;
    /// Row strips: from the image to int8. Null if the instruction set has none. See ChannelBlockInt8::m_StripCount.
    void (*m_RunRowStrips)(const RowStripsInt8& strips) = nullptr;
    /// Channels of the widest strip block, which computes one row strip at a time; others have m_MaxStripBlockChannels
    /// / m_StripCount.
    size_t m_MaxStripBlockChannels = 0;
    size_t m_MaxStripCount = 0;  ///< most row strips at once: 1, up to RowStripsInt8::MaxStripCount
    size_t m_StripRowGroups = 0; ///< row groups under a window
    size_t m_StripRequantizationBytes =
        0; ///< bytes that m_PrepareStripRequantization writes, a multiple of ArenaAlignment
    /// Writes the requantization constants of a strip block. `prepared`: aligned to ArenaAlignment.
    void (*m_PrepareStripRequantization)(const RequantizeColumns& columns, const int32_t* bias, bool isSigned,
                                         std::byte* prepared) = nullptr;
};

/// Sets m_RunRowStrips and the members about strips, if the instruction set has row strips (RowStripsInt8.cpp).
void UseRowStrips(DepthwiseMicrokernelsInt8& kernels);

/// The microkernels of the best instruction set of the processor. Precondition: it has vectors, see CpuFeatures.
const DepthwiseMicrokernelsInt8& GetDepthwiseMicrokernelsInt8();

} // namespace tenon::cpu
