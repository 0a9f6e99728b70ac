// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of ArgMinMaxVectors.hpp.
#include "backends/cpu/reduce/ArgMinMaxVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/ArgMinMaxVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <typename T, bool IsMax>
struct Search
{
    using Limits = std::numeric_limits<T>;
    /// The start value: every element is as good or better.
    static constexpr T Worst = Limits::has_infinity ? (IsMax ? -Limits::infinity() : Limits::infinity())
                                                    : (IsMax ? Limits::lowest() : Limits::max());

    template <class V>
    static HWY_INLINE V BestOf(V a, V b)
    {
        return IsMax ? hn::Max(a, b) : hn::Min(a, b);
    }

    /// The elements that may win, where NaN is replaced: it cannot win.
    template <class D>
    static HWY_INLINE hn::Vec<D> Candidates(D d, hn::Vec<D> v)
    {
        if constexpr (std::is_floating_point_v<T>)
        {
            return hn::IfThenElse(hn::Eq(v, v), v, hn::Set(d, Worst));
        }
        return v;
    }

    /// The best lane, broadcast to all lanes.
    template <class D>
    static HWY_INLINE hn::Vec<D> BestOfLanes(D d, hn::Vec<D> v)
    {
        if constexpr (std::is_floating_point_v<T>)
        {
            return IsMax ? hn::MaxOfLanes(d, v) : hn::MinOfLanes(d, v);
        }
        else
        {
            return hn::Set(d, BestInt8(d, v));
        }
    }

    /// The values that a shift moves into the upper lanes never reach the lowest one.
    template <class D>
    static HWY_INLINE T BestInt8(D d, hn::Vec<D> v)
    {
        constexpr size_t Lanes = hn::MaxLanes(D());
        if constexpr (Lanes > 16)
        {
            const hn::Half<D> half;
            return BestInt8(half, BestOf(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
        }
        else
        {
            v = BestOf(v, hn::ShiftRightBytes<8>(d, v));
            v = BestOf(v, hn::ShiftRightBytes<4>(d, v));
            v = BestOf(v, hn::ShiftRightBytes<2>(d, v));
            return hn::GetLane(BestOf(v, hn::ShiftRightBytes<1>(d, v)));
        }
    }

    /// The lanes in which `value` replaces `best`.
    template <class V>
    static HWY_INLINE auto IsBetter(V value, V best)
    {
        const auto wins = IsMax ? hn::Gt(value, best) : hn::Gt(best, value);
        if constexpr (std::is_floating_point_v<T>)
        {
            return hn::Or(wins, hn::AndNot(hn::Eq(best, best), hn::Eq(value, value)));
        }
        else
        {
            return wins;
        }
    }
};

/// A row shorter than a vector, in the first lanes of `v`.
template <typename T, bool IsMax, class D>
HWY_INLINE int32_t FindInVector(D d, hn::Vec<D> v, hn::Mask<D> isRow)
{
    using S = Search<T, IsMax>;
    const auto candidates = hn::IfThenElse(isRow, S::Candidates(d, v), hn::Set(d, S::Worst));
    const auto isBest = hn::And(isRow, hn::Eq(v, S::BestOfLanes(d, candidates)));
    return static_cast<int32_t>(std::max<intptr_t>(hn::FindFirstTrue(d, isBest), 0));
}

/// A row of one vector or more. The last vector overlaps the one before it, in which nothing was found.
template <typename T, bool IsMax, class D>
HWY_INLINE int32_t FindInRow(D d, const T* row, size_t depth)
{
    using S = Search<T, IsMax>;
    constexpr size_t Lanes = hn::MaxLanes(D());
    auto best = S::Candidates(d, hn::LoadU(d, row + depth - Lanes));
    for (size_t i = 0; i + Lanes <= depth; i += Lanes)
    {
        best = S::BestOf(best, S::Candidates(d, hn::LoadU(d, row + i)));
    }
    best = S::BestOfLanes(d, best);
    for (size_t i = 0; i < depth; i += Lanes)
    {
        const size_t first = std::min(i, depth - Lanes);
        const intptr_t found = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, row + first), best));
        if (found >= 0)
        {
            return static_cast<int32_t>(first + static_cast<size_t>(found));
        }
    }
    return 0; // the row has nothing but NaN
}

