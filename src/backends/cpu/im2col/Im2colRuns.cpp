// SPDX-License-Identifier: Apache-2.0
// Im2col of runs longer than a few registers, or many of them: rows of taps, or taps of one group of channels.
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/im2col/RunCopies.hpp"

#include <algorithm>

namespace tenon::cpu
{

Im2col::Neighbours Im2col::FindNeighbours(size_t pixel, size_t last) const
{
    Neighbours beside;
    beside.m_Column = static_cast<int64_t>(pixel) % m_OutputWidth;
    beside.m_Image = static_cast<int64_t>(pixel) / m_OutputWidth / m_OutputHeight;
    beside.m_Top = static_cast<int64_t>(pixel) / m_OutputWidth % m_OutputHeight * m_StrideY - m_PadTop;
    beside.m_IsInside = beside.m_Top >= 0 && beside.m_Top + (m_Height - 1) * m_DilationY < m_InputHeight;
    beside.m_Count = std::min(static_cast<int64_t>(last - pixel), m_OutputWidth - beside.m_Column);
    return beside;
}

void Im2col::CopyRuns(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch, uint8_t* to) const
{
    const bool isWhole = HasContiguousRows();
    RunCopies copies;
    copies.m_WindowStep = m_StrideX * m_Channels;
    copies.m_Rows = m_Height;
    copies.m_RowStep = m_DilationY * m_InputWidth * m_Channels;
    copies.m_Runs = isWhole ? 1 : m_Width;
    copies.m_RunStep = m_DilationX * m_Channels;
    copies.m_RunBytes = m_GroupChannels * (isWhole ? m_Width : 1);
    copies.m_Pitch = pitch;
    for (size_t pixel = first; pixel < last;)
    {
        // Windows inside the image are copied in this way.
        const Neighbours beside = FindNeighbours(pixel, last);
        const int64_t count = beside.m_Count;
        const Span whole = beside.m_IsInside ? FindWhole(beside.m_Column, count) : Span{count, count};
        const auto copyOthers = [&](int64_t from, int64_t past)
        {
            if (from != past)
            {
                Copy(input, pixel + static_cast<size_t>(from), pixel + static_cast<size_t>(past), padding, pitch,
                     to + static_cast<size_t>(from) * pitch);
            }
        };
        copyOthers(0, whole.m_Begin);
        if (whole.m_Begin < whole.m_End)
        {
            const int64_t left = (beside.m_Column + whole.m_Begin) * m_StrideX - m_PadLeft;
            const int64_t top = beside.m_Image * m_InputHeight + beside.m_Top;
            copies.m_From = input + (top * m_InputWidth + left) * m_Channels;
            copies.m_Windows = whole.m_End - whole.m_Begin;
            copies.m_To = to + static_cast<size_t>(whole.m_Begin) * pitch;
            cpu::CopyRuns(copies);
        }
        copyOthers(whole.m_End, count);
        pixel += static_cast<size_t>(count);
        to += static_cast<size_t>(count) * pitch;
    }
}

} // namespace tenon::cpu
