// SPDX-License-Identifier: Apache-2.0
// The inner loops of 8-bit depthwise convolutions. Rows of the image are interleaved in groups, so that one dot product
// takes a whole column of the window for a channel: four rows as bytes, or two as int16 (see Layout8).
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Columns of the image to interleave.
struct InterleaveColumns8
{
    static constexpr size_t MostRows = 4;
    // As many as there are in a group: filling all of them takes time that there is not.
    const uint8_t* m_Rows[MostRows]; ///< the first pixel in each row, at the first channel of the block
    size_t m_Steps[MostRows];        ///< bytes to the next pixel: 0 repeats one
    size_t m_Columns = 0;
    size_t m_Channels = 0; ///< to read of each pixel: those of the block that exist
    bool m_IsSigned = false;
};

/// Sums of a run of output pixels.
struct DepthwiseRun8
{
    const std::byte* m_Columns = nullptr; ///< interleaved
    size_t m_PixelStep = 0;               ///< bytes in it from one output pixel to the next
    size_t m_Pixels = 0;
    const size_t* m_Offsets = nullptr; ///< bytes in m_Columns of each tap for the first pixel
    size_t m_Taps = 0;
    const void* m_Weights = nullptr; ///< [taps][vectors of the block]
    const int32_t* m_Bias = nullptr; ///< [vectors of the block]
    int32_t* m_Sums = nullptr;       ///< [pixels][vectors of the block]
};

/// Where the bytes of a run go.
struct DepthwiseBytes8
{
    const ByteColumns8* m_Requantization = nullptr; ///< of Engine8::m_PrepareColumns; in place of the run's bias
    bool m_IsPositive = false;               ///< the clamp makes the same of all negative sums
    uint8_t* m_Out = nullptr;
    size_t m_OutStride = 0; ///< from a pixel to the next
};

/// A strip is what an output row is computed from, or two output rows whose windows begin one row of the image after
/// each other. The same pixels of `m_Parts` strips, in a block of m_StripChannels / m_Parts channels of the engine, are
/// computed together. Windows are three columns wide, 1 or 2 columns apart, and lie in four rows.
struct DepthwiseStrips8
{
    static constexpr size_t MostParts = 4;
    static constexpr size_t MostRows = 4;

    size_t m_Parts = 1; ///< 1, 2 or 4; as many as there are loops for
    /// Of the image, at the first of its columns that windows see; or padding.
    const uint8_t* m_Rows[MostParts][MostRows];
    size_t m_Steps[MostParts][MostRows]; ///< bytes to the next column; 0 of padding
    const uint8_t* m_Padding = nullptr;
    size_t m_Before = 0; ///< columns before the image; those of it follow, and padding
    size_t m_Inside = 0;
    bool m_IsSigned = false;
    size_t m_Stride = 1; ///< columns from a window to the next; 2: windows of up to three rows, of one output row
    size_t m_Pixels = 0; ///< of an output row
    const void* m_Weights = nullptr; ///< see DepthwiseRun8; those of the second output row follow
    const void* m_Requantization = nullptr; ///< of DepthwiseEngine8::m_PrepareStrips
    bool m_IsPositive = false;       ///< see DepthwiseBytes8
    bool m_HasSecond = false;        ///< output row
    uint8_t* m_Out[MostParts];
    /// The second output row; of a strip that has none the first one, which is written after it.
    uint8_t* m_Second[MostParts];
    size_t m_OutStride = 0;
};

/// The loops of a kind of processor.
struct DepthwiseEngine8
{
    static constexpr size_t PieceChannels = 16; ///< blocks are of 1 to m_MostPieces chunks
    static constexpr size_t MostPieces = 4;
    static constexpr size_t PieceBytes = 64; ///< of an interleaved column

    Layout8 m_Layout = Layout8::WidePairs;
    bool m_TakesSigned = false; ///< of bytes beside each other: they become int8, else uint8, by 128 less or more
    size_t m_MostPieces = 0;
    /// Whether a block of the most chunks has its channels in the order of interleaving 128-bit lanes: see
    /// RequantizeRows::m_IsInterleaved. Others are in their natural order, but for those in strips.
    bool m_InterleavesFullBlocks = false;
    size_t m_BlockLanes = 0; ///< 128-bit lanes of vectors of blocks whose channels are interleaved, if there are some
    void (*m_Interleave)(const InterleaveColumns8& columns, size_t pieces, std::byte* out) = nullptr;
    void (*m_Sum[MostPieces + 1])(const DepthwiseRun8& run) = {};
    /// Sums and writes bytes in one, where all shifts are to the right; false, and nothing is done, for other windows
    /// than it is made for. Null where there is none. Full blocks have their channels interleaved.
    bool (*m_Write[MostPieces + 1])(const DepthwiseRun8& run, const DepthwiseBytes8& bytes) = {};
    /// The same from the image itself. Null where there is none. See DepthwiseBlock8::m_Parts.
    void (*m_WriteStrips)(const DepthwiseStrips8& strips) = nullptr;
    size_t m_StripChannels = 0;     ///< of a block of one strip
    size_t m_MostStripParts = 0;    ///< strips at once: 1, or up to DepthwiseStrips8::MostParts
    size_t m_StripGroups = 0;       ///< of rows, that windows lie in
    size_t m_StripColumnsBytes = 0; ///< of what m_PrepareStrips writes, a multiple of ArenaAlignment
    /// Writes what strips read of the columns of a block. `prepared`: aligned to ArenaAlignment.
    void (*m_PrepareStrips)(const RequantizeColumns& columns, const int32_t* bias, bool isSigned,
                            std::byte* prepared) = nullptr;
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
const DepthwiseEngine8& GetDepthwiseEngine8();

} // namespace tenon::cpu
