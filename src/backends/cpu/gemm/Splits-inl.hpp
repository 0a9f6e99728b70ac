// SPDX-License-Identifier: Apache-2.0
// Tiles of bytes by split weights (SplitWeights8.hpp), for sources that are compiled for each target (Foreach.hpp):
// Tiles8.cpp. Included once a target.
#if defined(TENON_CPU_SPLITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_SPLITS_INL
#undef TENON_CPU_SPLITS_INL
#else
#define TENON_CPU_SPLITS_INL
#endif

#include "backends/cpu/gemm/Dots-inl.hpp"
#include "backends/cpu/gemm/SplitWeights8.hpp"
#include "backends/cpu/gemm/Tiles8.hpp"
#include "backends/cpu/simd/Floats-inl.hpp"

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_ARCH_X86

/// The products of unsigned with signed bytes, added up two by two to int16.
HWY_INLINE Vector MultiplyBytes(const Vector& data, const Vector& weights)
{
    Vector pairs;
#if HWY_TARGET == HWY_AVX3
    pairs.raw = _mm512_maddubs_epi16(data.raw, weights.raw);
#elif HWY_TARGET == HWY_AVX2
    pairs.raw = _mm256_maddubs_epi16(data.raw, weights.raw);
#else
    pairs.raw = _mm_maddubs_epi16(data.raw, weights.raw);
#endif
    return pairs;
}

template <bool Flips>
HWY_INLINE Vector ReadSplitGroup(const uint8_t* from)
{
    int32_t group;
    std::memcpy(&group, from, sizeof(group));
    const Vector all = hn::Set(Ints(), group);
    return Flips ? hn::Xor(all, hn::Set(Ints(), static_cast<int32_t>(0x80808080))) : all;
}

/// sums += the pairs of the shorts
HWY_INLINE void AddSplitPairs(Vector& sums, const Vector& pairs)
{
    WidePairs::Add(sums, pairs, hn::Set(Ints(), 0x00010001));
}

/// sums += a group of the data * a term. Weights are read for each row: sixteen registers have no room for them.
template <bool Flips, size_t Rows, size_t Vectors>
HWY_INLINE void AddTerm(const uint8_t* const (&rows)[Rows], size_t at, const int32_t* weights,
                        Vector (&sums)[Rows][Vectors])
{
    const Ints d;
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        const Vector x = ReadSplitGroup<Flips>(rows[r] + at);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            AddSplitPairs(sums[r][v], MultiplyBytes(x, hn::Load(d, weights + v * hn::Lanes(d))));
        }
    }
}

/// The same for two terms whose products fit 16 bits together.
template <bool Flips, size_t Rows, size_t Vectors>
HWY_INLINE void AddCouple(const uint8_t* const (&rows)[Rows], size_t first, size_t second, const int32_t* weights,
                          Vector (&sums)[Rows][Vectors])
{
    const Ints d;
    const hn::Repartition<int16_t, Ints> d16;
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        const Vector x = ReadSplitGroup<Flips>(rows[r] + first);
        const Vector y = ReadSplitGroup<Flips>(rows[r] + second);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Vector ofX = MultiplyBytes(x, hn::Load(d, weights + v * hn::Lanes(d)));
            const Vector ofY = MultiplyBytes(y, hn::Load(d, weights + (Vectors + v) * hn::Lanes(d)));
            AddSplitPairs(sums[r][v], hn::BitCast(d, hn::Add(hn::BitCast(d16, ofX), hn::BitCast(d16, ofY))));
        }
    }
}

/// A TileFunction8; the panel says which groups it is multiplied with.
template <bool Flips, size_t Rows, size_t Vectors>
void SplitTile(const void* data, size_t dataStride, const void* panel, size_t, const int32_t* bias, int32_t* sums)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    Vector acc[Rows][Vectors];
    const uint8_t* rows[Rows];
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        rows[r] = static_cast<const uint8_t*>(data) + r * dataStride;
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            acc[r][v] = hn::Load(d, bias + v * lanes);
        }
    }
    const auto& header = *static_cast<const SplitHeader*>(panel);
    const auto* group = reinterpret_cast<const uint32_t*>(&header + 1);
    const uint32_t* const singles = group + 2 * size_t{header.m_NumCouples};
    const uint32_t* const end = group + header.m_NumTerms;
    const auto* weights = static_cast<const int32_t*>(panel) + GetSplitHeaderBytes(header.m_NumTerms) / sizeof(int32_t);
    for (; group != singles; group += 2, weights += 2 * Vectors * lanes)
    {
        AddCouple<Flips>(rows, 4 * size_t{group[0]}, 4 * size_t{group[1]}, weights, acc);
    }
    for (; group != end; ++group, weights += Vectors * lanes)
    {
        AddTerm<Flips>(rows, 4 * size_t{*group}, weights, acc);
    }
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

/// Tiles of 1 to `Rows` rows for panels of `Vectors`.
template <bool Flips, size_t Vectors, size_t Rows>
void FillSplitTilesOf(TileSet8& tiles)
{
    tiles.Add(Vectors, Rows, SplitTile<Flips, Rows, Vectors>);
    if constexpr (Rows > 1)
    {
        FillSplitTilesOf<Flips, Vectors, Rows - 1>(tiles);
    }
}

template <bool Flips>
void FillSplitTiles(TileSet8& tiles)
{
    tiles.m_Layout = Layout8::Splits;
    tiles.m_Signs = Signs8::DataUnsigned;
    tiles.m_FlipsData = Flips;
    FillSplitTilesOf<Flips, 1, 8>(tiles);
    FillSplitTilesOf<Flips, 2, ManyRegisters ? 8 : 6>(tiles);
}

#endif // HWY_ARCH_X86

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
