// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bytes that write bytes, with AVX-512, for sources that are compiled for each target
// (Foreach.hpp): Tiles8.cpp. Included once a target.
//
// Sums stay in registers until they are bytes: beside dot products, stores take the place of two of these each on
// processors of AMD's fifth generation.
#if defined(TENON_CPU_BYTE_TILES_AVX512_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_BYTE_TILES_AVX512_INL
#undef TENON_CPU_BYTE_TILES_AVX512_INL
#else
#define TENON_CPU_BYTE_TILES_AVX512_INL
#endif

#include "backends/cpu/gemm/ByteScalesAvx512-inl.hpp"
#include "backends/cpu/gemm/DotTile-inl.hpp"
#include "backends/cpu/gemm/Tiles8.hpp"

#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

template <typename Scale>
void PrepareScales(const RequantizeColumns& columns, const int32_t* bias, size_t count, ByteColumns8& prepared)
{
    static_assert(sizeof(Scale) == ByteColumns8::VectorBytes);
    for (size_t v = 0; 16 * v < count; ++v)
    {
        const Scale scale(columns, 16 * v);
        std::memcpy(prepared.m_Scales + v * sizeof(scale), &scale, sizeof(scale));
        _mm512_store_si512(prepared.m_Bias + 16 * v,
                           _mm512_add_epi32(_mm512_load_si512(bias + 16 * v), _mm512_set1_epi32(Scale::Offset)));
    }
}

/// See Engine8::m_PrepareColumns. Bytes are made as int8: those of uint8 are 128 more.
void PrepareColumns(const RequantizeColumns& columns, const int32_t* bias, size_t count, bool isSigned,
                    ByteColumns8& prepared)
{
    RequantizeColumns ofSigned = columns;
    const int32_t shift = isSigned ? 0 : 128;
    ofSigned.m_ZeroPoint -= shift;
    _mm512_store_si512(prepared.m_Min, _mm512_set1_epi8(static_cast<char>(columns.m_Min - shift)));
    _mm512_store_si512(prepared.m_Max, _mm512_set1_epi8(static_cast<char>(columns.m_Max - shift)));
    _mm512_store_si512(prepared.m_Flip, _mm512_set1_epi8(isSigned ? 0 : static_cast<char>(0x80)));
    prepared.m_Mask = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    columns.m_Min >= columns.m_ZeroPoint ? PrepareScales<PlainScale>(ofSigned, bias, count, prepared)
                                         : PrepareScales<OffsetScale>(ofSigned, bias, count, prepared);
}

template <typename Dot, typename Scale, bool HasTerms>
struct ByteTile
{
    template <size_t Rows, size_t Vectors>
    static void Run(const ByteTile8& tile, const ByteColumns8& columns)
    {
        Vector sums[Rows][Vectors];
        const uint8_t* rows[Rows];
        BeginTile(tile.m_Data, tile.m_DataStride, columns.m_Bias, rows, sums);
        const auto* weights = static_cast<const std::byte*>(tile.m_Panel);
        for (size_t g = 0; g < tile.m_Groups; ++g)
        {
            DotTile<Dot>::AddGroup(rows, g, weights, sums);
        }
        ScaleAll(sums, tile, columns, std::make_index_sequence<Vectors>());
        StoreRows(sums, tile, columns, std::make_index_sequence<(Rows + RowsOf(Vectors) - 1) / RowsOf(Vectors)>());
    }

private:
    /// Rows that are written together.
    static constexpr size_t RowsOf(size_t vectors) { return vectors > 2 ? 1 : 4 / vectors; }

    template <size_t Rows, size_t Vectors, size_t... V>
    static HWY_INLINE void ScaleAll(Vector (&sums)[Rows][Vectors], const ByteTile8& tile, const ByteColumns8& columns,
                                    std::index_sequence<V...>)
    {
        (ScaleVector<V>(sums, tile, reinterpret_cast<const Scale*>(columns.m_Scales)[V]), ...);
    }

