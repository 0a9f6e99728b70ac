// SPDX-License-Identifier: Apache-2.0
// Packing of int16 panels: pairs of neighbouring weights of the depth, less their zero point. Pairs of weights are
// transposed as stored, in 16-bit elements, and widened when they are written: half the shuffles of pairs of int16.
#include "backends/cpu/gemm/pack/PackedWeightsInt16.hpp"

#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstring>

// Foreach.hpp includes this source for each target: the struct is the same for all.
#ifndef TENON_CPU_PACK_LOOPS_INT16
#define TENON_CPU_PACK_LOOPS_INT16
namespace tenon::cpu
{

/// The vector loops: sums of magnitudes, transposing, and limits of slices.
struct PackLoopsInt16
{
    /// The sum of |value - zeroPoint| of `count` values.
    int64_t (*m_SumMagnitudes)(const int8_t* values, size_t count, int8_t zeroPoint) = nullptr;
    /// packed[g][p] = the pair (2g, 2g + 1) of row p, each less `zeroPoint`; the number of rows is a multiple of the
    /// int32 lanes of a vector. An odd depth is padded with a zero. Packs int8, which needs a zero point of 0, or
    /// int16.
    void (*m_PackInt8)(const int8_t* const* rows, size_t paddedColumns, size_t depth, int8_t zeroPoint,
                       std::byte* packed) = nullptr;
    void (*m_PackInt16)(const int8_t* const* rows, size_t paddedColumns, size_t depth, int8_t zeroPoint,
                        std::byte* packed) = nullptr;
    /// Number of leading groups, of `groups` packed groups of pairs, whose magnitudes add up to at most
    /// RequantizeArraysInt16::MaxMagnitude in each column.
    size_t (*m_CountFittingInt8)(const std::byte* packed, size_t groups, size_t vectors) = nullptr;
    size_t (*m_CountFittingInt16)(const std::byte* packed, size_t groups, size_t vectors) = nullptr;
};

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/pack/PackedWeightsInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp: compiled for each target.
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/TransposeBlocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

using Ints = hn::ScalableTag<int32_t>;
using Shorts = hn::Repartition<int16_t, Ints>;
using Bytes = hn::ScalableTag<int8_t>;

int64_t SumMagnitudes(const int8_t* values, size_t count, int8_t zeroPoint)
{
    const Bytes d;
    const hn::RebindToUnsigned<Bytes> dMagnitudes;
    const hn::Repartition<uint64_t, Bytes> dSums;
    const auto zero = hn::Set(d, zeroPoint);
    auto sums = hn::Zero(dSums);
    const auto add = [&](const hn::Vec<Bytes>& v) HWY_ATTR
    {
        const auto magnitudes = hn::Sub(hn::Max(v, zero), hn::Min(v, zero)); // up to 255, as uint8
        sums = hn::Add(sums, hn::SumsOf8(hn::BitCast(dMagnitudes, magnitudes)));
    };
    size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    {
        add(hn::LoadU(d, values + i));
    }
    if (i < count)
    {
        add(LoadFirst(d, values + i, count - i, zeroPoint));
    }
    return static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(dSums, sums)));
}

/// Blocks of 16 bytes from `begin` on; each further block is of the row eight rows below.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const int8_t* const* rows, size_t begin)
{
    if constexpr (hn::MaxLanes(D()) == 8)
    {
        return hn::BitCast(d, hn::LoadU(hn::Repartition<int8_t, D>(), rows[0] + begin));
    }
    else
    {
        const hn::Half<D> half;
        constexpr size_t HalfRows = hn::MaxLanes(D()) / 2;
        return hn::Combine(d, LoadBlocks(half, rows + HalfRows, begin), LoadBlocks(half, rows, begin));
    }
}

template <class D>
HWY_INLINE void StorePairs(D /*d*/, const hn::Vec<D>& pairs, int8_t /*zeroPoint: 0*/, int8_t* to)
{
    const hn::Repartition<int8_t, D> dBytes;
    hn::StoreU(hn::BitCast(dBytes, pairs), dBytes, to);
}

template <class D>
HWY_INLINE void StorePairs(D /*d*/, const hn::Vec<D>& pairs, int8_t zeroPoint, int16_t* to)
{
    if constexpr (hn::MaxLanes(D()) * sizeof(int32_t) > sizeof(hn::Vec<Shorts>))
    {
        const hn::Half<D> half;
        StorePairs(half, hn::LowerHalf(half, pairs), zeroPoint, to);
        StorePairs(half, hn::UpperHalf(half, pairs), zeroPoint, to + hn::MaxLanes(D()));
    }
    else
    {
        const hn::Repartition<int8_t, D> dBytes;
        const hn::Rebind<int16_t, decltype(dBytes)> d16;
        const auto wide = hn::PromoteTo(d16, hn::BitCast(dBytes, pairs));
        hn::StoreU(hn::Sub(wide, hn::Set(d16, zeroPoint)), d16, to);
    }
}

