// SPDX-License-Identifier: Apache-2.0
// See SeparableMaxPool.hpp.
#include "backends/cpu/pool/SeparableMaxPool.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/SeparableMaxPool.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <typename T>
constexpr T Lowest()
{
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

template <class V>
HWY_INLINE V Larger(V best, V value)
{
    return hn::IfThenElse(hn::Gt(value, best), value, best); // NaN is passed over: comparisons with it are false
}

template <typename T>
void MaxRows(const void* const* rows, size_t taps, size_t count, void* out)
{
    Cover<T>(count,
             [&](auto d, size_t i) HWY_ATTR
             {
                 auto best = hn::Set(d, Lowest<T>());
                 for (size_t k = 0; k < taps; ++k)
                 {
                     best = Larger(best, hn::LoadU(d, static_cast<const T*>(rows[k]) + i));
                 }
                 hn::StoreU(best, d, static_cast<T*>(out) + i);
             });
}

void MaxColumnsF32(const void* in, const int32_t* offsets, size_t taps, size_t count, void* out)
{
    Cover<float>(count,
                 [&](auto d, size_t i) HWY_ATTR
                 {
                     const hn::RebindToSigned<decltype(d)> dOffsets;
                     auto best = hn::Set(d, Lowest<float>());
                     for (size_t at = i; at < taps * count; at += count)
                     {
                         best = Larger(best, hn::GatherIndex(d, static_cast<const float*>(in),
                                                             hn::LoadU(dOffsets, offsets + at)));
                     }
                     hn::StoreU(best, d, static_cast<float*>(out) + i);
                 });
}

template <typename T>
void MaxColumnsInt8(const void* in, const int32_t* offsets, size_t taps, size_t count, void* out)
{
    for (size_t i = 0; i < count; ++i)
    {
        T best = Lowest<T>();
        for (size_t at = i; at < taps * count; at += count)
        {
            const T value = static_cast<const T*>(in)[offsets[at]];
            best = value > best ? value : best;
        }
        static_cast<T*>(out)[i] = best;
    }
}

SeparableMaxTable MakeSeparableMaxTable()
{
    return {{MaxRows<float>, MaxColumnsF32},
            {MaxRows<int8_t>, MaxColumnsInt8<int8_t>},
            {MaxRows<uint8_t>, MaxColumnsInt8<uint8_t>}};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const SeparableMaxTable& GetSeparableMaxTable()
{
    static constinit PerIsa<SeparableMaxTable> table;
    return table.Get([] { return TENON_CHOOSE(MakeSeparableMaxTable)(); });
}

} // namespace tenon::cpu
#endif
