// SPDX-License-Identifier: Apache-2.0
// Blocked summation of floats: each lane adds up SumBlock numbers in float, then the vector is added to totals in
// double and begins anew. The rounding error is at most SumBlock * 2^-24 of the sum of magnitudes, for any number of
// summands. For sources with Foreach.hpp.
#if defined(TENON_BLOCKED_SUM_F32_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_BLOCKED_SUM_F32_INL
#undef TENON_BLOCKED_SUM_F32_INL
#else
#define TENON_BLOCKED_SUM_F32_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// The number of floats that each lane adds up before its sum is added to a total in double precision.
constexpr size_t SumBlock = 128;

/// One total for each lane of `Vectors` vectors of floats.
template <size_t Vectors, class D>
class BlockTotalsF32
{
public:
    /// Adds the sums to the totals, and sets the sums to zero.
    HWY_INLINE void Take(D d, hn::Vec<D> (&sums)[Vectors])
    {
        HWY_ALIGN float lanes[Vectors * Lanes];
        HWY_UNROLL(8)
        for (size_t v = 0; v < Vectors; ++v)
        {
            hn::Store(sums[v], d, lanes + v * Lanes);
            sums[v] = hn::Zero(d);
        }
        for (size_t i = 0; i < Vectors * Lanes; ++i)
        {
            m_Totals[i] += static_cast<double>(lanes[i]);
        }
    }

    /// Writes the totals to `sums`, rounded to float.
    HWY_INLINE void Give(D d, hn::Vec<D> (&sums)[Vectors]) const
    {
        HWY_ALIGN float lanes[Vectors * Lanes];
        for (size_t i = 0; i < Vectors * Lanes; ++i)
        {
            lanes[i] = static_cast<float>(m_Totals[i]);
        }
        HWY_UNROLL(8)
        for (size_t v = 0; v < Vectors; ++v)
        {
            sums[v] = hn::Load(d, lanes + v * Lanes);
        }
    }

private:
    static constexpr size_t Lanes = hn::MaxLanes(D());

    HWY_ALIGN double m_Totals[Vectors * Lanes] = {};
};

/// The sum of step(i), a vector of floats, for all i below count.
template <class D, typename F>
HWY_INLINE hn::Vec<D> SumSteps(D d, size_t count, const F& step)
{
    hn::Vec<D> sums[1] = {hn::Zero(d)};
    if (count <= SumBlock)
    {
        for (size_t i = 0; i < count; ++i)
        {
            sums[0] = hn::Add(sums[0], step(i));
        }
        return sums[0];
    }
    BlockTotalsF32<1, D> totals;
    for (size_t first = 0; first < count; first += SumBlock)
    {
        const size_t end = count - first < SumBlock ? count : first + SumBlock;
        for (size_t i = first; i < end; ++i)
        {
            sums[0] = hn::Add(sums[0], step(i));
        }
        totals.Take(d, sums);
    }
    totals.Give(d, sums);
    return sums[0];
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
