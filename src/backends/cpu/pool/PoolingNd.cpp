// SPDX-License-Identifier: Apache-2.0
// Kernel row of PoolingNd: Max of floats and 8-bit elements, Average of floats. Windows are separable: rows are reduced
// over all dimensions but the last, whole input rows at a time, and then along the last one by a table of offsets:
//     rows of a window [row taps][width]  ->  one row [width]  ->  out [windows], each from [taps] elements of the row
// Maxima of rows and of gathered columns are the vector loops of this file, weighted sums those of InterpolateVectors.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/InterpolateVectors.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/PoolGeometry.hpp"

#include <tenon/Types.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

// Compiled once: simd/Foreach.hpp includes this file again for each target.
#ifndef TENON_POOLING_ND_TYPES
#define TENON_POOLING_ND_TYPES
namespace tenon::cpu
{

namespace
{

/// The functions of one element type. NaN is passed over; the maximum of no elements is the lowest value.
struct SeparableMaxFunctions
{
    /// out[i] is the largest of rows[k][i] over k in [0, taps).
    void (*m_MaxRows)(const void* const* rows, size_t taps, size_t count, void* out) = nullptr;
    /// out[i] is the largest of in[places[k * count + i]] over k in [0, taps).
    void (*m_MaxColumns)(const void* in, const int32_t* offsets, size_t taps, size_t count, void* out) = nullptr;
};

struct SeparableMaxTable
{
    SeparableMaxFunctions m_F32;
    SeparableMaxFunctions m_Int8;  ///< int8
    SeparableMaxFunctions m_Uint8; ///< uint8
};

} // namespace

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/PoolingNd.cpp"
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

namespace
{

using backends::Prepared;
using ref::PoolDimension;
using ref::PoolReach;

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const SeparableMaxTable& GetSeparableMaxTable()
{
    static constinit PerIsa<SeparableMaxTable> table;
    return table.Get([] { return TENON_CHOOSE(MakeSeparableMaxTable)(); });
}

constexpr backends::TypeSet SignedBytes = {DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8};
constexpr backends::TypeSet UnsignedBytes = {DataType::QAsymmU8, DataType::Unsigned8};
constexpr backends::TypeRow PoolingNdTypes[] = {backends::SameType(SignedBytes | UnsignedBytes | DataType::Float32)};
/// The most taps of a window along the last dimension, and along all others together. CpuRef computes larger sums, in
/// double precision.
constexpr size_t MaxTaps = 128;

struct PoolRun
{
    ref::PoolGeometry m_Geometry;
    bool m_IsMax = true;
    bool m_CountsPaddings = false;
    size_t m_ElementBytes = sizeof(float);
    size_t m_RowTaps = 1; ///< the most row taps of a window: all dimensions but the last
    size_t m_Taps = 1;    ///< taps of the last dimension; 0: the last dimension is not pooled
    std::vector<int32_t> m_Offsets;
    std::vector<float> m_Weights;
    SeparableMaxFunctions m_Max;
    const InterpolateFunctions* m_Weighted = nullptr;
    size_t m_Tasks = 1;
    size_t m_TaskBytes = 0;
    size_t m_RowAt = 0; ///< offset in the memory of a task
    size_t m_RowsAt = 0;
    size_t m_RowWeightsAt = 0;

    const PoolDimension& Last() const { return m_Geometry.m_Dimensions.back(); }
    size_t Width() const { return Last().m_Reaches.size(); }
    size_t CountRows() const { return m_Geometry.m_Planes * (m_Geometry.m_OutputPlane / Width()); }

    void operator()(const ExecuteArgs& run) const
    {
        const size_t used = std::min<size_t>(m_Tasks, run.m_Parallel->GetNumThreads());
        RunTasks(*run.m_Parallel, used,
                 [&](size_t index)
                 {
                     auto* const memory = backends::Scratch::At<std::byte>(run.m_Scratch, index * m_TaskBytes);
                     const IndexRange task = GetTaskRange(CountRows(), used, index);
                     for (size_t row = task.m_Begin; row < task.m_End; ++row)
                     {
                         PoolRow(run, row, memory);
                     }
                 });
    }

