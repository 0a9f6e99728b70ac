// SPDX-License-Identifier: Apache-2.0
// AVX-512 microkernels that requantize: the choice of tiles for a number of rows (half vector, pipelined, equal heights
// or overlap), and the tiles in which two rows share the last vector.
//
// Part of MicrokernelsInt8.cpp, which is compiled for each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_REQUANTIZED_ROWS_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZED_ROWS_AVX512_INT8_INL
#undef TENON_CPU_REQUANTIZED_ROWS_AVX512_INT8_INL
#else
#define TENON_CPU_REQUANTIZED_ROWS_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/int8/HalfVectorTilesAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/RequantizedTilesAvx512Int8-inl.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Tiles whose last vector uses its lower half only, for processors that execute whole 512-bit vectors, and for depths
/// too small for RequantizedHalfVectorTile. Two rows share a vector of accumulators for these columns.
template <typename Dot, typename Scale, bool HasTerms>
struct SharedHalfVectorTile
{
    using Tile = RequantizedTile<Dot, Scale, HasTerms>;

    template <size_t Rows, size_t Vectors>
    static void Write(const RequantizedRowsInt8& of, const PreparedRequantizationInt8& columns, size_t row)
    {
        constexpr size_t Last = Vectors - 1;
        constexpr size_t Pairs = Rows / 2;
        static_assert(Rows % 4 == 0);
        Vector sums[Rows][Vectors];
        Vector halves[Pairs];
        const uint8_t* rows[Rows];
        const size_t stride = of.m_DataStride;
        const auto* const data = static_cast<const uint8_t*>(of.m_Data) + row * stride;
        BeginTile(data, stride, columns.m_Bias, rows, sums);
        HWY_UNROLL(16)
        for (size_t p = 0; p < Pairs; ++p)
        {
            halves[p] = sums[2 * p][Last];
        }
        const auto* weights = static_cast<const std::byte*>(of.m_Panel);
        const uint8_t* fours[Rows / 4];
        HWY_UNROLL(4)
        for (size_t i = 0; i < Rows / 4; ++i)
        {
            fours[i] = data + i * 4 * stride;
        }
        for (size_t group = 0; group < of.m_Groups; ++group)
        {
            AddGroupWithSharedHalves(fours, stride, weights, sums, halves);
        }
        Tile::ScaleSome(of, columns, row, sums, std::make_index_sequence<Last>());
        HWY_UNROLL(16)
        for (size_t p = 0; p < Pairs; ++p)
        {
            sums[2 * p][Last] = halves[p];
        }
        Tile::template EpilogueOfHalves<Last>(of, columns, row, sums);
        Tile::Store(of, columns, row, sums);
    }

    /// Every fourth row has a pointer: pointers of all twelve rows would not fit the registers.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddGroupWithSharedHalves(const uint8_t* (&fours)[Rows / 4], size_t stride,
                                                    const std::byte*& weights, Vector (&sums)[Rows][Vectors],
                                                    Vector (&halves)[Rows / 2])
    {
        constexpr size_t Last = Vectors - 1;
        constexpr __mmask16 UpperHalf = 0xFF00;
        const size_t lanes = hn::Lanes(Ints());
        Vector w[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Last; ++v)
        {
            w[v] = LoadWeights<Dot>(weights + v * lanes * 4);
        }
        w[Last].raw =
            _mm512_broadcast_i64x4(_mm256_load_si256(reinterpret_cast<const __m256i*>(weights + Last * lanes * 4)));
        weights += Vectors * lanes * 4;
        HWY_UNROLL(16)
        for (size_t p = 0; p < Rows / 2; ++p)
        {
            Vector x[2];
            HWY_UNROLL(2)
            for (size_t i = 0; i < 2; ++i)
            {
                const size_t row = 2 * p + i;
                int32_t group;
                std::memcpy(&group, fours[row / 4] + row % 4 * stride, sizeof(group));
                x[i] = Broadcast<Dot>(group);
                HWY_UNROLL(4)
                for (size_t v = 0; v < Last; ++v)
                {
                    AddSame<Dot>(sums[row][v], x[i], w[v]);
                }
            }
            x[0].raw = _mm512_mask_mov_epi32(x[0].raw, UpperHalf, x[1].raw);
            AddSame<Dot>(halves[p], x[0], w[Last]);
        }
        AdvanceRows(fours);
    }

    template <size_t Fours>
    static HWY_INLINE void AdvanceRows(const uint8_t* (&fours)[Fours])
    {
        HWY_UNROLL(4)
        for (size_t i = 0; i < Fours; ++i)
        {
            fours[i] += 4;
            asm("" : "+r"(fours[i])); // else the compiler makes pointers of all rows again
        }
    }
};

