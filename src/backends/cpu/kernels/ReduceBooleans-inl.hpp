// SPDX-License-Identifier: Apache-2.0
// Whether any or all bytes of columns and rows are other than 0, for ReduceVectors.cpp. Included after
// simd/Foreach.hpp, once for each target.
#if defined(TENON_REDUCE_BOOLEANS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_REDUCE_BOOLEANS_INL
#undef TENON_REDUCE_BOOLEANS_INL
#else
#define TENON_REDUCE_BOOLEANS_INL
#endif

#include "backends/cpu/simd/Spans-inl.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// IsAny: or all.
template <bool IsAny>
struct Booleans
{
    using Data = uint8_t;
    using Lane = uint8_t;
    static constexpr uint8_t First = IsAny ? 0 : 1;
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const uint8_t* values)
    {
        return hn::Min(hn::LoadU(d, values), hn::Set(d, uint8_t{1}));
    }
    template <class V>
    static HWY_INLINE V Step(V result, V value)
    {
        return IsAny ? hn::Or(result, value) : hn::And(result, value);
    }
};

/// The bytes as they are: only the result is compared.
template <bool IsAny>
struct RowOfBooleans
{
    template <class V>
    static HWY_INLINE V Step(V result, V value)
    {
        return IsAny ? hn::Or(result, value) : hn::Min(result, value);
    }
    template <class D>
    static HWY_INLINE bool Collect(D d, hn::Vec<D> result)
    {
        const auto isZero = hn::Eq(result, hn::Zero(d));
        return IsAny ? !hn::AllTrue(d, isZero) : hn::AllFalse(d, isZero);
    }

    /// Vectors overlap where what is left does not fill one.
    static void Run(const void* in, size_t rows, size_t, size_t, void* out)
    {
        constexpr size_t Lanes = HWY_LANES(uint8_t);
        const hn::CappedTag<uint8_t, Lanes> d;
        const auto* from = static_cast<const uint8_t*>(in);
        bool result = !IsAny;
        if (rows >= Lanes)
        {
            auto acc0 = hn::LoadU(d, from + rows - Lanes);
            auto acc1 = acc0;
            size_t i = 0;
            for (; i + 2 * Lanes <= rows; i += 2 * Lanes)
            {
                acc0 = Step(acc0, hn::LoadU(d, from + i));
                acc1 = Step(acc1, hn::LoadU(d, from + i + Lanes));
            }
            if (i + Lanes <= rows)
            {
                acc0 = Step(acc0, hn::LoadU(d, from + i));
            }
            result = Collect(d, Step(acc0, acc1));
        }
        else
        {
            CoverBy<uint8_t, Lanes / 2>(rows,
                                        [&](auto part, size_t i) HWY_ATTR
                                        {
                                            const bool found = Collect(part, hn::LoadU(part, from + i));
                                            result = IsAny ? result || found : result && found;
                                        });
        }
        *static_cast<uint8_t*>(out) = result ? 1 : 0;
    }
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