    void PoolRow(const ExecuteArgs& run, size_t row, std::byte* memory) const
    {
        const size_t inPlane = m_Geometry.m_OutputPlane / Width();
        const std::byte* const plane =
            run.GetInput<std::byte>(0) + row / inPlane * m_Geometry.m_InputPlane * m_ElementBytes;
        std::byte* const out = run.GetOutput<std::byte>(0) + row * Width() * m_ElementBytes;
        auto* const rows = backends::Scratch::At<const void*>(memory, m_RowsAt);
        size_t counted = 1;
        const size_t count = CollectRows(plane, row % inPlane, rows, counted);
        std::byte* const reduced = m_Taps == 0 ? out : memory + m_RowAt;
        const auto width = static_cast<size_t>(Last().m_Input);
        const std::byte* from = reduced;
        if (m_IsMax)
        {
            if (count == 1 && m_Taps != 0)
            {
                from = static_cast<const std::byte*>(rows[0]);
            }
            else
            {
                m_Max.m_MaxRows(rows, count, width, reduced);
            }
            if (m_Taps != 0)
            {
                m_Max.m_MaxColumns(from, m_Offsets.data(), m_Taps, Width(), out);
            }
            return;
        }
        auto* const weights = backends::Scratch::At<float>(memory, m_RowWeightsAt);
        std::fill_n(weights, count, 1.0f / static_cast<float>(m_CountsPaddings ? counted : count));
        m_Weighted->m_CombineRows(rows, weights, count, width, reinterpret_cast<float*>(reduced));
        if (m_Taps != 0)
        {
            m_Weighted->m_CombineColumns(reinterpret_cast<const float*>(reduced),
                                         {Width(), m_Taps, 1, m_Offsets.data(), m_Weights.data()},
                                         reinterpret_cast<float*>(out));
        }
    }

    /// Collects the input rows of an output row of a plane and returns their number. `counted` is multiplied by their
    /// number with those in padding.
    size_t CollectRows(const std::byte* plane, size_t row, const void** rows, size_t& counted) const
    {
        rows[0] = plane;
        size_t count = 1;
        for (size_t i = m_Geometry.m_Dimensions.size() - 1; i-- > 0;)
        {
            const PoolDimension& dimension = m_Geometry.m_Dimensions[i];
            const PoolReach& reach = dimension.m_Reaches[row % dimension.m_Reaches.size()];
            row /= dimension.m_Reaches.size();
            counted *= static_cast<size_t>(reach.m_Counted);
            const auto reached = static_cast<size_t>(reach.m_Count);
            for (size_t k = reached; k-- > 0;) // backwards, as rows[0 ... count) are still needed
            {
                const int64_t index = reach.m_First + static_cast<int64_t>(k) * dimension.m_Dilation;
                const int64_t offset = index * dimension.m_Stride * static_cast<int64_t>(m_ElementBytes);
                for (size_t n = 0; n < count; ++n)
                {
                    rows[k * count + n] = static_cast<const std::byte*>(rows[n]) + offset;
                }
            }
            count *= reached;
        }
        return count;
    }