template <typename Dot, typename Scale, bool HasTerms, size_t Vectors, size_t Rows>
bool WriteRequantizedRows(const RequantizedRowsInt8& rows, const PreparedRequantizationInt8& columns)
{
    using Tile = RequantizedTile<Dot, Scale, HasTerms>;
    constexpr PipelineShape Pipelined = PipelineShapes[Vectors];
    if constexpr (Vectors < 4)
    {
        if constexpr (!std::is_same_v<Dot, VnniDataSigned>) // no processor that splits vectors uses VnniDataSigned
        {
            const bool splits = GetCpuFeatures().m_SplitsVectors;
            if (columns.m_IsLastVectorHalf && splits && rows.m_Rows >= Pipelined.m_Rows &&
                rows.m_Groups >= MinGroupsOfHalfVector)
            {
                PipelinedTiles<RequantizedHalfVectorTile<Dot, Scale, HasTerms>, Pipelined.m_Rows, Vectors>::Write(
                    rows, columns, rows.m_Rows);
                return true;
            }
        }
        // A multiple of two. The last tile overlaps the one before.
        constexpr size_t Rows2 = Vectors == 3 ? 8 : 12;
        if (columns.m_IsLastVectorHalf && rows.m_Rows >= Rows2)
        {
            for (size_t row = 0; row < rows.m_Rows; row += Rows2)
            {
                SharedHalfVectorTile<Dot, Scale, HasTerms>::template Write<Rows2, Vectors>(
                    rows, columns, std::min(row, rows.m_Rows - Rows2));
            }
            return true;
        }
    }
    // Tiles of `Rows` and of `Rows` - 1 rows cover all rows.
    const size_t tiles = DivideUp(rows.m_Rows, Rows);
    const bool isEqual = rows.m_Rows >= tiles * (Rows - 1);
    if (IsPipelined<Vectors>(rows.m_Rows, rows.m_Groups, isEqual))
    {
        PipelinedTiles<Tile, Pipelined.m_Rows, Vectors>::Write(rows, columns, rows.m_Rows);
        return true;
    }
    if (isEqual)
    {
        ForEachTile(rows.m_Rows, Rows,
                    [&](size_t row, size_t count) HWY_ATTR
                    {
                        count == Rows ? Tile::template Write<Rows, Vectors>(rows, columns, row)
                                      : Tile::template Write<Rows - 1, Vectors>(rows, columns, row);
                    });
    }
    return isEqual;
}

template <typename Dot, typename Scale, bool HasTerms>
void FillRequantizedRows(RequantizedKernelInt8 (&functions)[MicrokernelSetInt8::MaxVectors + 1])
{
    functions[1] = WriteRequantizedRows<Dot, Scale, HasTerms, 1, 8>;
    functions[2] = WriteRequantizedRows<Dot, Scale, HasTerms, 2, 8>;
    functions[3] = WriteRequantizedRows<Dot, Scale, HasTerms, 3, 8>;
    functions[4] = WriteRequantizedRows<Dot, Scale, HasTerms, 4, 6>;
}

template <typename Dot, bool HasTerms>
void FillRequantizedRows(MicrokernelSetInt8& tiles)
{
    FillRequantizedRows<Dot, OffsetScale, HasTerms>(tiles.m_RequantizedKernels[0][HasTerms]);
    FillRequantizedRows<Dot, PlainScale, HasTerms>(tiles.m_RequantizedKernels[1][HasTerms]);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
