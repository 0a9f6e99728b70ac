// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bytes that end beside the products of the next one, with AVX-512: dot products take two of four
// vector units, and what makes bytes of sums takes all four. For sources that are compiled for each target
// (Foreach.hpp): Tiles8.cpp. Included once a target.
#if defined(TENON_CPU_BYTE_TURNS_AVX512_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_BYTE_TURNS_AVX512_INL
#undef TENON_CPU_BYTE_TURNS_AVX512_INL
#else
#define TENON_CPU_BYTE_TURNS_AVX512_INL
#endif

#include "backends/cpu/gemm/bytes/ByteTilesAvx512-inl.hpp"

#include <utility>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Tiles of so many vectors whose end is beside the products of the next one.
struct Turns
{
    size_t m_Rows;
    size_t m_LeastRows;   ///< with fewer, what the last tile repeats weighs more than what is won
    size_t m_LeastGroups; ///< of the depth, where 512-bit instructions are two
};
constexpr Turns TurnsOf[] = {{}, {8, 64, 12}, {6, 48, 4}, {4, 24, 4}, {3, 7, 4}};
/// The same where they are one: with fewer, loads take longer than products and ends.
constexpr size_t LeastGroupsOfWhole = 12;

/// So many bytes of a panel stay in the first-level cache. With more the end of a tile does not weigh, and tiles of
/// more rows read the panel less often.
constexpr size_t MostPanelInTurn = 32768;

/// Tiles of `Rows` rows by `Vectors` vectors, two of which are in registers.
template <typename Tile, size_t Rows, size_t Vectors>
struct ByteTurns
{
    using Sums = typename Tile::template Sums<Rows, Vectors>;
    using Kept = Vector[Rows][Vectors];
    using Products = typename Tile::template Products<Rows>;

    /// All rows, with the last tile over some of the one before.
    static void Write(const ByteRows8& of, const ByteColumns8& columns)
    {
        constexpr auto AllVectors = std::make_index_sequence<Vectors>();
        const size_t last = of.m_Rows - Rows;
        Kept kept;
        {
            Sums first;
            Products at;
            Tile::Begin(of, columns, 0, at, first);
            Tile::AddGroups(of.m_Groups, at, first);
            Tile::Keep(first, kept);
        }
        for (size_t row = 0; row != last;)
        {
            const size_t next = row + Rows < last ? row + Rows : last;
            Sums sums;
            WriteBeside(of, columns, next, sums, row, kept, AllVectors);
            Tile::Keep(sums, kept);
            row = next;
        }
        Finish(of, columns, last, kept, AllVectors);
    }

private:
    static constexpr auto Stores = std::make_index_sequence<DivideUp(Rows, GetRowsTogether(Vectors))>();

    /// The products of a tile, and meanwhile the end of the one before.
    template <size_t... V>
    static HWY_INLINE void WriteBeside(const ByteRows8& of, const ByteColumns8& columns, size_t row, Sums& sums,
                                       size_t rowBefore, Kept& before, std::index_sequence<V...>)
    {
        constexpr size_t Steps = Vectors + 1;
        const size_t each = of.m_Groups / Steps;
        Products at;
        Tile::Begin(of, columns, row, at, sums);
        ((Tile::AddGroups((V + 1) * each, at, sums),
          Tile::template ScaleVectorByTwos<V>(of, columns, rowBefore, before)),
         ...);
        Tile::AddGroups(Steps * each, at, sums);
        Tile::Store(of, columns, rowBefore, before, Stores);
        Tile::AddGroups(of.m_Groups, at, sums);
    }

    template <size_t... V>
    static HWY_INLINE void Finish(const ByteRows8& of, const ByteColumns8& columns, size_t row, Kept& kept,
                                  std::index_sequence<V...>)
    {
        (Tile::template ScaleVectorByTwos<V>(of, columns, row, kept), ...);
        Tile::Store(of, columns, row, kept, Stores);
    }
};

/// Tiles whose last vector has columns in its lower half alone, which alone is multiplied. Two rows share a vector of
/// the sums of these columns while they end.
template <typename Dot, typename Scale, bool HasTerms>
struct ByteNarrowTile : ByteTile<Dot, Scale, HasTerms>
{
    using Tile = ByteTile<Dot, Scale, HasTerms>;
    template <size_t Rows>
    using Products = typename Tile::template Products<Rows>;

    template <size_t Rows, size_t Vectors>
    struct Sums
    {
        Vector m_Whole[Rows][Vectors]; // the last one is not used
        __m256i m_Narrow[Rows];
    };

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Begin(const ByteRows8& of, const ByteColumns8& columns, size_t row, Products<Rows>& at,
                                 Sums<Rows, Vectors>& sums)
    {
        Tile::Begin(of, columns, row, at, sums.m_Whole);
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums.m_Narrow[r] = _mm512_castsi512_si256(sums.m_Whole[r][Vectors - 1].raw);
        }
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddGroups(size_t end, Products<Rows>& at, Sums<Rows, Vectors>& sums)
    {
        for (; at.m_Group < end; ++at.m_Group)
        {
            AddNarrowGroup<Dot>([&](size_t r) HWY_ATTR { return at.m_Rows[r] + 4 * at.m_Group; }, at.m_Weights,
                                sums.m_Whole, sums.m_Narrow);
        }
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Keep(const Sums<Rows, Vectors>& sums, Vector (&kept)[Rows][Vectors])
    {
        static_assert(Rows % 2 == 0);
        constexpr size_t Last = Vectors - 1;
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Last; ++v)
            {
                kept[r][v] = sums.m_Whole[r][v];
            }
        }
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; r += 2)
        {
            kept[r][Last].raw = _mm512_inserti64x4(_mm512_castsi256_si512(sums.m_Narrow[r]), sums.m_Narrow[r + 1], 1);
        }
    }

    template <size_t V, size_t Rows, size_t Vectors>
    static HWY_INLINE void ScaleVectorByTwos(const ByteRows8& of, const ByteColumns8& columns, size_t row,
                                             Vector (&sums)[Rows][Vectors])
    {
        if constexpr (V + 1 < Vectors)
        {
            Tile::template ScaleVectorByTwos<V>(of, columns, row, sums);
        }
        else
        {
            constexpr __mmask16 UpperHalf = 0xFF00;
            const Scale& scale = reinterpret_cast<const Scale*>(columns.m_Scales)[V];
            HWY_UNROLL(8)
            for (size_t r = 0; r < Rows; r += 2)
            {
                __m512i both = sums[r][V].raw;
                if constexpr (HasTerms)
                {
                    const int32_t* const terms = of.m_RowTerms + row + r;
                    both = _mm512_add_epi32(both,
                                            _mm512_mask_set1_epi32(_mm512_set1_epi32(terms[0]), UpperHalf, terms[1]));
                }
                both = ScaleOne(scale, both);
                sums[r][V].raw = both;
                sums[r + 1][V].raw = _mm512_shuffle_i64x2(both, both, 0xEE);
            }
        }
    }
};

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
