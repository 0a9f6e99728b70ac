// SPDX-License-Identifier: Apache-2.0
// Vectors of float32: tags, partial loads and stores. For sources with Foreach.hpp.
#if defined(TENON_SIMD_F32_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_SIMD_F32_INL
#undef TENON_SIMD_F32_INL
#else
#define TENON_SIMD_F32_INL
#endif

#include "backends/cpu/simd/MinMax-inl.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

using TagF32 = hn::ScalableTag<float>;
using VecF32 = hn::Vec<TagF32>;

/// True: the target has 32 vector registers. False: it has 16.
constexpr bool ManyRegisters = HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64);

// Partial vectors are loaded and stored by masks if the target has them, else through memory. That code is a function
// of its own, since unrolled loops would repeat it for each load.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

/// Loads the first `count` floats, fewer than a vector has. The other lanes are zeros. Reads nothing past the last
/// float.
HWY_INLINE VecF32 LoadFew(const float* from, size_t count)
{
    const TagF32 d;
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
}

/// Stores the first `count` floats, fewer than a vector has, and writes nothing past them.
HWY_INLINE void StoreFew(VecF32 values, float* to, size_t count)
{
    const TagF32 d;
    hn::BlendedStore(values, hn::FirstN(d, count), d, to);
}

#else

HWY_NOINLINE inline VecF32 LoadFew(const float* from, size_t count)
{
    const TagF32 d;
    HWY_ALIGN float buffer[hn::MaxLanes(d)] = {};
    HWY_UNROLL(4)
    for (size_t i = 0; i + 1 < hn::MaxLanes(d); ++i)
    {
        if (i < count)
        {
            buffer[i] = from[i];
        }
    }
    return hn::Load(d, buffer);
}

HWY_NOINLINE inline void StoreFew(VecF32 values, float* to, size_t count)
{
    const TagF32 d;
    HWY_ALIGN float buffer[hn::MaxLanes(d)];
    hn::Store(values, d, buffer);
    HWY_UNROLL(4)
    for (size_t i = 0; i + 1 < hn::MaxLanes(d); ++i)
    {
        if (i < count)
        {
            to[i] = buffer[i];
        }
    }
}

#endif

/// Loads the first `count` floats, at most a vector. The other lanes are zeros. Reads nothing past the last float.
HWY_INLINE VecF32 LoadSome(const float* from, size_t count)
{
    return count >= hn::Lanes(TagF32()) ? hn::LoadU(TagF32(), from) : LoadFew(from, count);
}

/// Stores the first `count` floats, at most a vector, and writes nothing past them.
HWY_INLINE void StoreSome(VecF32 values, float* to, size_t count)
{
    if (count >= hn::Lanes(TagF32()))
    {
        hn::StoreU(values, TagF32(), to);
        return;
    }
    StoreFew(values, to, count);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
