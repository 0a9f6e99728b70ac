// SPDX-License-Identifier: Apache-2.0
// GemmInt8: C = A * B for int8 data, where A is a matrix or the receptive fields of an image, and B the packed weights.
// The output is requantized, dequantized (hybrid: float data quantized at run time, 8- or 4-bit weights), or the sums
// themselves (recurrent layers).
//
//   out[r][c] = requantize(sum_k (a[r][k] - za) * (w[k][c] - zw) + bias[c])
//
// Used by Convolution2d, TransposeConvolution2d, FullyConnected, BatchMatMul with constant weights and the gates of
// recurrent layers.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/ImplicitGemmInt8.hpp"
#include "backends/cpu/gemm/driver/MultiplyPanelInt8.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/pack/ComplementImageInt8.hpp"
#include "backends/cpu/gemm/pack/HybridDataInt8.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/im2col/PixelOrder.hpp"

#include <cstddef>
#include <string>

namespace tenon::cpu
{

/// An int8 GEMM of known shapes. Loop order: tasks (rows x panels, PanelRange) > blocks of rows whose data fit an
/// eighth of the L2 cache > panels of columns > tiles. Rows of a block reach the microkernels by one of five paths,
/// which the shapes decide (GetDataPath):
///   in place             a matrix, or 1x1 windows: whole groups of bytes that need no change
///   implicit GEMM        ImplicitGemmInt8
///   indirection buffer   hybrid data
///   complement image     permuted weights, ComplementImageInt8
///   im2col               into a strip of rows in the scratch memory, which stays in the cache
class GemmInt8
{
public:
    /// `windows`: of the image, or of `rows` pixels that are the rows of a matrix. The type of the output and the fused
    /// activation decide the output's range.
    GemmInt8(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, const ReshapeArgs& args);

    /// The same for float data; the weights are packed with RoundingInt8::None.
    GemmInt8(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, const HybridDataInt8& data,
             const ReshapeArgs& args);

    /// For int8 data whose sums are the output, see RunSums. The weights are packed with RoundingInt8::None, too.
    /// `maxThreads`: see ReshapeArgs.
    GemmInt8(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, unsigned int maxThreads);

