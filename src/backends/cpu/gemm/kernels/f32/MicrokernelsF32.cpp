// SPDX-License-Identifier: Apache-2.0
// MicrokernelsF32: initialization and epilogue of tiles. Sums stay in registers for the whole depth of a slice.
#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/f32/MicrokernelsF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/gemm/kernels/SlidingMicrokernel-inl.hpp"
#include "backends/cpu/gemm/kernels/f32/HalfVectorStepsF32-inl.hpp"
#include "backends/cpu/gemm/kernels/f32/InnerLoopsF32-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_TARGET == HWY_AVX3
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
void FillTiles(MicrokernelsF32& engine)
{
    engine.m_Tiles[Vectors][Rows] = Tiles<Rows, Vectors>;
    engine.m_InPlaceTiles[Vectors][Rows] = Tiles<Rows, Vectors, Variant::InPlace>;
    engine.m_Rows[Vectors] = engine.m_Rows[Vectors] < Rows ? Rows : engine.m_Rows[Vectors];
    engine.m_Vectors = engine.m_MaxVectors = engine.m_Vectors < Vectors ? Vectors : engine.m_Vectors;
    if constexpr (Rows > 1)
    {
        FillTiles<Vectors, Rows - 1>(engine);
    }
}

#if HWY_TARGET == HWY_AVX3
template <size_t Vectors, size_t Rows, Variant Which>
void FillHalfVectorTiles(MicrokernelsF32& engine)
{
    engine.m_HalfVectorTiles[Vectors][Rows] = Tiles<Rows, Vectors, Which>;
    engine.m_HalfVectorRows[Vectors] =
        engine.m_HalfVectorRows[Vectors] < Rows ? Rows : engine.m_HalfVectorRows[Vectors];
    if constexpr (Rows > 1)
    {
        FillHalfVectorTiles<Vectors, Rows - 1, Which>(engine);
    }
}

template <size_t Rows>
void FillSlidingTiles(MicrokernelsF32& engine)
{
    engine.m_SlidingTiles[Rows] = Tiles<Rows, 1, Variant::Sliding>;
    engine.m_SlidingRows = engine.m_SlidingRows < Rows ? Rows : engine.m_SlidingRows;
    if constexpr (Rows > 1)
    {
        FillSlidingTiles<Rows - 1>(engine);
    }
}
#endif

MicrokernelsF32 MakeMicrokernels()
{
    MicrokernelsF32 engine;
    engine.m_Lanes = hn::Lanes(TagF32());
    engine.m_FetchesOutput = HWY_TARGET != HWY_AVX2;
    if constexpr (ManyRegisters)
    {
#if HWY_TARGET == HWY_AVX3
        FillSlidingTiles<12>(engine);
        if (GetCpuFeatures().m_SplitsVectors)
        {
            // One multiply-add per cycle: seven sums keep it busy, with the broadcast as a memory operand. The epilogue
            // of so small a tile overlaps with the multiply-adds of the next tile; that of 24 sums does not.
            engine.m_MaxSlidingChannels = 8; // with more, tiles of seven rows are faster
            FillTiles<1, 7>(engine);
            FillHalfVectorTiles<1, 8, Variant::Narrow>(engine);
            FillTiles<2, 12>(engine);
            FillTiles<3, 8>(engine);
            FillTiles<4, 6>(engine);
            engine.m_Vectors = 1;
            return engine;
        }
        FillHalfVectorTiles<1, 14, Variant::HalfVectors>(engine);
        FillHalfVectorTiles<2, 14, Variant::HalfVectors>(engine);
        FillHalfVectorTiles<3, 10, Variant::HalfVectors>(engine);
        FillHalfVectorTiles<4, 6, Variant::HalfVectors>(engine);
#endif
        FillTiles<1, 12>(engine);
        FillTiles<2, 12>(engine);
        FillTiles<3, 8>(engine);
        FillTiles<4, 6>(engine);
    }
    else
    {
        // Sixteen registers: 12 sums, 2 vectors of weights, and the data.
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

const MicrokernelsF32& GetMicrokernelsF32()
{
    static constinit PerIsa<MicrokernelsF32> engine;
    return engine.Get([] { return TENON_CHOOSE(MakeMicrokernels)(); });
}

} // namespace tenon::cpu
#endif
