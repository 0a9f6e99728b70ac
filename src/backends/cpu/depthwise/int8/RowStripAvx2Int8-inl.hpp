// SPDX-License-Identifier: Apache-2.0
// Row strips of int8, from the image to int8 without memory in between, with AVX2: windows of three columns and three
// or four rows over 16 channels of one strip (RowStripsInt8). The same sliding window as RowStripAvx512Int8-inl.hpp, on
// two pairs of rows widened to int16 (pmaddwd).
#if defined(TENON_CPU_ROW_STRIP_AVX2_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_STRIP_AVX2_INT8_INL
#undef TENON_CPU_ROW_STRIP_AVX2_INT8_INL
#else
#define TENON_CPU_ROW_STRIP_AVX2_INT8_INL
#endif

#include "backends/cpu/depthwise/int8/RowStripColumnsAvx2Int8-inl.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX2

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