/// Packs eight pairs from `begin` on of some rows, and writes the first `groups` of them.
template <typename T, size_t NumPaddedColumns>
HWY_INLINE void PackBlock(const int8_t* const* rows, size_t begin, size_t groups, int8_t zeroPoint, T* to,
                          size_t stride)
{
    constexpr size_t N = 8;
    const hn::CappedTag<uint16_t, std::max(NumPaddedColumns, N)> d;
    hn::Vec<decltype(d)> v[N];
    HWY_UNROLL(8)
    for (size_t i = 0; i < N; ++i)
    {
        v[i] = LoadBlocks(d, rows + i % NumPaddedColumns, begin);
    }
    TransposeBlocks(d, v);
    HWY_UNROLL(8)
    for (size_t i = 0; i < N; ++i)
    {
        if (i < groups)
        {
            if constexpr (NumPaddedColumns < N)
            {
                const hn::Half<decltype(d)> half;
                StorePairs(half, hn::LowerHalf(half, v[i]), zeroPoint, to + i * stride);
            }
            else
            {
                StorePairs(d, v[i], zeroPoint, to + i * stride);
            }
        }
    }
}

template <typename T, size_t NumPaddedColumns>
HWY_INLINE void PackRows(const int8_t* const* rows, size_t depth, int8_t zeroPoint, T* to, size_t stride)
{
    constexpr size_t BlockDepth = 16;
    size_t k = 0;
    for (; k + BlockDepth <= depth; k += BlockDepth, to += BlockDepth / 2 * stride)
    {
        PackBlock<T, NumPaddedColumns>(rows, k, BlockDepth / 2, zeroPoint, to, stride);
    }
    if (k < depth)
    {
        int8_t last[NumPaddedColumns][BlockDepth];
        const int8_t* lastRows[NumPaddedColumns];
        std::memset(last, zeroPoint, sizeof(last));
        for (size_t p = 0; p < NumPaddedColumns; ++p)
        {
            std::memcpy(last[p], rows[p] + k, depth - k);
            lastRows[p] = last[p];
        }
        PackBlock<T, NumPaddedColumns>(lastRows, 0, (depth - k + 1) / 2, zeroPoint, to, stride);
    }
}

template <typename T>
void Pack(const int8_t* const* rows, size_t paddedColumns, size_t depth, int8_t zeroPoint, std::byte* packed)
{
    constexpr size_t Lanes = HWY_LANES(int32_t);
    auto* const to = reinterpret_cast<T*>(packed);
    size_t p = 0;
    for (; p + 2 * Lanes <= paddedColumns; p += 2 * Lanes)
    {
        PackRows<T, 2 * Lanes>(rows + p, depth, zeroPoint, to + 2 * p, 2 * paddedColumns);
    }
    if (p < paddedColumns)
    {
        PackRows<T, Lanes>(rows + p, depth, zeroPoint, to + 2 * p, 2 * paddedColumns);
    }
}

HWY_INLINE hn::Vec<Shorts> LoadPairs(const int16_t* from)
{
    return hn::LoadU(Shorts(), from);
}

HWY_INLINE hn::Vec<Shorts> LoadPairs(const int8_t* from)
{
    return hn::PromoteTo(Shorts(), hn::LoadU(hn::Rebind<int8_t, Shorts>(), from));
}

template <typename T, size_t Vectors>
size_t CountFittingOf(const T* pairs, size_t groups)
{
    const Ints d;
    const auto low = hn::Set(d, 0xFFFF);
    const auto limit = hn::Set(d, static_cast<int32_t>(RequantizeArraysInt16::MaxMagnitude));
    hn::Vec<Ints> sums[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        sums[v] = hn::Zero(d);
    }
    for (size_t g = 0; g < groups; ++g)
    {
        auto maximum = hn::Zero(d);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v, pairs += 2 * hn::Lanes(d))
        {
            const auto magnitudes = hn::BitCast(d, hn::Abs(LoadPairs(pairs)));
            sums[v] = hn::Add(sums[v], hn::Add(hn::And(magnitudes, low), hn::ShiftRight<16>(magnitudes)));
            maximum = hn::Max(maximum, sums[v]);
        }
        if (!hn::AllFalse(d, hn::Gt(maximum, limit)))
        {
            return g;
        }
    }
    return groups;
}

template <typename T>
size_t CountFitting(const std::byte* packed, size_t groups, size_t vectors)
{
    static_assert(MicrokernelsInt16::MaxVectors == 4);
    const auto* const pairs = reinterpret_cast<const T*>(packed);
    switch (vectors)
    {
    case 1: return CountFittingOf<T, 1>(pairs, groups);
    case 2: return CountFittingOf<T, 2>(pairs, groups);
    case 3: return CountFittingOf<T, 3>(pairs, groups);
    default: return CountFittingOf<T, 4>(pairs, groups);
    }
}

