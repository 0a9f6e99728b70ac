// SPDX-License-Identifier: Apache-2.0
// AVX-512 microkernels of the layout Int8x4 with a fused epilogue: sums stay in registers until they are outputs.
//
//   WriteRequantizedRows:  out[r][c] = requantize(bias[c] + sum_k A[r][k] * B[k][c])                  int8, uint8
//   WriteDequantizedRows:  out[r][c] = dequantize(bias[c] + sum_k A[r][k] * B[k][c])                  float (hybrid)
//
// Each chooses tiles for a number of rows: half vector, software-pipelined, equal heights or overlap. Tiles are those
// of PipelinedTilesAvx512Int8-inl.hpp, and tiles in which two rows share the last vector. Rows of data that are
// dequantized may come from an indirection buffer.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"
#include "backends/cpu/im2col/SkippedTaps.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/FusedEpilogueRowsAvx512Int8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/epilogue/DequantizeInRegistersAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/PipelinedTilesAvx512Int8-inl.hpp"

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
void FillRequantizedRows(MicrokernelSetInt8& tiles)
{
    auto& functions = tiles.m_RequantizedKernels[static_cast<size_t>(Scale::Kind)][HasTerms];
    functions[1] = WriteRequantizedRows<Dot, Scale, HasTerms, 1, 8>;
    functions[2] = WriteRequantizedRows<Dot, Scale, HasTerms, 2, 8>;
    functions[3] = WriteRequantizedRows<Dot, Scale, HasTerms, 3, 8>;
    functions[4] = WriteRequantizedRows<Dot, Scale, HasTerms, 4, 6>;
}

template <typename Dot, bool HasTerms>
void FillRequantizedRows(MicrokernelSetInt8& tiles)
{
    FillRequantizedRows<Dot, OffsetScale, HasTerms>(tiles);
    FillRequantizedRows<Dot, PlainScale, HasTerms>(tiles);
    FillRequantizedRows<Dot, FloatScale, HasTerms>(tiles);
}

/// Adds the contribution of a tap that is padding for all rows.
template <size_t Rows, size_t Vectors>
HWY_INLINE void AddSkipped(const int32_t* skipped, Vector (&sums)[Rows][Vectors])
{
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        const Vector x = hn::Load(Ints(), skipped + v * hn::Lanes(Ints()));
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums[r][v] = hn::Add(sums[r][v], x);
        }
    }
}

/// The accumulators of a tile. `IsNarrow`: the last vector uses its lower half only. `Skips`: taps that are padding for
/// all rows are skipped (tiles of whole vectors only).
template <typename Dot, bool IsNarrow, bool Skips, size_t Rows, size_t Vectors>
HWY_INLINE void AddProducts(const DequantizedRowsInt8& product, size_t row, Vector (&sums)[Rows][Vectors])
{
    constexpr size_t Last = Vectors - 1;
    const IndirectionBufferInt8& taps = product.m_Indirection;
    const uint8_t* data[Rows];
    BeginTile(static_cast<const uint8_t*>(product.m_Data) + row * product.m_DataStride, product.m_DataStride,
              product.m_Bias, data, sums);
    [[maybe_unused]] __m256i narrow[Rows];
    if constexpr (IsNarrow)
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            narrow[r] = _mm512_castsi512_si256(sums[r][Last].raw);
        }
    }
    const auto* weights = static_cast<const std::byte*>(product.m_Panel);
    for (size_t tap = 0; tap < taps.m_Taps; ++tap)
    {
        if (taps.m_Table != nullptr)
        {
            const uint8_t* const* const pointers = taps.m_Table + tap * taps.m_Rows + row;
            if constexpr (Skips && !IsNarrow)
            {
                if (IsTapPadding<Rows>(pointers, taps.m_Padding))
                {
                    AddSkipped(taps.m_Skipped + tap * Vectors * hn::Lanes(Ints()), sums);
                    weights += product.m_Groups * Vectors * hn::Lanes(Ints()) * GetGroupBytes<Dot>();
                    continue;
                }
            }
            HWY_UNROLL(16)
            for (size_t r = 0; r < Rows; ++r)
            {
                data[r] = pointers[r] + taps.m_Offset;
            }
        }
        for (size_t group = 0; group < product.m_Groups; ++group)
        {
            if constexpr (IsNarrow)
            {
                AddHalfVectorGroup<Dot>([&](size_t r) HWY_ATTR { return data[r] + 4 * group; }, weights, sums, narrow);
            }
            else
            {
                DotTile<Dot>::AddGroup(data, 4 * group, weights, sums);
            }
        }
    }
    if constexpr (IsNarrow)
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums[r][Last].raw = _mm512_castsi256_si512(narrow[r]);
        }
    }
}

