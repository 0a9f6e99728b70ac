// SPDX-License-Identifier: Apache-2.0
// Products of 16-bit data: windows of an image, or rows of a matrix, by packed weights. What Convolution2d,
// FullyConnected and BatchMatMul of CpuAcc are for them.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsInt16.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/im2col/PixelOrder.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// A product whose shapes are known. Data are read in place, through a table of where each point of the windows lies;
/// where points are no pairs of numbers, or only a few, a block of windows at a time is laid out first.
class Product16
{
public:
    /// `windows`: of the image, or of `rows` pixels that are the rows of a matrix. `range`: of the output.
    /// `maxThreads`: see ReshapeArgs.
    Product16(const PackedWeights16& weights, const Windows& windows, size_t rows,
              const backends::QuantizedRange& range, unsigned int maxThreads);

    /// Has the output written there, in place of one pixel after the other.
    void SetPlace(const OutputPlace& place)
    {
        m_Place = place;
        m_Order.FitTo(place);
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// Reads input 0 and writes output 0.
    void Run(const ExecuteArgs& args) const;

private:
    struct Operands
    {
        const int16_t* m_Input = nullptr;
        int16_t* m_Output = nullptr;
    };

    void RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const;
    void FindRows(const int16_t* data, size_t first, size_t last, std::byte* scratch) const;
    /// Pixels [first, last) are places of the order.
    void RunPanel(const Operands& operands, const Panel16& panel, size_t first, size_t last,
                  const int16_t* const* table) const;

    const PackedWeights16* m_Weights;
    Windows m_Windows;
    size_t m_Rows;
    OutputPlace m_Place;
    PixelOrder m_Order;
    int16_t m_Min;
    int16_t m_Max;
    bool m_InPlace;
    size_t m_Taps = 1;
    size_t m_TapGroups;
    size_t m_BlockRows; ///< whose data stay in the cache while all panels pass
    size_t m_Parts;
    size_t m_StripOffset; ///< in a part's scratch memory, which begins with the table
    size_t m_PartBytes;
    size_t m_ScratchBytes;
};

} // namespace tenon::cpu
