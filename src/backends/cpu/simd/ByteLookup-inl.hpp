// SPDX-License-Identifier: Apache-2.0
// Tables of 256 bytes in registers, with AVX-512 and VBMI (CpuFeatures::m_Avx512Vbmi). Included by sources with vector
// code after simd/Foreach.hpp, once for each target.
#if defined(TENON_BYTE_LOOKUP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_BYTE_LOOKUP_INL
#undef TENON_BYTE_LOOKUP_INL
#else
#define TENON_BYTE_LOOKUP_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3

/// Two lookups in 128 bytes each.
class ByteLookup
{
public:
    using Tag = hn::ScalableTag<uint8_t>;
    using Vector = hn::Vec<Tag>;

    HWY_INLINE explicit ByteLookup(const uint8_t* table)
        : m_0(hn::LoadU(Tag(), table)), m_1(hn::LoadU(Tag(), table + 64)), m_2(hn::LoadU(Tag(), table + 128)),
          m_3(hn::LoadU(Tag(), table + 192))
    {
    }

    HWY_INLINE Vector operator()(Vector x) const
    {
        // The lower seven bits say which of 128 bytes.
        Vector lower = x;
        Vector upper = x;
        asm("vpermi2b %2, %1, %0" : "+v"(lower.raw) : "v"(m_0.raw), "v"(m_1.raw));
        asm("vpermi2b %2, %1, %0" : "+v"(upper.raw) : "v"(m_2.raw), "v"(m_3.raw));
        return hn::IfThenElse(hn::Lt(x, hn::Set(Tag(), uint8_t{128})), lower, upper);
    }

private:
    Vector m_0;
    Vector m_1;
    Vector m_2;
    Vector m_3;
};

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
