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
            const VecUint32 rounded = hn::ShiftLeft<16>(hn::PromoteTo(TagUint32(), RoundNormalToBf16(sums[r][v])));
            const VecF32 added = IsWhole || v + 1 < Vectors ? LoadBf16(from) : LoadSomeBf16(from, last);
            sums[r][v] = hn::Add(hn::BitCast(d, rounded), added);
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

/// Tile registers 0 to 3 are accumulators (two of rows by two of columns), 4 and 5 data, 6 and 7 weights.
HWY_INLINE void Configure(size_t rows, size_t stepPairs)
{
    AmxTileConfig configuration;
    const size_t upper = std::min<size_t>(rows, 16);
    const size_t lower = std::max<size_t>(rows - upper, 1);
    configuration.Set(0, upper, 64);
    configuration.Set(1, upper, 64);
    configuration.Set(2, lower, 64);
    configuration.Set(3, lower, 64);
    configuration.Set(4, upper, 4 * stepPairs);
    configuration.Set(5, lower, 4 * stepPairs);
    configuration.Set(6, stepPairs, 64);
    configuration.Set(7, stepPairs, 64);
    configuration.Load();
}

/// Rows and step of this thread's current configuration; zeros: none.
thread_local size_t configuredRows = 0;
thread_local size_t configuredPairs = 0;

template <size_t Vectors>
HWY_INLINE void RunAmxTile(const TileBf16& tile)
{
    if (configuredRows != tile.m_Rows || configuredPairs != tile.m_StepPairs)
    {
        Configure(tile.m_Rows, tile.m_StepPairs);
        configuredRows = tile.m_Rows;
        configuredPairs = tile.m_StepPairs;
    }
    const bool hasLowerRows = tile.m_Rows > 16;
    const size_t dataStride = tile.m_DataStride * sizeof(uint16_t);
    constexpr size_t VectorElements = 32;
    const size_t panelStride = Vectors * VectorElements * sizeof(uint16_t);
    const uint16_t* upper = tile.m_Data;
    const uint16_t* lower = tile.m_Data + 16 * tile.m_DataStride;
    const uint16_t* left = tile.m_Panel;
    const uint16_t* right = tile.m_Panel + VectorElements;
    const size_t dataStep = 2 * tile.m_StepPairs;
    const size_t panelStep = tile.m_StepPairs * Vectors * VectorElements;
    const size_t steps = tile.m_Pairs / tile.m_StepPairs;
    asm volatile("tilezero %%tmm0\n tilezero %%tmm1\n tilezero %%tmm2\n tilezero %%tmm3" ::);
    for (size_t i = 0; i < steps; ++i)
    {
        asm volatile("tileloadd (%0,%1,1), %%tmm4" : : "r"(upper), "r"(dataStride) : "memory");
        asm volatile("tileloadd (%0,%1,1), %%tmm6" : : "r"(left), "r"(panelStride) : "memory");
        asm volatile("tdpbf16ps %%tmm6, %%tmm4, %%tmm0" ::);
        if constexpr (Vectors == 2)
        {
            asm volatile("tileloadd (%0,%1,1), %%tmm7" : : "r"(right), "r"(panelStride) : "memory");
            asm volatile("tdpbf16ps %%tmm7, %%tmm4, %%tmm1" ::);
        }
        if (hasLowerRows)
        {
            asm volatile("tileloadd (%0,%1,1), %%tmm5" : : "r"(lower), "r"(dataStride) : "memory");
            asm volatile("tdpbf16ps %%tmm6, %%tmm5, %%tmm2" ::);
            if constexpr (Vectors == 2)
            {
                asm volatile("tdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::);
            }
        }
        upper += dataStep;
        lower += dataStep;
        left += panelStep;
        right += panelStep;
    }
    constexpr size_t Width = Vectors * 16;
    alignas(64) float sums[MicrokernelsBf16::MaxRows * Width];
    const size_t sumStride = Width * sizeof(float);
    float* const under = sums + 16 * Width;
    asm volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(sums), "r"(sumStride) : "memory");
    if constexpr (Vectors == 2)
    {
        asm volatile("tilestored %%tmm1, (%0,%1,1)" : : "r"(sums + 16), "r"(sumStride) : "memory");
    }
    if (hasLowerRows)
    {
        asm volatile("tilestored %%tmm2, (%0,%1,1)" : : "r"(under), "r"(sumStride) : "memory");
        if constexpr (Vectors == 2)
        {
            asm volatile("tilestored %%tmm3, (%0,%1,1)" : : "r"(under + 16), "r"(sumStride) : "memory");
        }
    }
    const TagF32 d;
    TileBf16 row = tile;
    for (size_t r = 0; r < tile.m_Rows; ++r)
    {
        const size_t rowOffset = r * tile.m_OutStride;
        for (size_t c = 0; c < tile.m_Columns; c += 16)
        {
            row.m_Out = tile.m_Out + rowOffset + c;
            row.m_Added = tile.m_Added != nullptr ? tile.m_Added + rowOffset + c : nullptr;
            VecF32 value[1][1] = {{hn::Add(hn::Load(d, sums + r * Width + c), hn::LoadU(d, tile.m_Bias + c))}};
            row.m_Columns = tile.m_Columns - c;
            ApplyEpilogue(row, value);
        }
    }
}

