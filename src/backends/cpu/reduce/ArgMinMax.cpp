// SPDX-License-Identifier: Apache-2.0
// ArgMinMax of floats and 8-bit tensors, along the last dimension (rows) or another one (columns): the kernel row and
// its loops, which find indices of the first largest or smallest element.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/AxisRows.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

// Compiled once: simd/Foreach.hpp includes this file again for each target.
#ifndef TENON_ARG_MIN_MAX_TYPES
#define TENON_ARG_MIN_MAX_TYPES
namespace tenon::cpu
{

namespace
{

/// out[r] = the index of the first extreme element of in[r * depth], ..., in[r * depth + depth - 1], for `rows` rows,
/// as the reference kernel finds it: NaN counts only if the row has nothing else. `readable`: elements from `in` on
/// that may be read, no fewer than rows * depth.
using ArgRowsFunction = void (*)(const void* in, size_t rows, size_t depth, size_t readable, int32_t* out);

/// out[c] = the same for in[c], in[c + stride], ... (`depth` elements), for `columns` columns.
using ArgColumnsFunction = void (*)(const void* in, size_t depth, size_t stride, size_t columns, int32_t* out);

struct ArgFunctions
{
    /// Indexed by [max, min] and [float, int8, uint8].
    ArgRowsFunction m_Rows[2][3] = {};
    ArgColumnsFunction m_Columns[2][3] = {};
};

} // namespace

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/ArgMinMax.cpp"
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

namespace
{

using backends::Prepared;

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ArgFunctions& GetArgFunctions()
{
    static constinit PerIsa<ArgFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeArgFunctions)(); });
}

constexpr backends::TypeRow ArgMinMaxTypes[] = {
    backends::Types({{DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8,
                      DataType::Unsigned8}},
                    {DataType::Signed32, DataType::Signed64})};

constexpr size_t ChunkIndices = 256; ///< indices in a buffer before they are copied to the output

/// Calls find(first, count, indices) for chunks of [begin, end), and copies the indices to `out`.
template <typename Index, typename Find>
void FindChunks(size_t begin, size_t end, Index* out, const Find& find)
{
    std::array<int32_t, ChunkIndices> indices;
    for (size_t first = begin; first < end; first += ChunkIndices)
    {
        const size_t count = std::min(ChunkIndices, end - first);
        find(first, count, indices.data());
        std::copy_n(indices.data(), count, out + first);
    }
}

template <typename Index>
Prepared MakeOfRows(const ref::AxisRows& rows, size_t elementBytes, ArgRowsFunction function)
{
    return [=](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<std::byte>(0);
        auto* const out = run.GetOutput<Index>(0);
        const auto find = [&](size_t first, size_t count, int32_t* indices)
        {
            function(in + first * rows.m_Depth * elementBytes, count, rows.m_Depth,
                     (rows.m_Outer - first) * rows.m_Depth, indices);
        };
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * elementBytes),
                  [&](size_t begin, size_t end) { FindChunks(begin, end, out, find); });
    };
}

template <typename Index>
Prepared MakeOfColumns(const ref::AxisRows& rows, size_t elementBytes, ArgColumnsFunction function)
{
    // A unit of the loop is a chunk of columns.
    const size_t chunks = (rows.m_Step + ChunkIndices - 1) / ChunkIndices;
    return [=](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<std::byte>(0);
        auto* const out = run.GetOutput<Index>(0);
        const auto search = [&](size_t begin, size_t end)
        {
            for (size_t unit = begin; unit < end; ++unit)
            {
                const size_t outer = unit / chunks;
                const size_t column = unit % chunks * ChunkIndices;
                const auto find = [&](size_t first, size_t count, int32_t* indices)
                {
                    function(in + (outer * rows.m_Depth * rows.m_Step + first) * elementBytes, rows.m_Depth,
                             rows.m_Step, count, indices);
                };
                FindChunks(column, std::min(column + ChunkIndices, rows.m_Step), out + outer * rows.m_Step, find);
            }
        };
        RunRanges(*run.m_Parallel, rows.m_Outer * chunks, GetGrain(rows.m_Depth * ChunkIndices * elementBytes), search);
    };
}

template <typename Index>
Prepared MakeArgMinMax(const ref::AxisRows& rows, size_t operation, DataType type)
{
    const bool isUnsigned = type == DataType::QAsymmU8 || type == DataType::Unsigned8;
    const size_t typeIndex = type == DataType::Float32 ? 0 : (isUnsigned ? 2 : 1);
    const ArgFunctions& functions = GetArgFunctions();
    return rows.m_Step == 1
               ? MakeOfRows<Index>(rows, GetDataTypeSize(type), functions.m_Rows[operation][typeIndex])
               : MakeOfColumns<Index>(rows, GetDataTypeSize(type), functions.m_Columns[operation][typeIndex]);
}

Prepared RefineArgMinMax(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorInfo& input = args.GetInput(0);
    const auto& descriptor = args.GetDescriptor<ArgMinMaxDescriptor>();
    const ref::AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (input.GetNumElements() == 0 || rows.m_Depth > INT32_MAX || descriptor.m_SelectLastIndex)
    {
        return Prepared::Declined(
            "the input is empty, or its axis longer than 32-bit indices, or the last index counts");
    }
    const size_t operation = descriptor.m_Function == ArgMinMaxFunction::Max ? 0 : 1;
    return args.GetOutput(0).GetDataType() == DataType::Signed64
               ? MakeArgMinMax<int64_t>(rows, operation, input.GetDataType())
               : MakeArgMinMax<int32_t>(rows, operation, input.GetDataType());
}

} // namespace

extern const backends::Kernel CpuArgMinMaxKernel = {.m_Name = "CpuArgMinMax",
                                                    .m_Types = ArgMinMaxTypes,
                                                    .m_Reference = &ref::RefArgMinMaxKernel,
                                                    .m_Refine = RefineArgMinMax};

} // namespace tenon::cpu
#endif
