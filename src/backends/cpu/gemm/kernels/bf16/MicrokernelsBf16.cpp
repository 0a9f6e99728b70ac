// SPDX-License-Identifier: Apache-2.0
// MicrokernelsBf16: AMX (tdpbf16ps), with two by two tile registers of accumulators, or AVX512-BF16 (vdpbf16ps). The
// epilogue is out = bf16(clamp(bf16(sum) + added)), or bf16(clamp(sum)) with nothing to add. Instructions that
// compilers lack, or spill around, are assembly. Loops over registers are fully unrolled, so that the arrays stay in
// registers.
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"

#include "backends/cpu/gemm/kernels/AmxTileConfig.hpp"
#include "backends/cpu/im2col/SkippedTaps.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/gemm/kernels/SlidingMicrokernel-inl.hpp"
#include "backends/cpu/simd/Bf16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_TARGET == HWY_AVX3
/// Adds m_Added to the rounded product, as a separate layer would. `IsWhole`: the last vector of a row is whole; else
/// it has `last` columns.
template <bool IsWhole, size_t Rows, size_t Vectors>
HWY_INLINE void AddToSums(const TileBf16& tile, VecF32 (&sums)[Rows][Vectors], size_t last)
{
    const TagF32 d;
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const uint16_t* const from = tile.m_Added + r * tile.m_OutStride + v * hn::Lanes(d);
            const VecF32 added = IsWhole || v + 1 < Vectors ? LoadBf16(from) : LoadSomeBf16(from, last);
            sums[r][v] = hn::Add(WidenBf16(RoundNormalToBf16(sums[r][v])), added);
        }
    }
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void ClampSums(const TileBf16& tile, VecF32 (&sums)[Rows][Vectors])
{
    const VecF32 low = hn::Set(TagF32(), tile.m_Low);
    const VecF32 high = hn::Set(TagF32(), tile.m_High);
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            sums[r][v] = Clamped(sums[r][v], low, high);
        }
    }
}

template <bool IsWhole, size_t Rows, size_t Vectors>
HWY_INLINE void StoreSums(const TileBf16& tile, const VecF32 (&sums)[Rows][Vectors], size_t last)
{
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const auto halves = RoundNormalToBf16(sums[r][v]);
            uint16_t* const to = tile.m_Out + r * tile.m_OutStride + v * hn::Lanes(TagF32());
            if (IsWhole || v + 1 < Vectors)
            {
                hn::StoreU(halves, TagUint16(), to);
            }
            else
            {
                StoreSomeUint16(halves, to, last);
            }
        }
    }
}

/// Adds, clamps, rounds and writes.
template <size_t Rows, size_t Vectors>
HWY_INLINE void ApplyEpilogue(const TileBf16& tile, VecF32 (&sums)[Rows][Vectors])
{
    const size_t lanes = hn::Lanes(TagF32());
    const size_t last = tile.m_Columns - (Vectors - 1) * lanes;
    const bool isWhole = last >= lanes;
    if (tile.m_Added != nullptr)
    {
        isWhole ? AddToSums<true>(tile, sums, last) : AddToSums<false>(tile, sums, last);
    }
    if (tile.m_HasClamp)
    {
        ClampSums(tile, sums);
    }
    isWhole ? StoreSums<true>(tile, sums, last) : StoreSums<false>(tile, sums, last);
}

constexpr size_t AmxRows = AmxTileConfig::MaxRows;

/// Row tiles that share a pass over the depth: with the vectors of a panel they fill the four accumulators.
template <size_t Vectors>
constexpr size_t RowTiles = 4 / Vectors;

/// Rows of a thread's tile registers, and pairs of a step; zeros: the registers are not configured.
struct AmxShape
{
    size_t m_Vectors = 0;
    size_t m_FirstRows = 0; ///< of the first row tile
    size_t m_OtherRows = 0; ///< of the others
    size_t m_StepPairs = 0;

    bool operator==(const AmxShape&) const = default;
};
thread_local AmxShape configuredShape;

