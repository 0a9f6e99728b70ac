// SPDX-License-Identifier: Apache-2.0
// Any and all of columns and rows of Booleans (bytes, true if not 0), for ReduceVectors.cpp. Included after
// simd/Foreach.hpp, once for each target.
#if defined(TENON_REDUCE_BOOLEANS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_REDUCE_BOOLEANS_INL
#undef TENON_REDUCE_BOOLEANS_INL
#else
#define TENON_REDUCE_BOOLEANS_INL
#endif

#include "backends/cpu/simd/Cover-inl.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// IsAny: any; else all.
template <bool IsAny>
struct Booleans
{
    using Data = uint8_t;
    using Lane = uint8_t;
    template <class D>
    using InTag = D;
    static constexpr uint8_t First = IsAny ? 0 : 1;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<D> values)
    {
        return hn::Min(values, hn::Set(d, uint8_t{1}));
    }
    template <class V>
    static HWY_INLINE V Step(V result, V value)
    {
        return IsAny ? hn::Or(result, value) : hn::And(result, value);
    }
};

/// The bytes unchanged: only the result is compared with 0.
template <bool IsAny>
struct RowsOfBooleans
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

    static void Run(const void* in, size_t rows, size_t length, void* out)
    {
        const auto* from = static_cast<const uint8_t*>(in);
        auto* to = static_cast<uint8_t*>(out);
        for (size_t row = 0; row < rows; ++row)
        {
            to[row] = OfRow(from + row * length, length) ? 1 : 0;
        }
    }

private:
    /// The last vector overlaps the one before if the row is not a multiple of a vector.
    static HWY_INLINE bool OfRow(const uint8_t* from, size_t length)
    {
        constexpr size_t Lanes = HWY_LANES(uint8_t);
        const hn::CappedTag<uint8_t, Lanes> d;
        bool result = !IsAny;
        if (length >= Lanes)
        {
            auto acc0 = hn::LoadU(d, from + length - Lanes);
            auto acc1 = acc0;
            size_t i = 0;
            for (; i + 2 * Lanes <= length; i += 2 * Lanes)
            {
                acc0 = Step(acc0, hn::LoadU(d, from + i));
                acc1 = Step(acc1, hn::LoadU(d, from + i + Lanes));
            }
            if (i + Lanes <= length)
            {
                acc0 = Step(acc0, hn::LoadU(d, from + i));
            }
            result = Collect(d, Step(acc0, acc1));
        }
        else
        {
            CoverBy<uint8_t, Lanes / 2>(length,
                                        [&](auto part, size_t i) HWY_ATTR
                                        {
                                            const bool found = Collect(part, hn::LoadU(part, from + i));
                                            result = IsAny ? result || found : result && found;
                                        });
        }
        return result;
    }
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
