// SPDX-License-Identifier: Apache-2.0
// The SIMD loop of SoftmaxInt16.hpp.
#include "backends/cpu/softmax/SoftmaxInt16.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax/SoftmaxInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Int16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

int16_t FindMax(const int16_t* in, size_t depth)
{
    const TagInt16 d;
    const size_t lanes = hn::Lanes(d);
    int16_t maximum = in[0];
    size_t i = 0;
    if (depth >= lanes)
    {
        VecInt16 all = hn::LoadU(d, in);
        for (i = lanes; i + lanes <= depth; i += lanes)
        {
            all = hn::Max(all, hn::LoadU(d, in + i));
        }
        HWY_ALIGN int16_t each[HWY_MAX_BYTES / sizeof(int16_t)];
        hn::Store(all, d, each);
        maximum = *std::max_element(each, each + lanes);
    }
    for (; i < depth; ++i)
    {
        maximum = std::max(maximum, in[i]);
    }
    return maximum;
}

void WriteExps(const ref::SoftmaxTablesInt16& softmax, const int16_t* in, size_t depth, int16_t* out)
{
    const TagInt32 d32;
    const int16_t* entries = softmax.GetTable().GetEntries().data();
    const BoundedMultiplier<TagInt32> multiplier(softmax.GetMultiplier());
    const VecInt32 maximum = hn::Set(d32, FindMax(in, depth));
    const VecInt32 offset = hn::Set(d32, INT16_MAX);
    MapEach(TagInt16(), in, out, depth,
            [&](VecInt16 shorts) HWY_ATTR
            {
                return Interpolate(entries, MapHalves(shorts, [&](VecInt32 x) HWY_ATTR
                                                      { return hn::Add(multiplier(hn::Sub(x, maximum)), offset); }));
            });
}

int64_t SumUp(const int16_t* values, size_t depth)
{
    const TagInt16 d;
    const TagInt32 d32;
    constexpr size_t Block = 1 << 16; // elements: the sum of each lane fits into 32 bits
    int64_t total = 0;
    for (size_t first = 0; first < depth; first += Block)
    {
        const size_t count = std::min(Block, depth - first);
        const int16_t* from = values + first;
        VecInt32 sums = hn::Zero(d32);
        size_t i = 0;
        for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
        {
            const VecInt16 x = hn::LoadU(d, from + i);
            sums = hn::Add(sums, hn::Add(Widen<false>(x), Widen<true>(x)));
        }
        HWY_ALIGN int32_t each[HWY_MAX_BYTES / sizeof(int32_t)];
        hn::Store(sums, d32, each);
        for (size_t lane = 0; lane < hn::Lanes(d32); ++lane)
        {
            total += each[lane];
        }
        for (; i < count; ++i)
        {
            total += from[i];
        }
    }
    return total;
}

void RunRow(const ref::SoftmaxTablesInt16& softmax, const int16_t* in, size_t depth, int16_t* out)
{
    WriteExps(softmax, in, depth, out);
    const ref::SoftmaxTablesInt16::Factor factor = softmax.GetFactor(SumUp(out, depth));
    const TagInt32 d32;
    const VecInt32 scale = hn::Set(d32, factor.m_Scale);
    const VecInt32 rounding = hn::Set(d32, factor.m_Shift > 0 ? int32_t{1} << (factor.m_Shift - 1) : 0);
    const VecInt16 zero = hn::Zero(TagInt16());
    MapEach(TagInt16(), out, out, depth,
            [&](VecInt16 powers) HWY_ATTR
            {
                const auto divide = [&](VecInt32 x) HWY_ATTR
                { return hn::ShiftRightSame(hn::Add(hn::Mul(x, scale), rounding), factor.m_Shift); };
                return hn::Max(MapHalves(powers, divide), zero);
            });
}

SoftmaxFunctionInt16 GetFunction()
{
    return RunRow;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

SoftmaxFunctionInt16 FindSoftmaxInt16()
{
    return TENON_CHOOSE(GetFunction)();
}

} // namespace tenon::cpu
#endif
