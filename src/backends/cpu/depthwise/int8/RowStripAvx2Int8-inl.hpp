// SPDX-License-Identifier: Apache-2.0
// Row strips of int8 with AVX2: the operations of RowStripsInt8.cpp on one image column of 16 channels.
//
//   rows a..d of a column, widened to int16, in two pairs:  | a0 b0 | a1 b1 | a2 b2 | a3 b3 | ..
//                                                           | c0 d0 | c1 d1 | c2 d2 | c3 d3 | ..
//   two pmaddwd add all four rows of a channel
#if defined(TENON_CPU_ROW_STRIP_AVX2_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_STRIP_AVX2_INT8_INL
#undef TENON_CPU_ROW_STRIP_AVX2_INT8_INL
#else
#define TENON_CPU_ROW_STRIP_AVX2_INT8_INL
#endif

#include "backends/cpu/depthwise/int8/RowStripCursorInt8-inl.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeAvx2Int8-inl.hpp"
#include "common/AlignedMemory.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX2

constexpr size_t StripRowPairs = 2; ///< pairs of rows under a window

/// The prepared requantization constants of a block.
struct StripRequantizationAvx2
{
    static constexpr size_t Vectors = 2;

    alignas(ArenaAlignment) std::byte m_Scales[Vectors * sizeof(PositiveScale)]; ///< of one class of scales
    alignas(32) int32_t m_Bias[8 * Vectors];
    alignas(32) uint8_t m_Min[32]; ///< clamp, the same in all lanes
    alignas(32) uint8_t m_Max[32];
};

/// Interleaves two rows or columns to operands of pmaddwd: the lower (v = 0) or upper four channels of each 128-bit
/// lane.
HWY_INLINE __m256i InterleaveInt16(__m256i a, __m256i b, size_t v)
{
    return v == 0 ? _mm256_unpacklo_epi16(a, b) : _mm256_unpackhi_epi16(a, b);
}

/// `weights` by reference: memory operands, as the registers hold the accumulators.
HWY_INLINE __m256i AddPairs(__m256i sums, __m256i data, const __m256i& weights)
{
    return _mm256_add_epi32(sums, _mm256_madd_epi16(data, weights));
}

/// The operations with AVX2. Of two vectors of accumulators the first has channels 0-3 and 8-11, the second 4-7 and
/// 12-15. Sums are scaled by the int8 GEMM's scales (AnyScale, PositiveScale, FloatScale).
template <typename T, typename Scale, size_t Rows>
class RowStripAvx2Int8
{
public:
    using Accumulators = __m256i;
    static constexpr size_t Vectors = StripRequantizationAvx2::Vectors;
    static constexpr bool TakesPixelPairs = false;

    /// The rows of an image column, widened to int16: eight channels in each 128-bit lane.
    struct Column
    {
        __m256i m_Rows[Rows];
    };

    explicit HWY_INLINE RowStripAvx2Int8(const RowStripsInt8& strips)
        : m_Cursor(strips), m_Weights(static_cast<const __m256i*>(strips.m_Weights)),
          m_Requantization(static_cast<const StripRequantizationAvx2*>(strips.m_Requantization))
    {
        if constexpr (Rows == 3)
        {
            HWY_UNROLL(2)
            for (size_t v = 0; v < Vectors; ++v)
            {
                constexpr int Upper = 16; // bits; the weights of the fourth row are zeros
                m_ThirdOfLeft[v] = _mm256_slli_epi32(GetWeights(1, 0, v), Upper);
                m_ThirdOfRight[v] = _mm256_or_si256(GetWeights(1, 1, v), _mm256_slli_epi32(GetWeights(1, 2, v), Upper));
            }
        }
    }