/// Tile registers 0 to 3 are accumulators, [row tile][vector]; 4, 5 and, with one vector, 7 hold data, the others
/// weights.
void Configure(const AmxShape& shape)
{
    AmxTileConfig configuration;
    constexpr size_t LaneBytes = 64;
    const size_t other = std::max<size_t>(shape.m_OtherRows, 1);
    for (size_t accumulator = 0; accumulator < 4; ++accumulator)
    {
        configuration.Set(accumulator, accumulator < shape.m_Vectors ? shape.m_FirstRows : other, LaneBytes);
    }
    configuration.Set(4, shape.m_FirstRows, 4 * shape.m_StepPairs);
    configuration.Set(5, other, 4 * shape.m_StepPairs);
    configuration.Set(6, shape.m_StepPairs, LaneBytes);
    shape.m_Vectors == 2 ? configuration.Set(7, shape.m_StepPairs, LaneBytes)
                         : configuration.Set(7, other, 4 * shape.m_StepPairs);
    configuration.Load();
    configuredShape = shape;
}

HWY_INLINE void ConfigureFor(const AmxShape& shape)
{
    if (configuredShape != shape)
    {
        Configure(shape);
    }
}

#define TENON_TILE_DOT(sums, data, weights) asm volatile("tdpbf16ps %%tmm" weights ", %%tmm" data ", %%tmm" sums : :)

/// sums[count * AmxRows][Vectors * 16] = data * panel, for `count` row tiles. The depth is tile.m_Pairs, in runs of
/// `runPairs` that lie `runStep` elements apart in the data.
template <size_t Vectors>
HWY_INLINE void SumAmxTiles(const TileBf16& tile, const uint16_t* const (&data)[RowTiles<Vectors>], size_t count,
                            size_t runPairs, size_t runStep, float* sums)
{
    constexpr size_t VectorElements = 32;
    const size_t dataStride = tile.m_DataStride * sizeof(uint16_t);
    const size_t panelStride = Vectors * VectorElements * sizeof(uint16_t);
    const uint16_t* panel = tile.m_Panel;
    const size_t dataStep = 2 * tile.m_StepPairs;
    const size_t panelStep = tile.m_StepPairs * Vectors * VectorElements;
    asm volatile("tilezero %%tmm0\n tilezero %%tmm1\n tilezero %%tmm2\n tilezero %%tmm3" ::);
    size_t runAt = 0;
    for (size_t pairs = tile.m_Pairs; pairs != 0; pairs -= runPairs, runAt += runStep)
    {
        size_t at = runAt;
        for (size_t left = runPairs; left != 0; left -= tile.m_StepPairs, at += dataStep, panel += panelStep)
        {
            TENON_TILE_LOAD("4", data[0] + at, dataStride);
            TENON_TILE_LOAD("6", panel, panelStride);
            TENON_TILE_DOT("0", "4", "6");
            if constexpr (Vectors == 2)
            {
                TENON_TILE_LOAD("7", panel + VectorElements, panelStride);
                TENON_TILE_DOT("1", "4", "7");
                if (count > 1)
                {
                    TENON_TILE_LOAD("5", data[1] + at, dataStride);
                    TENON_TILE_DOT("2", "5", "6");
                    TENON_TILE_DOT("3", "5", "7");
                }
            }
            else if (count > 1)
            {
                TENON_TILE_LOAD("5", data[1] + at, dataStride);
                TENON_TILE_DOT("1", "5", "6");
                if (count > 2)
                {
                    TENON_TILE_LOAD("7", data[2] + at, dataStride);
                    TENON_TILE_DOT("2", "7", "6");
                }
                if (count > 3)
                {
                    TENON_TILE_LOAD("5", data[3] + at, dataStride);
                    TENON_TILE_DOT("3", "5", "6");
                }
            }
        }
    }
    constexpr size_t Width = Vectors * 16;
    constexpr size_t SumStride = Width * sizeof(float);
    TENON_TILE_STORE("0", sums, SumStride);
    if constexpr (Vectors == 2)
    {
        TENON_TILE_STORE("1", sums + 16, SumStride);
        if (count > 1)
        {
            TENON_TILE_STORE("2", sums + AmxRows * Width, SumStride);
            TENON_TILE_STORE("3", sums + AmxRows * Width + 16, SumStride);
        }
    }
    else if (count > 1)
    {
        TENON_TILE_STORE("1", sums + AmxRows * Width, SumStride);
        if (count > 2)
        {
            TENON_TILE_STORE("2", sums + 2 * AmxRows * Width, SumStride);
        }
        if (count > 3)
        {
            TENON_TILE_STORE("3", sums + 3 * AmxRows * Width, SumStride);
        }
    }
}