/// `InOrder`: m_Rows has output offsets, as pixels have an order of their own.
template <typename Dot, RowScalingInt8 Values, bool IsNarrow, bool InOrder, size_t Rows, size_t Vectors, size_t... V>
void DequantizedTile(const DequantizedRowsInt8& product, const DequantizeColumns& columns, size_t row,
                     std::index_sequence<V...>)
{
    Vector sums[Rows][Vectors];
    AddProducts<Dot, IsNarrow, InOrder>(product, row, sums);
    (DequantizeVector<Values, InOrder, V>(product.m_Rows, columns, row, sums), ...);
}

/// A software-pipelined tile.
template <typename Dot, RowScalingInt8 Values>
struct PipelinedDequantizedTile : PipelinedTile<Dot>
{
    template <size_t Rows>
    using Products = typename PipelinedTile<Dot>::template Products<Rows>;

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Begin(const DequantizedRowsInt8& of, const DequantizeColumns&, size_t row,
                                 Products<Rows>& at, Vector (&sums)[Rows][Vectors])
    {
        PipelinedTile<Dot>::BeginRows(of, of.m_Bias, row, at, sums);
    }

    template <size_t V, size_t Rows, size_t Vectors>
    static HWY_INLINE void EpilogueOfVector(const DequantizedRowsInt8& of, const DequantizeColumns& columns, size_t row,
                                            const Vector (&sums)[Rows][Vectors])
    {
        DequantizeVector<Values, false, V>(of.m_Rows, columns, row, sums);
    }

    /// Nothing is left to store: each vector is written by its epilogue.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Store(const DequantizedRowsInt8&, const DequantizeColumns&, size_t,
                                 const Vector (&)[Rows][Vectors])
    {
    }
};

/// For deeper products the time of the epilogue, which is shorter than that of requantization, does not matter.
constexpr size_t MaxPipelinedGroups = 64;

template <typename Dot, RowScalingInt8 Values, bool IsNarrow, bool InOrder, size_t Vectors, size_t Rows>
bool WriteDequantizedTiles(const DequantizedRowsInt8& product, const DequantizeColumns& columns)
{
    constexpr auto AllVectors = std::make_index_sequence<Vectors>();
    const size_t count = product.m_Rows.m_Rows;
    // Tiles of `Rows` and of `Rows` - 1 rows cover all rows.
    const size_t tiles = DivideUp(count, Rows);
    const bool isEqual = count >= tiles * (Rows - 1);
    if constexpr (!IsNarrow)
    {
        if (product.m_Indirection.m_Table == nullptr && product.m_Groups <= MaxPipelinedGroups &&
            IsPipelined<Vectors>(count, product.m_Groups, isEqual))
        {
            PipelinedTiles<PipelinedDequantizedTile<Dot, Values>, PipelineShapes[Vectors].m_Rows, Vectors>::Write(
                product, columns, count);
            return true;
        }
    }
    if (isEqual)
    {
        ForEachTile(count, Rows,
                    [&](size_t row, size_t rows) HWY_ATTR
                    {
                        rows == Rows ? DequantizedTile<Dot, Values, IsNarrow, InOrder, Rows, Vectors>(product, columns,
                                                                                                      row, AllVectors)
                                     : DequantizedTile<Dot, Values, IsNarrow, InOrder, Rows - 1, Vectors>(
                                           product, columns, row, AllVectors);
                    });
        return true;
    }
    if (product.m_Indirection.m_Table == nullptr)
    {
        return false;
    }
    // The last tile overlaps the one before.
    for (size_t row = 0; row < count; row += Rows)
    {
        DequantizedTile<Dot, Values, IsNarrow, InOrder, Rows, Vectors>(product, columns, std::min(row, count - Rows),
                                                                       AllVectors);
    }
    return true;
}

/// mr of tiles whose last vector is half: with half a vector less of accumulators per row, more rows fit.
constexpr size_t GetNarrowRows(size_t vectors, size_t rows)
{
    return vectors == 2 ? 10 : rows;
}

