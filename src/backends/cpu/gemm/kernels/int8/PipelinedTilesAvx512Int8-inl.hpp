// SPDX-License-Identifier: Apache-2.0
// AVX-512 tiles whose epilogue works on accumulators in registers: next to dot products, each store of an accumulator
// takes the time of two of these on processors of AMD's fifth generation.
//
// Software pipelining (PipelinedTiles): the accumulators of tile i-1 are requantized or dequantized between the dot
// products of tile i. Dot products use two of the four vector ports, the epilogue all four, so both together take less
// than one after the other.
//
//   groups of tile i:  |--1/(V+1)--| epilogue of vector 0 |--1/(V+1)--| epilogue of vector 1 | ... | store |
//   V: vectors of the panel
//
// A tile (template argument) gives Begin, AddGroups, Keep, EpilogueOfVector and Store: RequantizedTile writes int8;
// the dequantizing tiles are next to their kernels. HalfVectorTile is for tiles whose last vector of columns uses its
// lower half only: it multiplies that half by 256-bit instructions, for processors that execute 512-bit instructions
// as two. RequantizedHalfVectorTile requantizes it.
//
// Part of FusedEpilogueRowsAvx512Int8.cpp and ImplicitGemmKernelsInt8.cpp, which are compiled for each target
// (Foreach.hpp); included once a target.
#if defined(TENON_CPU_PIPELINED_TILES_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_PIPELINED_TILES_AVX512_INT8_INL
#undef TENON_CPU_PIPELINED_TILES_AVX512_INT8_INL
#else
#define TENON_CPU_PIPELINED_TILES_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/epilogue/RequantizeAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Shape of pipelined tiles for panels of 1 to 4 vectors.
struct PipelineShape
{
    size_t m_Rows;
    size_t m_MinGroups; ///< of the depth, on processors that execute 512-bit instructions as two
};
constexpr PipelineShape PipelineShapes[] = {{}, {8, 12}, {6, 4}, {4, 4}, {3, 4}};
/// Smallest number of groups where 512-bit instructions are executed whole: with fewer, loads take longer than the
/// products and the epilogue.
constexpr size_t MinGroupsOfWholeVector = 12;
/// Bytes of a panel that stay in the first-level cache. With larger panels the time of the epilogue does not matter,
/// and tiles of more rows read the panel less often.
constexpr size_t MaxPipelinedPanelBytes = 32768;

/// Whether tiles of `Vectors` vectors are pipelined for `rows` rows of a depth of `groups`. `isEqual`: tiles of two
/// heights that differ by one cover the rows without overlap.
template <size_t Vectors>
bool IsPipelined(size_t rows, size_t groups, bool isEqual)
{
    const bool splits = GetCpuFeatures().m_SplitsVectors;
    constexpr PipelineShape Of = PipelineShapes[Vectors];
    if (rows <= Of.m_Rows || groups < (splits ? Of.m_MinGroups : MinGroupsOfWholeVector) ||
        groups * Vectors * sizeof(Vector) > MaxPipelinedPanelBytes)
    {
        return false;
    }
    // A pipelined epilogue saves each row the time of two groups. With fewer vectors, accumulators that go through
    // memory cost no more than repeated rows.
    const size_t repeated = DivideUp(rows, Of.m_Rows) * Of.m_Rows - rows;
    return repeated * groups <= 2 * rows || (Vectors == 4 && !isEqual);
}

/// Common part of tiles that may be pipelined.
template <typename Dot>
struct PipelinedTile
{
    /// Position in the products of a tile.
    template <size_t Rows>
    struct Products
    {
        const uint8_t* m_Rows[Rows];
        const std::byte* m_Weights;
        size_t m_Group;
    };

    template <size_t Rows, size_t Vectors>
    using Sums = Vector[Rows][Vectors];

