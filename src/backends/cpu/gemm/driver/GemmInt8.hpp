// SPDX-License-Identifier: Apache-2.0
// Products of bytes: windows of an image, or rows of a matrix, by packed weights. What Convolution2d and FullyConnected
// of CpuAcc are for 8-bit data, and for floats beside 8- or 4-bit weights, which are quantized while running. Sums that
// stay as they are, for recurrent layers.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/ImplicitGemmInt8.hpp"
#include "backends/cpu/gemm/driver/MultiplyPanelInt8.hpp"
#include "backends/cpu/gemm/driver/OutputCacheLines.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/pack/ComplementImageInt8.hpp"
#include "backends/cpu/gemm/pack/HybridDataInt8.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/im2col/PixelOrder.hpp"

#include <cstddef>

namespace tenon::cpu
{

/// A product whose shapes are known. Rows of data are read in place where they are whole groups of bytes and nothing is
/// to be done to them, or as windows of an image that is made of the rows of the input that a block of pixels sees (see
/// ImageProduct8); else a strip of rows at a time is laid out in the scratch memory, where it stays in the cache.
class Product8
{
public:
    /// `windows`: of the image, or of `rows` pixels that are the rows of a matrix. The output's range is that of its
    /// type and the fused activation.
    Product8(const PackedWeights8& weights, const Windows& windows, size_t rows, const ReshapeArgs& args);

    /// The same for float data; the weights are packed with Rounding8::None.
    Product8(const PackedWeights8& weights, const Windows& windows, size_t rows, const HybridData8& data,
             const ReshapeArgs& args);

    /// Of bytes whose sums stay as they are: see RunSums. The weights are packed likewise. `maxThreads`: see
    /// ReshapeArgs.
    Product8(const PackedWeights8& weights, const Windows& windows, size_t rows, unsigned int maxThreads);