    /// A vector of columns.
    template <size_t V, size_t Rows, size_t Vectors>
    static HWY_INLINE void ScaleVector(Vector (&sums)[Rows][Vectors], const ByteTile8& tile, const Scale& from)
    {
        const Scale scale = from;
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            __m512i x = sums[r][V].raw;
            if constexpr (HasTerms)
            {
                x = _mm512_add_epi32(x, _mm512_set1_epi32(tile.m_RowTerms[r]));
            }
            sums[r][V].raw = ScaleOne(scale, x);
        }
    }

    template <size_t Rows, size_t Vectors, size_t... I>
    static HWY_INLINE void StoreRows(const Vector (&sums)[Rows][Vectors], const ByteTile8& tile,
                                     const ByteColumns8& columns, std::index_sequence<I...>)
    {
        (StoreSome<I * RowsOf(Vectors)>(sums, tile, columns), ...);
    }

    /// The rows from this one on that lie in 64 bytes.
    template <size_t First, size_t Rows, size_t Vectors>
    static HWY_INLINE void StoreSome(const Vector (&sums)[Rows][Vectors], const ByteTile8& tile,
                                     const ByteColumns8& columns)
    {
        uint8_t* const out = tile.m_Out + First * tile.m_OutStride;
        const auto mask = columns.m_Mask;
        constexpr auto Row = [](size_t row) { return First + row < Rows ? First + row : Rows - 1; };
        if constexpr (Vectors == 1)
        {
            const __m512i bytes = PackBytes<false>(Scale16::Pack(sums[Row(0)][0].raw, sums[Row(1)][0].raw),
                                                   Scale16::Pack(sums[Row(2)][0].raw, sums[Row(3)][0].raw), columns);
            const auto of16 = static_cast<__mmask16>(mask);
            _mm_mask_storeu_epi8(out, of16, _mm512_castsi512_si128(bytes));
            if constexpr (First + 1 < Rows)
            {
                _mm_mask_storeu_epi8(out + tile.m_OutStride, of16, _mm512_extracti64x2_epi64(bytes, 1));
            }
            if constexpr (First + 2 < Rows)
            {
                _mm_mask_storeu_epi8(out + 2 * tile.m_OutStride, of16, _mm512_extracti64x2_epi64(bytes, 2));
            }
            if constexpr (First + 3 < Rows)
            {
                _mm_mask_storeu_epi8(out + 3 * tile.m_OutStride, of16, _mm512_extracti64x2_epi64(bytes, 3));
            }
        }
        else if constexpr (Vectors == 2)
        {
            const __m512i bytes = PackBytes<false>(Scale16::Pack(sums[Row(0)][0].raw, sums[Row(0)][1].raw),
                                                   Scale16::Pack(sums[Row(1)][0].raw, sums[Row(1)][1].raw), columns);
            const auto of32 = static_cast<__mmask32>(mask);
            _mm256_mask_storeu_epi8(out, of32, _mm512_castsi512_si256(bytes));
            if constexpr (First + 1 < Rows)
            {
                _mm256_mask_storeu_epi8(out + tile.m_OutStride, of32, _mm512_extracti64x4_epi64(bytes, 1));
            }
        }
        else
        {
            const __m512i last = Vectors > 3 ? sums[First][Vectors - 1].raw : _mm512_setzero_si512();
            _mm512_mask_storeu_epi8(out, mask,
                                    PackBytes<false>(Scale16::Pack(sums[First][0].raw, sums[First][1].raw),
                                                     Scale16::Pack(sums[First][2].raw, last), columns));
        }
    }
};

template <typename Kind, size_t Vectors, size_t Rows>
void FillByteTiles(ByteTiles8 (&tiles)[TileSet8::MostVectors + 1])
{
    // Equal tiles have these numbers of rows where there are more than a few.
    tiles[Vectors].m_Rows = Rows;
    tiles[Vectors].m_OfRows[Rows] = Kind::template Run<Rows, Vectors>;
    tiles[Vectors].m_OfRows[Rows - 1] = Kind::template Run<Rows - 1, Vectors>;
}

template <typename Kind>
void FillByteTiles(ByteTiles8 (&tiles)[TileSet8::MostVectors + 1])
{
    FillByteTiles<Kind, 1, 8>(tiles);
    FillByteTiles<Kind, 2, 8>(tiles);
    FillByteTiles<Kind, 3, 8>(tiles);
    FillByteTiles<Kind, 4, 6>(tiles);
}

template <typename Dot, bool HasTerms>
void FillByteTiles(TileSet8& tiles)
{
    FillByteTiles<ByteTile<Dot, OffsetScale, HasTerms>>(tiles.m_ByteTiles[0][HasTerms]);
    FillByteTiles<ByteTile<Dot, PlainScale, HasTerms>>(tiles.m_ByteTiles[1][HasTerms]);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
