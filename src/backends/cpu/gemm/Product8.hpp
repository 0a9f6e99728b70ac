// SPDX-License-Identifier: Apache-2.0
// Products of bytes: windows of an image, or rows of a matrix, by packed weights. What the 8-bit Convolution2d and
// FullyConnected of CpuAcc are.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/PackedWeights8.hpp"
#include "backends/cpu/kernels/Windows.hpp"

#include <cstddef>

namespace tenon::cpu
{

/// A product whose shapes are known. Rows of data are read in place where they are whole groups of bytes and nothing is
/// to be done to them; else a strip of rows at a time is laid out in the scratch memory, where it stays in the cache.
class Product8
{
public:
    /// `windows`: of the image, or of `rows` pixels that are the rows of a matrix. The output's range is that of its
    /// type and the fused activation.
    Product8(const PackedWeights8& weights, const Windows& windows, size_t rows, const ReshapeArgs& args);

    size_t GetScratchBytes() const { return m_Parts * m_PartBytes; }
    void Run(const ExecuteArgs& args) const;

private:
    /// Which part of the output a thread computes.
    struct Range
    {
        size_t m_FirstRow = 0;
        size_t m_LastRow = 0;
        size_t m_FirstPanel = 0;
        size_t m_LastPanel = 0;
    };

    /// Rows of data as the tiles read them.
    struct Block
    {
        const uint8_t* m_Data = nullptr;
        size_t m_Stride = 0; ///< bytes
        size_t m_Rows = 0;
        size_t m_SafeRows =
            0; ///< from which on a tile may read its padding too; less than m_Rows: the others are in m_Tail
        const uint8_t* m_Tail = nullptr; ///< rows from m_SafeRows on
    };

    void RunRange(const ExecuteArgs& args, const Range& range, std::byte* scratch) const;
    Block LayOut(const ExecuteArgs& args, size_t first, size_t last, std::byte* scratch) const;
    Block UseInPlace(const ExecuteArgs& args, size_t first, size_t last, std::byte* scratch) const;
    void RunPanel(const Panel8& panel, const Block& block, const int32_t* rowTerms, uint8_t* out) const;

    const PackedWeights8* m_Weights;
    Windows m_Windows;
    size_t m_Rows;
    size_t m_BlockRows = 0; ///< whose data stay in the cache while all panels pass
    size_t m_Pitch = 0;     ///< bytes of a row of a strip of stored values
    bool m_InPlace = false;
    bool m_OutputIsSigned;
    int32_t m_Min;
    int32_t m_Max;
    size_t m_Parts = 1;
    size_t m_StripOffset = 0; ///< in a part's scratch memory
    size_t m_WideOffset = 0;
    size_t m_InputBytes = 0;
    size_t m_PartBytes = 0;
};

} // namespace tenon::cpu
