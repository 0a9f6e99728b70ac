// SPDX-License-Identifier: Apache-2.0
// MicrokernelsF32: each element of the data is broadcast and multiplied by the panel's vectors. Sums stay in registers
// for the whole depth of a slice. GCC keeps arrays in memory unless every loop over registers is unrolled before
// register allocation.
#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"

#include "backends/cpu/im2col/SkippedTaps.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/f32/MicrokernelsF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/gemm/kernels/SlidingMicrokernel-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
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

#if HWY_TARGET == HWY_AVX3
// Tiles whose last vector has columns in its lower half alone. Two rows share a vector of accumulators,
//     [ row 2p: c0 .. c7 | row 2p + 1: c0 .. c7 ],
// or, where the processor executes 512-bit instructions as two halves, each row has a 256-bit vector.

/// Packs the last vectors of two rows, whose columns are in the lower half alone, into the halves of one vector of
/// accumulators; UnpackHalfVectors reverses it.
template <size_t Rows, size_t Vectors>
HWY_INLINE void PackHalfVectors(const VecF32 (&sums)[Rows][Vectors], VecF32 (&halves)[(Rows + 1) / 2])
{
    HWY_UNROLL(8)
    for (size_t p = 0; p < (Rows + 1) / 2; ++p)
    {
        const size_t second = 2 * p + 1 < Rows ? 2 * p + 1 : 2 * p;
        halves[p] = hn::ConcatLowerLower(TagF32(), sums[second][Vectors - 1], sums[2 * p][Vectors - 1]);
    }
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void UnpackHalfVectors(const VecF32 (&halves)[(Rows + 1) / 2], VecF32 (&sums)[Rows][Vectors])
{
    HWY_UNROLL(8)
    for (size_t p = 0; p < (Rows + 1) / 2; ++p)
    {
        sums[2 * p][Vectors - 1] = halves[p];
        if (2 * p + 1 < Rows)
        {
            sums[2 * p + 1][Vectors - 1] = hn::ConcatUpperUpper(TagF32(), halves[p], halves[p]);
        }
    }
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void StepWithHalfVectors(const float* const (&rows)[Rows], ptrdiff_t k, const float* weights,
                                    VecF32 (&sums)[Rows][Vectors], VecF32 (&halves)[(Rows + 1) / 2])
{
    const TagF32 d;
    VecF32 w[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v + 1 < Vectors; ++v)
    {
        w[v] = hn::Load(d, weights + v * hn::Lanes(d));
    }
    w[Vectors - 1] = VecF32{_mm512_broadcast_f32x8(_mm256_load_ps(weights + (Vectors - 1) * hn::Lanes(d)))};
    HWY_UNROLL(8)
    for (size_t p = 0; p < (Rows + 1) / 2; ++p)
    {
        const size_t second = 2 * p + 1 < Rows ? 2 * p + 1 : 2 * p;
        const VecF32 x = hn::Set(d, rows[2 * p][k]);
        const VecF32 y = hn::Set(d, rows[second][k]);
        HWY_UNROLL(4)
        for (size_t v = 0; v + 1 < Vectors; ++v)
        {
            sums[2 * p][v] = hn::MulAdd(x, w[v], sums[2 * p][v]);
            if (2 * p + 1 < Rows)
            {
                sums[second][v] = hn::MulAdd(y, w[v], sums[second][v]);
            }
        }
        constexpr __mmask16 UpperHalf = 0xFF00;
        halves[p] = hn::MulAdd(VecF32{_mm512_mask_mov_ps(x.raw, UpperHalf, y.raw)}, w[Vectors - 1], halves[p]);
    }
}

/// The step for one vector that has columns in its lower half alone.
template <size_t Rows>
HWY_INLINE void NarrowStep(const float* const (&rows)[Rows], ptrdiff_t k, const float* weights, __m256 (&narrow)[Rows])
{
    const __m256 w = _mm256_load_ps(weights);
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        narrow[r] = _mm256_fmadd_ps(_mm256_set1_ps(rows[r][k]), w, narrow[r]);
    }
}

/// The operations of SlideStep.
struct FloatWords
{
    using Vector = VecF32;
    static constexpr size_t Elements = 1;
    static HWY_INLINE VecF32 Set(const float* from) { return hn::Set(TagF32(), *from); }
    static HWY_INLINE VecF32 Load(const float* weights) { return hn::Load(TagF32(), weights); }
    static HWY_INLINE void Add(VecF32& sum, VecF32 x, VecF32 w) { sum = hn::MulAdd(x, w, sum); }
};
#endif

/// How a microkernel reads its rows and the panel.
enum class Variant
{
    Plain,
    InPlace,     ///< panel rows are read from the matrix
    HalfVectors, ///< two rows share the last vector of sums
    Narrow,      ///< one vector, only its lower half computed
    Sliding
};

template <Variant Which, size_t Rows, size_t Vectors>
HWY_INLINE void MultiplyAll(const TileF32& tiles, TileCursor& place, VecF32 (&sums)[Rows][Vectors])
{
#if HWY_TARGET == HWY_AVX3
    if constexpr (Which == Variant::Sliding)
    {
        Slide<FloatWords>(SlidingTile<float>{place.m_Indirection, tiles.m_Taps, tiles.m_PixelStep,
                                             tiles.m_Depth / SlidingColumns, tiles.m_Panel},
                          sums);
        return;
    }
    if constexpr (Which == Variant::HalfVectors)
    {
        VecF32 halves[(Rows + 1) / 2];
        PackHalfVectors(sums, halves);
        ForEachStep<Rows, Vectors>(tiles, place,
                                   [&](const float* const(&rows)[Rows], ptrdiff_t k, const float* weights, size_t)
                                       HWY_ATTR { StepWithHalfVectors(rows, k, weights, sums, halves); });
        UnpackHalfVectors(halves, sums);
        return;
    }
    if constexpr (Which == Variant::Narrow)
    {
        __m256 narrow[Rows];
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            narrow[r] = _mm512_castps512_ps256(sums[r][0].raw);
        }
        ForEachStep<Rows, Vectors>(tiles, place,
                                   [&](const float* const(&rows)[Rows], ptrdiff_t k, const float* weights, size_t)
                                       HWY_ATTR { NarrowStep(rows, k, weights, narrow); });
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums[r][0].raw = _mm512_castps256_ps512(narrow[r]);
        }
        return;
    }
