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

int16_t FindMost(const int16_t* in, size_t depth)
{
    const ShortTag d;
    const size_t lanes = hn::Lanes(d);
    int16_t most = in[0];
    size_t i = 0;
    if (depth >= lanes)
    {
        Shorts all = hn::LoadU(d, in);
        for (i = lanes; i + lanes <= depth; i += lanes)
        {
            all = hn::Max(all, hn::LoadU(d, in + i));
        }
        HWY_ALIGN int16_t each[HWY_MAX_BYTES / sizeof(int16_t)];
        hn::Store(all, d, each);
        most = *std::max_element(each, each + lanes);
    }
    for (; i < depth; ++i)
    {
        most = std::max(most, in[i]);
    }
    return most;
}

void SetPowers(const ref::ShortSoftmax& softmax, const int16_t* in, size_t depth, int16_t* out)
{
    const IntTag d32;
    const int16_t* entries = softmax.GetTable().GetEntries().data();
    const BoundedMultiplier<IntTag> multiplier(softmax.GetMultiplier());
    const Ints most = hn::Set(d32, FindMost(in, depth));
    const Ints offset = hn::Set(d32, INT16_MAX);
    MapEach(ShortTag(), in, out, depth,
            [&](Shorts shorts) HWY_ATTR
            {
                return Interpolate(entries, MapHalves(shorts, [&](Ints x) HWY_ATTR
                                                      { return hn::Add(multiplier(hn::Sub(x, most)), offset); }));
            });
}

int64_t SumUp(const int16_t* values, size_t depth)
{
    const ShortTag d;
    const IntTag d32;
    constexpr size_t Block = 1 << 16; // elements: the sum of each lane fits into 32 bits
    int64_t total = 0;
    for (size_t first = 0; first < depth; first += Block)
    {
        const size_t count = std::min(Block, depth - first);
        const int16_t* from = values + first;
        Ints sums = hn::Zero(d32);
        size_t i = 0;
        for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
        {
            const Shorts x = hn::LoadU(d, from + i);
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

void RunRow(const ref::ShortSoftmax& softmax, const int16_t* in, size_t depth, int16_t* out)
{
    SetPowers(softmax, in, depth, out);
    const ref::ShortSoftmax::Factor factor = softmax.GetFactor(SumUp(out, depth));
    const IntTag d32;
    const Ints scale = hn::Set(d32, factor.m_Scale);
    const Ints rounding = hn::Set(d32, factor.m_Shift > 0 ? int32_t{1} << (factor.m_Shift - 1) : 0);
    const Shorts zero = hn::Zero(ShortTag());
    MapEach(ShortTag(), out, out, depth,
            [&](Shorts powers) HWY_ATTR
            {
                const auto divide = [&](Ints x) HWY_ATTR
                { return hn::ShiftRightSame(hn::Add(hn::Mul(x, scale), rounding), factor.m_Shift); };
                return hn::Max(MapHalves(powers, divide), zero);
            });
}

ShortSoftmaxFunction GetFunction()
{
    return RunRow;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

ShortSoftmaxFunction FindShortSoftmax()
{
    return TENON_CHOOSE(GetFunction)();
}

} // namespace tenon::cpu
#endif
