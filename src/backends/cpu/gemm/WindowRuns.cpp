// SPDX-License-Identifier: Apache-2.0
// Windows of bytes whose runs are longer than a few registers, or many: rows of windows, or points of one group.
#include "backends/cpu/gemm/Windows.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

/// Copies by registers, of which the last two may overlap: a call of memcpy takes as long as several of these.
template <size_t Register>
void CopyByRegisters(const uint8_t* from, int64_t bytes, uint8_t* to)
{
    constexpr auto Step = static_cast<int64_t>(Register);
    for (int64_t at = 0; at + Step < bytes; at += Step)
    {
        std::memcpy(to + at, from + at, Register);
    }
    std::memcpy(to + bytes - Step, from + bytes - Step, Register);
}

void CopyRun(const uint8_t* from, int64_t bytes, uint8_t* to)
{
    if (bytes >= 16)
    {
        CopyByRegisters<16>(from, bytes, to);
    }
    else if (bytes >= 4)
    {
        CopyByRegisters<4>(from, bytes, to);
    }
    else
    {
        CopyByRegisters<1>(from, bytes, to);
    }
}

} // namespace

Windows::Beside Windows::FindBeside(size_t pixel, size_t last) const
{
    Beside beside;
    beside.m_Column = static_cast<int64_t>(pixel) % m_OutputWidth;
    beside.m_Image = static_cast<int64_t>(pixel) / m_OutputWidth / m_OutputHeight;
    beside.m_Top = static_cast<int64_t>(pixel) / m_OutputWidth % m_OutputHeight * m_StrideY - m_PadTop;
    beside.m_IsInside = beside.m_Top >= 0 && beside.m_Top + (m_Height - 1) * m_DilationY < m_InputHeight;
    beside.m_Count = std::min(static_cast<int64_t>(last - pixel), m_OutputWidth - beside.m_Column);
    return beside;
}

void Windows::CopyRuns(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch,
                       uint8_t* to) const
{
    const bool isWhole = HaveWholeRows();
    const int64_t runs = isWhole ? 1 : m_Width;
    const int64_t runBytes = m_GroupChannels * (isWhole ? m_Width : 1);
    const int64_t runStep = m_DilationX * m_Channels;
    const int64_t rowStep = m_DilationY * m_InputWidth * m_Channels;
    for (size_t pixel = first; pixel < last;)
    {
        // Those that lie in the image as a whole are copied so.
        const Beside beside = FindBeside(pixel, last);
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
        for (int64_t i = whole.m_Begin; i < whole.m_End; ++i)
        {
            const int64_t left = (beside.m_Column + i) * m_StrideX - m_PadLeft;
            const int64_t top = beside.m_Image * m_InputHeight + beside.m_Top;
            const uint8_t* row = input + (top * m_InputWidth + left) * m_Channels;
            uint8_t* run = to + static_cast<size_t>(i) * pitch;
            for (int64_t r = 0; r < m_Height; ++r, row += rowStep)
            {
                for (int64_t p = 0; p < runs; ++p, run += runBytes)
                {
                    CopyRun(row + p * runStep, runBytes, run);
                }
            }
        }
        copyOthers(whole.m_End, count);
        pixel += static_cast<size_t>(count);
        to += static_cast<size_t>(count) * pitch;
    }
}

} // namespace tenon::cpu