    /// Has the output written there, in place of one pixel after the other.
    void SetPlace(const OutputPlace& place)
    {
        m_Place = place;
        m_Order.FitTo(place);
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    void Run(const ExecuteArgs& args) const { RunQuantized(args, Quantize(args)); }

    /// Where data are read: input 0, or what became of it. Of products of the same data, with the same number of
    /// batches, one may do it for all, as long as these have the same scratch memory, and as much as the largest one
    /// asks for.
    ByteData8 Quantize(const ExecuteArgs& args) const;
    void RunQuantized(const ExecuteArgs& args, const ByteData8& data) const;
    /// sums[row][column] = start + data[row] * weights, which may wrap. `data`: bytes of the type of input 0 that the
    /// weights were packed beside. `start`: what PackedWeights8::MakeSumStart gave.
    void RunSums(const void* data, const int32_t* start, int32_t* sums, void* scratch, IParallelFor& parallel) const;

private:
    /// Rows of data as the tiles read them.
    struct Block
    {
        const uint8_t* m_Data = nullptr;
        size_t m_Stride = 0; ///< bytes
        size_t m_Rows = 0;
        size_t m_SafeRows =
            0; ///< from which on a tile may read its padding too; less than m_Rows: the others are in m_Tail
        const uint8_t* m_Tail = nullptr;  ///< rows from m_SafeRows on
        PointTable8 m_Points;             ///< where the data are, if it has a table
        const size_t* m_Places = nullptr; ///< see FloatRows
    };

    /// What the rows of a block are turned into.
    struct RowValues
    {
        const int32_t* m_Terms = nullptr; ///< see RequantizeRows; null: none
        int32_t* m_ZeroPoints = nullptr;  ///< of float data, as the scales
        float* m_Scales = nullptr;
        bool m_HaveOneScale = false; ///< and zero point
    };

    /// Where data are read and written.
    struct Memory
    {
        ByteData8 m_Data;
        void* m_Output = nullptr;
        const int32_t* m_Start = nullptr; ///< of sums that stay as they are, else null
    };

    void Plan(backends::Scratch scratch, unsigned int maxThreads);
    /// Whether so many points can be skipped that tiles of an image, which skip none, take longer.
    bool SkipsPoints() const;
    bool ReadsImage() const { return m_Image.IsUsed() && !SkipsPoints(); }
    size_t GetPoints() const { return static_cast<size_t>(m_Windows.m_Height * m_Windows.m_Width); }
    void RunAll(const Memory& memory, void* scratch, IParallelFor& parallel) const;
    void RunRange(const Memory& memory, const PanelRange& range, std::byte* scratch) const;
    /// The same by tiles that read windows where they lie.
    void RunImage(const Memory& memory, const PanelRange& range, std::byte* scratch) const;
    /// One past the last row of a block from `first` on, of rows up to `last`.
    size_t GetBlockEnd(size_t first, size_t last) const;
    /// Of a range's rows. Blocks are rows that follow each other, or whole images.
    OutputLines FindLines(const Memory& memory, const PanelRange& range) const;
    size_t GetElementBytes() const { return m_IsHybrid ? sizeof(float) : 1; } ///< of outputs that are no sums
    std::byte* FindRow(const Memory& memory, size_t row) const
    {
        return static_cast<std::byte*>(memory.m_Output) + m_Place.GetOffset(row) * GetElementBytes();
    }
    /// What lies outside of the image for a row, of the sign that the data have there.
    uint8_t GetPadding(const ByteData8& data, size_t row) const;
    /// Where the windows of rows [first, last), for any matrix, have their points, if tiles are to read them there.
    /// Those of a whole image are in the order of the pixels that has the most points to skip.
    PointTable8 FindPoints(const ByteData8& data, size_t first, size_t last, std::byte* scratch) const;
    /// What sums of a panel are to have for each point that is skipped.
    void FindSkipped(const PackedPanel8& packed, const PointTable8& points) const;
    /// Makes the rows of m_WindowImage for a block.
    void MakeImage(const ByteData8& data, size_t first, size_t last, std::byte* scratch) const;
    /// Rows [first, last) for this matrix of the weights.
    Block MakeBlock(const ByteData8& data, const PointTable8& points, size_t matrix, size_t first, size_t last,
                    std::byte* scratch) const;
    /// `values`: the first channel that the matrix sees.
    Block LayOut(const ByteData8& data, const uint8_t* values, size_t first, size_t last, std::byte* scratch) const;
    Block UseInPlace(const uint8_t* values, const uint8_t* end, size_t first, size_t last, std::byte* scratch) const;
    RowValues FindRowValues(const ByteData8& data, const Block& block, size_t first, std::byte* scratch) const;
    void RunPanel(const Memory& memory, const Panel8& panel, const Block& block, const RowValues& values,
                  size_t first) const;
    /// By tiles that write bytes, where there are such.
    bool WriteAtOnce(const Memory& memory, const Panel8& panel, const PackedPanel8& packed, const Block& block,
                     const RowValues& values, size_t first) const;
    /// With the output's range.
    RequantizeColumns GetRequantization(const Panel8& panel) const;
    void WriteBytes(const Panel8& panel, const RequantizeRows& rows) const;
    void WriteSums(const RequantizeRows& rows) const;
    /// All panels at once, of columns that are where the model has them, without terms of rows.
    void WriteStoredSums(const Memory& memory, const PanelRange& range, const Block& block, size_t first) const;
    FloatColumns GetFloatColumns(const Panel8& panel) const;

    const PackedWeights8* m_Weights;
    Windows m_Windows;
    size_t m_Rows;
    OutputPlace m_Place;
    PixelOrder m_Order;     ///< of images whose points a table names
    size_t m_BlockRows = 0; ///< whose data stay in the cache while all panels pass
    size_t m_StripRows = 0; ///< the same where they are laid out
    size_t m_Pitch = 0;     ///< bytes of a row of a strip of stored values
    bool m_InPlace = false;
    bool m_CopiesStrips = false; ///< else data are read in place, or doubled ones made of the input's bytes there
    bool m_FindsPoints = false;  ///< in place of strips, for blocks of enough rows
    WindowImage8 m_WindowImage;  ///< in place of strips of stored values, if it is used
    ImageProduct8 m_Image;       ///< in place of rows of data, if it is used and no points are skipped
    bool m_OutputIsSigned = false;
    int32_t m_Min = 0;
    int32_t m_Max = 0;
    bool m_IsHybrid = false;
    HybridQuantizer8 m_Quantizer;
    size_t m_BatchRows = 0;  ///< of the output
    bool m_HasClamp = false; ///< of floats
    float m_Low = 0.0f;
    float m_High = 0.0f;
    size_t m_PartsOffset = 0; ///< in the scratch memory, behind what all parts share
    size_t m_Parts = 1;
    size_t m_StripOffset = 0; ///< in a part's scratch memory, which begins with the row terms
    size_t m_ZeroPointsOffset = 0;
    size_t m_RowScalesOffset = 0;
    size_t m_DoubledOffset = 0;
    size_t m_ImageOffset = 0; ///< of m_WindowImage's rows
    size_t m_TableOffset = 0;
    size_t m_PaddingOffset = 0; ///< of a pixel outside of the image
    size_t m_SkippedOffset = 0;
    size_t m_PlacesOffset = 0;
    size_t m_InputPitch = 0; ///< bytes from a pixel to the next
    size_t m_InputBytes = 0;
    size_t m_PartBytes = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