    HWY_INLINE void Next(Column& column)
    {
        HWY_UNROLL(4)
        for (size_t row = 0; row < Rows; ++row)
        {
            // Widening from memory: from a register it takes twice as long.
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(m_Cursor.Get(0, row)));
            column.m_Rows[row] = std::is_signed_v<T> ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
        }
        m_Cursor.Advance();
    }

    /// Initial accumulators: the bias, or zeros where the clamp maps all negative sums to one value: then the scales
    /// have the bias, see PrepareStripRequantization.
    HWY_INLINE __m256i GetBias(size_t v) const
    {
        return std::is_same_v<Scale, PositiveScale> ? _mm256_setzero_si256()
                                                    : reinterpret_cast<const __m256i*>(m_Requantization->m_Bias)[v];
    }

    HWY_INLINE void Add(__m256i& sums, const Column& data, size_t v, size_t column, size_t outputRow) const
    {
        sums = AddPairs(sums, InterleaveInt16(data.m_Rows[0], data.m_Rows[1], v), GetWeights(0, column, v, outputRow));
        sums = AddPairs(sums, InterleaveInt16(data.m_Rows[2], data.m_Rows[3], v), GetWeights(1, column, v, outputRow));
    }

    // Stride 2, three rows: the right column of a window is the left one of the next window. The third row's pixels of
    // the middle and the right column form a pair, so that no half of a pmaddwd is wasted. For the first window the
    // column before the left one is multiplied by zero.
    HWY_INLINE void AddLeft(__m256i& sums, const Column& before, const Column& left, size_t v) const
    {
        sums = AddPairs(sums, InterleaveInt16(left.m_Rows[0], left.m_Rows[1], v), GetWeights(0, 0, v));
        sums = AddPairs(sums, InterleaveInt16(before.m_Rows[2], left.m_Rows[2], v), m_ThirdOfLeft[v]);
    }
    HWY_INLINE void AddMiddle(__m256i& sums, const Column& middle, size_t v) const
    {
        sums = AddPairs(sums, InterleaveInt16(middle.m_Rows[0], middle.m_Rows[1], v), GetWeights(0, 1, v));
    }
    HWY_INLINE void AddRight(__m256i& sums, const Column& middle, const Column& right, size_t v) const
    {
        sums = AddPairs(sums, InterleaveInt16(right.m_Rows[0], right.m_Rows[1], v), GetWeights(0, 2, v));
        sums = AddPairs(sums, InterleaveInt16(middle.m_Rows[2], right.m_Rows[2], v), m_ThirdOfRight[v]);
    }

    HWY_INLINE void ScaleSums(__m256i& x, size_t v) const { x = GetScale(v)(x, _mm256_srli_epi64(x, 32)); }
    HWY_INLINE void ScaleSums(__m256i& x, __m256i& y, size_t v) const
    {
        ScaleSums(x, v);
        ScaleSums(y, v);
    }

    HWY_INLINE void Store(const __m256i (&x)[Vectors], uint8_t* const (&out)[RowStripsInt8::MaxStripCount],
                          size_t at) const
    {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out[0] + at), _mm256_castsi256_si128(Pack(x, x)));
    }

    /// Stores two pixels at once, as packing to bytes fills a whole vector.
    HWY_INLINE void Store(const __m256i (&x)[Vectors], uint8_t* const (&xOut)[RowStripsInt8::MaxStripCount], size_t xAt,
                          const __m256i (&y)[Vectors], uint8_t* const (&yOut)[RowStripsInt8::MaxStripCount],
                          size_t yAt) const
    {
        const __m256i bytes = Pack(x, y);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(xOut[0] + xAt), _mm256_castsi256_si128(bytes));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(yOut[0] + yAt), _mm256_extracti128_si256(bytes, 1));
    }

