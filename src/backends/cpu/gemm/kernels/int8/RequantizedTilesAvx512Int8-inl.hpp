// SPDX-License-Identifier: Apache-2.0
// AVX-512 tiles with a requantizing epilogue. Accumulators stay in registers until they are int8: next to dot products,
// each store of an accumulator takes the time of two of these on processors of AMD's fifth generation.
//
// Part of MicrokernelsInt8.cpp, ImplicitGemmKernelsInt8.cpp and ImplicitGemmDequantizedInt8.cpp, which are compiled for
// each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_REQUANTIZED_TILES_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZED_TILES_AVX512_INT8_INL
#undef TENON_CPU_REQUANTIZED_TILES_AVX512_INT8_INL
#else
#define TENON_CPU_REQUANTIZED_TILES_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/epilogue/RequantizeInRegistersAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/kernels/int8/PipelinedTilesAvx512Int8-inl.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// A vector whose upper half repeats its lower half.
HWY_INLINE __m512i RepeatLower(__m512i x)
{
    return _mm512_shuffle_i64x2(x, x, 0x44);
}

template <typename Scale>
void PrepareScales(const RequantizeColumns& columns, const int32_t* bias, size_t count,
                   PreparedRequantizationInt8& prepared)
{
    static_assert(sizeof(Scale) == PreparedRequantizationInt8::VectorBytes);
    prepared.m_IsLastVectorHalf = IsLastVectorHalf(count);
    for (size_t v = 0; 16 * v < count; ++v)
    {
        Scale scale(columns, 16 * v);
        __m512i sums = _mm512_add_epi32(_mm512_load_si512(bias + 16 * v), _mm512_set1_epi32(Scale::Offset));
        if (prepared.m_IsLastVectorHalf && 16 * v + 16 > count)
        {
            sums = RepeatLower(sums);
            for (__m512i* x : {&scale.m_Even, &scale.m_Odd, &scale.m_EvenAddend, &scale.m_OddAddend, &scale.m_Right})
            {
                *x = RepeatLower(*x);
            }
        }
        std::memcpy(prepared.m_Scales + v * sizeof(scale), &scale, sizeof(scale));
        _mm512_store_si512(prepared.m_Bias + 16 * v, sums);
    }
}

/// See MicrokernelsInt8::m_PrepareRequantization. Outputs are computed as int8; uint8 outputs are 128 more.
inline void PrepareRequantization(const RequantizeColumns& columns, const int32_t* bias, size_t count, bool isSigned,
                                  PreparedRequantizationInt8& prepared)
{
    RequantizeColumns ofSigned = columns;
    const int32_t shift = isSigned ? 0 : 128;
    ofSigned.m_ZeroPoint -= shift;
    _mm512_store_si512(prepared.m_Min, _mm512_set1_epi8(static_cast<char>(columns.m_Min - shift)));
    _mm512_store_si512(prepared.m_Max, _mm512_set1_epi8(static_cast<char>(columns.m_Max - shift)));
    _mm512_store_si512(prepared.m_SignXor, _mm512_set1_epi8(isSigned ? 0 : static_cast<char>(0x80)));
    prepared.m_IsPlain = isSigned && columns.m_Min == INT8_MIN && columns.m_Max == INT8_MAX;
    prepared.m_Mask = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    columns.m_Min >= columns.m_ZeroPoint ? PrepareScales<PlainScale>(ofSigned, bias, count, prepared)
                                         : PrepareScales<OffsetScale>(ofSigned, bias, count, prepared);
}

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
    static HWY_INLINE void ScaleSome(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                     Vector (&sums)[Rows][Vectors], std::index_sequence<V...>)
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

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
