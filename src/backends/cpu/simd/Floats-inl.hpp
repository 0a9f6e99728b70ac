// SPDX-License-Identifier: Apache-2.0
// Vectors of float32: what CpuAcc's float kernels share. For sources that are compiled once for each target, after
// simd/Foreach.hpp.
#if defined(TENON_CPU_FLOATS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_FLOATS_INL
#undef TENON_CPU_FLOATS_INL
#else
#define TENON_CPU_FLOATS_INL
#endif

#include "backends/cpu/simd/Select-inl.hpp"

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;

/// Whether there are 32 vector registers; else there are 16.
constexpr bool ManyRegisters = HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64);

/// The first `count` floats, zeros after them. Reads nothing past them.
HWY_INLINE Floats LoadSome(const float* from, size_t count)
{
    const FloatTag d;
    if (count >= hn::Lanes(d))
    {
        return hn::LoadU(d, from);
    }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
    HWY_ALIGN float buffer[hn::MaxLanes(d)] = {};
    std::memcpy(buffer, from, count * sizeof(float));
    return hn::Load(d, buffer);
#endif
}

/// Writes the first `count` floats, and nothing past them.
HWY_INLINE void StoreSome(Floats values, float* to, size_t count)
{
    const FloatTag d;
    if (count >= hn::Lanes(d))
    {
        hn::StoreU(values, d, to);
        return;
    }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    hn::BlendedStore(values, hn::FirstN(d, count), d, to);
#else
    HWY_ALIGN float buffer[hn::MaxLanes(d)];
    hn::Store(values, d, buffer);
    std::memcpy(to, buffer, count * sizeof(float));
#endif
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