    /// `of`: rows of data, as in RequantizedRowsInt8 and DequantizedRowsInt8. `bias`: initial accumulators.
    template <typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void BeginRows(const Of& of, const int32_t* bias, size_t row, Products<Rows>& at,
                                     Vector (&sums)[Rows][Vectors])
    {
        at.m_Weights = static_cast<const std::byte*>(of.m_Panel);
        at.m_Group = 0;
        BeginTile(static_cast<const uint8_t*>(of.m_Data) + row * of.m_DataStride, of.m_DataStride, bias, at.m_Rows,
                  sums);
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void BeginSums(const int32_t* bias, Vector (&sums)[Rows][Vectors])
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                sums[r][v] = hn::Load(Ints(), bias + v * hn::Lanes(Ints()));
            }
        }
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddGroups(size_t end, Products<Rows>& at, Vector (&sums)[Rows][Vectors])
    {
        for (; at.m_Group < end; ++at.m_Group)
        {
            AddOne(at.m_Rows, 4 * at.m_Group, at.m_Weights, sums);
        }
    }

    /// Adds the group of the rows that is `from` bytes from their start.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddOne(const uint8_t* const (&rows)[Rows], size_t from, const std::byte*& weights,
                                  Vector (&sums)[Rows][Vectors])
    {
        if constexpr (Rows < 4)
        {
            DotTile<Dot>::AddGroupByVectors(rows, from, weights, sums);
        }
        else
        {
            DotTile<Dot>::AddGroup(rows, from, weights, sums);
        }
    }

    /// Keeps accumulators for the epilogue.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Keep(const Vector (&sums)[Rows][Vectors], Vector (&kept)[Rows][Vectors])
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                kept[r][v] = sums[r][v];
            }
        }
    }
};

/// Smallest number of groups for which half-vector tiles are faster. They are made for software pipelining only.
constexpr size_t MinGroupsOfHalfVector = 4;

/// A tile that multiplies the lower half of its last vector only.
template <typename Dot, typename Base>
struct HalfVectorTile : Base
{
    template <size_t Rows>
    using Products = typename Base::template Products<Rows>;

    template <size_t Rows, size_t Vectors>
    struct Sums
    {
        Vector m_Whole[Rows][Vectors]; // the last vector is the initial value of m_HalfVector
        __m256i m_HalfVector[Rows];
    };

    /// Initializes the half vectors from the whole ones.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void BeginHalfVector(Sums<Rows, Vectors>& sums)
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums.m_HalfVector[r] = _mm512_castsi512_si256(sums.m_Whole[r][Vectors - 1].raw);
        }
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void BeginSums(const int32_t* bias, Sums<Rows, Vectors>& sums)
    {
        Base::BeginSums(bias, sums.m_Whole);
        BeginHalfVector(sums);
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddGroups(size_t end, Products<Rows>& at, Sums<Rows, Vectors>& sums)
    {
        for (; at.m_Group < end; ++at.m_Group)
        {
            AddOne(at.m_Rows, 4 * at.m_Group, at.m_Weights, sums);
        }
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddOne(const uint8_t* const (&rows)[Rows], size_t from, const std::byte*& weights,
                                  Sums<Rows, Vectors>& sums)
    {
        AddHalfVectorGroup<Dot>([&](size_t r) HWY_ATTR { return rows[r] + from; }, weights, sums.m_Whole,
                                sums.m_HalfVector);
    }

    /// Keeps all vectors but the last one.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void KeepWhole(const Sums<Rows, Vectors>& sums, Vector (&kept)[Rows][Vectors])
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v + 1 < Vectors; ++v)
            {
                kept[r][v] = sums.m_Whole[r][v];
            }
        }
    }
};

/// Pipelined tiles of `Rows` rows by `Vectors` vectors, two of which are in registers.
template <typename Tile, size_t Rows, size_t Vectors>
struct PipelinedTiles
{
    using Sums = typename Tile::template Sums<Rows, Vectors>;
    using Kept = Vector[Rows][Vectors];
    using Products = typename Tile::template Products<Rows>;

