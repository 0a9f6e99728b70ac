// SPDX-License-Identifier: Apache-2.0
// Exact sums to stored numbers by RequantizationMode::FloatHalfEven:
//   saturate(nearbyint(float(sum) * factor) + zero point)
// For sources with Foreach.hpp.
#if defined(TENON_HALF_EVEN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_HALF_EVEN_INL
#undef TENON_HALF_EVEN_INL
#else
#define TENON_HALF_EVEN_INL
#endif

#include "backends/cpu/simd/Int8-inl.hpp"

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// `factor` is finite. DOut: the tag of the results, of 8 or 16 bits.
template <class DOut, class V32>
HWY_INLINE hn::Vec<DOut> ToStoredHalfEven(DOut dOut, V32 sums, float factor, int32_t zeroPoint)
{
    const hn::DFromV<V32> d;
    const hn::RebindToFloat<decltype(d)> dFloat;
    // As many steps as the type has values saturate with any zero point. DemoteTo() saturates no more than 15 bits to
    // uint8.
    const auto bound = hn::Set(dFloat, static_cast<float>(1 << (8 * sizeof(hn::TFromD<DOut>))));
    const auto steps = hn::Mul(hn::ConvertTo(dFloat, sums), hn::Set(dFloat, factor));
    const auto nearest = Nearest(hn::Max(hn::Min(steps, bound), hn::Neg(bound)));
    return hn::DemoteTo(dOut, hn::Add(nearest, hn::Set(d, zeroPoint)));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