#endif
    if constexpr (Which == Variant::Plain && Vectors == 1 && Rows <= TileF32::FewRows)
    {
        if (tiles.m_HasFewRows)
        {
            MultiplyInChains(tiles, place, sums);
            return;
        }
    }
    ForEachStep<Rows, Vectors, Which == Variant::InPlace>(
        tiles, place,
        [&](const float* const(&rows)[Rows], ptrdiff_t k, const float* weights, size_t) HWY_ATTR
        { Step(rows, k, weights, sums); });
}

/// Loads and stores a row of sums; all vectors but the last one are whole.
template <size_t Vectors>
HWY_INLINE void LoadRow(const float* from, size_t lastColumns, VecF32 (&row)[Vectors])
{
    const TagF32 d;
    HWY_UNROLL(4)
    for (size_t v = 0; v + 1 < Vectors; ++v)
    {
        row[v] = hn::LoadU(d, from + v * hn::Lanes(d));
    }
    row[Vectors - 1] = LoadSome(from + (Vectors - 1) * hn::Lanes(d), lastColumns);
}

template <size_t Vectors>
HWY_INLINE void StoreRow(const VecF32 (&row)[Vectors], size_t lastColumns, float* to)
{
    const TagF32 d;
    HWY_UNROLL(4)
    for (size_t v = 0; v + 1 < Vectors; ++v)
    {
        hn::StoreU(row[v], d, to + v * hn::Lanes(d));
    }
    StoreSome(row[Vectors - 1], to + (Vectors - 1) * hn::Lanes(d), lastColumns);
}

/// `count` tiles, at least one, one below the other.
template <size_t Rows, size_t Vectors, Variant Which = Variant::Plain>
void Tiles(const TileF32& tiles, size_t count)
{
    const TagF32 d;
    const size_t lastColumns = tiles.m_Columns - (Vectors - 1) * hn::Lanes(d);
    const size_t stride = tiles.m_OutStride;
    VecF32 bias[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        bias[v] = hn::Zero(d);
    }
    if (tiles.m_Bias != nullptr && !tiles.m_Accumulates)
    {
        LoadRow(tiles.m_Bias, lastColumns, bias);
    }
    TileCursor place{tiles.m_Indirection, tiles.m_Data,
                     tiles.m_Next != nullptr ? *tiles.m_Next : WeightPrefetcher(tiles.m_Panel, 0)};
    // Blocked summation: the sums of a slice start at zero and are added to those of the other slices, because the
    // rounding error grows with the length of a sum.
    const float* added = tiles.m_Accumulates ? tiles.m_Out : tiles.m_Added;
    float* out = tiles.m_Out;
    while (true)
    {
        VecF32 sums[Rows][Vectors];
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                sums[r][v] = bias[v];
            }
        }
        MultiplyAll<Which>(tiles, place, sums);

        if (added != nullptr)
        {
            HWY_UNROLL(16)
            for (size_t r = 0; r < Rows; ++r)
            {
                VecF32 row[Vectors];
                LoadRow(added + r * stride, lastColumns, row);
                HWY_UNROLL(4)
                for (size_t v = 0; v < Vectors; ++v)
                {
                    sums[r][v] = hn::Add(sums[r][v], row[v]);
                }
            }
        }
        if (tiles.m_HasClamp)
        {
            const VecF32 low = hn::Set(d, tiles.m_Low);
            const VecF32 high = hn::Set(d, tiles.m_High);
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
            StoreRow(sums[r], lastColumns, out + r * stride);
        }
        if (--count == 0)
        {
            break;
        }
        out += Rows * stride;
        added += added != nullptr ? Rows * stride : 0;
        place.MoveDown(Rows, tiles.m_DataStride);
    }
    if (tiles.m_Next != nullptr)
    {
        *tiles.m_Next = place.m_Next;
    }
}

