// SPDX-License-Identifier: Apache-2.0
// MicrokernelsBf16: the inner loops. Instructions that compilers lack, or spill around, are assembly.
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/gemm/kernels/SlidingMicrokernel-inl.hpp"
#include "backends/cpu/gemm/kernels/bf16/EpilogueBf16-inl.hpp"
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsAmxBf16-inl.hpp"
#include "backends/cpu/im2col/SkippedTaps.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_TARGET == HWY_AVX3
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
void FillSlidingTiles(MicrokernelsBf16& engine)
{
    engine.m_SlidingTiles[Rows] = RunSlidingTile<Rows>;
    engine.m_SlidingRows = std::max(engine.m_SlidingRows, Rows);
    if constexpr (Rows > 1)
    {
        FillSlidingTiles<Rows - 1>(engine);
    }
}

/// Fills the microkernels of 1 to `Rows` rows for panels of `Vectors`.
template <size_t Vectors, size_t Rows>
void FillTiles(MicrokernelsBf16& engine)
{
    engine.m_Tiles[Vectors][Rows] = RunTiles<Rows, Vectors>;
    engine.m_Rows[Vectors] = std::max(engine.m_Rows[Vectors], Rows);
    engine.m_Vectors = std::max(engine.m_Vectors, Vectors);
    engine.m_ReadsIndirection = true;
    if constexpr (Rows > 1)
    {
        FillTiles<Vectors, Rows - 1>(engine);
    }
}

#endif

void ReleaseNothing() {}

MicrokernelsBf16 MakeMicrokernels()
{
    MicrokernelsBf16 engine;
    engine.m_Lanes = hn::Lanes(TagF32());
    engine.m_Release = ReleaseNothing;
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_AmxBf16 && GetCpuFeatures().m_Avx512Bf16) // for the rounding
    {
        engine.m_Vectors = 2;
        engine.m_Rows[1] = engine.m_Rows[2] = 32;
        engine.m_MaxStepPairs = 16;
        engine.m_RowUnit = 32;
        std::fill(std::begin(engine.m_Tiles[1]), std::end(engine.m_Tiles[1]), RunAmxTiles<1>);
        std::fill(std::begin(engine.m_Tiles[2]), std::end(engine.m_Tiles[2]), RunAmxTiles<2>);
        engine.m_Release = ReleaseTiles;
        engine.m_HasDots = true;
        return engine;
    }
    if (GetCpuFeatures().m_Avx512Bf16)
    {
        FillSlidingTiles<12>(engine);
        engine.m_HasDots = true;
        if (GetCpuFeatures().m_SplitsVectors)
        {
            FillTiles<1, 7>(engine); // as in MicrokernelsF32
            return engine;
        }
        FillTiles<1, 12>(engine);
        FillTiles<2, 12>(engine);
        FillTiles<3, 8>(engine);
        FillTiles<4, 6>(engine);
        return engine;
    }
#endif
    return engine;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const MicrokernelsBf16& GetMicrokernelsBf16()
{
    static constinit PerIsa<MicrokernelsBf16> engine;
    return engine.Get([] { return TENON_CHOOSE(MakeMicrokernels)(); });
}

} // namespace tenon::cpu
#endif
