// SPDX-License-Identifier: Apache-2.0
// Software-pipelined tiles (AVX-512): the accumulators of tile i-1 are requantized or dequantized between the dot
// products of tile i. Dot products use two of the four vector ports, the epilogue all four, so both together take less
// than one after the other.
//
//   groups of tile i:  |--1/(V+1)--| epilogue of vector 0 |--1/(V+1)--| epilogue of vector 1 | ... | store |
//   V: vectors of the panel
//
// Tile (template argument) gives Begin, AddGroups, Keep, EpilogueOfVector and Store.
//
// Part of MicrokernelsInt8.cpp, ImplicitGemmKernelsInt8.cpp and ImplicitGemmDequantizedInt8.cpp, which are compiled for
// each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_PIPELINED_TILES_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_PIPELINED_TILES_AVX512_INT8_INL
#undef TENON_CPU_PIPELINED_TILES_AVX512_INT8_INL
#else
#define TENON_CPU_PIPELINED_TILES_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/int8/DotTileInt8-inl.hpp"
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

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
