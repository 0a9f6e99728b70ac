// SPDX-License-Identifier: Apache-2.0
// See InterpolateVectors.hpp.
#include "backends/cpu/resize/InterpolateVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/resize/InterpolateVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

void CombineColumns(const float* in, const WeightedColumns& columns, float* out)
{
    const size_t count = columns.m_Count;
    if (columns.m_Channels == 1)
    {
        Cover<float>(count,
                     [&](auto d, size_t i) HWY_ATTR
                     {
                         const hn::RebindToSigned<decltype(d)> dOffsets;
                         auto sum = hn::Zero(d);
                         for (size_t at = i; at < columns.m_Taps * count; at += count)
                         {
                             const auto values = hn::GatherIndex(d, in, hn::LoadU(dOffsets, columns.m_Offset + at));
                             const auto weights = hn::LoadU(d, columns.m_Weight + at);
                             sum = hn::MulAdd(hn::IfThenElseZero(hn::Ne(weights, hn::Zero(d)), values), weights, sum);
                         }
                         hn::StoreU(sum, d, out + i);
                     });
        return;
    }
    for (size_t i = 0; i < count; ++i, out += columns.m_Channels)
    {
        Cover<float>(columns.m_Channels,
                     [&](auto d, size_t c) HWY_ATTR
                     {
                         auto sum = hn::Zero(d);
                         for (size_t at = i; at < columns.m_Taps * count; at += count)
                         {
                             const float weight = columns.m_Weight[at];
                             if (weight != 0.0f)
                             {
                                 sum = hn::MulAdd(hn::LoadU(d, in + columns.m_Offset[at] + c), hn::Set(d, weight), sum);
                             }
                         }
                         hn::StoreU(sum, d, out + c);
                     });
    }
}

void CombineRows(const void* const* rows, const float* weights, size_t taps, size_t count, float* out)
{
    Cover<float>(count,
                 [&](auto d, size_t i) HWY_ATTR
                 {
                     auto sum = hn::Zero(d);
                     for (size_t k = 0; k < taps; ++k)
                     {
                         sum = hn::MulAdd(hn::LoadU(d, static_cast<const float*>(rows[k]) + i), hn::Set(d, weights[k]),
                                          sum);
                     }
                     hn::StoreU(sum, d, out + i);
                 });
}

/// The taps of a vector of points along one dimension.
template <class D>
struct AxisTaps
{
    HWY_INLINE AxisTaps() {} // GCC for Arm inlines no vector's constructor into an implicit one

    hn::Vec<hn::RebindToSigned<D>> m_Offsets[2]; ///< indices times the stride
    hn::Vec<D> m_Weights[2];
};

template <class D>
HWY_INLINE AxisTaps<D> FindAxisTaps(D d, const GridDimension& axis, const GridPoints& grid, hn::Vec<D> coordinates)
{
    const hn::RebindToSigned<D> dOffsets;
    const auto zero = hn::Zero(d);
    const auto last = hn::Set(d, static_cast<float>(axis.m_Size - 1));
    const bool isNearest = grid.m_Mode == InterpolationMode::Nearest;
    auto x = hn::MulAdd(coordinates, hn::Set(d, axis.m_Scale), hn::Set(d, axis.m_Shift));
    x = isNearest ? hn::Round(x) : x;
    if (grid.m_Padding == GridPadding::Reflection)
    {
        // The period is twice the range; its second half is mirrored.
        const auto range = hn::Set(d, axis.m_Range);
        const auto period = hn::Set(d, 2.0f * axis.m_Range);
        const auto from = hn::Abs(hn::Sub(x, hn::Set(d, axis.m_First)));
        const auto periods = hn::Floor(hn::Mul(from, hn::Set(d, 0.5f / axis.m_Range)));
        const auto rest = hn::Max(hn::NegMulAdd(periods, period, from), zero);
        const auto mirrored = hn::IfThenElse(hn::Gt(rest, range), hn::Sub(period, rest), rest);
        const auto isInside =
            hn::And(hn::Ge(x, hn::Set(d, axis.m_First)), hn::Le(x, hn::Add(hn::Set(d, axis.m_First), range)));
        x = hn::IfThenElse(isInside, x, hn::Add(mirrored, hn::Set(d, axis.m_First)));
    }
    const bool isZero = grid.m_Padding == GridPadding::Zeros;
    // NaN becomes a coordinate before the first element. Clamping at two elements from the image does not change the
    // result.
    x = hn::IfThenElse(hn::Eq(x, x), x, hn::Set(d, -2.0f));
    x = hn::Clamp(x, isZero ? hn::Set(d, -2.0f) : zero, isZero ? hn::Add(last, hn::Set(d, 2.0f)) : last);
    const auto floor = hn::Floor(x);
    const auto part = hn::Sub(x, floor);
    const auto find = [&](auto position, auto weight, int tap, AxisTaps<D>& taps) HWY_ATTR
    {
        const auto isInside = hn::And(hn::Ge(position, zero), hn::Le(position, last));
        taps.m_Weights[tap] = isZero ? hn::IfThenElseZero(isInside, weight) : weight;
        const auto index = hn::ConvertTo(dOffsets, hn::Clamp(position, zero, last));
        taps.m_Offsets[tap] = hn::Mul(index, hn::Set(dOffsets, axis.m_Stride));
    };
    AxisTaps<D> taps;
    const auto one = hn::Set(d, 1.0f);
    find(floor, isNearest ? one : hn::Sub(one, part), 0, taps);
    find(hn::Add(floor, one), part, 1, taps);
    return taps;
}

void FindGridTaps(const GridPoints& grid, const float* points, size_t count, int32_t* offsets, float* weights)
{
    const int taps = grid.m_Mode == InterpolationMode::Nearest ? 1 : 2;
    Cover<float>(count,
                 [&](auto d, size_t i) HWY_ATTR
                 {
                     const hn::RebindToSigned<decltype(d)> dOffsets;
                     hn::Vec<decltype(d)> x;
                     hn::Vec<decltype(d)> y;
                     hn::LoadInterleaved2(d, points + 2 * i, x, y);
                     const auto columns = FindAxisTaps(d, grid.m_Columns, grid, x);
                     const auto rows = FindAxisTaps(d, grid.m_Rows, grid, y);
                     size_t at = i;
                     for (int row = 0; row < taps; ++row)
                     {
                         for (int column = 0; column < taps; ++column, at += count)
                         {
                             hn::StoreU(hn::Add(rows.m_Offsets[row], columns.m_Offsets[column]), dOffsets,
                                        offsets + at);
                             hn::StoreU(hn::Mul(rows.m_Weights[row], columns.m_Weights[column]), d, weights + at);
                         }
                     }
                 });
}

InterpolateFunctions MakeInterpolateFunctions()
{
    return {FindGridTaps, CombineColumns, CombineRows};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const InterpolateFunctions& GetInterpolateFunctions()
{
    static constinit PerIsa<InterpolateFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeInterpolateFunctions)(); });
}

} // namespace tenon::cpu
#endif