/// Fills the microkernels of 1 to `Rows` rows for panels of `Vectors`.
template <size_t Vectors, size_t Rows>
void FillTiles(MicrokernelsF32& microkernels)
{
    microkernels.m_Tiles[Vectors][Rows] = Tiles<Rows, Vectors>;
    microkernels.m_InPlaceTiles[Vectors][Rows] = Tiles<Rows, Vectors, Variant::InPlace>;
    microkernels.m_Rows[Vectors] = microkernels.m_Rows[Vectors] < Rows ? Rows : microkernels.m_Rows[Vectors];
    microkernels.m_Vectors = microkernels.m_MaxVectors =
        microkernels.m_Vectors < Vectors ? Vectors : microkernels.m_Vectors;
    if constexpr (Rows > 1)
    {
        FillTiles<Vectors, Rows - 1>(microkernels);
    }
}

#if HWY_TARGET == HWY_AVX3
template <size_t Vectors, size_t Rows, Variant Which>
void FillHalfVectorTiles(MicrokernelsF32& microkernels)
{
    microkernels.m_HalfVectorTiles[Vectors][Rows] = Tiles<Rows, Vectors, Which>;
    microkernels.m_HalfVectorRows[Vectors] =
        microkernels.m_HalfVectorRows[Vectors] < Rows ? Rows : microkernels.m_HalfVectorRows[Vectors];
    if constexpr (Rows > 1)
    {
        FillHalfVectorTiles<Vectors, Rows - 1, Which>(microkernels);
    }
}

template <size_t Rows>
void FillSlidingTiles(MicrokernelsF32& microkernels)
{
    microkernels.m_SlidingTiles[Rows] = Tiles<Rows, 1, Variant::Sliding>;
    microkernels.m_SlidingRows = microkernels.m_SlidingRows < Rows ? Rows : microkernels.m_SlidingRows;
    if constexpr (Rows > 1)
    {
        FillSlidingTiles<Rows - 1>(microkernels);
    }
}
#endif

MicrokernelsF32 MakeMicrokernels()
{
    MicrokernelsF32 microkernels;
    microkernels.m_Lanes = hn::Lanes(TagF32());
    microkernels.m_FetchesOutput = HWY_TARGET != HWY_AVX2;
    if constexpr (ManyRegisters)
    {
#if HWY_TARGET == HWY_AVX3
        FillSlidingTiles<12>(microkernels);
        if (GetCpuFeatures().m_SplitsVectors)
        {
            // One multiply-add per cycle: seven sums keep it busy, with the broadcast as a memory operand. The epilogue
            // of so small a tile overlaps with the multiply-adds of the next tile; that of 24 sums does not.
            microkernels.m_MaxSlidingChannels = 8; // with more, tiles of seven rows are faster
            FillTiles<1, 7>(microkernels);
            FillHalfVectorTiles<1, 8, Variant::Narrow>(microkernels);
            FillTiles<2, 12>(microkernels);
            FillTiles<3, 8>(microkernels);
            FillTiles<4, 6>(microkernels);
            microkernels.m_Vectors = 1;
            return microkernels;
        }
        FillHalfVectorTiles<1, 14, Variant::HalfVectors>(microkernels);
        FillHalfVectorTiles<2, 14, Variant::HalfVectors>(microkernels);
        FillHalfVectorTiles<3, 10, Variant::HalfVectors>(microkernels);
        FillHalfVectorTiles<4, 6, Variant::HalfVectors>(microkernels);
#endif
        FillTiles<1, 12>(microkernels);
        FillTiles<2, 12>(microkernels);
        FillTiles<3, 8>(microkernels);
        FillTiles<4, 6>(microkernels);
    }
    else
    {
        // Sixteen registers: 12 sums, 2 vectors of weights, and the data.
        FillTiles<1, 8>(microkernels);
        FillTiles<2, 6>(microkernels);
    }
    return microkernels;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const MicrokernelsF32& GetMicrokernelsF32()
{
    static constinit PerIsa<MicrokernelsF32> microkernels;
    return microkernels.Get([] { return TENON_CHOOSE(MakeMicrokernels)(); });
}

} // namespace tenon::cpu
#endif
