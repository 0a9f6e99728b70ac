// SPDX-License-Identifier: Apache-2.0
// See RowDotsInt16.hpp.
#include "backends/cpu/recurrent/RowDotsInt16.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/recurrent/RowDotsInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

namespace hn = hwy::HWY_NAMESPACE;

using Int16Tag = hn::CappedTag<int16_t, RowDotsInt16::Unit>;
using SumsTag = hn::Repartition<int32_t, Int16Tag>;

void RunDots(const RowDotsInt16& dots)
{
    const Int16Tag d;
    const SumsTag dSums;
    const size_t stride = (dots.m_Depth + RowDotsInt16::Unit - 1) / RowDotsInt16::Unit * RowDotsInt16::Unit;
    const int16_t* data = dots.m_Data;
    const int16_t* weights = dots.m_Weights;
    for (size_t row = 0; row < dots.m_Rows; ++row, data += dots.m_Depth, weights += stride)
    {
        auto even = hn::Zero(dSums);
        auto odd = hn::Zero(dSums);
        for (size_t i = 0; i < stride; i += RowDotsInt16::Unit)
        {
            even = hn::ReorderWidenMulAccumulate(dSums, hn::LoadU(d, data + i), hn::LoadU(d, weights + i), even, odd);
        }
        dots.m_Sums[row] =
            hn::GetLane(hn::Add(hn::SumOfLanes(dSums, hn::Add(even, odd)), hn::Set(dSums, dots.m_Bias[row])));
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void RunRowDotsInt16(const RowDotsInt16& dots)
{
    TENON_CHOOSE(RunDots)(dots);
}

} // namespace tenon::cpu
#endif