    /// Computes all rows; the last tile overlaps the one before. Precondition: `rows` is at least `Rows`. Not inlined:
    /// next to other tiles' loops GCC keeps some of the accumulators in memory.
    template <typename Of, typename Columns>
    static HWY_NOINLINE void Write(const Of& of, const Columns& columns, size_t rows)
    {
        constexpr auto AllVectors = std::make_index_sequence<Vectors>();
        const size_t last = rows - Rows;
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
            MultiplyBesideEpilogue(of, columns, next, sums, row, kept, AllVectors);
            Tile::Keep(sums, kept);
            row = next;
        }
        Epilogue(of, columns, last, kept, AllVectors);
    }

private:
    /// Multiplies one tile while the epilogue of the previous tile runs.
    template <typename Of, typename Columns, size_t... V>
    static HWY_INLINE void MultiplyBesideEpilogue(const Of& of, const Columns& columns, size_t row, Sums& sums,
                                                  size_t rowBefore, Kept& before, std::index_sequence<V...>)
    {
        constexpr size_t Steps = Vectors + 1;
        const size_t each = of.m_Groups / Steps;
        Products at;
        Tile::Begin(of, columns, row, at, sums);
        ((Tile::AddGroups((V + 1) * each, at, sums),
          Tile::template EpilogueOfVector<V>(of, columns, rowBefore, before)),
         ...);
        Tile::AddGroups(Steps * each, at, sums);
        Tile::Store(of, columns, rowBefore, before);
        Tile::AddGroups(of.m_Groups, at, sums);
    }

    template <typename Of, typename Columns, size_t... V>
    static HWY_INLINE void Epilogue(const Of& of, const Columns& columns, size_t row, Kept& kept,
                                    std::index_sequence<V...>)
    {
        (Tile::template EpilogueOfVector<V>(of, columns, row, kept), ...);
        Tile::Store(of, columns, row, kept);
    }
};

/// Addresses of the rows of the output.
struct RowsOut
{
    uint8_t* m_Out;
    size_t m_Stride;

    HWY_INLINE uint8_t* operator[](size_t i) const { return m_Out + i * m_Stride; }
};
HWY_INLINE RowsOut GetOut(const RequantizedRowsInt8& of, size_t row)
{
    return {of.m_Out + row * of.m_OutStride, of.m_OutStride};
}

struct OffsetsOut
{
    uint8_t* m_Out;
    const size_t* m_OutputOffsets;

    HWY_INLINE uint8_t* operator[](size_t i) const { return m_Out + m_OutputOffsets[i]; }
};
HWY_INLINE OffsetsOut GetOut(const ImplicitGemmRowsInt8& of, size_t row)
{
    return {of.m_Out, of.m_OutputOffsets + row};
}

/// Number of rows that are stored together.
constexpr size_t GetRowsTogether(size_t vectors)
{
    return vectors > 2 ? 1 : 4 / vectors;
}

template <typename Dot, typename Scale, bool HasTerms>
struct RequantizedTile : PipelinedTile<Dot>
{
    template <size_t Rows>
    using Products = typename PipelinedTile<Dot>::template Products<Rows>;

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Begin(const RequantizedRowsInt8& of, const PreparedRequantizationInt8& columns, size_t row,
                                 Products<Rows>& at, Vector (&sums)[Rows][Vectors])
    {
        PipelinedTile<Dot>::BeginRows(of, columns.m_Bias, row, at, sums);
    }

