// SPDX-License-Identifier: Apache-2.0
// GemmBf16: the bfloat16 GEMM driver, with float32 sums:
//   out[row][column] = bf16(clamp(bias[column] + sum_k data[row][k] * weights[column][k]))
// Used by the BFloat16 Convolution2d, TransposeConvolution2d, FullyConnected and BatchMatMul of CpuAcc.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"
#include "backends/cpu/im2col/PaddedImage.hpp"
#include "backends/cpu/im2col/PixelOrder.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// A GEMM of known shapes. Data are read in place where rows are whole steps of the depth, or where the microkernels
/// read an indirection buffer. Overlapping windows are read from a padded copy of the image where the microkernels have
/// tiles for that (AMX). Otherwise a block of rows is copied to an im2col buffer that stays in the cache.
class GemmBf16
{
public:
    /// `windows`: the geometry of the image, or of `rows` pixels that are rows of a matrix. `maxThreads`: see
    /// ReshapeArgs.
    GemmBf16(const PackedWeightsBf16& weights, const Im2col& windows, size_t rows, const backends::FloatClamp& clamp,
             unsigned int maxThreads);
    /// Rows of a matrix by weights that are packed in each run.
    GemmBf16(const PanelsBf16& panels, const Im2col& windows, size_t rows, unsigned int maxThreads);

    /// Sets the layout of the output; the default is contiguous pixels.
    void SetOutputLayout(const OutputLayout& layout)
    {
        m_OutputLayout = layout;
        m_Order.FitTo(layout);
    }

    /// Bytes of the whole output, where this GEMM writes a part of it.
    void SetOutputBytes(size_t bytes) { m_OutputBytes = bytes; }

    /// Whether Run takes a tensor to be added.
    static bool CanAdd() { return true; }
    void SetClamp(const backends::FloatClamp& clamp) { m_Clamp = clamp; }

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// `added`, if not null, is added to the rounded output as a separate layer would add it, and may alias the output.
    void Run(const uint16_t* input, uint16_t* out, void* scratch, IParallelFor& parallel,
             const uint16_t* added = nullptr) const;
    /// Computes a range on the calling thread. `packed`: the panels of the range. `scratch`: GetTaskBytes() bytes.
    /// MicrokernelsBf16::m_Release must be called afterwards.
    void RunRange(const uint16_t* input, const uint16_t* packed, uint16_t* out, const PanelRange& range,
                  std::byte* scratch) const
    {
        RunRange({input, packed, out, nullptr}, range, scratch);
    }
    size_t GetTaskBytes() const { return m_TaskBytes; }

private:
    struct Operands
    {
        const uint16_t* m_Input = nullptr;
        const uint16_t* m_Packed = nullptr; ///< panels of the range
        uint16_t* m_Out = nullptr;
        const uint16_t* m_Added = nullptr; ///< added to the output
    };

    void Plan(unsigned int maxThreads);
    /// Decides whether windows are read from m_Image.
    void PlanImage();
    /// The cache lines of a range of rows. With border columns as runs of their own, the rows of a block are not
    /// contiguous.
    OutputCacheLines FindCacheLines(const Operands& operands, const PanelRange& range) const;
    void RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const;
    /// Calls run(vectors, packed, next) for each panel of the range, of which `packed` are the weights.
    template <typename F>
    void ForEachPanel(const PanelRange& range, const uint16_t* packed, const F& run) const;
    /// Rows of data: at a stride, or through an indirection buffer as in TileBf16.
    struct Rows
    {
        const uint16_t* m_Data = nullptr;
        const uint16_t* const* m_Indirection = nullptr;
        size_t m_First = 0; ///< first row, in the pixel order
        size_t m_Count = 0;
    };
    Rows FindRows(const uint16_t* input, size_t first, size_t last, std::byte* scratch) const;
    /// The operands that all tiles of a panel share.
    TileBf16 MakeTile(const IndexRange& vectors) const;
    void RunSliding(const Operands& operands, size_t first, size_t last, std::byte* scratch) const;
    /// Computes a range by windows of m_Image, block by block.
    void RunWindows(const Operands& operands, const PanelRange& range, std::byte* scratch) const;
    /// Fills groups of neighbouring windows for the output pixels [first, last) of a block; returns their number.
    size_t FindWindows(size_t first, size_t last, const uint16_t* image, WindowsBf16* groups) const;
    void RunPanel(const IndexRange& vectors, const Rows& rows, const Operands& panel, WeightPrefetcher& next) const;

    const PanelsBf16* m_Panels;
    const PackedWeightsBf16* m_Weights = nullptr; ///< packed before
    Im2col m_Im2col;
    PixelOrder m_Order;
    size_t m_Rows;
    backends::FloatClamp m_Clamp;
    OutputLayout m_OutputLayout;
    size_t m_OutputBytes = 0;
    size_t m_BlockRows = 0; ///< rows whose data stay in the cache while all panels pass
    size_t m_Pitch = 0;     ///< elements between rows of data, as the microkernels read them
    bool m_InPlace = false;
    size_t m_IndirectionTaps = 0; ///< taps, or rows of taps, in the indirection buffer; 0: there is none
    bool m_IndirectsRows = false;
    bool m_Slides = false;
    PaddedImage m_Image; ///< used where windows are read from it
    size_t m_WindowsOffset = 0;
    size_t m_Im2colOffset = 0; ///< in the scratch memory of a task
    PanelPartition m_Partition;
    size_t m_TaskBytes = 0;
    size_t m_ScratchBytes = 0; ///< of all tasks
};

} // namespace tenon::cpu
