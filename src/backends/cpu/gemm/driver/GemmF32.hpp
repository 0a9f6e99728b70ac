// SPDX-License-Identifier: Apache-2.0
// GemmF32: the float32 GEMM driver.
//
//   out[row][column] = clamp(bias[column] + sum_k data[row][k] * weights[column][k] + added[row][column])
//
// Rows are rows of a matrix or receptive fields of an image; data are not packed. Loops: rows in blocks for the cache,
// depth in slices, columns in panels, rows in tiles. Used by the float Convolution2d, Convolution3d,
// TransposeConvolution2d, FullyConnected, BatchMatMul and recurrent layers.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/kernels/f32/DotProductsF32.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/im2col/PixelOrder.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// A GEMM of known shapes. Data are read in place: rows of a matrix by a stride, windows through an indirection buffer
/// of taps.
class GemmF32
{
public:
    /// `windows`: the geometry of the image, or of `rows` pixels that are rows of a matrix. `maxThreads`: see
    /// ReshapeArgs.
    GemmF32(const PackedWeightsF32& weights, const Im2col& windows, size_t rows, const backends::FloatClamp& clamp,
            unsigned int maxThreads);
    /// Rows of a matrix by weights that are packed in each run.
    GemmF32(const PanelsF32& panels, const Im2col& windows, size_t rows, unsigned int maxThreads);

    /// Sets the layout of the output; the default is contiguous pixels.
    void SetOutputLayout(const OutputLayout& layout)
    {
        m_OutputLayout = layout;
        m_Order.FitTo(layout);
    }

    /// Bytes of the whole output, where this GEMM writes a part of it.
    void SetOutputBytes(size_t bytes) { m_OutputBytes = bytes; }

    /// Adds the sums to the content of the output, without a bias.
    void SetAccumulates() { m_Accumulates = true; }

    /// Whether Run takes a tensor to be added.
    bool CanAdd() const;
    void SetClamp(const backends::FloatClamp& clamp) { m_Clamp = clamp; }

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// A null bias is zeros. `added`, if not null, is added to the output and may alias it.
    void Run(const float* input, const float* bias, float* out, void* scratch, IParallelFor& parallel,
             const float* added = nullptr) const
    {
        Run({input, bias, out, m_Data, 0, added}, scratch, parallel);
    }
    /// Computes a range on the calling thread. `weights`: the packed panels of the range, or a whole unpacked matrix.
    /// `bias`: of all columns; null: zeros. `scratch`: GetTaskBytes() bytes.
    void RunRange(const float* input, const float* weights, const float* bias, float* out, const PanelRange& range,
                  void* scratch) const;
    size_t GetTaskBytes() const { return m_TaskBytes; }

private:
    struct Operands
    {
        const float* m_Input = nullptr;
        const float* m_Bias = nullptr;
        float* m_Out = nullptr;
        const float* m_Packed = nullptr;
        size_t m_FirstOffset = 0;       ///< floats: offset of the first panel in m_Packed
        const float* m_Added = nullptr; ///< added to the output
    };
    /// A slice of the depth.
    struct Slice
    {
        size_t m_FirstTap = 0;
        size_t m_Taps = 0;
        size_t m_FirstDepth = 0; ///< within each tap
        size_t m_Depth = 0;
        bool m_IsLast = false;
    };

    /// The data of a block of rows: an indirection buffer [taps][rows], or rows at a stride.
    struct BlockRows
    {
        const float* const* m_Indirection = nullptr;
        const float* m_First = nullptr; ///< without an indirection buffer
        size_t m_Stride = 0;
        size_t m_Offset = 0; ///< floats added to each pointer, for a group
    };
    /// How the data of windows are read.
    enum class Reading : uint8_t
    {
        Taps,    ///< in place, tap by tap
        Rows,    ///< in place, one pointer for each row of taps: few channels
        Sliding, ///< likewise, by sliding microkernels that load a pixel once for three windows
        Im2col   ///< copied to an im2col buffer first: few channels, and taps of a row that are not contiguous
    };

    void Plan(unsigned int maxThreads);
    void PlanBlocks(size_t rows);
    void Run(const Operands& operands, void* scratch, IParallelFor& parallel) const;
    void RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const;
    bool CanSlide() const;
    bool IsOneBlock(const PanelRange& range) const;
    void RunInPlace(const Operands& operands, const PanelRange& range) const;
    /// The cache lines of a range of rows. With border columns as runs of their own, the rows of a block are not
    /// contiguous.
    OutputCacheLines FindCacheLines(const Operands& operands, const PanelRange& range) const;
    /// Whether the data are rows of a matrix, after im2col if needed.
    bool HasMatrixRows() const { return m_Im2col.IsPointwise() || m_Reading == Reading::Im2col; }
    void RunSliding(const Operands& operands, size_t first, size_t last, std::byte* scratch) const;
    void RunBlock(const Operands& operands, const PanelRange& block, std::byte* scratch) const;
    BlockRows FindRows(const float* data, size_t first, size_t last, std::byte* scratch) const;
    BlockRows FindGroup(const float* const* table, const float* input, size_t group, const PanelRange& block,
                        std::byte* scratch) const;
    Slice GetSlice(size_t index) const;
    TileF32 MakeTile(const Slice& slice, const PanelRange& block, const BlockRows& rows) const;
    const float* FindWeights(const Operands& operands, const PanelF32& panel, const Slice& slice) const;
    void RunPanel(const Operands& operands, size_t index, const Slice& slice, const PanelRange& block,
                  const BlockRows& rows, TileF32& tile) const;
    void RunUnpacked(const Operands& operands, IParallelFor& parallel) const;
    void RunUnpackedBlock(const Operands& operands, const PanelRange& block, std::byte* scratch) const;
    void RunDotProducts(DotProductsF32& dots, const Operands& operands, size_t firstColumn) const;

    const PanelsF32* m_Panels;
    const float* m_Data = nullptr;    ///< packed panels
    const void* m_Unpacked = nullptr; ///< unpacked weights [columns][depth]
    DataType m_UnpackedType = DataType::Float32;
    const float* m_Zeros = nullptr; ///< a row of taps in the padding
    Im2col m_Im2col;
    PixelOrder m_Order;
    size_t m_Rows;
    backends::FloatClamp m_Clamp;
    OutputLayout m_OutputLayout;
    size_t m_OutputBytes = 0;
    bool m_Accumulates = false;
    size_t m_Taps = 1;
    size_t m_TapDepth = 0;
    Reading m_Reading = Reading::Taps;
    size_t m_BlockRows = 0; ///< rows whose data stay in the cache while all panels pass
    size_t m_SliceTaps = 0;
    size_t m_SliceDepth = 0;
    PanelPartition m_Partition;
    size_t m_Im2colOffset = 0; ///< in the scratch memory of a task
    size_t m_TaskBytes = 0;
    size_t m_ScratchBytes = 0; ///< of all tasks
};

} // namespace tenon::cpu
