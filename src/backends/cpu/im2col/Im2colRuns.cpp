// SPDX-License-Identifier: Apache-2.0
// Im2col of runs longer than a few registers, or many of them: rows of taps, or taps of one group of channels. A call
// of memcpy takes as long as several copies through registers.
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>

// Foreach.hpp includes this source for each target: the struct is the same for all.
#ifndef TENON_CPU_RUN_COPIES
#define TENON_CPU_RUN_COPIES
namespace tenon::cpu
{

/// Neighbouring windows, each of several rows of several runs. The copied runs of a window are contiguous.
struct RunCopies
{
    const uint8_t* m_From = nullptr;
    int64_t m_Windows = 0;
    int64_t m_WindowStep = 0; ///< bytes between windows in the image
    int64_t m_Rows = 0;
    int64_t m_RowStep = 0;
    int64_t m_Runs = 0;
    int64_t m_RunStep = 0;
    int64_t m_RunBytes = 0;
    uint8_t* m_To = nullptr;
    size_t m_Pitch = 0; ///< bytes between copied windows
};

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/im2col/Im2colRuns.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp: compiled for each target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

namespace hn = hwy::HWY_NAMESPACE;

/// Calls copy(from, to) for each run.
template <typename F>
HWY_INLINE void ForEachRun(const RunCopies& copies, const F& copy)
{
    const uint8_t* window = copies.m_From;
    uint8_t* laidOut = copies.m_To;
    for (int64_t w = 0; w < copies.m_Windows; ++w, window += copies.m_WindowStep, laidOut += copies.m_Pitch)
    {
        const uint8_t* row = window;
        uint8_t* to = laidOut;
        for (int64_t r = 0; r < copies.m_Rows; ++r, row += copies.m_RowStep)
        {
            const uint8_t* from = row;
            for (int64_t i = 0; i < copies.m_Runs; ++i, from += copies.m_RunStep, to += copies.m_RunBytes)
            {
                copy(from, to);
            }
        }
    }
}

/// Copies at least one register; the last two may overlap.
template <typename D>
HWY_INLINE void CopyLongRuns(D d, const RunCopies& copies)
{
    const auto step = static_cast<int64_t>(hn::Lanes(d));
    const int64_t last = copies.m_RunBytes - step;
    ForEachRun(copies,
               [=](const uint8_t* from, uint8_t* to) HWY_ATTR
               {
                   for (int64_t at = 0; at < last; at += step)
                   {
                       hn::StoreU(hn::LoadU(d, from + at), d, to + at);
                   }
                   hn::StoreU(hn::LoadU(d, from + last), d, to + last);
               });
}

/// Copies by halves of a register, down to bytes.
template <size_t Bytes>
void CopyRunsBy(const RunCopies& copies)
{
    if (copies.m_RunBytes >= static_cast<int64_t>(Bytes))
    {
        CopyLongRuns(hn::CappedTag<uint8_t, Bytes>(), copies);
    }
    else if constexpr (Bytes > 1)
    {
        CopyRunsBy<Bytes / 2>(copies);
    }
}

auto FindCopies()
{
    return CopyRunsBy<hn::MaxLanes(hn::ScalableTag<uint8_t>())>;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

/// Reads and writes no other bytes.
void CopyRuns(const RunCopies& copies)
{
    static constinit PerIsa<void (*)(const RunCopies&)> run;
    run.Get([] { return TENON_CHOOSE(FindCopies)(); })(copies);
}

} // namespace

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
#endif
