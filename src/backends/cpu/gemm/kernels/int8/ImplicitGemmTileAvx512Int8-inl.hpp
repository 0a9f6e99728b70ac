// SPDX-License-Identifier: Apache-2.0
// AVX-512 tiles of an implicit GEMM: rows are receptive fields of a padded image, see ImplicitGemmRowsInt8.
//   address(row r, group g) = image + m_RowOffsets[r] + m_GroupOffsets[g]          g: four bytes of the depth
//
// Part of ImplicitGemmKernelsInt8.cpp and ImplicitGemmDequantizedInt8.cpp, which are compiled for each target
// (Foreach.hpp); included once a target.
#if defined(TENON_CPU_IMPLICIT_GEMM_TILE_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_IMPLICIT_GEMM_TILE_AVX512_INT8_INL
#undef TENON_CPU_IMPLICIT_GEMM_TILE_AVX512_INT8_INL
#else
#define TENON_CPU_IMPLICIT_GEMM_TILE_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/int8/HalfVectorTilesAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/kernels/int8/PipelinedTilesAvx512Int8-inl.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// A tile whose rows are receptive fields of an image: the products follow the offsets of the groups. Columns:
/// parameters of the epilogue, with the initial accumulators as m_Bias.
template <typename Base>
struct ImplicitGemmTile : Base
{
    template <size_t Rows>
    struct Products
    {
        const uint8_t* m_Rows[Rows];
        const std::byte* m_Weights;
        size_t m_Group;
        const uint32_t* m_GroupOffsets;
    };

    template <size_t Rows, size_t Vectors>
    using Sums = typename Base::template Sums<Rows, Vectors>;

    template <typename Columns, size_t Rows, typename S>
    static HWY_INLINE void Begin(const ImplicitGemmRowsInt8& of, const Columns& columns, size_t row, Products<Rows>& at,
                                 S& sums)
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            at.m_Rows[r] = of.m_Image + of.m_RowOffsets[row + r];
        }
        at.m_Weights = static_cast<const std::byte*>(of.m_Panel);
        at.m_Group = 0;
        at.m_GroupOffsets = of.m_GroupOffsets;
        Base::BeginSums(columns.m_Bias, sums);
    }

    template <size_t Rows, typename S>
    static HWY_INLINE void AddGroups(size_t end, Products<Rows>& at, S& sums)
    {
        for (; at.m_Group < end; ++at.m_Group)
        {
            Base::AddOne(at.m_Rows, at.m_GroupOffsets[at.m_Group], at.m_Weights, sums);
        }
    }

    template <size_t Rows, size_t Vectors, typename Columns>
    static HWY_NOINLINE void Write(const ImplicitGemmRowsInt8& of, const Columns& columns, size_t row)
    {
        Sums<Rows, Vectors> sums;
        Products<Rows> at;
        Begin(of, columns, row, at, sums);
        AddGroups(of.m_Groups, at, sums);
        Base::Epilogue(of, columns, row, sums);
    }
};

/// All rows by a panel of `Vectors` vectors, in tiles of up to `Rows` rows. `isLastVectorHalf`: the last vector uses
/// its lower half only.
template <typename Base, typename Narrow, size_t Vectors, size_t Rows, typename Columns>
void WriteImplicitGemm(const ImplicitGemmRowsInt8& rows, const Columns& columns, bool isLastVectorHalf)
{
    using Tile = ImplicitGemmTile<Base>;
    static_assert(Rows <= ImplicitGemmRowsInt8::PastRows);
    constexpr PipelineShape Pipelined = PipelineShapes[Vectors];
    const size_t count = rows.m_Rows;
    if constexpr (Vectors < 4)
    {
        const bool splits = GetCpuFeatures().m_SplitsVectors;
        if (isLastVectorHalf && splits && count >= Pipelined.m_Rows && rows.m_Groups >= MinGroupsOfHalfVector)
        {
            PipelinedTiles<ImplicitGemmTile<Narrow>, Pipelined.m_Rows, Vectors>::Write(rows, columns, count);
            return;
        }
    }
    // Tiles of `Rows` and of `Rows` - 1 rows cover all rows; else the last tile overlaps the one before.
    const bool isEqual = count >= DivideUp(count, Rows) * (Rows - 1);
    if (IsPipelined<Vectors>(count, rows.m_Groups, isEqual))
    {
        PipelinedTiles<Tile, Pipelined.m_Rows, Vectors>::Write(rows, columns, count);
        return;
    }
    if (isEqual)
    {
        ForEachTile(count, Rows,
                    [&](size_t row, size_t ofTile) HWY_ATTR
                    {
                        ofTile == Rows ? Tile::template Write<Rows, Vectors>(rows, columns, row)
                                       : Tile::template Write<Rows - 1, Vectors>(rows, columns, row);
                    });
        return;
    }
    constexpr size_t Half = Rows / 2;
    size_t row = 0;
    for (; row + Half < count; row += Rows)
    {
        Tile::template Write<Rows, Vectors>(rows, columns, std::min(row, std::max(count, Rows) - Rows));
    }
    if (row < count)
    {
        Tile::template Write<Half, Vectors>(rows, columns, std::min(row, std::max(count, Half) - Half));
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
