// SPDX-License-Identifier: Apache-2.0
// The inner loops of float32 products. Sums stay in registers for the whole depth; each number of the data is broadcast
// against the panel's vectors. GCC keeps arrays in memory unless every loop over registers is unrolled before registers
// are given out.
#include "backends/cpu/gemm/float32/TilesF32.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/float32/TilesF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it.
#include "backends/cpu/gemm/float32/HalfVectors-inl.hpp"
#include "backends/cpu/gemm/windows/Sliding-inl.hpp"
#include "backends/cpu/simd/Floats-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Steps of the depth in one turn of the loop: what else it does competes for the ports of the products. With sixteen
/// registers, all but one of which a step fills, GCC would mix several steps and keep sums in memory.
constexpr size_t Unroll = ManyRegisters ? 4 : 1;

/// sums += the data at k times the weights.
template <size_t Rows, size_t Vectors>
HWY_INLINE void Step(const float* const (&rows)[Rows], ptrdiff_t k, const float* weights, Floats (&sums)[Rows][Vectors])
{
    const FloatTag d;
    Floats w[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        w[v] = hn::Load(d, weights + v * hn::Lanes(d));
    }
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        const Floats x = hn::Set(d, rows[r][k]);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            sums[r][v] = hn::MulAdd(x, w[v], sums[r][v]);
        }
    }
}

/// Calls step(rows, k, weights) for the whole depth.
template <size_t Rows, size_t Vectors, typename F>
HWY_INLINE void ForEachStep(const TileF32& tile, F&& step)
{
    const size_t lanes = hn::Lanes(FloatTag());
    const float* weights = tile.m_Panel;
    const auto depth = static_cast<ptrdiff_t>(tile.m_Depth);
    const float* const* data = tile.m_Data;
    for (size_t tap = 0; tap < tile.m_Taps; ++tap, data += tile.m_TapStep)
    {
        if (tile.m_Zeros != nullptr &&
            std::all_of(data, data + Rows, [&](const float* row) { return row == tile.m_Zeros; }))
        {
            weights += tile.m_Depth * Vectors * lanes;
            continue;
        }
        const float* rows[Rows];
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            rows[r] = data[r] + tile.m_DataOffset + depth;
        }
        ptrdiff_t k = -depth;
        for (; k <= -ptrdiff_t{Unroll}; k += ptrdiff_t{Unroll})
        {
            HWY_UNROLL(4)
            for (size_t u = 0; u < Unroll; ++u)
            {
                step(rows, k + static_cast<ptrdiff_t>(u), weights + u * Vectors * lanes);
            }
            weights += Unroll * Vectors * lanes;
        }
        for (; k != 0; ++k)
        {
            step(rows, k, weights);
            weights += Vectors * lanes;
        }
    }
}

#if HWY_TARGET == HWY_AVX3
/// Of SlideStep.
struct FloatWords
{
    using Vector = Floats;
    static constexpr size_t Elements = 1;
    static HWY_INLINE Floats Set(const float* from) { return hn::Set(FloatTag(), *from); }
    static HWY_INLINE Floats Load(const float* weights) { return hn::Load(FloatTag(), weights); }
    static HWY_INLINE void Add(Floats& sum, Floats x, Floats w) { sum = hn::MulAdd(x, w, sum); }
};
#endif

/// What tiles do with their rows and the panel.
enum class Way
{
    Plain,
    Halves, ///< two rows share the last vector
    Narrow, ///< of the last vector only the lower half is computed
    Sliding
};

template <Way How, size_t Rows, size_t Vectors>
HWY_INLINE void MultiplyAll(const TileF32& tile, Floats (&sums)[Rows][Vectors])
{
#if HWY_TARGET == HWY_AVX3
    if constexpr (How == Way::Sliding)
    {
        Slide<FloatWords>(
            SlidingTile<float>{tile.m_Data, tile.m_Taps, tile.m_PixelStep, tile.m_Depth / SlidingColumns, tile.m_Panel},
            sums);
        return;
    }
    if constexpr (How == Way::Halves)
    {
        Floats halves[(Rows + 1) / 2];
        PackHalves(sums, halves);
        ForEachStep<Rows, Vectors>(tile, [&](const float* const(&rows)[Rows], ptrdiff_t k, const float* weights)
                                             HWY_ATTR { StepWithHalves(rows, k, weights, sums, halves); });
        UnpackHalves(halves, sums);
        return;
    }
    if constexpr (How == Way::Narrow)
    {
        __m256 narrow[Rows];
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            narrow[r] = _mm512_castps512_ps256(sums[r][Vectors - 1].raw);
        }
        ForEachStep<Rows, Vectors>(tile, [&](const float* const(&rows)[Rows], ptrdiff_t k, const float* weights)
                                             HWY_ATTR { StepWithNarrow(rows, k, weights, sums, narrow); });
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums[r][Vectors - 1].raw = _mm512_castps256_ps512(narrow[r]);
        }
        return;
    }
#endif
    ForEachStep<Rows, Vectors>(tile, [&](const float* const(&rows)[Rows], ptrdiff_t k, const float* weights) HWY_ATTR
                               { Step(rows, k, weights, sums); });
}

