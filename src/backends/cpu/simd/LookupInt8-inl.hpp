// SPDX-License-Identifier: Apache-2.0
// Lookup of vectors of bytes in a table of 256 bytes:
//   AVX-512 VBMI (CpuFeatures::m_Avx512Vbmi): two vpermi2b, in 128 bytes each
//   AArch64:                                  four tbl/tbx, in 64 bytes each
//   others:                                   sixteen pshufb, in 16 bytes each
// For sources with Foreach.hpp.
#if defined(TENON_LOOKUP_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_LOOKUP_INT8_INL
#undef TENON_LOOKUP_INT8_INL
#else
#define TENON_LOOKUP_INT8_INL
#endif

#include "backends/cpu/simd/Isa.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3

/// Two lookups in 128 bytes each.
class LookupInt8
{
public:
    using Tag = hn::ScalableTag<uint8_t>;
    using Vector = hn::Vec<Tag>;

    HWY_INLINE explicit LookupInt8(const uint8_t* table)
        : m_0(hn::LoadU(Tag(), table)), m_1(hn::LoadU(Tag(), table + 64)), m_2(hn::LoadU(Tag(), table + 128)),
          m_3(hn::LoadU(Tag(), table + 192))
    {
    }

    HWY_INLINE Vector operator()(Vector x) const
    {
        // The lower seven bits are the index within 128 bytes.
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

#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64

/// Four lookups in 64 bytes each.
class AnyLookupInt8
{
public:
    using Tag = hn::ScalableTag<uint8_t>;
    using Vector = hn::Vec<Tag>;

    HWY_INLINE explicit AnyLookupInt8(const uint8_t* table)
        : m_0(vld1q_u8_x4(table)), m_1(vld1q_u8_x4(table + 64)), m_2(vld1q_u8_x4(table + 128)),
          m_3(vld1q_u8_x4(table + 192))
    {
    }

    HWY_INLINE Vector operator()(Vector x) const
    {
        // tbx leaves the result as it is if the index is outside of its 64 bytes.
        const uint8x16_t step = vdupq_n_u8(64);
        uint8x16_t index = x.raw;
        uint8x16_t result = vqtbl4q_u8(m_0, index);
        result = vqtbx4q_u8(result, m_1, index = vsubq_u8(index, step));
        result = vqtbx4q_u8(result, m_2, index = vsubq_u8(index, step));
        return Vector(vqtbx4q_u8(result, m_3, vsubq_u8(index, step)));
    }

private:
    uint8x16x4_t m_0;
    uint8x16x4_t m_1;
    uint8x16x4_t m_2;
    uint8x16x4_t m_3;
};

#else

/// Sixteen lookups in 16 bytes each; the upper four bits of the index select one. The table is loaded again for each
/// vector.
class AnyLookupInt8
{
public:
    using Tag = hn::ScalableTag<uint8_t>;
    using Vector = hn::Vec<Tag>;

    HWY_INLINE explicit AnyLookupInt8(const uint8_t* table) : m_Table(table) {}

    HWY_INLINE Vector operator()(Vector x) const
    {
        const Tag d;
        const hn::Mask<Tag> bits[4] = {
            hn::TestBit(x, hn::Set(d, uint8_t{0x10})), hn::TestBit(x, hn::Set(d, uint8_t{0x20})),
            hn::TestBit(x, hn::Set(d, uint8_t{0x40})), hn::TestBit(x, hn::Set(d, uint8_t{0x80}))};
        return Choose<4>(m_Table, hn::And(x, hn::Set(d, uint8_t{0x0F})), bits);
    }

private:
    /// The lookup in 2^Bits sub-tables of 16 bytes.
    template <int Bits>
    static HWY_INLINE Vector Choose(const uint8_t* parts, Vector index, const hn::Mask<Tag>* bits)
    {
        if constexpr (Bits == 0)
        {
            return hn::TableLookupBytes(hn::LoadDup128(Tag(), parts), index);
        }
        else
        {
            const Vector lower = Choose<Bits - 1>(parts, index, bits);
            const Vector upper = Choose<Bits - 1>(parts + (size_t{16} << (Bits - 1)), index, bits);
            return hn::IfThenElse(bits[Bits - 1], upper, lower);
        }
    }

    const uint8_t* m_Table;
};

#endif

/// A tag for a lookup class.
template <typename T>
struct LookupTag
{
    using Lookup = T;
};

/// f(tag of the fastest lookup class that the processor has).
template <typename F>
auto WithBestLookup(const F& f)
{
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Vbmi)
    {
        return f(LookupTag<LookupInt8>());
    }
#endif
    return f(LookupTag<AnyLookupInt8>());
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