/// The epilogue of `rows` rows of sums, with bias, mask and bounds in registers. The numbers to add to the next row are
/// loaded before a row is written: where the output is the tensor to add, a load right after a partial store of the
/// same line would wait for it.
template <size_t Vectors, bool HasAdded, bool HasClamp>
void WriteRows(const TileBf16& tile, const float* sums, size_t rows, uint16_t* out, const uint16_t* added)
{
    const TagF32 d;
    const TagUint16 d16;
    const size_t lanes = hn::Lanes(d);
    const auto last = hn::FirstN(d16, tile.m_Columns - (Vectors - 1) * lanes);
    const auto load = [&](const uint16_t* from, size_t v)
    { return v + 1 < Vectors ? hn::LoadU(d16, from) : hn::MaskedLoad(last, d16, from); };
    const VecF32 low = hn::Set(d, tile.m_Low);
    const VecF32 high = hn::Set(d, tile.m_High);
    VecF32 bias[Vectors];
    hn::Vec<TagUint16> next[Vectors];
    HWY_UNROLL(2)
    for (size_t v = 0; v < Vectors; ++v)
    {
        bias[v] = hn::LoadU(d, tile.m_Bias + v * lanes);
        next[v] = HasAdded ? load(added + v * lanes, v) : hn::Zero(d16);
    }
    for (; rows != 0; --rows, sums += Vectors * lanes, out += tile.m_OutStride)
    {
        VecF32 values[Vectors];
        HWY_UNROLL(2)
        for (size_t v = 0; v < Vectors; ++v)
        {
            values[v] = hn::Add(hn::Load(d, sums + v * lanes), bias[v]);
            if constexpr (HasAdded)
            {
                values[v] = hn::Add(WidenBf16(RoundNormalToBf16(values[v])), WidenBf16(next[v]));
            }
            if constexpr (HasClamp)
            {
                values[v] = Clamped(values[v], low, high);
            }
        }
        if constexpr (HasAdded)
        {
            added += rows > 1 ? tile.m_OutStride : 0;
            HWY_UNROLL(2)
            for (size_t v = 0; v < Vectors; ++v)
            {
                next[v] = load(added + v * lanes, v);
            }
        }
        HWY_UNROLL(2)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const auto result = RoundNormalToBf16(values[v]);
            if (v + 1 < Vectors)
            {
                hn::StoreU(result, d16, out + v * lanes);
            }
            else
            {
                hn::BlendedStore(result, last, d16, out + v * lanes);
            }
        }
    }
}

/// The same with the steps that the tile asks for. `offset`: of the rows, in elements from m_Out and m_Added.
template <size_t Vectors>
HWY_INLINE void WriteRows(const TileBf16& tile, const float* sums, size_t rows, size_t offset)
{
    uint16_t* const out = tile.m_Out + offset;
    if (tile.m_Added != nullptr)
    {
        const uint16_t* const added = tile.m_Added + offset;
        tile.m_HasClamp ? WriteRows<Vectors, true, true>(tile, sums, rows, out, added)
                        : WriteRows<Vectors, true, false>(tile, sums, rows, out, added);
        return;
    }
    tile.m_HasClamp ? WriteRows<Vectors, false, true>(tile, sums, rows, out, nullptr)
                    : WriteRows<Vectors, false, false>(tile, sums, rows, out, nullptr);
}

/// Rows past the last window of a group are computed from the memory behind it, and not written.
template <size_t Vectors>
void RunAmxWindows(const TileBf16& tile, const WindowsBf16* windows, size_t count)
{
    static_assert(WindowsBf16::MaxPixels == AmxRows);
    constexpr size_t TileElements = AmxRows * Vectors * 16;
    ConfigureFor({Vectors, AmxRows, AmxRows, tile.m_StepPairs});
    alignas(64) float sums[RowTiles<Vectors> * TileElements];
    for (size_t first = 0; first < count; first += RowTiles<Vectors>)
    {
        if (tile.m_Next != nullptr)
        {
            tile.m_Next->FetchLines(tile.m_Pairs / 2);
        }
        const size_t used = std::min(count - first, RowTiles<Vectors>);
        const uint16_t* data[RowTiles<Vectors>];
        for (size_t i = 0; i < RowTiles<Vectors>; ++i)
        {
            data[i] = windows[first + std::min(i, used - 1)].m_Data;
        }
        SumAmxTiles<Vectors>(tile, data, used, tile.m_TapPairs, tile.m_TapStep, sums);
        for (size_t i = 0; i < used; ++i)
        {
            const WindowsBf16& group = windows[first + i];
            WriteRows<Vectors>(tile, sums + i * TileElements, group.m_Pixels, group.m_OutOffset);
        }
    }
}