    /// Fills the tables of the last dimension.
    void FindColumns()
    {
        const PoolDimension& last = Last();
        bool isIdentity = last.m_Input == last.m_Output;
        for (size_t i = 0; i < Width(); ++i)
        {
            const PoolReach& reach = last.m_Reaches[i];
            isIdentity = isIdentity && m_Taps == 1 && reach.m_Counted == 1 && reach.m_First == static_cast<int64_t>(i);
        }
        m_Taps = isIdentity ? 0 : m_Taps;
        for (size_t k = 0; k < m_Taps; ++k)
        {
            for (const PoolReach& reach : last.m_Reaches)
            {
                const auto tap = static_cast<int64_t>(k);
                const int64_t count = m_CountsPaddings ? reach.m_Counted : reach.m_Count;
                // A repeated element does not change a maximum, and has weight 0 in an average.
                m_Offsets.push_back(static_cast<int32_t>(
                    reach.m_First + std::clamp<int64_t>(tap, 0, reach.m_Count - 1) * last.m_Dilation));
                m_Weights.push_back(tap < reach.m_Count ? 1.0f / static_cast<float>(count) : 0.0f);
            }
        }
    }
};

/// The most taps of a window along a dimension.
size_t CountTaps(const PoolDimension& dimension)
{
    int64_t maxCount = 0;
    for (const PoolReach& reach : dimension.m_Reaches)
    {
        maxCount = std::max(maxCount, reach.m_Count);
    }
    return static_cast<size_t>(maxCount);
}

Prepared RefinePoolingNd(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& pool = args.GetDescriptor<PoolingNdDescriptor>();
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("it is empty");
    }
    PoolRun run;
    run.m_Geometry = ref::MakePoolGeometry(args);
    for (size_t i = 0; i < run.m_Geometry.m_Dimensions.size(); ++i)
    {
        const PoolDimension& dimension = run.m_Geometry.m_Dimensions[i];
        const auto isEmpty = [](const PoolReach& reach) { return reach.m_Count == 0; };
        if (std::any_of(dimension.m_Reaches.begin(), dimension.m_Reaches.end(), isEmpty))
        {
            return Prepared::Declined("a window has no elements");
        }
        size_t& taps = i + 1 == run.m_Geometry.m_Dimensions.size() ? run.m_Taps : run.m_RowTaps;
        taps *= CountTaps(dimension);
        if (taps > MaxTaps)
        {
            return Prepared::Declined("its windows are large");
        }
    }
    if (run.Last().m_Input > std::numeric_limits<int32_t>::max())
    {
        return Prepared::Declined("its rows are very long");
    }
    const DataType type = args.GetInput(0).GetDataType();
    const SeparableMaxTable& table = GetSeparableMaxTable();
    run.m_IsMax = pool.m_Function == PoolingNdFunction::Max;
    run.m_CountsPaddings = pool.m_PaddingMethod == PaddingMethod::IgnoreValue;
    run.m_ElementBytes = GetDataTypeSize(type);
    run.m_Max = type == DataType::Float32 ? table.m_F32 : SignedBytes.Has(type) ? table.m_Int8 : table.m_Uint8;
    run.m_Weighted = &GetInterpolateFunctions();
    run.FindColumns();
    backends::Scratch scratch;
    run.m_RowAt = scratch.Add<std::byte>(static_cast<size_t>(run.Last().m_Input), run.m_ElementBytes);
    run.m_RowsAt = scratch.Add<const void*>(run.m_RowTaps);
    run.m_RowWeightsAt = scratch.Add<float>(run.m_RowTaps);
    run.m_TaskBytes = scratch.GetBytes();
    const size_t rowCost = static_cast<size_t>(run.Last().m_Input) * run.m_ElementBytes * run.m_RowTaps +
                           run.Width() * (run.m_Taps + 1) * sizeof(float); // cost in bytes moved
    run.m_Tasks = std::clamp<size_t>(run.CountRows() / GetGrain(rowCost), 1, GetMaxTasks(args.m_MaxThreads));
    const size_t bytes = backends::CheckedCount(run.m_Tasks, run.m_TaskBytes);
    return Prepared(std::move(run), bytes);
}

SupportResult CheckPoolingNd(const LayerView& layer)
{
    const auto& pool = layer.GetDescriptor<PoolingNdDescriptor>();
    const bool isMax = pool.m_Function == PoolingNdFunction::Max && !pool.m_IndicesEnabled;
    if (!isMax &&
        (pool.m_Function != PoolingNdFunction::Average || layer.GetInput(0).GetDataType() != DataType::Float32))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it has Max without indices, and Average of Float32");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel CpuPoolingNdKernel = {.m_Name = "CpuPoolingNd",
                                                    .m_Types = PoolingNdTypes,
                                                    .m_Check = CheckPoolingNd,
                                                    .m_Reference = &ref::RefPoolingNdKernel,
                                                    .m_Refine = RefinePoolingNd};

} // namespace tenon::cpu
#endif