template <size_t Vectors>
void RunAmxTiles(const TileBf16& first, size_t count)
{
    TileBf16 tile = first;
    while (true)
    {
        if (tile.m_Next != nullptr)
        {
            // Prefetches a share of the next panel: four tiles or more fetch all of a panel of this width.
            tile.m_Next->FetchLines(tile.m_Pairs / 2);
        }
        RunAmxTile<Vectors>(tile);
        if (--count == 0)
        {
            break;
        }
        tile.MoveDown(tile.m_Rows);
    }
}

void ReleaseTiles()
{
    asm volatile("tilerelease" ::);
    configuredRows = 0;
    configuredPairs = 0;
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
template <size_t Rows>
HWY_INLINE const uint32_t* AddPairsInChains(VecF32 (&sums)[Rows][1], const uint16_t* const (&ends)[Rows], size_t pairs,
                                            const uint32_t* panel, WeightPrefetcher& next)
{
    constexpr size_t Chains = Rows == 1 ? 8 : 4;
    constexpr size_t PanelStep = MicrokernelsBf16::MaxLanes;
    VecF32 chains[Chains][Rows][1];
    HWY_UNROLL(8)
    for (size_t u = 0; u < Chains; ++u)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            chains[u][r][0] = u == 0 ? sums[r][0] : hn::Zero(TagF32());
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
        sums[r][0] = chains[0][r][0];
        HWY_UNROLL(8)
        for (size_t u = 1; u < Chains; ++u)
        {
            sums[r][0] = hn::Add(sums[r][0], chains[u][r][0]);
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
        if constexpr (Vectors == 1 && Rows <= TileBf16::FewRows)
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
    if (GetCpuFeatures().m_AmxBf16 && GetCpuFeatures().m_Avx512Bf16) // for the rounding
    {
        microkernels.m_Vectors = 2;
        microkernels.m_Rows[1] = microkernels.m_Rows[2] = 32;
        microkernels.m_MaxStepPairs = 16;
        microkernels.m_RowUnit = 32;
        std::fill(std::begin(microkernels.m_Tiles[1]), std::end(microkernels.m_Tiles[1]), RunAmxTiles<1>);
        std::fill(std::begin(microkernels.m_Tiles[2]), std::end(microkernels.m_Tiles[2]), RunAmxTiles<2>);
        microkernels.m_Release = ReleaseTiles;
        microkernels.m_HasDots = true;
        return microkernels;
    }
    if (GetCpuFeatures().m_Avx512Bf16)
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
