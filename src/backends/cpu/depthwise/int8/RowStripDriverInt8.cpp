// SPDX-License-Identifier: Apache-2.0
// See RowStripDriverInt8.hpp.
#include "backends/cpu/depthwise/int8/RowStripDriverInt8.hpp"

#include <algorithm>
#include <functional>

namespace tenon::cpu
{

RowStripDriverInt8::RowStripDriverInt8(const PackedDepthwiseInt8& weights, const ref::ConvolutionGeometry& geometry,
                                       int32_t min, int32_t max)
    : m_Weights(&weights), m_Geometry(geometry)
{
    if (!weights.HasStripBlocks())
    {
        return;
    }
    const DepthwiseMicrokernelsInt8& kernels = weights.GetMicrokernels();
    const std::vector<ChannelBlockInt8>& blocks = weights.GetBlocks();
    const auto count =
        static_cast<size_t>(std::count_if(blocks.begin(), blocks.end(), std::mem_fn(&ChannelBlockInt8::IsStrip)));
    const auto memory = std::make_shared<AlignedMemory>(count * kernels.m_StripRequantizationBytes);
    std::byte* prepared = memory->Data();
    for (const ChannelBlockInt8& block : blocks)
    {
        if (block.IsStrip())
        {
            RequantizeColumns columns = weights.GetRequantization(block);
            columns.m_Min = min;
            columns.m_Max = max;
            m_Scale = columns.GetScale(); // the same for all blocks, which share range and zero point
            kernels.m_PrepareStripRequantization(columns, weights.GetBias(block), weights.IsDataSigned(), prepared);
            prepared += kernels.m_StripRequantizationBytes;
        }
    }
    m_Requantization = memory;
}

void RowStripDriverInt8::Write(const uint8_t* image, const IndexRange& strips, const IndexRange& pixels,
                               const IndexRange& blocks, const RowRingBufferInt8::ColumnRange& range,
                               const uint8_t* padding, uint8_t* to) const
{
    const ref::WindowAxis& x = m_Geometry.m_X;
    const size_t rowsPerStrip = m_Weights->GetRowsPerStrip();
    const size_t channels = m_Geometry.m_InputChannels;
    RowStripsInt8 together;
    together.m_Padding = padding;
    together.m_Before = range.m_Begin;
    together.m_Inside = range.m_End - range.m_Begin;
    together.m_IsSigned = m_Weights->IsDataSigned();
    together.m_Scale = m_Scale;
    together.m_Stride = static_cast<size_t>(x.m_Stride);
    together.m_Pixels = pixels.m_End - pixels.m_Begin;
    together.m_OutStride = channels;
    const auto firstColumn = static_cast<size_t>(std::max<int64_t>(range.m_First, 0));
    const size_t rowElements = x.m_Output * channels;
    const auto firstBlock = m_Weights->GetBlocks().begin();
    const auto stripsBefore = static_cast<size_t>(std::count_if(
        firstBlock, firstBlock + static_cast<ptrdiff_t>(blocks.m_Begin), std::mem_fn(&ChannelBlockInt8::IsStrip)));
    const std::byte* columns =
        m_Requantization->Data() + stripsBefore * m_Weights->GetMicrokernels().m_StripRequantizationBytes;
    for (size_t b = blocks.m_Begin; b < blocks.m_End; ++b)
    {
        const ChannelBlockInt8& block = m_Weights->GetBlocks()[b];
        if (!block.IsStrip())
        {
            continue;
        }
        together.m_StripCount = block.m_StripCount;
        together.m_Weights = m_Weights->GetData(block, 0);
        together.m_Requantization = columns;
        columns += m_Weights->GetMicrokernels().m_StripRequantizationBytes;
        for (size_t first = strips.m_Begin; first < strips.m_End; first += block.m_StripCount)
        {
            together.m_HasSecond = false;
            for (size_t slot = 0; slot < block.m_StripCount; ++slot)
            {
                // If fewer row strips are left than the block computes at once, the last one is computed several times.
                const size_t strip = std::min(first + slot, strips.m_End - 1);
                SetStrip(together, slot, strip, image + block.m_Channel, firstColumn);
                uint8_t* const out =
                    to + strip * rowsPerStrip * rowElements + pixels.m_Begin * channels + block.m_Channel;
                const bool hasSecond = rowsPerStrip == 2 && strip * rowsPerStrip + 1 < m_Geometry.m_Y.m_Output;
                together.m_Out[slot] = out;
                together.m_Second[slot] = hasSecond ? out + rowElements : out;
                together.m_HasSecond = together.m_HasSecond || hasSecond;
            }
            m_Weights->GetMicrokernels().m_RunRowStrips(together);
        }
    }
}

/// Sets the pointers to the rows of a row strip.
void RowStripDriverInt8::SetStrip(RowStripsInt8& strips, size_t slot, size_t strip, const uint8_t* image,
                                  size_t firstColumn) const
{
    const ref::WindowAxis& y = m_Geometry.m_Y;
    const size_t rowsPerStrip = m_Weights->GetRowsPerStrip();
    const size_t channels = m_Geometry.m_InputChannels;
    for (size_t row = 0; row < RowStripsInt8::MaxRows; ++row)
    {
        // Weights below the windows are zeros: any row will do, best one that is read anyway.
        const size_t seen = std::min(row, rowsPerStrip - 1 + y.m_Kernel - 1);
        const int64_t imageRow = y.Origin(strip * rowsPerStrip) + static_cast<int64_t>(seen) * y.m_Dilation;
        const bool isInside = imageRow >= 0 && imageRow < static_cast<int64_t>(y.m_Input);
        const size_t pixel = static_cast<size_t>(imageRow) * m_Geometry.m_X.m_Input + firstColumn;
        strips.m_Rows[slot][row] = isInside ? image + pixel * channels : strips.m_Padding;
        strips.m_Steps[slot][row] = isInside ? channels : 0;
    }
}

} // namespace tenon::cpu