PackLoopsInt16 MakeLoops()
{
    return {SumMagnitudes, Pack<int8_t>, Pack<int16_t>, CountFitting<int8_t>, CountFitting<int16_t>};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

/// Precondition: the processor has vectors, see CpuFeatures.
const PackLoopsInt16& GetPackLoopsInt16()
{
    static constinit PerIsa<PackLoopsInt16> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

size_t GetNumGroups(size_t depth)
{
    return depth / 2 + depth % 2;
}

size_t GetNumVectors(size_t columns, size_t lanes)
{
    return (columns + lanes - 1) / lanes;
}

constexpr size_t MaxPanelColumns = MicrokernelsInt16::MaxVectors * MicrokernelsInt16::MaxLanes;

/// Calls f(values, stride, depth) for each segment of the depth of `count` columns from `first` on; columns are
/// `stride` apart. Segments of transposed weights are first copied to a buffer that fits the first-level cache.
template <typename F>
void ForEachSegment(const WeightReaderInt16& weights, const WeightSizesInt16& sizes, bool isTransposed, size_t first,
                    size_t count, const F& f)
{
    if (!isTransposed)
    {
        f(weights.m_Values + first * sizes.m_Depth, sizes.m_Depth, sizes.m_Depth);
        return;
    }
    constexpr size_t SegmentDepth = 256;
    int8_t columns[MaxPanelColumns * SegmentDepth];
    for (size_t begin = 0; begin < sizes.m_Depth; begin += SegmentDepth)
    {
        const size_t depth = std::min(SegmentDepth, sizes.m_Depth - begin);
        TransposeBytes(reinterpret_cast<const std::byte*>(weights.m_Values + begin * sizes.m_Columns + first),
                       sizes.m_Columns, count, depth, reinterpret_cast<std::byte*>(columns), SegmentDepth);
        f(columns, SegmentDepth, depth);
    }
}

/// The sum of magnitudes of each column.
void SumMagnitudes(const WeightReaderInt16& weights, const WeightSizesInt16& sizes, bool isTransposed,
                   std::span<int64_t> magnitudes)
{
    std::fill(magnitudes.begin(), magnitudes.end(), int64_t{0});
    const PackLoopsInt16& loops = GetPackLoopsInt16();
    for (size_t first = 0; first < sizes.m_Columns; first += MaxPanelColumns)
    {
        const size_t count = std::min(MaxPanelColumns, sizes.m_Columns - first);
        ForEachSegment(weights, sizes, isTransposed, first, count,
                       [&](const int8_t* values, size_t stride, size_t depth)
                       {
                           for (size_t c = 0; c < count; ++c, values += stride)
                           {
                               magnitudes[first + c] += loops.m_SumMagnitudes(values, depth, weights.m_ZeroPoint);
                           }
                       });
    }
}

} // namespace

PackedWeightsInt16::PackedWeightsInt16(const WeightReaderInt16& weights, const WeightSizesInt16& sizes, size_t rows,
                                       backends::PackedStore& store, bool isTransposed)
    : m_Microkernels(&GetMicrokernelsInt16()), m_Sizes(sizes), m_Groups(GetNumGroups(sizes.m_Depth)),
      m_IsInt8(rows <= MicrokernelsInt16::MaxInt8Rows && weights.m_ZeroPoint == 0), m_NumPaddedColumns(MakePanels()),
      m_Arrays(m_NumPaddedColumns, weights.m_Rounding)
{
    if (weights.m_Scales.empty())
    {
        m_IsExact = false;
        return;
    }
    SetUpColumns(weights, store, isTransposed);
    if (!IsExact())
    {
        return;
    }
    m_Zeros.resize(sizes.m_Depth);
    m_Data = store.GetBlock(m_NumPaddedColumns * m_Groups * GetPairBytes(),
                            [&](std::byte* to)
                            {
                                for (const PanelInt16& panel : m_Panels)
                                {
                                    PackPanel(panel, weights, isTransposed, to);
                                }
                            });
    for (PanelInt16& panel : m_Panels)
    {
        FindSlices(panel);
    }
}

uint64_t PackedWeightsInt16::GetPackedBytes(const WeightSizesInt16& sizes)
{
    const size_t lanes = GetMicrokernelsInt16().m_Lanes;
    const uint64_t paddedColumns =
        uint64_t{sizes.m_Groups} * GetNumVectors(sizes.m_Columns / sizes.m_Groups, lanes) * lanes;
    return paddedColumns * (GetNumGroups(sizes.m_Depth) * sizeof(int32_t) + RequantizeArraysInt16::PaddedColumnBytes) +
           sizes.m_Depth * sizeof(int16_t);
}

size_t PackedWeightsInt16::MakePanels()
{
    const size_t lanes = m_Microkernels->m_Lanes;
    const size_t groupColumns = m_Sizes.m_Columns / m_Sizes.m_Groups;
    size_t paddedColumn = 0;
    for (size_t group = 0; group < m_Sizes.m_Groups; ++group)
    {
        size_t column = 0;
        for (size_t left = GetNumVectors(groupColumns, lanes); left > 0;)
        {
            size_t width = std::min(left, m_Microkernels->m_Vectors);
            if (left == m_Microkernels->m_Vectors + 1 && left >= 5)
            {
                width = left - 2; // equal widths: a last panel of one vector would be slow
            }
            PanelInt16 panel;
            panel.m_Column = group * groupColumns + column;
            panel.m_Columns = std::min(width * lanes, groupColumns - column);
            panel.m_Vectors = width;
            panel.m_PaddedColumn = paddedColumn;
            panel.m_Group = group;
            m_Panels.push_back(panel);
            paddedColumn += width * lanes;
            column += width * lanes;
            left -= width;
        }
    }
    return paddedColumn;
}

void PackedWeightsInt16::SetUpColumns(const WeightReaderInt16& weights, backends::PackedStore& store, bool isTransposed)
{
    const size_t columns = m_Sizes.m_Columns;
    const backends::PackedBlock sums =
        store.GetBlock(columns * sizeof(int64_t),
                       [&](std::byte* to) {
                           SumMagnitudes(weights, m_Sizes, isTransposed, {reinterpret_cast<int64_t*>(to), columns});
                       });
    const std::vector<int64_t> magnitudes = weights.ClampMagnitudes(sums.As<int64_t>(), columns, m_Sizes.m_Depth);
    m_FitsOneSlice = *std::max_element(magnitudes.begin(), magnitudes.end()) <= RequantizeArraysInt16::MaxMagnitude;
    for (const PanelInt16& panel : m_Panels)
    {
        for (size_t i = 0; i < panel.m_Columns; ++i)
        {
            const size_t column = panel.m_Column + i;
            m_Arrays.Set(panel.m_PaddedColumn + GetPaddedColumnInt16(i, panel.m_Vectors, m_Microkernels->m_Lanes),
                         magnitudes[column], weights.GetBias(column), weights.GetScale(column));
        }
    }
}

void PackedWeightsInt16::PackPanel(const PanelInt16& panel, const WeightReaderInt16& weights, bool isTransposed,
                                   std::byte* data) const
{
    const size_t width = panel.m_Vectors * m_Microkernels->m_Lanes;
    // Weights of padding columns.
    const std::vector<int8_t> none(panel.m_Columns == width ? 0 : m_Sizes.m_Depth, weights.m_ZeroPoint);
    const int8_t* rows[MaxPanelColumns];
    std::fill_n(rows, width, none.data());
    const PackLoopsInt16& loops = GetPackLoopsInt16();
    const auto pack = m_IsInt8 ? loops.m_PackInt8 : loops.m_PackInt16;
    std::byte* to = data + panel.m_PaddedColumn * m_Groups * GetPairBytes();
    ForEachSegment(weights, m_Sizes, isTransposed, panel.m_Column, panel.m_Columns,
                   [&](const int8_t* values, size_t stride, size_t depth)
                   {
                       for (size_t c = 0; c < panel.m_Columns; ++c)
                       {
                           rows[GetPaddedColumnInt16(c, panel.m_Vectors, m_Microkernels->m_Lanes)] =
                               values + c * stride;
                       }
                       pack(rows, width, depth, weights.m_ZeroPoint, to);
                       to += GetNumGroups(depth) * width * GetPairBytes();
                   });
}

void PackedWeightsInt16::FindSlices(PanelInt16& panel)
{
    panel.m_FirstSlice = m_Slices.size();
    if (!m_FitsOneSlice)
    {
        const PackLoopsInt16& loops = GetPackLoopsInt16();
        const auto countFitting = m_IsInt8 ? loops.m_CountFittingInt8 : loops.m_CountFittingInt16;
        // A single group always fits, except in weights from a corrupt file; a slice then has one group.
        const auto getEnd = [&](size_t begin)
        { return begin + std::max<size_t>(1, countFitting(GetData(panel, begin), m_Groups - begin, panel.m_Vectors)); };
        for (size_t g = getEnd(0); g < m_Groups; g = getEnd(g))
        {
            m_Slices.push_back(g);
        }
    }
    m_Slices.push_back(m_Groups);
    panel.m_LastSlice = m_Slices.size();
}

} // namespace tenon::cpu
#endif
