// SPDX-License-Identifier: Apache-2.0
// See RunCopies.hpp. A call of memcpy takes as long as several copies through registers.
#include "backends/cpu/im2col/RunCopies.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/im2col/RunCopies.cpp"
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

void CopyRuns(const RunCopies& copies)
{
    static constinit PerIsa<void (*)(const RunCopies&)> run;
    run.Get([] { return TENON_CHOOSE(FindCopies)(); })(copies);
}

} // namespace tenon::cpu
#endif