private:
    /// Weights of a pair of rows in a window column; zeros for rows outside of the window.
    HWY_INLINE const __m256i& GetWeights(size_t pair, size_t column, size_t v, size_t outputRow = 0) const
    {
        return m_Weights[((outputRow * StripRowPairs + pair) * 3 + column) * Vectors + v];
    }

    HWY_INLINE const Scale& GetScale(size_t v) const
    {
        return reinterpret_cast<const Scale*>(m_Requantization->m_Scales)[v];
    }

    /// Packs scaled sums of two pixels to bytes, one pixel after the other.
    HWY_INLINE __m256i Pack(const __m256i (&x)[Vectors], const __m256i (&y)[Vectors]) const
    {
        const Scale& scale = GetScale(0);
        const __m256i a = scale.AddZeroPoint(_mm256_packs_epi32(x[0], x[1]));
        const __m256i b = scale.AddZeroPoint(_mm256_packs_epi32(y[0], y[1]));
        constexpr bool IsSigned = std::is_signed_v<T>;
        __m256i bytes = IsSigned ? _mm256_packs_epi16(a, b) : _mm256_packus_epi16(a, b);
        if constexpr (Scale::EvensFirst)
        {
            const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
            bytes = _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(order));
        }
        const __m256i lowest = _mm256_load_si256(reinterpret_cast<const __m256i*>(m_Requantization->m_Min));
        const __m256i highest = _mm256_load_si256(reinterpret_cast<const __m256i*>(m_Requantization->m_Max));
        bytes = IsSigned ? _mm256_min_epi8(_mm256_max_epi8(bytes, lowest), highest)
                         : _mm256_min_epu8(_mm256_max_epu8(bytes, lowest), highest);
        return _mm256_permute4x64_epi64(bytes, _MM_SHUFFLE(3, 1, 2, 0));
    }

    RowStripCursorInt8<1, Rows> m_Cursor;
    const __m256i* m_Weights;
    const StripRequantizationAvx2* m_Requantization;
    __m256i m_ThirdOfLeft[Vectors];  ///< stride 2: weights of the third row for AddLeft: | 0 | w0 |
    __m256i m_ThirdOfRight[Vectors]; ///< for AddRight: | w1 | w2 |
};

/// Writes the scales of a strip block.
template <typename Scale>
void PrepareStripScales(const RequantizeColumns& columns, StripRequantizationAvx2& prepared)
{
    static_assert(sizeof(Scale) <= sizeof(PositiveScale));
    for (size_t v = 0; v < StripRequantizationAvx2::Vectors; ++v)
    {
        Scale& scale = *new (prepared.m_Scales + v * sizeof(Scale)) Scale(columns, 8 * v);
        if constexpr (std::is_same_v<Scale, PositiveScale>)
        {
            // (sum + bias) * multiplier = sum * multiplier + bias * multiplier: both terms fit 64 bits.
            const __m256i x = _mm256_load_si256(reinterpret_cast<const __m256i*>(prepared.m_Bias) + v);
            scale.m_EvenAddend = scale.MultiplyEven(x);
            scale.m_OddAddend = scale.MultiplyOdd(_mm256_srli_epi64(x, 32));
        }
    }
}

/// See DepthwiseMicrokernelsInt8::m_PrepareStripRequantization.
void PrepareStripRequantization(const RequantizeColumns& columns, const int32_t* bias, bool /*isSigned*/, std::byte* to)
{
    StripRequantizationAvx2& prepared = *new (to) StripRequantizationAvx2;
    std::copy_n(bias, std::size(prepared.m_Bias), prepared.m_Bias);
    std::fill(std::begin(prepared.m_Min), std::end(prepared.m_Min), static_cast<uint8_t>(columns.m_Min));
    std::fill(std::begin(prepared.m_Max), std::end(prepared.m_Max), static_cast<uint8_t>(columns.m_Max));
    switch (columns.GetScale())
    {
    case ScaleInt8::Any: return PrepareStripScales<AnyScale>(columns, prepared);
    case ScaleInt8::Positive: return PrepareStripScales<PositiveScale>(columns, prepared);
    case ScaleInt8::Float: return PrepareStripScales<FloatScale>(columns, prepared);
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