template <typename T, bool IsMax>
void FindRows(const void* in, size_t rows, size_t depth, size_t readable, int32_t* out)
{
    constexpr size_t Lanes = HWY_LANES(T);
    const hn::CappedTag<T, Lanes> d;
    const T* row = static_cast<const T*>(in);
    if (depth >= Lanes)
    {
        for (size_t r = 0; r < rows; ++r, row += depth)
        {
            out[r] = FindInRow<T, IsMax>(d, row, depth);
        }
        return;
    }
    const auto isRow = hn::FirstN(d, depth);
    const size_t whole = readable < Lanes ? 0 : std::min(rows, (readable - Lanes) / depth + 1);
    for (size_t r = 0; r < whole; ++r, row += depth)
    {
        out[r] = FindInVector<T, IsMax>(d, hn::LoadU(d, row), isRow);
    }
    for (size_t r = whole; r < rows; ++r, row += depth)
    {
        out[r] = FindInVector<T, IsMax>(d, LoadFirst(d, row, depth, T{}), isRow);
    }
}

/// The best of `depth` elements of each column, and their indices. `depth` is no more than Index can count.
template <typename T, bool IsMax, typename Index, class D>
HWY_INLINE void FindInColumns(D d, const T* from, size_t depth, size_t stride, T* bests, Index* indices)
{
    using S = Search<T, IsMax>;
    const hn::Rebind<Index, D> di;
    auto best = hn::LoadU(d, from);
    auto place = hn::Zero(di);
    for (size_t i = 1; i < depth; ++i)
    {
        const auto value = hn::LoadU(d, from + i * stride);
        const auto isBetter = S::IsBetter(value, best);
        // The maximum without NaN need not wait for the comparison.
        best = std::is_floating_point_v<T> ? hn::IfThenElse(isBetter, value, best) : S::BestOf(best, value);
        place = hn::IfThenElse(hn::RebindMask(di, isBetter), hn::Set(di, static_cast<Index>(i)), place);
    }
    hn::StoreU(best, d, bests);
    hn::StoreU(place, di, indices);
}

template <typename T, bool IsMax>
void FindColumns(const void* in, size_t depth, size_t stride, size_t columns, int32_t* out)
{
    using Index = std::conditional_t<sizeof(T) == 1, uint8_t, int32_t>;
    // Indices of 8-bit elements are counted in bytes, for as many rows at a time as a byte can count.
    constexpr size_t MaxRows = sizeof(T) == 1 ? 256 : std::numeric_limits<int32_t>::max();
    const T* from = static_cast<const T*>(in);
    Cover<T>(columns,
             [&](auto d, size_t c)
             {
                 constexpr size_t Lanes = hn::MaxLanes(decltype(d)());
                 T bests[HWY_LANES(T)] = {}; // initialized for compilers that do not see the stores
                 Index indices[HWY_LANES(T)] = {};
                 FindInColumns<T, IsMax>(d, from + c, std::min(depth, MaxRows), stride, bests, indices);
                 std::copy_n(indices, Lanes, out + c);
                 for (size_t first = MaxRows; first < depth; first += MaxRows)
                 {
                     T next[HWY_LANES(T)] = {};
                     FindInColumns<T, IsMax>(d, from + first * stride + c, std::min(depth - first, MaxRows), stride,
                                             next, indices);
                     for (size_t i = 0; i < Lanes; ++i)
                     {
                         const bool isBetter = IsMax ? next[i] > bests[i] : next[i] < bests[i];
                         out[c + i] = isBetter ? static_cast<int32_t>(first) + indices[i] : out[c + i];
                         bests[i] = isBetter ? next[i] : bests[i];
                     }
                 }
             });
}

template <typename T, bool IsMax>
void SetFunctions(ArgFunctions& functions, size_t type)
{
    functions.m_Rows[IsMax ? 0 : 1][type] = FindRows<T, IsMax>;
    functions.m_Columns[IsMax ? 0 : 1][type] = FindColumns<T, IsMax>;
}

ArgFunctions MakeArgFunctions()
{
    ArgFunctions functions;
    SetFunctions<float, true>(functions, 0);
    SetFunctions<float, false>(functions, 0);
    SetFunctions<int8_t, true>(functions, 1);
    SetFunctions<int8_t, false>(functions, 1);
    SetFunctions<uint8_t, true>(functions, 2);
    SetFunctions<uint8_t, false>(functions, 2);
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const ArgFunctions& GetArgFunctions()
{
    static constinit PerIsa<ArgFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeArgFunctions)(); });
}

} // namespace tenon::cpu
#endif
