// SPDX-License-Identifier: Apache-2.0
// Loads of image elements as floats, and stores of floats as elements. Included by BilinearVectors.cpp after
// simd/Foreach.hpp, once for each target.
#if defined(TENON_BILINEAR_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_BILINEAR_LANES_INL
#undef TENON_BILINEAR_LANES_INL
#else
#define TENON_BILINEAR_LANES_INL
#endif

#include "backends/cpu/simd/Bf16-inl.hpp"

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Loads elements of type T as floats, and stores floats as T; 8-bit types have loads only.
template <typename T>
struct ResizeLanes;

template <>
struct ResizeLanes<float>
{
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const float* from)
    {
        return hn::LoadU(d, from);
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, float* to)
    {
        hn::StoreU(sum, d, to);
    }
};

/// The bits of a BFloat16, as a type that no other elements have.
enum class Bf16Bits : uint16_t
{
};

template <>
struct ResizeLanes<Bf16Bits>
{
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const Bf16Bits* from)
    {
        const auto halves = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from));
        return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<D>(), halves)));
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, Bf16Bits* to)
    {
        hn::StoreU(RoundToBf16(d, sum), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(to));
    }
};

template <>
struct ResizeLanes<uint8_t>
{
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const uint8_t* from)
    {
        return hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<int32_t, D>(), hn::LoadU(hn::Rebind<uint8_t, D>(), from)));
    }
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
