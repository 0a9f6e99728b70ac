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
    static HWY_INLINE void Add(Floats& sum, Words x, Words w)
    {
        asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(w.raw));
    }
    /// The same with the pair as a broadcast memory operand.
    static HWY_INLINE void Add(Floats& sum, const uint16_t* pair, Words w)
    {
        using Bytes = const char[sizeof(uint32_t)];
        asm("vdpbf16ps %1%{1to16%}, %2, %0" : "+v"(sum.raw) : "m"(*reinterpret_cast<Bytes*>(pair)), "v"(w.raw));
    }
};

/// Adds the products of a pair of the depth. T = uint16_t reads the first half of the pair alone.
template <typename T, size_t Rows, size_t Vectors>
HWY_INLINE void AddPair(Floats (&sums)[Rows][Vectors], const uint16_t* const (&rows)[Rows], ptrdiff_t pair,
                        const uint32_t* panel)
{
    const WordTag d;
    Words w[Vectors];
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
        const Words x = hn::Set(d, uint32_t{data});
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            DotPairs::Add(sums[r][v], x, w[v]);
        }
    }
}

/// Adds the products of `pairs` pairs of the depth, which end at `ends`. Returns the weights after them.
template <size_t Rows, size_t Vectors>
HWY_INLINE const uint32_t* AddPairs(Floats (&sums)[Rows][Vectors], const uint16_t* const (&ends)[Rows], size_t pairs,
                                    const uint32_t* panel, NextWeights& next)
{
    constexpr ptrdiff_t Unroll = 4;
    constexpr size_t PanelStep = Vectors * EngineBf16::MostLanes;
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
HWY_INLINE const uint32_t* AddPairsInTurns(Floats (&sums)[Rows][1], const uint16_t* const (&ends)[Rows], size_t pairs,
                                           const uint32_t* panel, NextWeights& next)
{
    constexpr size_t Turns = Rows == 1 ? 8 : 4;
    constexpr size_t PanelStep = EngineBf16::MostLanes;
    Floats turns[Turns][Rows][1];
    HWY_UNROLL(8)
    for (size_t u = 0; u < Turns; ++u)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            turns[u][r][0] = u == 0 ? sums[r][0] : hn::Zero(FloatTag());
        }
    }
    auto pair = -static_cast<ptrdiff_t>(pairs);
    for (; pair <= -static_cast<ptrdiff_t>(Turns); pair += Turns, panel += Turns * PanelStep)
    {
        HWY_UNROLL(8)
        for (size_t u = 0; u < Turns; ++u)
        {
            AddPair<uint32_t>(turns[u], ends, pair + static_cast<ptrdiff_t>(u), panel + u * PanelStep);
        }
        next.FetchLine();
    }
    for (; pair != 0; ++pair, panel += PanelStep)
    {
        AddPair<uint32_t>(turns[0], ends, pair, panel);
    }
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        sums[r][0] = turns[0][r][0];
        HWY_UNROLL(8)
        for (size_t u = 1; u < Turns; ++u)
        {
            sums[r][0] = hn::Add(sums[r][0], turns[u][r][0]);
        }
    }
    return panel;
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void MultiplyPairs(const TileBf16& tile, Floats (&sums)[Rows][Vectors], NextWeights& next)
{
    const auto* panel = reinterpret_cast<const uint32_t*>(tile.m_Panel);
    const uint16_t* ends[Rows];
    if (tile.m_Table == nullptr)
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
                panel = AddPairsInTurns(sums, ends, wholePairs, panel, next);
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
    const uint16_t* const* table = tile.m_Table;
    for (size_t left = tile.m_Pairs; left != 0; left -= tile.m_TapPairs, table += tile.m_TapStep)
    {
        if (tile.m_Zeros != nullptr && AreAll<Rows>(table, tile.m_Zeros))
        {
            panel += tile.m_TapPairs * Vectors * EngineBf16::MostLanes;
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
void DotTiles(const TileBf16& first, size_t count)
{
    TileBf16 tile = first;
    NextWeights next = first.m_Next != nullptr ? *first.m_Next : NextWeights(first.m_Panel, 0);
    while (true)
    {
        Floats sums[Rows][Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Floats bias = hn::LoadU(FloatTag(), tile.m_Bias + v * EngineBf16::MostLanes);
            HWY_UNROLL(16)
            for (size_t r = 0; r < Rows; ++r)
            {
                sums[r][v] = bias;
            }
        }
        MultiplyPairs(tile, sums, next);
        FinishSums(tile, sums);
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
    using Vector = Words;
    static constexpr size_t Elements = 2;
    static HWY_INLINE Words Set(const uint16_t* from)
    {
        uint32_t pair;
        std::memcpy(&pair, from, sizeof(pair));
        return hn::Set(WordTag(), pair);
    }
    static HWY_INLINE Words Load(const float* weights) { return hn::BitCast(WordTag(), hn::Load(FloatTag(), weights)); }
};

template <size_t Rows>
void SlidingPairs(const TileBf16& tile, size_t)
{
    const Floats bias = hn::LoadU(FloatTag(), tile.m_Bias);
    Floats sums[Rows][1];
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        sums[r][0] = bias;
    }
    Slide<PairWords>(SlidingTile<uint16_t>{tile.m_Table, tile.m_Pairs / tile.m_TapPairs, tile.m_PixelStep,
                                           tile.m_TapPairs / SlidingColumns,
                                           reinterpret_cast<const float*>(tile.m_Panel)},
                     sums);
    FinishSums(tile, sums);
}

template <size_t Rows>
void FillSlidingTiles(EngineBf16& engine)
{
    engine.m_SlidingTiles[Rows] = SlidingPairs<Rows>;
    engine.m_SlidingRows = std::max(engine.m_SlidingRows, Rows);
    if constexpr (Rows > 1)
    {
        FillSlidingTiles<Rows - 1>(engine);
    }
}

/// Fills the microkernels of 1 to `Rows` rows for panels of `Vectors`.
template <size_t Vectors, size_t Rows>
void FillTiles(EngineBf16& engine)
{
    engine.m_Tiles[Vectors][Rows] = DotTiles<Rows, Vectors>;
    engine.m_Rows[Vectors] = std::max(engine.m_Rows[Vectors], Rows);
    engine.m_Vectors = std::max(engine.m_Vectors, Vectors);
    engine.m_ReadsTables = true;
    if constexpr (Rows > 1)
    {
        FillTiles<Vectors, Rows - 1>(engine);
    }
}

#endif

void KeepAll() {}

EngineBf16 MakeEngine()
{
    EngineBf16 engine;
    engine.m_Lanes = hn::Lanes(FloatTag());
    engine.m_Release = KeepAll;
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_AmxBf16 && GetCpuFeatures().m_Avx512Bf16) // for the rounding
    {
        engine.m_Vectors = 2;
        engine.m_Rows[1] = engine.m_Rows[2] = 32;
        engine.m_MostStepPairs = 16;
        engine.m_RowUnit = 32;
        std::fill(std::begin(engine.m_Tiles[1]), std::end(engine.m_Tiles[1]), AmxTiles<1>);
        std::fill(std::begin(engine.m_Tiles[2]), std::end(engine.m_Tiles[2]), AmxTiles<2>);
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

const EngineBf16& GetEngineBf16()
{
    static constinit PerIsa<EngineBf16> engine;
    return engine.Get([] { return TENON_CHOOSE(MakeEngine)(); });
}

} // namespace tenon::cpu
#endif