void ReleaseTiles()
{
    asm volatile("tilerelease" ::);
    configuredShape = AmxShape();
}

struct DotPairs
{
    static HWY_INLINE void Add(VecF32& sum, VecUint32 x, VecUint32 w)
    {
        asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(w.raw));
    }
    /// The same with the pair as a broadcast memory operand.
    static HWY_INLINE void Add(VecF32& sum, const uint16_t* pair, VecUint32 w)
    {
        using Bytes = const char[sizeof(uint32_t)];
        asm("vdpbf16ps %1%{1to16%}, %2, %0" : "+v"(sum.raw) : "m"(*reinterpret_cast<Bytes*>(pair)), "v"(w.raw));
    }
};

/// Adds the products of a pair of the depth. T = uint16_t reads the first half of the pair alone.
template <typename T, size_t Rows, size_t Vectors>
HWY_INLINE void AddPair(VecF32 (&sums)[Rows][Vectors], const uint16_t* const (&rows)[Rows], ptrdiff_t pair,
                        const uint32_t* panel)
{
    const TagUint32 d;
    VecUint32 w[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        w[v] = hn::Load(d, panel + v * hn::Lanes(d));
    }
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        if constexpr (Vectors == 1 && sizeof(T) == sizeof(uint32_t))
        {
            DotPairs::Add(sums[r][0], rows[r] + 2 * pair, w[0]);
            continue;
        }
        T data;
        std::memcpy(&data, rows[r] + 2 * pair, sizeof(data));
        const VecUint32 x = hn::Set(d, uint32_t{data});
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            DotPairs::Add(sums[r][v], x, w[v]);
        }
    }
}

/// Adds the products of `pairs` pairs of the depth, which end at `ends`. Returns the weights after them.
template <size_t Rows, size_t Vectors>
HWY_INLINE const uint32_t* AddPairs(VecF32 (&sums)[Rows][Vectors], const uint16_t* const (&ends)[Rows], size_t pairs,
                                    const uint32_t* panel, WeightPrefetcher& next)
{
    constexpr ptrdiff_t Unroll = 4;
    constexpr size_t PanelStep = Vectors * MicrokernelsBf16::MaxLanes;
    auto pair = -static_cast<ptrdiff_t>(pairs);
    for (; pair <= -Unroll; pair += Unroll, panel += Unroll * PanelStep)
    {
        HWY_UNROLL(4)
        for (ptrdiff_t u = 0; u < Unroll; ++u)
        {
            AddPair<uint32_t>(sums, ends, pair + u, panel + static_cast<size_t>(u) * PanelStep);
        }
        next.FetchLine();
    }
    for (; pair != 0; ++pair, panel += PanelStep)
    {
        AddPair<uint32_t>(sums, ends, pair, panel);
    }
    return panel;
}