    /// Sets the layout of the output, which is one pixel after the other by default.
    void SetOutputLayout(const OutputLayout& place)
    {
        m_OutputLayout = place;
        m_Order.FitTo(place);
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// The microkernels, the path of the data, and why: see backends::Prepared::m_Variant.
    std::string DescribeVariant() const { return m_Weights->GetChoice().Describe(GetDataPath()); }
    void Run(const ExecuteArgs& args) const { RunQuantized(args, Quantize(args)); }

    /// The data operand: input 0, or the quantized floats. GEMMs of the same data and the same number of batches may
    /// share the result of one of them, if they share the scratch memory and it is as large as the largest one needs.
    GemmDataInt8 Quantize(const ExecuteArgs& args) const;
    void RunQuantized(const ExecuteArgs& args, const GemmDataInt8& data) const;
    /// sums[row][column] = start + data[row] * weights, which may wrap. `data`: bytes of input 0's type that the
    /// weights were packed for. `start`: the result of PackedWeightsInt8::MakeSumStart.
    void RunSums(const void* data, const int32_t* start, int32_t* sums, void* scratch, IParallelFor& parallel) const;

private:
    /// Rows of data as the microkernels read them.
    struct Block
    {
        const uint8_t* m_Data = nullptr;
        size_t m_Stride = 0; ///< bytes
        size_t m_Rows = 0;
        size_t m_SafeRows =
            0; ///< tiles may read past the rows before this one; the rows from it on, if any, are in m_Tail
        const uint8_t* m_Tail = nullptr;         ///< rows from m_SafeRows on
        IndirectionBufferInt8 m_Taps;            ///< address of each tap's data, if it has a table
        const size_t* m_OutputOffsets = nullptr; ///< see DequantizeRows
    };

    /// Parameters of the rows of a block for the epilogue.
    struct RowValues
    {
        const int32_t* m_RowCorrections = nullptr; ///< see RequantizeRows; null: none
        int32_t* m_ZeroPoints = nullptr;           ///< of hybrid data, as are the scales
        float* m_Scales = nullptr;
        bool m_HasOneScale = false; ///< and one zero point
    };

    /// Data and output.
    struct Memory
    {
        GemmDataInt8 m_Data;
        void* m_Output = nullptr;
        const int32_t* m_Start = nullptr; ///< initial sums where sums are the output, else null
    };

    void Plan(backends::Scratch scratch, unsigned int maxThreads);
    /// Whether skipping the kernel taps in the padding is faster than implicit GEMM, which skips none.
    bool SkipsTaps() const;
    bool UsesImplicitGemm() const { return m_ImplicitGemm.IsUsed() && !SkipsTaps(); }
    const char* GetDataPath() const
    {
        return UsesImplicitGemm()           ? "implicit GEMM"
               : m_UsesIndirection          ? "indirection buffer"
               : m_ComplementImage.IsUsed() ? "complement image"
               : m_CopiesStrips             ? "im2col"
                                            : "data in place";
    }
    size_t GetNumTaps() const { return static_cast<size_t>(m_Im2col.m_Height * m_Im2col.m_Width); }
    void RunAll(const Memory& memory, void* scratch, IParallelFor& parallel) const;
    void RunRange(const Memory& memory, const PanelRange& range, std::byte* scratch) const;
    /// RunRange by implicit GEMM.
    void RunImplicitGemm(const Memory& memory, const PanelRange& range, std::byte* scratch) const;
    /// One past the last row of the block that begins at `first` and ends at `last` or before.
    size_t GetBlockEnd(size_t first, size_t last) const;
    /// Cache lines of a range's outputs. Blocks are consecutive rows, or whole images.
    OutputCacheLines FindCacheLines(const Memory& memory, const PanelRange& range) const;
    size_t GetElementBytes() const { return m_IsHybrid ? sizeof(float) : 1; } ///< of outputs that are not sums
    std::byte* FindRow(const Memory& memory, size_t row) const
    {
        return static_cast<std::byte*>(memory.m_Output) + m_OutputLayout.GetOffset(row) * GetElementBytes();
    }
    /// The padding byte of a row's image: the zero point, biased by 128 where the data are.
    uint8_t GetPadding(const GemmDataInt8& data, size_t row) const;
    /// Fills the indirection buffer for the receptive fields of rows [first, last), for any matrix, if one is used.
    /// Pixels of a whole image are in the order that allows most taps to be skipped.
    IndirectionBufferInt8 FindTaps(const GemmDataInt8& data, size_t first, size_t last, std::byte* scratch) const;
    /// Computes the values that are added to a panel's accumulators for each skipped tap.
    void FindSkipped(const PackedPanelInt8& packed, const IndirectionBufferInt8& taps) const;
    /// Makes the rows of m_ComplementImage for a block.
    void MakeComplementImage(const GemmDataInt8& data, size_t first, size_t last, std::byte* scratch) const;
    /// Rows [first, last) for this matrix of the weights.
    Block MakeBlock(const GemmDataInt8& data, const IndirectionBufferInt8& taps, size_t matrix, size_t first,
                    size_t last, std::byte* scratch) const;
    /// `values`: the first channel that the matrix reads.
    Block LayOut(const GemmDataInt8& data, const uint8_t* values, size_t first, size_t last, std::byte* scratch) const;
    Block UseInPlace(const uint8_t* values, const uint8_t* end, size_t first, size_t last, std::byte* scratch) const;
    RowValues FindRowValues(const GemmDataInt8& data, const Block& block, size_t first, std::byte* scratch) const;
    void RunPanel(const Memory& memory, const PanelInt8& panel, const Block& block, const RowValues& values,
                  size_t first) const;
    /// By microkernels with a fused epilogue; false where there are none.
    bool RunFusedEpilogue(const Memory& memory, const PanelInt8& panel, const PackedPanelInt8& packed,
                          const Block& block, const RowValues& values, size_t first) const;
    /// With the output's range.
    RequantizeColumns GetRequantization(const PanelInt8& panel) const;
    void WriteBytes(const PanelInt8& panel, const RequantizeRows& rows) const;
    void WriteSums(const RequantizeRows& rows) const;
    /// All panels at once, for weights that are not packed, without row corrections.
    void WriteUnpackedSums(const Memory& memory, const PanelRange& range, const Block& block, size_t first) const;
    DequantizeColumns GetDequantization(const PanelInt8& panel) const;

    const PackedWeightsInt8* m_Weights;
    Im2col m_Im2col;
    size_t m_Rows;
    OutputLayout m_OutputLayout;
    PixelOrder m_Order;     ///< of images with an indirection buffer
    size_t m_BlockRows = 0; ///< rows whose data stay in the cache while all panels pass
    size_t m_StripRows = 0; ///< the same for rows that im2col writes
    size_t m_Pitch = 0;     ///< bytes of a row of a strip of stored values
    bool m_IsInPlace = false;
    bool m_CopiesStrips = false;           ///< else data are read in place, or doubled from the input in place
    bool m_UsesIndirection = false;        ///< replaces strips, for blocks of enough rows
    ComplementImageInt8 m_ComplementImage; ///< replaces strips of stored values, if it is used
    ImplicitGemmInt8 m_ImplicitGemm;       ///< replaces rows of data, if it is used and no taps are skipped
    bool m_OutputIsSigned = false;
    int32_t m_Min = 0;
    int32_t m_Max = 0;
    bool m_IsHybrid = false;
    HybridQuantizerInt8 m_Quantizer;
    size_t m_BatchRows = 0;  ///< of the output
    bool m_HasClamp = false; ///< of floats
    float m_Low = 0.0f;
    float m_High = 0.0f;
    size_t m_TasksOffset = 0; ///< in the scratch memory, behind the memory that all tasks share
    PanelPartition m_Partition;
    size_t m_StripOffset = 0; ///< in a task's scratch memory, which begins with the row corrections
    size_t m_ZeroPointsOffset = 0;
    size_t m_RowScalesOffset = 0;
    size_t m_DoubledOffset = 0;
    size_t m_ComplementImageOffset = 0; ///< of m_ComplementImage's rows
    size_t m_TableOffset = 0;
    size_t m_PaddingOffset = 0; ///< of a padding pixel
    size_t m_SkippedOffset = 0;
    size_t m_OutputOffsetsOffset = 0;
    size_t m_InputPitch = 0; ///< bytes from one pixel to the next
    size_t m_InputBytes = 0;
    size_t m_TaskBytes = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
