// SPDX-License-Identifier: Apache-2.0
// TopScan of TopCandidates.hpp, with SIMD.
#include "backends/cpu/reduce/TopCandidates.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/TopCandidates.cpp"
#include "backends/cpu/simd/Foreach.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

/// Lanes that are not below or equal to the bound; NaN is among them. Collect decides.
template <class D>
HWY_INLINE hn::Mask<D> IsAbove(D, hn::Vec<D> v, hn::Vec<D> bound)
{
    if constexpr (hwy::IsFloat<hn::TFromD<D>>() && HWY_ARCH_ARM_V7)
    {
        return hn::Not(hn::Lt(v, bound)); // these vectors flush subnormal numbers, which may be above a bound of 0
    }
    else if constexpr (hwy::IsFloat<hn::TFromD<D>>())
    {
        return hn::Not(hn::Le(v, bound));
    }
    else
    {
        return hn::Gt(v, bound);
    }
}

template <typename T>
size_t Collect(const T* row, size_t begin, size_t end, T bound, uint32_t* found)
{
    size_t count = 0;
    for (size_t i = begin; i < end; ++i)
    {
        found[count] = static_cast<uint32_t>(i);
        count += !(row[i] <= bound) ? 1 : 0; // no branch, as it could not be predicted
    }
    return count;
}

template <typename T>
size_t Scan(const T* row, size_t& next, size_t end, T bound, uint32_t* found)
{
    const hn::ScalableTag<T> d;
    const size_t lanes = hn::Lanes(d);
    static_assert(hn::MaxLanes(hn::ScalableTag<T>()) <= MaxFound);
    const auto bounds = hn::Set(d, bound);
    size_t i = next;
    for (; i + 4 * lanes <= end; i += 4 * lanes)
    {
        const auto m0 = IsAbove(d, hn::LoadU(d, row + i), bounds);
        const auto m1 = IsAbove(d, hn::LoadU(d, row + i + lanes), bounds);
        const auto m2 = IsAbove(d, hn::LoadU(d, row + i + 2 * lanes), bounds);
        const auto m3 = IsAbove(d, hn::LoadU(d, row + i + 3 * lanes), bounds);
        if (!hn::AllFalse(d, hn::Or(hn::Or(m0, m1), hn::Or(m2, m3))))
        {
            break; // one of the next four vectors has elements above the bound
        }
    }
    for (; i < end; i += lanes)
    {
        const size_t stop = i + lanes < end ? i + lanes : end;
        const bool isWhole = stop == i + lanes;
        if (isWhole && hn::AllFalse(d, IsAbove(d, hn::LoadU(d, row + i), bounds)))
        {
            continue;
        }
        const size_t count = Collect(row, i, stop, bound, found);
        if (count != 0)
        {
            next = stop;
            return count;
        }
    }
    next = end;
    return 0;
}

TopScan<float> ScanF32()
{
    return Scan<float>;
}

TopScan<int32_t> ScanInt32()
{
    return Scan<int32_t>;
}

TopScan<int8_t> ScanInt8()
{
    return Scan<int8_t>;
}

TopScan<uint8_t> ScanUint8()
{
    return Scan<uint8_t>;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

template <>
TopScan<float> FindTopScan()
{
    return TENON_CHOOSE(ScanF32)();
}

template <>
TopScan<int32_t> FindTopScan()
{
    return TENON_CHOOSE(ScanInt32)();
}

template <>
TopScan<int8_t> FindTopScan()
{
    return TENON_CHOOSE(ScanInt8)();
}

template <>
TopScan<uint8_t> FindTopScan()
{
    return TENON_CHOOSE(ScanUint8)();
}

} // namespace tenon::cpu
#endif
