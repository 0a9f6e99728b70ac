// SPDX-License-Identifier: Apache-2.0
// Row strips of int8, from the image to int8 without memory in between, with AVX2: windows of three columns and three
// or four rows over 16 channels of one strip (RowStripsInt8). The same sliding window as RowStripAvx512Int8-inl.hpp, on
// two pairs of rows widened to int16 and interleaved by pairs (pmaddwd); sums are scaled by the int8 GEMM's scales
// (AnyScale, PositiveScale), packed to int8 and clamped.
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

/// `weights` by reference: memory operands, as the registers hold the sums.
HWY_INLINE __m256i AddPairs(__m256i sums, __m256i data, const __m256i& weights)
{
    return _mm256_add_epi32(sums, _mm256_madd_epi16(data, weights));
}

/// Stride 1, for `OutputRows` output rows: windows overlap by two columns.
template <typename T, typename Scale, size_t OutputRows>
class SlidingStripStride1Int16
{
public:
    explicit HWY_INLINE SlidingStripStride1Int16(const RowStripsInt8& strips)
        : m_Strips(&strips), m_Constants(strips), m_Columns(strips)
    {
        Begin(m_First);
        Begin(m_Second);
        __m256i sums[OutputRows][StripVectors];
        SumNext(sums); // the two windows before the first one are not written
        SumNext(sums);
    }

    HWY_INLINE void WriteRow()
    {
        size_t at = 0;
        for (size_t pixel = 0; pixel < m_Strips->m_Pixels; ++pixel, at += m_Strips->m_OutStride)
        {
            __m256i sums[OutputRows][StripVectors];
            SumNext(sums);
            if constexpr (OutputRows == 2)
            {
                m_Constants.StoreTwo(sums[0], sums[1], m_Strips->m_Out[0] + at, m_Strips->m_Second[0] + at);
            }
            else
            {
                m_Constants.StoreOne(sums[0], m_Strips->m_Out[0] + at);
            }
        }
    }

private:
    HWY_INLINE void Begin(__m256i (&sums)[OutputRows][StripVectors]) const
    {
        HWY_UNROLL(2)
        for (size_t outputRow = 0; outputRow < OutputRows; ++outputRow)
        {
            HWY_UNROLL(2)
            for (size_t v = 0; v < StripVectors; ++v)
            {
                sums[outputRow][v] = m_Constants.GetBias(v);
            }
        }
    }

    /// Returns the sums of the window that ends with the next column, and adds the column to the two windows after it.
    HWY_INLINE void SumNext(__m256i (&sums)[OutputRows][StripVectors])
    {
        __m256i rows[4];
        m_Columns.Next(rows);
        HWY_UNROLL(2)
        for (size_t v = 0; v < StripVectors; ++v)
        {
            const __m256i upper = InterleaveInt16(rows[0], rows[1], v);
            const __m256i lower = InterleaveInt16(rows[2], rows[3], v);
            HWY_UNROLL(2)
            for (size_t outputRow = 0; outputRow < OutputRows; ++outputRow)
            {
                const auto add = [&](__m256i to, size_t column) HWY_ATTR
                {
                    return AddPairs(AddPairs(to, upper, m_Constants.GetWeights(0, column, v, outputRow)), lower,
                                    m_Constants.GetWeights(1, column, v, outputRow));
                };
                sums[outputRow][v] = add(m_First[outputRow][v], 2);
                m_First[outputRow][v] = add(m_Second[outputRow][v], 1);
                m_Second[outputRow][v] = add(m_Constants.GetBias(v), 0);
            }
        }
    }

    const RowStripsInt8* m_Strips;
    StripConstantsInt16<T, Scale> m_Constants;
    StripColumnsInt16<T, 4> m_Columns;
    __m256i m_First[OutputRows][StripVectors]; ///< sums of the windows whose last column is next
    __m256i m_Second[OutputRows][StripVectors];
};

