// SPDX-License-Identifier: Apache-2.0
// Columns, weights and epilogue of row strips of int8 with AVX2: rows widened to int16, interleaved by pairs; sums
// scaled by the int8 GEMM's scales (AnyScale, PositiveScale), packed to int8 and clamped.
#if defined(TENON_CPU_ROW_STRIP_COLUMNS_AVX2_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_STRIP_COLUMNS_AVX2_INT8_INL
#undef TENON_CPU_ROW_STRIP_COLUMNS_AVX2_INT8_INL
#else
#define TENON_CPU_ROW_STRIP_COLUMNS_AVX2_INT8_INL
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

/// Vectors of sums of 16 channels: the first has channels 0-3 and 8-11, the second 4-7 and 12-15.
constexpr size_t StripVectors = 2;
constexpr size_t StripRowPairs = 2; ///< pairs of rows under a window

/// The prepared requantization constants of a block.
struct StripRequantizationAvx2
{
    alignas(ArenaAlignment) std::byte m_Scales[StripVectors * sizeof(PositiveScale)]; ///< PositiveScale or AnyScale
    alignas(32) int32_t m_Bias[8 * StripVectors];
    alignas(32) uint8_t m_Min[32]; ///< clamp, the same in all lanes
    alignas(32) uint8_t m_Max[32];
};

/// Loads the rows of an image column, widened to int16: eight channels in each 128-bit lane.
template <typename T, size_t Rows>
class StripColumnsInt16
{
public:
    explicit HWY_INLINE StripColumnsInt16(const RowStripsInt8& strips) : m_Cursor(strips) {}

    HWY_INLINE void Next(__m256i (&rows)[Rows])
    {
        HWY_UNROLL(4)
        for (size_t row = 0; row < Rows; ++row)
        {
            // Widening from memory: from a register it takes twice as long.
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(m_Cursor.Get(0, row)));
            rows[row] = std::is_signed_v<T> ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
        }
        m_Cursor.Advance();
    }

private:
    RowStripCursorInt8<1, Rows> m_Cursor;
};

/// Interleaves two rows or columns to operands of pmaddwd: the lower (v = 0) or upper four channels of each 128-bit
/// lane.
HWY_INLINE __m256i InterleaveInt16(__m256i a, __m256i b, size_t v)
{
    return v == 0 ? _mm256_unpacklo_epi16(a, b) : _mm256_unpackhi_epi16(a, b);
}

/// Weights, bias and scales: constants of all columns.
template <typename T, typename Scale>
class StripConstantsInt16
{
public:
    explicit HWY_INLINE StripConstantsInt16(const RowStripsInt8& strips)
        : m_Weights(static_cast<const __m256i*>(strips.m_Weights)),
          m_Requantization(static_cast<const StripRequantizationAvx2*>(strips.m_Requantization))
    {
    }

    /// Initial accumulators: the bias, or zeros where the clamp maps all negative sums to one value: then the scales
    /// have the bias, see PrepareStripRequantizationAvx2.
    HWY_INLINE __m256i GetBias(size_t v) const
    {
        return std::is_same_v<Scale, PositiveScale> ? _mm256_setzero_si256()
                                                    : reinterpret_cast<const __m256i*>(m_Requantization->m_Bias)[v];
    }

    /// Weights of a pair of rows in a window column; zeros for rows outside of the window. `outputRow`: 1 for the
    /// second output row, whose windows begin one row lower.
    HWY_INLINE const __m256i& GetWeights(size_t group, size_t column, size_t v, size_t outputRow = 0) const
    {
        return m_Weights[((outputRow * StripRowPairs + group) * 3 + column) * StripVectors + v];
    }

    HWY_INLINE void StoreOne(const __m256i (&sums)[StripVectors], uint8_t* to) const
    {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(Pack(sums, sums)));
    }

    /// Stores two pixels at once, as packing to bytes fills a whole vector.
    HWY_INLINE void StoreTwo(const __m256i (&first)[StripVectors], const __m256i (&second)[StripVectors],
                             uint8_t* toFirst, uint8_t* toSecond) const
    {
        const __m256i bytes = Pack(first, second);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(toFirst), _mm256_castsi256_si128(bytes));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(toSecond), _mm256_extracti128_si256(bytes, 1));
    }

private:
    /// Packs two pixels to bytes, one after the other.
    HWY_INLINE __m256i Pack(const __m256i (&first)[StripVectors], const __m256i (&second)[StripVectors]) const
    {
        const __m256i a = _mm256_packs_epi32(Scaled(first[0], 0), Scaled(first[1], 1));
        const __m256i b = _mm256_packs_epi32(Scaled(second[0], 0), Scaled(second[1], 1));
        constexpr bool IsSigned = std::is_signed_v<T>;
        __m256i bytes = IsSigned ? _mm256_packs_epi16(a, b) : _mm256_packus_epi16(a, b);
        if constexpr (Scale::EvensFirst)
        {
            const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
            bytes = _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(order));
        }
        const __m256i least = _mm256_load_si256(reinterpret_cast<const __m256i*>(m_Requantization->m_Min));
        const __m256i most = _mm256_load_si256(reinterpret_cast<const __m256i*>(m_Requantization->m_Max));
        bytes = IsSigned ? _mm256_min_epi8(_mm256_max_epi8(bytes, least), most)
                         : _mm256_min_epu8(_mm256_max_epu8(bytes, least), most);
        return _mm256_permute4x64_epi64(bytes, _MM_SHUFFLE(3, 1, 2, 0));
    }

    HWY_INLINE __m256i Scaled(__m256i sums, size_t v) const
    {
        return reinterpret_cast<const Scale*>(m_Requantization->m_Scales)[v](sums, _mm256_srli_epi64(sums, 32));
    }

    const __m256i* m_Weights;
    const StripRequantizationAvx2* m_Requantization;
};

/// See DepthwiseMicrokernelsInt8::m_PrepareStripRequantization.
void PrepareStripRequantizationAvx2(const RequantizeColumns& columns, const int32_t* bias, bool /*isSigned*/,
                                    std::byte* to)
{
    static_assert(sizeof(AnyScale) <= sizeof(PositiveScale));
    StripRequantizationAvx2& prepared = *new (to) StripRequantizationAvx2;
    std::copy_n(bias, std::size(prepared.m_Bias), prepared.m_Bias);
    std::fill(std::begin(prepared.m_Min), std::end(prepared.m_Min), static_cast<uint8_t>(columns.m_Min));
    std::fill(std::begin(prepared.m_Max), std::end(prepared.m_Max), static_cast<uint8_t>(columns.m_Max));
    for (size_t v = 0; v < StripVectors; ++v)
    {
        if (!columns.IsNegativeUniform())
        {
            new (prepared.m_Scales + v * sizeof(AnyScale)) AnyScale(columns, 8 * v);
            continue;
        }
        // (sum + bias) * multiplier = sum * multiplier + bias * multiplier: both terms fit 64 bits.
        PositiveScale scale(columns, 8 * v);
        const __m256i x = _mm256_load_si256(reinterpret_cast<const __m256i*>(prepared.m_Bias) + v);
        scale.m_EvenAddend = scale.MultiplyEven(x);
        scale.m_OddAddend = scale.MultiplyOdd(_mm256_srli_epi64(x, 32));
        new (prepared.m_Scales + v * sizeof(PositiveScale)) PositiveScale(scale);
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
