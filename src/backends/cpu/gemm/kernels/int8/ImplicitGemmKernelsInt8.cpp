// SPDX-License-Identifier: Apache-2.0
// Implicit GEMM microkernels, by AVX-512 VNNI, with a requantizing epilogue or a dequantizing one (hybrid
// convolutions). Rows are receptive fields of a padded image, see ImplicitGemmRowsInt8.
//   address(row r, group g) = image + m_RowOffsets[r] + m_GroupOffsets[g]          g: four bytes of the depth
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/ImplicitGemmKernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/epilogue/DequantizeInRegistersAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/PipelinedTilesAvx512Int8-inl.hpp"

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

namespace
{

#if HWY_TARGET == HWY_AVX3

using Dot = VnniDataUnsigned;

template <typename Scale, size_t Vectors, size_t Rows>
void WriteImplicitGemmRows(const ImplicitGemmRowsInt8& rows, const PreparedRequantizationInt8& columns)
{
    using Narrow = RequantizedHalfVectorTile<Dot, Scale, false>;
    WriteImplicitGemm<RequantizedTile<Dot, Scale, false>, Narrow, Vectors, Rows>(rows, columns,
                                                                                 columns.m_IsLastVectorHalf);
}

template <typename Scale>
void FillImplicitGemmRows(MicrokernelSetInt8& tiles)
{
    auto& functions = tiles.m_ImplicitGemmKernels[static_cast<size_t>(Scale::Kind)];
    functions[1] = WriteImplicitGemmRows<Scale, 1, 8>;
    functions[2] = WriteImplicitGemmRows<Scale, 2, 8>;
    functions[3] = WriteImplicitGemmRows<Scale, 3, 8>;
    functions[4] = WriteImplicitGemmRows<Scale, 4, 6>;
}

void FillImplicitGemmKernels(MicrokernelSetInt8& tiles)
{
    FillImplicitGemmRows<OffsetScale>(tiles);
    FillImplicitGemmRows<PlainScale>(tiles);
    FillImplicitGemmRows<FloatScale>(tiles);
}

/// Parameters of a panel's epilogue.
struct DequantizedPanel
{
    const ImplicitGemmDequantizeInt8& m_Floats;
    alignas(64) int32_t m_Bias[MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes]; ///< initial accumulators
};

/// Base of the tiles that ImplicitGemmTile makes.
struct ImplicitGemmDequantizeTile : PipelinedTile<Dot>
{
    template <size_t V, size_t Rows, size_t Vectors>
    static HWY_INLINE void EpilogueOfVector(const ImplicitGemmRowsInt8&, const DequantizedPanel& panel, size_t row,
                                            const Vector (&sums)[Rows][Vectors])
    {
        DequantizeVector<RowScalingInt8::None, true, V>(panel.m_Floats.m_Rows, panel.m_Floats.m_Columns, row, sums);
    }

    /// Nothing is left to store: each vector is written by its epilogue.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Store(const ImplicitGemmRowsInt8&, const DequantizedPanel&, size_t,
                                 const Vector (&)[Rows][Vectors])
    {
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Epilogue(const ImplicitGemmRowsInt8& of, const DequantizedPanel& panel, size_t row,
                                    const Vector (&sums)[Rows][Vectors])
    {
        EpilogueOfAll(of, panel, row, sums, std::make_index_sequence<Vectors>());
    }

private:
    template <size_t Rows, size_t Vectors, size_t... V>
    static HWY_INLINE void EpilogueOfAll(const ImplicitGemmRowsInt8& of, const DequantizedPanel& panel, size_t row,
                                         const Vector (&sums)[Rows][Vectors], std::index_sequence<V...>)
    {
        (EpilogueOfVector<V>(of, panel, row, sums), ...);
    }
};

/// The same where the last vector uses its lower half only.
struct ImplicitGemmDequantizeHalfVectorTile : HalfVectorTile<Dot, ImplicitGemmDequantizeTile>
{
    using Narrow = HalfVectorTile<Dot, ImplicitGemmDequantizeTile>;

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Keep(const Narrow::Sums<Rows, Vectors>& sums, Vector (&kept)[Rows][Vectors])
    {
        Narrow::KeepWhole(sums, kept);
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            kept[r][Vectors - 1].raw = _mm512_castsi256_si512(sums.m_HalfVector[r]);
        }
    }
};

/// See MicrokernelSetInt8::m_ImplicitGemmDequantizeKernels.
template <size_t Vectors, size_t Rows>
void WriteImplicitGemmDequantized(const ImplicitGemmRowsInt8& rows, const ImplicitGemmDequantizeInt8& floats)
{
    alignas(64) static constexpr int32_t NoBias[MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes] = {};
    DequantizedPanel panel = {floats, {}};
    BeginAtZeroPoint<Vectors>(NoBias, floats.m_Rows.m_ZeroPoints[0], floats.m_Columns.m_ColumnSums, panel.m_Bias);
    const bool isLastVectorHalf = IsLastVectorHalf(floats.m_Rows.m_Columns);
    WriteImplicitGemm<ImplicitGemmDequantizeTile, ImplicitGemmDequantizeHalfVectorTile, Vectors, Rows>(
        rows, panel, isLastVectorHalf);
}

void FillImplicitGemmDequantizeKernels(MicrokernelSetInt8& tiles)
{
    tiles.m_ImplicitGemmDequantizeKernels[1] = WriteImplicitGemmDequantized<1, 8>;
    tiles.m_ImplicitGemmDequantizeKernels[2] = WriteImplicitGemmDequantized<2, 8>;
    tiles.m_ImplicitGemmDequantizeKernels[3] = WriteImplicitGemmDequantized<3, 8>;
    tiles.m_ImplicitGemmDequantizeKernels[4] = WriteImplicitGemmDequantized<4, 6>;
}

#else

void FillImplicitGemmKernels(MicrokernelSetInt8&) {}
void FillImplicitGemmDequantizeKernels(MicrokernelSetInt8&) {}

#endif

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseImplicitGemmKernels(MicrokernelSetInt8& tiles)
{
    TENON_CHOOSE(FillImplicitGemmKernels)(tiles);
}

void UseImplicitGemmDequantizeKernels(MicrokernelSetInt8& tiles)
{
    TENON_CHOOSE(FillImplicitGemmDequantizeKernels)(tiles);
}

} // namespace tenon::cpu
#endif