/// Stride 2: windows of three rows overlap by one column. Of their two new columns the third row's pixels form a pair,
/// so that no half of a pmaddwd is wasted.
template <typename T, typename Scale>
class SlidingStripStride2Int16
{
public:
    explicit HWY_INLINE SlidingStripStride2Int16(const RowStripsInt8& strips)
        : m_Strips(&strips), m_Constants(strips), m_Columns(strips)
    {
        __m256i left[3];
        m_Columns.Next(left);
        HWY_UNROLL(2)
        for (size_t v = 0; v < StripVectors; ++v)
        {
            constexpr int Upper = 16; // bits; the weights of the fourth row are zeros
            m_Last[v] = _mm256_slli_epi32(m_Constants.GetWeights(1, 0, v), Upper);
            m_Third[v] = _mm256_or_si256(m_Constants.GetWeights(1, 1, v),
                                         _mm256_slli_epi32(m_Constants.GetWeights(1, 2, v), Upper));
            const __m256i first =
                AddPairs(m_Constants.GetBias(v), InterleaveInt16(left[0], left[1], v), m_Constants.GetWeights(0, 0, v));
            m_Next[v] = AddPairs(first, InterleaveInt16(left[2], left[2], v), m_Last[v]);
        }
    }

    HWY_INLINE void WriteRow()
    {
        uint8_t* to = m_Strips->m_Out[0];
        size_t left = m_Strips->m_Pixels;
        for (; left >= 2; left -= 2, to += 2 * m_Strips->m_OutStride)
        {
            __m256i sums[2][StripVectors];
            SumNext(sums[0]);
            SumNext(sums[1]);
            m_Constants.StoreTwo(sums[0], sums[1], to, to + m_Strips->m_OutStride);
        }
        if (left > 0)
        {
            __m256i sums[StripVectors];
            SumNext(sums);
            m_Constants.StoreOne(sums, to);
        }
    }

private:
    HWY_INLINE void SumNext(__m256i (&sums)[StripVectors])
    {
        __m256i middle[3];
        __m256i right[3];
        m_Columns.Next(middle);
        m_Columns.Next(right);
        HWY_UNROLL(2)
        for (size_t v = 0; v < StripVectors; ++v)
        {
            const __m256i last = InterleaveInt16(right[0], right[1], v);
            const __m256i third = InterleaveInt16(middle[2], right[2], v);
            sums[v] = AddPairs(m_Next[v], InterleaveInt16(middle[0], middle[1], v), m_Constants.GetWeights(0, 1, v));
            sums[v] = AddPairs(sums[v], last, m_Constants.GetWeights(0, 2, v));
            sums[v] = AddPairs(sums[v], third, m_Third[v]);
            m_Next[v] =
                AddPairs(AddPairs(m_Constants.GetBias(v), last, m_Constants.GetWeights(0, 0, v)), third, m_Last[v]);
        }
    }

    const RowStripsInt8* m_Strips;
    StripConstantsInt16<T, Scale> m_Constants;
    StripColumnsInt16<T, 3> m_Columns;
    __m256i m_Next[StripVectors];  ///< sums of the window that overlaps in one column
    __m256i m_Third[StripVectors]; ///< weights of the third row in the two new columns
    __m256i m_Last[StripVectors];  ///< weights of the third row in the column that the next window shares
};

template <typename T, typename Scale>
void RunRowStripsOfInt16(const RowStripsInt8& strips)
{
    if (strips.m_Stride == 2)
    {
        SlidingStripStride2Int16<T, Scale>(strips).WriteRow();
    }
    else if (strips.m_HasSecond)
    {
        SlidingStripStride1Int16<T, Scale, 2>(strips).WriteRow();
    }
    else
    {
        SlidingStripStride1Int16<T, Scale, 1>(strips).WriteRow();
    }
}

template <typename T>
void RunRowStripsOfInt16(const RowStripsInt8& strips)
{
    strips.m_ClampsNegatives ? RunRowStripsOfInt16<T, PositiveScale>(strips) : RunRowStripsOfInt16<T, AnyScale>(strips);
}

/// See DepthwiseMicrokernelsInt8::m_RunRowStrips.
void RunRowStripsAvx2(const RowStripsInt8& strips)
{
    strips.m_IsSigned ? RunRowStripsOfInt16<int8_t>(strips) : RunRowStripsOfInt16<uint8_t>(strips);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
