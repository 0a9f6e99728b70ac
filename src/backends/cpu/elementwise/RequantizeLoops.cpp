// SPDX-License-Identifier: Apache-2.0
// See RequantizeLoops.hpp.
#include "backends/cpu/elementwise/RequantizeLoops.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/RequantizeLoops.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <typename In, typename Out>
void Requantize(const void* in, void* out, size_t count, const RequantizeParameters& numbers)
{
    using Tag = hn::ScalableTag<int32_t>;
    const Tag d;
    const BoundedMultiplier<Tag> multiply(numbers.m_Multiplier); // 16-bit differences are small enough
    const auto inputZero = hn::Set(d, numbers.m_InputZeroPoint);
    const auto outputZero = hn::Set(d, numbers.m_OutputZeroPoint);
    const auto least = hn::Set(d, int32_t{std::numeric_limits<Out>::min()});
    const auto most = hn::Set(d, int32_t{std::numeric_limits<Out>::max()});
    MapEach(hn::Rebind<In, Tag>(), static_cast<const In*>(in), static_cast<Out*>(out), count,
            [&](auto x) HWY_ATTR
            {
                const auto value = hn::Sub(hn::PromoteTo(d, x), inputZero);
                const auto stored = hn::Add(multiply(value), outputZero);
                return hn::DemoteTo(hn::Rebind<Out, Tag>(), hn::Min(hn::Max(stored, least), most));
            });
}

template <typename In>
RequantizeLoop FindFrom(DataType to)
{
    switch (to)
    {
    case DataType::QAsymmU8: return Requantize<In, uint8_t>;
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return Requantize<In, int8_t>;
    case DataType::QSymmS16: return Requantize<In, int16_t>;
    default: return nullptr;
    }
}

RequantizeLoop FindLoop(DataType from, DataType to)
{
    switch (from)
    {
    case DataType::QAsymmU8: return FindFrom<uint8_t>(to);
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return FindFrom<int8_t>(to);
    case DataType::QSymmS16: return FindFrom<int16_t>(to);
    default: return nullptr;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

RequantizeLoop FindRequantize(DataType from, DataType to)
{
    return TENON_CHOOSE(FindLoop)(from, to);
}

} // namespace tenon::cpu
#endif
