// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16: windows of an image, or rows of a matrix, by packed weights, summed in float32. What the
// BFloat16 Convolution2d and FullyConnected of CpuAcc are.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/OutputCacheLines.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"
#include "backends/cpu/im2col/PixelOrder.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// A product whose shapes are known. Rows of data are read in place where they are whole steps of the depth, or tiles
/// read tables of where the points of windows are; else a strip of rows at a time is laid out in the scratch memory,
/// where it stays in the cache.
class ProductBf16
{
public:
    /// `windows`: of the image, or of `rows` pixels that are the rows of a matrix. `maxThreads`: see ReshapeArgs.
    ProductBf16(const PackedWeightsBf16& weights, const Windows& windows, size_t rows,
                const backends::FloatClamp& clamp, unsigned int maxThreads);
    /// Of the rows of a matrix, by weights that are packed anew for each run.
    ProductBf16(const PanelsBf16& panels, const Windows& windows, size_t rows, unsigned int maxThreads);

    /// Has the output written there, in place of one pixel after the other.
    void SetPlace(const OutputPlace& place)
    {
        m_Place = place;
        m_Order.FitTo(place);
    }

    /// Of the whole output, where this is a part of it.
    void SetOutputBytes(size_t bytes) { m_OutputBytes = bytes; }

    /// Whether Run takes a tensor to be added.
    static bool CanAdd() { return true; }
    void SetClamp(const backends::FloatClamp& clamp) { m_Clamp = clamp; }

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// `added`, if not null, is added to the output, in whose place it may lie, as a layer of its own would add it.
    void Run(const uint16_t* input, uint16_t* out, void* scratch, IParallelFor& parallel,
             const uint16_t* added = nullptr) const;
    /// A range of the product on the calling thread alone. `packed`: the range's panels, one after the other.
    /// `scratch`: GetPartBytes() bytes. EngineBf16::m_Release is to be called after it.
    void RunRange(const uint16_t* input, const uint16_t* packed, uint16_t* out, const PanelRange& range,
                  std::byte* scratch) const
    {
        RunRange({input, packed, out, nullptr}, range, scratch);
    }
    size_t GetPartBytes() const { return m_PartBytes; }

private:
    struct Operands
    {
        const uint16_t* m_Input = nullptr;
        const uint16_t* m_Packed = nullptr; ///< of a range
        uint16_t* m_Out = nullptr;
        const uint16_t* m_Added = nullptr; ///< to be added to the output
    };

    void Plan(unsigned int maxThreads);
    /// Of a range's rows. With columns of the image apart, rows of a block are not those that lie at its place.
    OutputLines FindLines(const Operands& operands, const PanelRange& range) const;
    void RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const;
    /// Rows of data: one after the other, or in a table as TileBf16 has it.
    struct Rows
    {
        const uint16_t* m_Data = nullptr;
        const uint16_t* const* m_Table = nullptr;
        size_t m_First = 0; ///< place in the order
        size_t m_Count = 0;
    };
    Rows FindRows(const uint16_t* input, size_t first, size_t last, std::byte* scratch) const;
    /// What all tiles of some vectors of columns have.
    TileBf16 MakeTile(const Part& vectors) const;
    void RunSliding(const Operands& operands, size_t first, size_t last, std::byte* scratch) const;
    void RunPanel(const Part& vectors, const Rows& rows, const Operands& panel, NextWeights& next) const;

    const PanelsBf16* m_Panels;
    const PackedWeightsBf16* m_Weights = nullptr; ///< packed before
    Windows m_Windows;
    PixelOrder m_Order;
    size_t m_Rows;
    backends::FloatClamp m_Clamp;
    OutputPlace m_Place;
    size_t m_OutputBytes = 0;
    size_t m_BlockRows = 0; ///< whose data stay in the cache while all panels pass
    size_t m_Pitch = 0;     ///< elements from a row of data to the next, as they are read
    bool m_InPlace = false;
    size_t m_TableTaps = 0; ///< points or rows of a window in a table; 0: there is none
    bool m_FindsRows = false;
    bool m_Slides = false;
    size_t m_StripOffset = 0; ///< in a part's scratch memory
    size_t m_Parts = 1;
    size_t m_PartBytes = 0;
    size_t m_ScratchBytes = 0; ///< of all parts
};

} // namespace tenon::cpu
