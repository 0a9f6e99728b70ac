// SPDX-License-Identifier: Apache-2.0
// See RowStripDriverInt8.hpp.
#include "backends/cpu/depthwise/int8/RowStripDriverInt8.hpp"

#include <algorithm>

namespace tenon::cpu
{

DepthwiseBands8::DepthwiseBands8(const PackedDepthwise8& weights, const ref::ConvolutionGeometry& geometry, int32_t min,
                                 int32_t max)
    : m_Weights(&weights), m_Geometry(geometry)
{
    if (!weights.HasStrips())
    {
        return;
    }
    const DepthwiseEngine8& engine = weights.GetEngine();
    const std::vector<DepthwiseBlock8>& blocks = weights.GetBlocks();
    const auto isStrip = [](const DepthwiseBlock8& block) { return block.m_Parts != 0; };
    const auto count = static_cast<size_t>(std::count_if(blocks.begin(), blocks.end(), isStrip));
    const auto memory = std::make_shared<AlignedMemory>(count * engine.m_StripColumnsBytes);
    std::byte* prepared = memory->Data();
    for (const DepthwiseBlock8& block : blocks)
    {
        if (isStrip(block))
        {
            RequantizeColumns columns = weights.GetRequantization(block);
            columns.m_Min = min;
            columns.m_Max = max;
            m_IsPositive = columns.AreNegativesAlike(); // the same for all blocks, which share range and zero point
            engine.m_PrepareStrips(columns, weights.GetBias(block), weights.IsDataSigned(), prepared);
            prepared += engine.m_StripColumnsBytes;
        }
    }
    m_Columns = memory;
}

void DepthwiseBands8::Write(const uint8_t* image, const Part& strips, const Part& pixels,
                            const DepthwiseRing8::Line& line, const uint8_t* padding, uint8_t* to) const
{
    const ref::WindowAxis& x = m_Geometry.m_X;
    const size_t phases = m_Weights->GetPhases();
    const size_t channels = m_Geometry.m_InputChannels;
    DepthwiseStrips8 together;
    together.m_Padding = padding;
    together.m_Before = line.m_Begin;
    together.m_Inside = line.m_End - line.m_Begin;
    together.m_IsSigned = m_Weights->IsDataSigned();
    together.m_IsPositive = m_IsPositive;
    together.m_Stride = static_cast<size_t>(x.m_Stride);
    together.m_Pixels = pixels.m_End - pixels.m_Begin;
    together.m_OutStride = channels;
    const auto firstColumn = static_cast<size_t>(std::max<int64_t>(line.m_First, 0));
    const size_t rowElements = x.m_Output * channels;
    const std::byte* columns = m_Columns->Data();
    for (const DepthwiseBlock8& block : m_Weights->GetBlocks())
    {
        if (block.m_Parts == 0)
        {
            continue;
        }
        together.m_Parts = block.m_Parts;
        together.m_Weights = m_Weights->GetData(block, 0);
        together.m_Columns = columns;
        columns += m_Weights->GetEngine().m_StripColumnsBytes;
        for (size_t first = strips.m_Begin; first < strips.m_End; first += block.m_Parts)
        {
            together.m_HasSecond = false;
            for (size_t part = 0; part < block.m_Parts; ++part)
            {
                // If fewer strips are left than the block computes at once, the last one is computed several times.
                const size_t strip = std::min(first + part, strips.m_End - 1);
                SetStrip(together, part, strip, image + block.m_Channel, firstColumn);
                uint8_t* const out = to + strip * phases * rowElements + pixels.m_Begin * channels + block.m_Channel;
                const bool hasSecond = phases == 2 && strip * phases + 1 < m_Geometry.m_Y.m_Output;
                together.m_Out[part] = out;
                together.m_Second[part] = hasSecond ? out + rowElements : out;
                together.m_HasSecond = together.m_HasSecond || hasSecond;
            }
            m_Weights->GetEngine().m_WriteStrips(together);
        }
    }
}

/// Sets the pointers to the rows of a strip.
void DepthwiseBands8::SetStrip(DepthwiseStrips8& strips, size_t part, size_t strip, const uint8_t* image,
                               size_t firstColumn) const
{
    const ref::WindowAxis& y = m_Geometry.m_Y;
    const size_t phases = m_Weights->GetPhases();
    const size_t channels = m_Geometry.m_InputChannels;
    for (size_t row = 0; row < DepthwiseStrips8::MostRows; ++row)
    {
        // Weights below the windows are zeros: any row will do, best one that is read anyway.
        const size_t seen = std::min(row, phases - 1 + y.m_Kernel - 1);
        const int64_t imageRow = y.Origin(strip * phases) + static_cast<int64_t>(seen) * y.m_Dilation;
        const bool isInside = imageRow >= 0 && imageRow < static_cast<int64_t>(y.m_Input);
        const size_t pixel = static_cast<size_t>(imageRow) * m_Geometry.m_X.m_Input + firstColumn;
        strips.m_Rows[part][row] = isInside ? image + pixel * channels : strips.m_Padding;
        strips.m_Steps[part][row] = isInside ? channels : 0;
    }
}

} // namespace tenon::cpu
