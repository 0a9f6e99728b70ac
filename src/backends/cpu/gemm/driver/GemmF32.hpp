// SPDX-License-Identifier: Apache-2.0
// Products of float32: windows of an image, or rows of a matrix, by packed weights. What the float Convolution2d,
// FullyConnected and BatchMatMul of CpuAcc are.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/OutputCacheLines.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/kernels/f32/DotProductsF32.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/im2col/PixelOrder.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// A product whose shapes are known. Data are read in place: rows of a matrix as they follow each other, windows
/// through a table of where each of their points lies.
class ProductF32
{
public:
    /// `windows`: of the image, or of `rows` pixels that are the rows of a matrix. `maxThreads`: see ReshapeArgs.
    ProductF32(const PackedWeightsF32& weights, const Windows& windows, size_t rows, const backends::FloatClamp& clamp,
               unsigned int maxThreads);
    /// Of the rows of a matrix, by weights that are packed anew for each run.
    ProductF32(const PanelsF32& panels, const Windows& windows, size_t rows, unsigned int maxThreads);

    /// Has the output written there, in place of one pixel after the other.
    void SetPlace(const OutputPlace& place)
    {
        m_Place = place;
        m_Order.FitTo(place);
    }

    /// Of the whole output, where this is a part of it.
    void SetOutputBytes(size_t bytes) { m_OutputBytes = bytes; }

    /// Has sums added to what the output holds, in place of the bias.
    void SetContinues() { m_Continues = true; }

    /// Whether Run takes a tensor to be added.
    bool CanAdd() const;
    void SetClamp(const backends::FloatClamp& clamp) { m_Clamp = clamp; }

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// A null bias is zeros. `added`, if not null, is added to the output, in whose place it may lie.
    void Run(const float* input, const float* bias, float* out, void* scratch, IParallelFor& parallel,
             const float* added = nullptr) const
    {
        Run({input, bias, out, m_Data, 0, added}, scratch, parallel);
    }
    /// A range of the product on the calling thread alone. `weights`: the range's panels, one after the other, or all
    /// of a matrix that is not packed. `bias`: of all columns; null: zeros. `scratch`: GetPartBytes() bytes.
    void RunRange(const float* input, const float* weights, const float* bias, float* out, const PanelRange& range,
                  void* scratch) const;
    size_t GetPartBytes() const { return m_PartBytes; }

private:
    struct Operands
    {
        const float* m_Input = nullptr;
        const float* m_Bias = nullptr;
        float* m_Out = nullptr;
        const float* m_Packed = nullptr;
        size_t m_FirstOffset = 0;       ///< of the first panel that is there
        const float* m_Added = nullptr; ///< to be added to the output
    };
    /// A part of the depth.
    struct Slice
    {
        size_t m_FirstTap = 0;
        size_t m_Taps = 0;
        size_t m_FirstDepth = 0; ///< of each tap
        size_t m_Depth = 0;
        bool m_IsLast = false;
    };

    /// Where a block's data lie: [taps][rows] in a table, or row after row.
    struct BlockRows
    {
        const float* const* m_Table = nullptr;
        const float* m_First = nullptr; ///< without a table
        size_t m_Stride = 0;
        size_t m_Offset = 0; ///< of a group in each place of the table
    };
    /// How windows are read.
    enum class Reading : uint8_t
    {
        Points,  ///< in place, point by point
        Rows,    ///< in place, row by row: images with few channels
        Sliding, ///< the same by tiles that read a pixel once for three windows
        Strips   ///< laid out first: such images, where a row's points lie apart
    };

    void Plan(unsigned int maxThreads);
    void PlanBlocks(size_t rows);
    void Run(const Operands& operands, void* scratch, IParallelFor& parallel) const;
    void RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const;
    bool CanSlide() const;
    bool IsOneBlock(const PanelRange& range) const;
    void RunInPlace(const Operands& operands, const PanelRange& range) const;
    /// Of a range's rows. With columns of the image apart, rows of a block are not those that lie at its place.
    OutputLines FindLines(const Operands& operands, const PanelRange& range) const;
    /// Whether windows are the rows of a matrix, or are made such.
    bool AreRows() const { return m_Windows.ArePixels() || m_Reading == Reading::Strips; }
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
    void RunPlain(const Operands& operands, IParallelFor& parallel) const;
    void RunPlainBlock(const Operands& operands, const PanelRange& block, std::byte* scratch) const;
    void RunDots(DotsF32& dots, const Operands& operands, size_t firstColumn) const;

    const PanelsF32* m_Panels;
    const float* m_Data = nullptr; ///< packed before
    const void* m_Plain = nullptr; ///< columns that are not packed
    DataType m_PlainType = DataType::Float32;
    const float* m_Zeros = nullptr; ///< a row of windows outside of the image
    Windows m_Windows;
    PixelOrder m_Order;
    size_t m_Rows;
    backends::FloatClamp m_Clamp;
    OutputPlace m_Place;
    size_t m_OutputBytes = 0;
    bool m_Continues = false;
    size_t m_Taps = 1;
    size_t m_TapDepth = 0;
    Reading m_Reading = Reading::Points;
    size_t m_BlockRows = 0; ///< whose data stay in the cache while all panels pass
    size_t m_SliceTaps = 0;
    size_t m_SliceDepth = 0;
    size_t m_Parts = 1;
    size_t m_StripOffset = 0; ///< in a part's scratch memory
    size_t m_PartBytes = 0;
    size_t m_ScratchBytes = 0; ///< of all parts
};

} // namespace tenon::cpu
