// SPDX-License-Identifier: Apache-2.0
// GemmInt16: the GEMM driver of int16 data and int8 or int4 weights:
//   out[row][column] = requantize(bias[column] + sum_k data[row][k] * (weights[column][k] - zeroPoint))
// with the exact results of CpuRef. Used by Convolution2d, TransposeConvolution2d, FullyConnected and BatchMatMul.
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

/// A GEMM of known shapes. Data are read in place through an indirection buffer of taps. Where taps have an odd number
/// of elements, or few of them, a block of windows is copied to an im2col buffer first.
class GemmInt16
{
public:
    /// `windows`: the geometry of the image, or of `rows` pixels that are rows of a matrix. `range`: of the output.
    /// `maxThreads`: see ReshapeArgs.
    GemmInt16(const PackedWeightsInt16& weights, const Im2col& windows, size_t rows,
              const backends::QuantizedRange& range, unsigned int maxThreads);

    /// Sets the layout of the output; the default is contiguous pixels.
    void SetOutputLayout(const OutputLayout& layout)
    {
        m_OutputLayout = layout;
        m_Order.FitTo(layout);
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
    /// [first, last): positions in the pixel order.
    void RunPanel(const Operands& operands, const PanelInt16& panel, size_t first, size_t last,
                  const int16_t* const* table) const;

    const PackedWeightsInt16* m_Weights;
    Im2col m_Im2col;
    OutputLayout m_OutputLayout;
    PixelOrder m_Order;
    int16_t m_Min;
    int16_t m_Max;
    bool m_InPlace;
    size_t m_Taps = 1;
    size_t m_TapGroups;
    size_t m_BlockRows; ///< rows whose data stay in the cache while all panels pass
    PanelPartition m_Partition;
    size_t m_Im2colOffset; ///< in the scratch memory of a task, after the indirection buffer
    size_t m_TaskBytes;
    size_t m_ScratchBytes;
};

} // namespace tenon::cpu