/// The same for few rows, in independent accumulator chains, which hide the latency of the dot products.
template <size_t Rows, size_t Vectors>
HWY_INLINE const uint32_t* AddPairsInChains(VecF32 (&sums)[Rows][Vectors], const uint16_t* const (&ends)[Rows],
                                            size_t pairs, const uint32_t* panel, WeightPrefetcher& next)
{
    constexpr size_t Chains = (Rows == 1 ? 8 : 4) / Vectors;
    constexpr size_t PanelStep = Vectors * MicrokernelsBf16::MaxLanes;
    VecF32 chains[Chains][Rows][Vectors];
    HWY_UNROLL(8)
    for (size_t u = 0; u < Chains; ++u)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(2)
            for (size_t v = 0; v < Vectors; ++v)
            {
                chains[u][r][v] = u == 0 ? sums[r][v] : hn::Zero(TagF32());
            }
        }
    }
    auto pair = -static_cast<ptrdiff_t>(pairs);
    for (; pair <= -static_cast<ptrdiff_t>(Chains); pair += Chains, panel += Chains * PanelStep)
    {
        HWY_UNROLL(8)
        for (size_t u = 0; u < Chains; ++u)
        {
            AddPair<uint32_t>(chains[u], ends, pair + static_cast<ptrdiff_t>(u), panel + u * PanelStep);
        }
        next.FetchLine();
    }
    for (; pair != 0; ++pair, panel += PanelStep)
    {
        AddPair<uint32_t>(chains[0], ends, pair, panel);
    }
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(2)
        for (size_t v = 0; v < Vectors; ++v)
        {
            sums[r][v] = chains[0][r][v];
            HWY_UNROLL(8)
            for (size_t u = 1; u < Chains; ++u)
            {
                sums[r][v] = hn::Add(sums[r][v], chains[u][r][v]);
            }
        }
    }
    return panel;
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void MultiplyPairs(const TileBf16& tile, VecF32 (&sums)[Rows][Vectors], WeightPrefetcher& next)
{
    const auto* panel = reinterpret_cast<const uint32_t*>(tile.m_Panel);
    const uint16_t* ends[Rows];
    if (tile.m_Indirection == nullptr)
    {
        const size_t wholePairs = tile.m_Pairs - (tile.m_HasHalfPair ? 1 : 0);
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            ends[r] = tile.m_Data + r * tile.m_DataStride + 2 * wholePairs;
        }
        bool isDone = false;
        if constexpr (Vectors <= 2 && Rows <= TileBf16::FewRows)
        {
            if (tile.m_HasFewRows)
            {
                panel = AddPairsInChains(sums, ends, wholePairs, panel, next);
                isDone = true;
            }
        }
        if (!isDone)
        {
            panel = AddPairs(sums, ends, wholePairs, panel, next);
        }
        if (tile.m_HasHalfPair)
        {
            AddPair<uint16_t>(sums, ends, 0, panel);
        }
        return;
    }
    const uint16_t* const* table = tile.m_Indirection;
    for (size_t left = tile.m_Pairs; left != 0; left -= tile.m_TapPairs, table += tile.m_TapStep)
    {
        if (tile.m_Zeros != nullptr && IsTapPadding<Rows>(table, tile.m_Zeros))
        {
            panel += tile.m_TapPairs * Vectors * MicrokernelsBf16::MaxLanes;
            continue;
        }
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            ends[r] = table[r] + 2 * tile.m_TapPairs;
        }
        panel = AddPairs(sums, ends, tile.m_TapPairs, panel, next);
    }
}

template <size_t Rows, size_t Vectors>
void RunTiles(const TileBf16& first, size_t count)
{
    TileBf16 tile = first;
    WeightPrefetcher next = first.m_Next != nullptr ? *first.m_Next : WeightPrefetcher(first.m_Panel, 0);
    while (true)
    {
        VecF32 sums[Rows][Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const VecF32 bias = hn::LoadU(TagF32(), tile.m_Bias + v * MicrokernelsBf16::MaxLanes);
            HWY_UNROLL(16)
            for (size_t r = 0; r < Rows; ++r)
            {
                sums[r][v] = bias;
            }
        }
        MultiplyPairs(tile, sums, next);
        ApplyEpilogue(tile, sums);
        if (--count == 0)
        {
            break;
        }
        tile.MoveDown(Rows);
    }
    if (first.m_Next != nullptr)
    {
        *first.m_Next = next;
    }
}

template <size_t Vectors>
void RunAmxTiles(const TileBf16& first, size_t count)
{
    if (first.m_HasFewRows)
    {
        // Tiles would be empty for the greater part.
        first.m_Rows == 1   ? RunTiles<1, Vectors>(first, count)
        : first.m_Rows == 2 ? RunTiles<2, Vectors>(first, count)
                            : RunTiles<3, Vectors>(first, count);
        return;
    }
    TileBf16 tile = first;
    const size_t upper = std::min(tile.m_Rows, AmxRows);
    const size_t lower = tile.m_Rows - upper;
    ConfigureFor({Vectors, upper, lower, tile.m_StepPairs});
    alignas(64) float sums[2 * AmxRows * Vectors * 16];
    while (true)
    {
        if (tile.m_Next != nullptr)
        {
            // Prefetches a share of the next panel: four tiles or more fetch all of a panel of this width.
            tile.m_Next->FetchLines(tile.m_Pairs / 2);
        }
        const uint16_t* data[RowTiles<Vectors>] = {tile.m_Data};
        data[1] = tile.m_Data + (lower != 0 ? AmxRows * tile.m_DataStride : 0);
        SumAmxTiles<Vectors>(tile, data, lower != 0 ? 2 : 1, tile.m_Pairs, 0, sums);
        WriteRows<Vectors>(tile, sums, tile.m_Rows, 0);
        if (--count == 0)
        {
            break;
        }
        tile.MoveDown(tile.m_Rows);
    }
}

