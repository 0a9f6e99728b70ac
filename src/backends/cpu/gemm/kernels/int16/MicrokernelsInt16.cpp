// SPDX-License-Identifier: Apache-2.0
// MicrokernelsInt16: the inner loops. Sums stay in registers over the depth; each pair of the data is broadcast and
// multiplied by the panel's vectors. Every loop over registers is unrolled before register allocation: otherwise the
// sums would live in memory.
#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"

#include "backends/cpu/im2col/SkippedTaps.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/gemm/epilogue/RequantizeInt16-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int16/MicrokernelsPerChannelInt16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Loads a vector of pairs.
HWY_INLINE Vector LoadPairs(const int16_t* from)
{
    return hn::BitCast(Ints(), hn::Load(hn::Repartition<int16_t, Ints>(), from));
}

HWY_INLINE Vector LoadPairs(const int8_t* from)
{
    const hn::Repartition<int16_t, Ints> d16;
    return hn::BitCast(Ints(), hn::PromoteTo(d16, hn::Load(hn::Rebind<int8_t, decltype(d16)>(), from)));
}

/// A tile of Rows x Vectors vectors of sums; W: type of the packed weights.
template <typename Dot, typename W, size_t Rows, size_t Vectors>
void Tile(const TileInt16& tile)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    Vector acc[Rows][Vectors];
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            acc[r][v] = hn::Zero(d);
        }
    }
    const auto* weights = static_cast<const W*>(tile.m_Panel);
    const int16_t* const* data = tile.m_Indirection;
    const int16_t* const zeros = tile.m_Zeros;
    size_t begin = tile.m_FirstGroup;
    for (size_t left = tile.m_Groups; left > 0; data += tile.m_TapStep, begin = 0)
    {
        const size_t end = std::min(tile.m_TapGroups, begin + left);
        left -= end - begin;
        if (zeros != nullptr && IsTapPadding<Rows>(data, zeros))
        {
            weights += 2 * Vectors * lanes * (end - begin);
            continue;
        }
        const int16_t* rows[Rows];
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            rows[r] = data[r];
        }
        for (size_t g = begin; g < end; ++g)
        {
            Vector w[Vectors];
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                w[v] = LoadPairs(weights + 2 * v * lanes);
            }
            weights += 2 * Vectors * lanes;
            HWY_UNROLL(8)
            for (size_t r = 0; r < Rows; ++r)
            {
                int32_t pair;
                std::memcpy(&pair, rows[r] + 2 * g, sizeof(pair));
                const Vector x = hn::Set(d, pair);
                HWY_UNROLL(4)
                for (size_t v = 0; v < Vectors; ++v)
                {
                    AddSame<Dot>(acc[r][v], x, w[v]);
                }
            }
        }
    }
    int32_t* const sums = tile.m_Sums;
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            hn::Store(acc[r][v], d, sums + (r * Vectors + v) * lanes);
        }
    }
}

/// Fills the microkernels of 1 to `Rows` rows for panels of `Vectors`.
template <typename Dot, size_t Vectors, size_t Rows>
void FillTiles(MicrokernelsInt16& engine)
{
    engine.m_Tiles[Vectors][Rows] = Tile<Dot, int16_t, Rows, Vectors>;
    if constexpr (Rows <= MicrokernelsInt16::MaxInt8Rows)
    {
        engine.m_Int8WeightTiles[Vectors][Rows] = Tile<Dot, int8_t, Rows, Vectors>;
    }
    engine.m_Rows[Vectors] = std::max(engine.m_Rows[Vectors], Rows);
    engine.m_Vectors = std::max(engine.m_Vectors, Vectors);
    if constexpr (Rows > 1)
    {
        FillTiles<Dot, Vectors, Rows - 1>(engine);
    }
}

/// Fills the microkernels of 1 to `Pixels` pixels.
template <typename Dot, typename Kind, size_t Pixels>
void FillPixels(DepthwiseMicrokernelsInt16& tiles)
{
    static_assert(Pixels <= DepthwiseMicrokernelsInt16::MaxPixels);
    tiles.m_Pixels = std::max(tiles.m_Pixels, Pixels);
    tiles.m_Run[Pixels] = Kind::template Run<Dot, Pixels>;
    if constexpr (Pixels > 1)
    {
        FillPixels<Dot, Kind, Pixels - 1>(tiles);
    }
}

/// 32 registers: 24 sums, 4 vectors of weights, and the data.
template <typename Dot>
void FillWide(MicrokernelsInt16& engine)
{
    FillTiles<Dot, 1, 8>(engine);
    FillTiles<Dot, 2, 8>(engine);
    FillTiles<Dot, 3, 8>(engine);
    FillTiles<Dot, 4, 6>(engine);
    FillPixels<Dot, DepthwiseKind, 4>(engine.m_Depthwise);
    FillPixels<Dot, GroupsKind<2>, 4>(engine.m_Groups[2]);
    FillPixels<Dot, GroupsKind<4>, 4>(engine.m_Groups[4]);
    FillPixels<Dot, GroupsKind<8>, 3>(engine.m_Groups[8]);
}

/// 16 registers: 12 sums, 2 vectors of weights, the data and a product.
template <typename Dot>
void FillNarrow(MicrokernelsInt16& engine)
{
    FillTiles<Dot, 1, 8>(engine);
    FillTiles<Dot, 2, 6>(engine);
    FillPixels<Dot, DepthwiseKind, 4>(engine.m_Depthwise);
    FillPixels<Dot, GroupsKind<2>, 4>(engine.m_Groups[2]);
    FillPixels<Dot, GroupsKind<4>, 2>(engine.m_Groups[4]);
    FillPixels<Dot, GroupsKind<8>, 1>(engine.m_Groups[8]);
}

MicrokernelsInt16 MakeMicrokernels()
{
    MicrokernelsInt16 engine;
    engine.m_Lanes = hn::Lanes(Ints());
    engine.m_Accumulate = Accumulate;
    engine.m_Requantize = Requantize;
#if HWY_TARGET == HWY_AVX3
    GetCpuFeatures().m_Avx512Vnni ? FillWide<VnniPairs>(engine) : FillWide<Int16x2>(engine);
#elif HWY_TARGET == HWY_AVX2
    GetCpuFeatures().m_AvxVnni ? FillNarrow<VnniPairs>(engine) : FillNarrow<Int16x2>(engine);
#else
    FillNarrow<Int16x2>(engine);
#endif
    return engine;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const MicrokernelsInt16& GetMicrokernelsInt16()
{
    static constinit PerIsa<MicrokernelsInt16> engine;
    return engine.Get([] { return TENON_CHOOSE(MakeMicrokernels)(); });
}

} // namespace tenon::cpu
#endif