/// Dot takes unsigned data and signed weights: rows have corrections only where weights have a zero point.
template <typename Dot, size_t Vectors, size_t Rows>
bool WriteDequantizedRows(const DequantizedRowsInt8& product, const DequantizeColumns& columns)
{
    const DequantizeRows& rows = product.m_Rows;
    if (rows.m_RowCorrections != nullptr) // the weights have a zero point
    {
        return false;
    }
    if (!rows.m_HasOneScale)
    {
        return WriteDequantizedTiles<Dot, RowScalingInt8::Scale, false, false, Vectors, Rows>(product, columns);
    }
    const Ints d;
    HWY_ALIGN int32_t bias[Vectors * hn::MaxLanes(d)];
    BeginAtZeroPoint<Vectors>(product.m_Bias, rows.m_ZeroPoints[0], columns.m_ColumnSums, bias);
    DequantizedRowsInt8 corrected = product;
    corrected.m_Bias = bias;
    if (GetCpuFeatures().m_SplitsVectors && rows.m_Columns <= Vectors * hn::Lanes(d) - hn::Lanes(d) / 2)
    {
        constexpr size_t NarrowRows = GetNarrowRows(Vectors, Rows);
        const bool isWritten =
            rows.m_OutputOffsets != nullptr
                ? WriteDequantizedTiles<Dot, RowScalingInt8::None, true, true, Vectors, NarrowRows>(corrected, columns)
                : WriteDequantizedTiles<Dot, RowScalingInt8::None, true, false, Vectors, NarrowRows>(corrected,
                                                                                                     columns);
        if (isWritten)
        {
            return true;
        }
    }
    return rows.m_OutputOffsets != nullptr
               ? WriteDequantizedTiles<Dot, RowScalingInt8::None, false, true, Vectors, Rows>(corrected, columns)
               : WriteDequantizedTiles<Dot, RowScalingInt8::None, false, false, Vectors, Rows>(corrected, columns);
}

template <typename Dot, size_t Vectors, size_t Rows>
void FillDequantizedRows(MicrokernelSetInt8& tiles)
{
    tiles.m_DequantizedKernels[Vectors] = WriteDequantizedRows<Dot, Vectors, Rows>;
    tiles.m_MinIndirectRows = std::max({tiles.m_MinIndirectRows, Rows, GetNarrowRows(Vectors, Rows)});
}

/// For processors with 32 registers.
template <typename Dot>
void FillDequantizedRows(MicrokernelSetInt8& tiles)
{
    FillDequantizedRows<Dot, 1, 8>(tiles);
    FillDequantizedRows<Dot, 2, 8>(tiles);
    FillDequantizedRows<Dot, 3, 8>(tiles);
    FillDequantizedRows<Dot, 4, 6>(tiles);
}

#endif

namespace
{

#if HWY_TARGET == HWY_AVX3

/// Fills the functions that the row's epilogues ask for. Its operands' signs and the bias of its data say which dot
/// product it takes. The combinations that no row has are not instantiated.
void FillFusedEpilogues(MicrokernelSetInt8& set)
{
    using Epilogues = KernelEpiloguesInt8;
    const KernelRowInt8& row = *set.m_Row;
    if (row.m_IsDataBiased && !row.m_IsQuantizedDataBiased) // on load
    {
        if (row.Has(Epilogues::Rq))
        {
            FillRequantizedRows<VnniDataBiased, false>(set);
        }
        return;
    }
    if (row.m_Signs == OperandSignsInt8::DataSigned)
    {
        if (row.Has(Epilogues::RqRow))
        {
            FillRequantizedRows<VnniDataSigned, true>(set);
        }
        return;
    }
    if (row.Has(Epilogues::Dq))
    {
        FillDequantizedRows<VnniDataUnsigned>(set);
    }
    if (row.Has(Epilogues::Rq))
    {
        FillRequantizedRows<VnniDataUnsigned, false>(set);
    }
    if (row.Has(Epilogues::RqRow))
    {
        FillRequantizedRows<VnniDataUnsigned, true>(set);
    }
}

#else

void FillFusedEpilogues(MicrokernelSetInt8&) {}

#endif

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseFusedEpilogues(MicrokernelSetInt8& set)
{
    TENON_CHOOSE(FillFusedEpilogues)(set);
}

} // namespace tenon::cpu
#endif