/// The operations of SlideStep.
struct PairWords : DotPairs
{
    using Vector = VecUint32;
    static constexpr size_t Elements = 2;
    static HWY_INLINE VecUint32 Set(const uint16_t* from)
    {
        uint32_t pair;
        std::memcpy(&pair, from, sizeof(pair));
        return hn::Set(TagUint32(), pair);
    }
    static HWY_INLINE VecUint32 Load(const float* weights)
    {
        return hn::BitCast(TagUint32(), hn::Load(TagF32(), weights));
    }
};

template <size_t Rows>
void RunSlidingTile(const TileBf16& tile, size_t)
{
    const VecF32 bias = hn::LoadU(TagF32(), tile.m_Bias);
    VecF32 sums[Rows][1];
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        sums[r][0] = bias;
    }
    Slide<PairWords>(SlidingTile<uint16_t>{tile.m_Indirection, tile.m_Pairs / tile.m_TapPairs, tile.m_PixelStep,
                                           tile.m_TapPairs / SlidingColumns,
                                           reinterpret_cast<const float*>(tile.m_Panel)},
                     sums);
    ApplyEpilogue(tile, sums);
}

template <size_t Rows>
void FillSlidingTiles(MicrokernelsBf16& microkernels)
{
    microkernels.m_SlidingTiles[Rows] = RunSlidingTile<Rows>;
    microkernels.m_SlidingRows = std::max(microkernels.m_SlidingRows, Rows);
    if constexpr (Rows > 1)
    {
        FillSlidingTiles<Rows - 1>(microkernels);
    }
}

/// Fills the microkernels of 1 to `Rows` rows for panels of `Vectors`.
template <size_t Vectors, size_t Rows>
void FillTiles(MicrokernelsBf16& microkernels)
{
    microkernels.m_Tiles[Vectors][Rows] = RunTiles<Rows, Vectors>;
    microkernels.m_Rows[Vectors] = std::max(microkernels.m_Rows[Vectors], Rows);
    microkernels.m_Vectors = std::max(microkernels.m_Vectors, Vectors);
    microkernels.m_ReadsIndirection = true;
    if constexpr (Rows > 1)
    {
        FillTiles<Vectors, Rows - 1>(microkernels);
    }
}

#endif

void ReleaseNothing() {}

MicrokernelsBf16 MakeMicrokernels()
{
    MicrokernelsBf16 microkernels;
    microkernels.m_Lanes = hn::Lanes(TagF32());
    microkernels.m_Release = ReleaseNothing;
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_AmxBf16)
    {
        microkernels.m_Vectors = 2;
        microkernels.m_Rows[1] = microkernels.m_Rows[2] = 32;
        microkernels.m_MaxStepPairs = 16;
        microkernels.m_RowUnit = 32;
        std::fill(std::begin(microkernels.m_Tiles[1]), std::end(microkernels.m_Tiles[1]), RunAmxTiles<1>);
        std::fill(std::begin(microkernels.m_Tiles[2]), std::end(microkernels.m_Tiles[2]), RunAmxTiles<2>);
        microkernels.m_WindowTiles[1] = RunAmxWindows<1>;
        microkernels.m_WindowTiles[2] = RunAmxWindows<2>;
        microkernels.m_Release = ReleaseTiles;
        microkernels.m_HasDots = true;
        return microkernels;
    }
    if (GetCpuFeatures().m_UsesBf16Dots && GetCpuFeatures().m_Avx512Bf16)
    {
        FillSlidingTiles<12>(microkernels);
        microkernels.m_HasDots = true;
        if (GetCpuFeatures().m_SplitsVectors)
        {
            FillTiles<1, 7>(microkernels); // as in MicrokernelsF32
            return microkernels;
        }
        FillTiles<1, 12>(microkernels);
        FillTiles<2, 12>(microkernels);
        FillTiles<3, 8>(microkernels);
        FillTiles<4, 6>(microkernels);
        return microkernels;
    }
#endif
    return microkernels;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const MicrokernelsBf16& GetMicrokernelsBf16()
{
    static constinit PerIsa<MicrokernelsBf16> microkernels;
    return microkernels.Get([] { return TENON_CHOOSE(MakeMicrokernels)(); });
}

} // namespace tenon::cpu
#endif