    /// Scales one vector of columns.
    template <size_t V, typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void ScaleVector(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                       Vector (&sums)[Rows][Vectors])
    {
        const Scale& scale = reinterpret_cast<const Scale*>(columns.m_Scales)[V];
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            __m512i x = sums[r][V].raw;
            if constexpr (HasTerms)
            {
                x = _mm512_add_epi32(x, _mm512_set1_epi32(of.m_RowCorrections[row + r]));
            }
            sums[r][V].raw = ScaleOne(scale, x);
        }
    }

    /// The same with few registers to spare.
    template <size_t V, typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void EpilogueOfVector(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                            Vector (&sums)[Rows][Vectors])
    {
        const Scale& scale = reinterpret_cast<const Scale*>(columns.m_Scales)[V];
        if constexpr (HasTerms)
        {
            HWY_UNROLL(16)
            for (size_t r = 0; r < Rows; ++r)
            {
                sums[r][V].raw = _mm512_add_epi32(sums[r][V].raw, _mm512_set1_epi32(of.m_RowCorrections[row + r]));
            }
        }
        HWY_UNROLL(4)
        for (size_t r = 0; r + 1 < Rows; r += 2)
        {
            ScaleTwo(scale, sums[r][V].raw, sums[r + 1][V].raw);
        }
        if constexpr (Rows % 2 != 0)
        {
            sums[Rows - 1][V].raw = ScaleOne(scale, sums[Rows - 1][V].raw);
        }
    }

    /// Scales the last vector where it uses its lower half only: the vector of every other row has the accumulators of
    /// the next row in its upper half.
    template <size_t V, typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void EpilogueOfHalves(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                            Vector (&sums)[Rows][Vectors])
    {
        static_assert(Rows % 2 == 0);
        constexpr __mmask16 UpperHalf = 0xFF00;
        const Scale& scale = reinterpret_cast<const Scale*>(columns.m_Scales)[V];
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; r += 2)
        {
            __m512i both = sums[r][V].raw;
            if constexpr (HasTerms)
            {
                const int32_t* const terms = of.m_RowCorrections + row + r;
                both = _mm512_add_epi32(both, _mm512_mask_set1_epi32(_mm512_set1_epi32(terms[0]), UpperHalf, terms[1]));
            }
            both = ScaleOne(scale, both);
            sums[r][V].raw = both;
            sums[r + 1][V].raw = _mm512_shuffle_i64x2(both, both, 0xEE);
        }
    }

    /// Stores the rows from `First` on that fill 64 bytes.
    template <size_t First, typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void StoreSome(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                     const Vector (&sums)[Rows][Vectors])
    {
        const auto out = GetOut(of, row + First);
        const auto mask = columns.m_Mask;
        constexpr auto Row = [](size_t i) { return First + i < Rows ? First + i : Rows - 1; };
        if constexpr (Vectors == 1)
        {
            const __m512i bytes =
                PackInt8<false>(SixteenLaneScale::Pack(sums[Row(0)][0].raw, sums[Row(1)][0].raw),
                                SixteenLaneScale::Pack(sums[Row(2)][0].raw, sums[Row(3)][0].raw), columns);
            const auto of16 = static_cast<__mmask16>(mask);
            _mm_mask_storeu_epi8(out[0], of16, _mm512_castsi512_si128(bytes));
            if constexpr (First + 1 < Rows)
            {
                _mm_mask_storeu_epi8(out[1], of16, _mm512_extracti64x2_epi64(bytes, 1));
            }
            if constexpr (First + 2 < Rows)
            {
                _mm_mask_storeu_epi8(out[2], of16, _mm512_extracti64x2_epi64(bytes, 2));
            }
            if constexpr (First + 3 < Rows)
            {
                _mm_mask_storeu_epi8(out[3], of16, _mm512_extracti64x2_epi64(bytes, 3));
            }
        }
        else if constexpr (Vectors == 2)
        {
            const __m512i bytes =
                PackInt8<false>(SixteenLaneScale::Pack(sums[Row(0)][0].raw, sums[Row(0)][1].raw),
                                SixteenLaneScale::Pack(sums[Row(1)][0].raw, sums[Row(1)][1].raw), columns);
            const auto of32 = static_cast<__mmask32>(mask);
            _mm256_mask_storeu_epi8(out[0], of32, _mm512_castsi512_si256(bytes));
            if constexpr (First + 1 < Rows)
            {
                _mm256_mask_storeu_epi8(out[1], of32, _mm512_extracti64x4_epi64(bytes, 1));
            }
        }
        else
        {
            const __m512i last = Vectors > 3 ? sums[First][Vectors - 1].raw : _mm512_setzero_si512();
            _mm512_mask_storeu_epi8(out[0], mask,
                                    PackInt8<false>(SixteenLaneScale::Pack(sums[First][0].raw, sums[First][1].raw),
                                                    SixteenLaneScale::Pack(sums[First][2].raw, last), columns));
        }
    }

    template <typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void Store(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                 const Vector (&sums)[Rows][Vectors])
    {
        StoreAll(of, columns, row, sums, std::make_index_sequence<DivideUp(Rows, GetRowsTogether(Vectors))>());
    }

    template <typename Of, size_t Rows, size_t Vectors, size_t... I>
    static HWY_INLINE void StoreAll(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                    const Vector (&sums)[Rows][Vectors], std::index_sequence<I...>)
    {
        (StoreSome<I * GetRowsTogether(Vectors)>(of, columns, row, sums), ...);
    }

    template <typename Of, size_t Rows, size_t Vectors, size_t... V>
    static HWY_INLINE void ScaleSome(const Of& of, const PreparedRequantizationInt8& columns,
                                     [[maybe_unused]] size_t row, Vector (&sums)[Rows][Vectors],
                                     std::index_sequence<V...>)
    {
        (ScaleVector<V>(of, columns, row, sums), ...);
    }

    /// The epilogue of a tile.
    template <typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void Epilogue(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                    Vector (&sums)[Rows][Vectors])
    {
        ScaleSome(of, columns, row, sums, std::make_index_sequence<Vectors>());
        Store(of, columns, row, sums);
    }

    /// Computes one tile.
    template <size_t Rows, size_t Vectors>
    static void Write(const RequantizedRowsInt8& of, const PreparedRequantizationInt8& columns, size_t row)
    {
        Vector sums[Rows][Vectors];
        Products<Rows> at;
        Begin(of, columns, row, at, sums);
        PipelinedTile<Dot>::AddGroups(of.m_Groups, at, sums);
        Epilogue(of, columns, row, sums);
    }
};

