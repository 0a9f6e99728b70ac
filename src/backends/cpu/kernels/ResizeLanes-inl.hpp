// SPDX-License-Identifier: Apache-2.0
// How elements of images become numbers that are blended, and back. Included by ResizeVectors.cpp after
// simd/Foreach.hpp, once for each target.
#if defined(TENON_RESIZE_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_RESIZE_LANES_INL
#undef TENON_RESIZE_LANES_INL
#else
#define TENON_RESIZE_LANES_INL
#endif

#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/Bytes-inl.hpp"

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// How elements become lanes of W and back.
template <typename T>
struct ResizeLanes;

template <>
struct ResizeLanes<float>
{
    using Weight = float;
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

/// BFloat16, as numbers that no other type of elements has.
enum class Brain : uint16_t
{
};

template <>
struct ResizeLanes<Brain>
{
    using Weight = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const Brain* from)
    {
        const auto halves = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from));
        return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<D>(), halves)));
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, Brain* to)
    {
        hn::StoreU(RoundToBf16(d, sum), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(to));
    }
};

template <>
struct ResizeLanes<uint8_t>
{
    using Weight = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const uint8_t* from)
    {
        return hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<int32_t, D>(), hn::LoadU(hn::Rebind<uint8_t, D>(), from)));
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, uint8_t* to)
    {
        // Sums lie between 0 and 255 as the elements do, so nothing has to be saturated.
        const hn::Rebind<uint8_t, D> dBytes;
        const auto above = hn::Add(sum, hn::Set(d, 0.5f));
        if constexpr (hn::MaxLanes(D()) == HWY_LANES(float))
        {
            hn::StoreU(hn::U8FromU32(hn::BitCast(hn::Rebind<uint32_t, D>(), Truncated(above))), dBytes, to);
        }
        else
        {
            hn::StoreU(hn::DemoteTo(dBytes, hn::ConvertTo(hn::Rebind<int32_t, D>(), above)), dBytes, to);
        }
    }
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