template <size_t Rows, size_t Vectors, Way How = Way::Plain>
void Tile(const TileF32& tile)
{
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    const size_t lastColumns = tile.m_Columns - (Vectors - 1) * lanes;
    Floats sums[Rows][Vectors];
    if (tile.m_Continues)
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            const float* out = tile.m_Out + r * tile.m_OutStride;
            HWY_UNROLL(4)
            for (size_t v = 0; v + 1 < Vectors; ++v)
            {
                sums[r][v] = hn::LoadU(d, out + v * lanes);
            }
            sums[r][Vectors - 1] = LoadSome(out + (Vectors - 1) * lanes, lastColumns);
        }
    }
    else
    {
        Floats bias[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            bias[v] = hn::Zero(d);
        }
        if (tile.m_Bias != nullptr)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v + 1 < Vectors; ++v)
            {
                bias[v] = hn::LoadU(d, tile.m_Bias + v * lanes);
            }
            bias[Vectors - 1] = LoadSome(tile.m_Bias + (Vectors - 1) * lanes, lastColumns);
        }
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                sums[r][v] = bias[v];
            }
        }
    }

    MultiplyAll<How>(tile, sums);

    if (tile.m_Added != nullptr)
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            const float* added = tile.m_Added + r * tile.m_OutStride;
            HWY_UNROLL(4)
            for (size_t v = 0; v + 1 < Vectors; ++v)
            {
                sums[r][v] = hn::Add(sums[r][v], hn::LoadU(d, added + v * lanes));
            }
            sums[r][Vectors - 1] = hn::Add(sums[r][Vectors - 1], LoadSome(added + (Vectors - 1) * lanes, lastColumns));
        }
    }
    if (tile.m_HasClamp)
    {
        const Floats low = hn::Set(d, tile.m_Low);
        const Floats high = hn::Set(d, tile.m_High);
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
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        float* out = tile.m_Out + r * tile.m_OutStride;
        HWY_UNROLL(4)
        for (size_t v = 0; v + 1 < Vectors; ++v)
        {
            hn::StoreU(sums[r][v], d, out + v * lanes);
        }
        StoreSome(sums[r][Vectors - 1], out + (Vectors - 1) * lanes, lastColumns);
    }
}

/// Tiles of 1 to `Rows` rows for panels of `Vectors`.
template <size_t Vectors, size_t Rows>
void FillTiles(EngineF32& engine)
{
    engine.m_Tiles[Vectors][Rows] = Tile<Rows, Vectors>;
    engine.m_Rows[Vectors] = engine.m_Rows[Vectors] < Rows ? Rows : engine.m_Rows[Vectors];
    engine.m_Vectors = engine.m_Vectors < Vectors ? Vectors : engine.m_Vectors;
    if constexpr (Rows > 1)
    {
        FillTiles<Vectors, Rows - 1>(engine);
    }
}

#if HWY_TARGET == HWY_AVX3
template <size_t Vectors, size_t Rows, Way How>
void FillHalfTiles(EngineF32& engine)
{
    engine.m_HalfTiles[Vectors][Rows] = Tile<Rows, Vectors, How>;
    engine.m_HalfRows[Vectors] = engine.m_HalfRows[Vectors] < Rows ? Rows : engine.m_HalfRows[Vectors];
    if constexpr (Rows > 1)
    {
        FillHalfTiles<Vectors, Rows - 1, How>(engine);
    }
}

template <size_t Rows>
void FillSlidingTiles(EngineF32& engine)
{
    engine.m_SlidingTiles[Rows] = Tile<Rows, 1, Way::Sliding>;
    engine.m_SlidingRows = engine.m_SlidingRows < Rows ? Rows : engine.m_SlidingRows;
    if constexpr (Rows > 1)
    {
        FillSlidingTiles<Rows - 1>(engine);
    }
}
#endif

EngineF32 MakeEngine()
{
    EngineF32 engine;
    engine.m_Lanes = hn::Lanes(FloatTag());
    if constexpr (ManyRegisters)
    {
        FillTiles<1, 12>(engine);
        FillTiles<2, 12>(engine);
        FillTiles<3, 8>(engine);
        FillTiles<4, 6>(engine);
#if HWY_TARGET == HWY_AVX3
        if (GetCpuFeatures().m_SplitsVectors)
        {
            FillHalfTiles<1, 12, Way::Narrow>(engine);
            FillHalfTiles<2, 12, Way::Narrow>(engine);
            FillHalfTiles<3, 8, Way::Narrow>(engine);
            FillHalfTiles<4, 6, Way::Narrow>(engine);
        }
        else
        {
            FillHalfTiles<1, 14, Way::Halves>(engine);
            FillHalfTiles<2, 14, Way::Halves>(engine);
            FillHalfTiles<3, 10, Way::Halves>(engine);
            FillHalfTiles<4, 6, Way::Halves>(engine);
        }
        FillSlidingTiles<12>(engine);
#endif
    }
    else
    {
        // Sixteen registers hold 12 sums, 2 vectors of weights and the data.
        FillTiles<1, 8>(engine);
        FillTiles<2, 6>(engine);
    }
    return engine;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const EngineF32& GetEngineF32()
{
    static const EngineF32 engine = TENON_CHOOSE(MakeEngine)();
    return engine;
}

} // namespace tenon::cpu
#endif