/// In the epilogue, which runs between the products of the next tile, two rows share a vector for the last columns.
template <typename Dot, typename Scale, bool HasTerms>
struct RequantizedHalfVectorTile : HalfVectorTile<Dot, RequantizedTile<Dot, Scale, HasTerms>>
{
    using Tile = RequantizedTile<Dot, Scale, HasTerms>;
    using Narrow = HalfVectorTile<Dot, Tile>;

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Begin(const RequantizedRowsInt8& of, const PreparedRequantizationInt8& columns, size_t row,
                                 typename Tile::template Products<Rows>& at,
                                 typename Narrow::template Sums<Rows, Vectors>& sums)
    {
        Tile::Begin(of, columns, row, at, sums.m_Whole);
        Narrow::BeginHalfVector(sums);
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Keep(const typename Narrow::template Sums<Rows, Vectors>& sums,
                                Vector (&kept)[Rows][Vectors])
    {
        static_assert(Rows % 2 == 0);
        Narrow::KeepWhole(sums, kept);
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; r += 2)
        {
            kept[r][Vectors - 1].raw =
                _mm512_inserti64x4(_mm512_castsi256_si512(sums.m_HalfVector[r]), sums.m_HalfVector[r + 1], 1);
        }
    }

    template <size_t V, typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void EpilogueOfVector(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                            Vector (&sums)[Rows][Vectors])
    {
        if constexpr (V + 1 < Vectors)
        {
            Tile::template EpilogueOfVector<V>(of, columns, row, sums);
        }
        else
        {
            Tile::template EpilogueOfHalves<V>(of, columns, row, sums);
        }
    }
};

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
