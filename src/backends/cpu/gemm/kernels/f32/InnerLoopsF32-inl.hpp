// SPDX-License-Identifier: Apache-2.0
// The inner loops of MicrokernelsF32: each element of the data is broadcast and multiplied by the panel's vectors. GCC
// keeps arrays in memory unless every loop over registers is unrolled before register allocation. Included by
// MicrokernelsF32.cpp, once for each target.
#if defined(TENON_TILE_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_TILE_STEPS_INL
#undef TENON_TILE_STEPS_INL
#else
#define TENON_TILE_STEPS_INL
#endif

#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"
#include "backends/cpu/im2col/SkippedTaps.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Steps of the depth in an iteration of the loop: its other instructions compete with the multiply-adds for ports.
/// With sixteen registers, all but one of which a step fills, GCC would interleave several steps and spill sums.
constexpr size_t DepthUnroll = ManyRegisters ? 4 : 1;
/// Steps in an iteration for tiles of `Rows` rows. Clang's iterations of four steps of ten rows or more take up to 1.5
/// times as long with AVX-512: half of their instructions are loads of an element, and single steps are as fast.
template <size_t Rows>
#if defined(__clang__) && HWY_ARCH_X86
constexpr size_t StepsPerIteration = Rows < 10 ? DepthUnroll : 1;
#else
constexpr size_t StepsPerIteration = DepthUnroll;
#endif

/// One step: sums += the data at k times the weights.
template <size_t Rows, size_t Vectors>
HWY_INLINE void Step(const float* const (&rows)[Rows], ptrdiff_t k, const float* weights, VecF32 (&sums)[Rows][Vectors])
{
    const TagF32 d;
    VecF32 w[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        w[v] = hn::LoadU(d, weights + v * hn::Lanes(d)); // not aligned if read in place
    }
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        const VecF32 x = hn::Set(d, rows[r][k]);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            sums[r][v] = hn::MulAdd(x, w[v], sums[r][v]);
        }
    }
}

/// The position of the current tile: indirection or data pointer, and the prefetcher, moved from tile to tile.
struct TileCursor
{
    const float* const* m_Indirection;
    const float* m_Data;
    WeightPrefetcher m_Next;

    HWY_INLINE void MoveDown(size_t rows, size_t stride)
    {
        if (m_Indirection != nullptr)
        {
            m_Indirection += rows;
            return;
        }
        m_Data += rows * stride;
    }
};

/// Calls step(rows, k, weights, chain) for the depth of a tap. `rows` point to its end, with k < 0; `chain` counts to
/// DepthUnroll; `stride` is the floats of weights between steps. Returns the weights of the next tap.
template <size_t Rows, typename F>
HWY_INLINE const float* ForEachDepth(const TileF32& tiles, TileCursor& place, const float* const (&rows)[Rows],
                                     const float* weights, size_t stride, F&& step)
{
    const auto depth = static_cast<ptrdiff_t>(tiles.m_Depth);
    ptrdiff_t k = -depth;
    // Each iteration prefetches a line of the next weights, as tiles of few rows read weights as fast as they arrive.
    // With sixteen registers, where iterations are short, tiles of more rows would take up to a fifth longer (Zen 3):
    // they prefetch once per tap, so that sixteen tiles cover a panel.
    constexpr bool PrefetchesPerIteration = ManyRegisters || Rows <= TileF32::FewRows;
    if constexpr (!PrefetchesPerIteration)
    {
        place.m_Next.FetchLines(tiles.m_Depth / 16 + 1);
    }
    constexpr size_t Steps = StepsPerIteration<Rows>;
    for (; k <= -ptrdiff_t{Steps}; k += ptrdiff_t{Steps})
    {
        HWY_UNROLL(4)
        for (size_t u = 0; u < Steps; ++u)
        {
            step(rows, k + static_cast<ptrdiff_t>(u), weights + u * stride, u);
        }
        weights += Steps * stride;
        if constexpr (PrefetchesPerIteration)
        {
            place.m_Next.FetchLine();
        }
    }
    for (; k != 0; ++k)
    {
        step(rows, k, weights, size_t{0});
        weights += stride;
    }
    return weights;
}

/// Calls step(rows, k, weights, chain) for the whole depth.
template <size_t Rows, size_t Vectors, bool InPlace = false, typename F>
HWY_INLINE void ForEachStep(const TileF32& tiles, TileCursor& place, F&& step)
{
    const size_t stride = InPlace ? tiles.m_PanelStride : Vectors * hn::Lanes(TagF32());
    const float* weights = tiles.m_Panel;
    const auto depth = static_cast<ptrdiff_t>(tiles.m_Depth);
    const float* rows[Rows];
    if (place.m_Indirection == nullptr)
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            rows[r] = place.m_Data + r * tiles.m_DataStride + depth;
        }
        ForEachDepth(tiles, place, rows, weights, stride, step);
        return;
    }
    const float* const* table = place.m_Indirection;
    for (size_t tap = 0; tap < tiles.m_Taps; ++tap, table += tiles.m_TapStep)
    {
        if (tiles.m_Zeros != nullptr && IsTapPadding<Rows>(table, tiles.m_Zeros))
        {
            weights += tiles.m_Depth * stride;
            continue;
        }
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            rows[r] = table[r] + tiles.m_DataOffset + depth;
        }
        weights = ForEachDepth(tiles, place, rows, weights, stride, step);
    }
}

/// sums += the products of the whole depth, in DepthUnroll independent accumulator chains that are added at the end:
/// with few rows one chain would wait for the latency of each multiply-add.
template <size_t Rows>
HWY_INLINE void MultiplyInChains(const TileF32& tiles, TileCursor& place, VecF32 (&sums)[Rows][1])
{
    VecF32 chains[DepthUnroll][Rows][1];
    HWY_UNROLL(4)
    for (size_t u = 0; u < DepthUnroll; ++u)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            chains[u][r][0] = u == 0 ? sums[r][0] : hn::Zero(TagF32());
        }
    }
    ForEachStep<Rows, 1>(tiles, place,
                         [&](const float* const(&rows)[Rows], ptrdiff_t k, const float* weights, size_t chain) HWY_ATTR
                         { Step(rows, k, weights, chains[chain]); });
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        sums[r][0] = chains[0][r][0];
        HWY_UNROLL(4)
        for (size_t u = 1; u < DepthUnroll; ++u)
        {
            sums[r][0] = hn::Add(sums[r][0], chains[u][r][0]);
        }
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
