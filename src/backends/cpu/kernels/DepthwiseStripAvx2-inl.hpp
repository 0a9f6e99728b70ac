// SPDX-License-Identifier: Apache-2.0
// Depthwise windows of three columns and three or four rows over 16 channels of bytes, from the image to bytes without
// memory in between, with AVX2 (DepthwiseStrips8 of one part), for sources that are compiled for each target
// (Foreach.hpp): DepthwiseLoops8.cpp. Included once a target.
#if defined(TENON_CPU_DEPTHWISE_STRIP_AVX2_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DEPTHWISE_STRIP_AVX2_INL
#undef TENON_CPU_DEPTHWISE_STRIP_AVX2_INL
#else
#define TENON_CPU_DEPTHWISE_STRIP_AVX2_INL
#endif

#include "backends/cpu/gemm/bytes/Requantize8Avx2-inl.hpp"
#include "backends/cpu/kernels/DepthwiseStripCursor-inl.hpp"

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

/// Vectors of eight channels: of each eight of the 16 channels four.
constexpr size_t PairVectors = 2;
constexpr size_t PairGroups = 2; ///< of two rows

/// Rows of a column of the image as int16: eight channels in each 128 bits.
template <typename T, size_t Rows>
class ShortColumns
{
public:
    explicit HWY_INLINE ShortColumns(const DepthwiseStrips8& strips) : m_Cursor(strips) {}

    HWY_INLINE void Next(__m256i (&rows)[Rows])
    {
        HWY_UNROLL(4)
        for (size_t row = 0; row < Rows; ++row)
        {
            // From memory: of a register it takes twice as long.
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(m_Cursor.Get(0, row)));
            rows[row] = std::is_signed_v<T> ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
        }
        m_Cursor.Advance();
    }

private:
    StripCursor<1, Rows> m_Cursor;
};

/// What dot products take of two rows or columns: of each 128 bits the lower or the upper four channels.
HWY_INLINE __m256i PairShorts(__m256i a, __m256i b, size_t v)
{
    return v == 0 ? _mm256_unpacklo_epi16(a, b) : _mm256_unpackhi_epi16(a, b);
}

/// What does not change from column to column.
template <typename T, typename Scale>
class ShortPairConstants
{
public:
    explicit HWY_INLINE ShortPairConstants(const DepthwiseStrips8& strips)
        : m_Weights(static_cast<const __m256i*>(strips.m_Weights)), m_Columns(strips.m_Columns)
    {
    }

    /// What sums begin with: where no sign decides, the scales have the bias, see PreparePairStrips.
    HWY_INLINE __m256i GetBias(size_t v) const
    {
        return std::is_same_v<Scale, PositiveScale> ? _mm256_setzero_si256()
                                                    : reinterpret_cast<const __m256i*>(m_Columns->m_Bias)[v];
    }

    /// Of two rows of the windows, or what is beside them, in a column. `phase`: 1 for windows of the second output
    /// row, which begin one row lower.
    HWY_INLINE const __m256i& GetWeights(size_t group, size_t column, size_t v, size_t phase = 0) const
    {
        return m_Weights[((phase * PairGroups + group) * 3 + column) * PairVectors + v];
    }

    HWY_INLINE void StoreOne(const __m256i (&sums)[PairVectors], uint8_t* to) const
    {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(Pack(sums, sums)));
    }

    /// Two pixels at once: bytes are packed in whole vectors.
    HWY_INLINE void StoreTwo(const __m256i (&first)[PairVectors], const __m256i (&second)[PairVectors],
                             uint8_t* toFirst, uint8_t* toSecond) const
    {
        const __m256i bytes = Pack(first, second);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(toFirst), _mm256_castsi256_si128(bytes));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(toSecond), _mm256_extracti128_si256(bytes, 1));
    }

private:
    /// The bytes of two pixels after each other.
    HWY_INLINE __m256i Pack(const __m256i (&first)[PairVectors], const __m256i (&second)[PairVectors]) const
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
        const __m256i least = _mm256_load_si256(reinterpret_cast<const __m256i*>(m_Columns->m_Min));
        const __m256i most = _mm256_load_si256(reinterpret_cast<const __m256i*>(m_Columns->m_Max));
        bytes = IsSigned ? _mm256_min_epi8(_mm256_max_epi8(bytes, least), most)
                         : _mm256_min_epu8(_mm256_max_epu8(bytes, least), most);
        return _mm256_permute4x64_epi64(bytes, _MM_SHUFFLE(3, 1, 2, 0));
    }

    HWY_INLINE __m256i Scaled(__m256i sums, size_t v) const
    {
        return reinterpret_cast<const Scale*>(m_Columns->m_Scales)[v](sums, _mm256_srli_epi64(sums, 32));
    }

    const __m256i* m_Weights;
    const ByteColumns8* m_Columns;
};

HWY_INLINE __m256i AddPairs(__m256i sums, __m256i data, const __m256i& weights)
{
    return _mm256_add_epi32(sums, _mm256_madd_epi16(data, weights));
}

/// Windows that overlap by two columns, of `Phases` output rows.
template <typename T, typename Scale, size_t Phases>
class PairsOfStride1
{
public:
    explicit HWY_INLINE PairsOfStride1(const DepthwiseStrips8& strips)
        : m_Strips(&strips), m_Constants(strips), m_Columns(strips)
    {
        Begin(m_First);
        Begin(m_Second);
        __m256i sums[Phases][PairVectors];
        SumNext(sums); // of windows before the first one
        SumNext(sums);
    }

    HWY_INLINE void WriteAll()
    {
        size_t at = 0;
        for (size_t pixel = 0; pixel < m_Strips->m_Pixels; ++pixel, at += m_Strips->m_OutStride)
        {
            __m256i sums[Phases][PairVectors];
            SumNext(sums);
            if constexpr (Phases == 2)
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
    HWY_INLINE void Begin(__m256i (&sums)[Phases][PairVectors]) const
    {
        HWY_UNROLL(2)
        for (size_t phase = 0; phase < Phases; ++phase)
        {
            HWY_UNROLL(2)
            for (size_t v = 0; v < PairVectors; ++v)
            {
                sums[phase][v] = m_Constants.GetBias(v);
            }
        }
    }

    /// Those of the window that ends with the next column.
    HWY_INLINE void SumNext(__m256i (&sums)[Phases][PairVectors])
    {
        __m256i rows[4];
        m_Columns.Next(rows);
        HWY_UNROLL(2)
        for (size_t v = 0; v < PairVectors; ++v)
        {
            const __m256i upper = PairShorts(rows[0], rows[1], v);
            const __m256i lower = PairShorts(rows[2], rows[3], v);
            HWY_UNROLL(2)
            for (size_t phase = 0; phase < Phases; ++phase)
            {
                const auto add = [&](__m256i to, size_t column) HWY_ATTR
                {
                    return AddPairs(AddPairs(to, upper, m_Constants.GetWeights(0, column, v, phase)), lower,
                                    m_Constants.GetWeights(1, column, v, phase));
                };
                sums[phase][v] = add(m_First[phase][v], 2);
                m_First[phase][v] = add(m_Second[phase][v], 1);
                m_Second[phase][v] = add(m_Constants.GetBias(v), 0);
            }
        }
    }

    const DepthwiseStrips8* m_Strips;
    ShortPairConstants<T, Scale> m_Constants;
    ShortColumns<T, 4> m_Columns;
    __m256i m_First[Phases][PairVectors]; ///< of the windows that have seen the most columns
    __m256i m_Second[Phases][PairVectors];
};

/// Windows of three rows that overlap by one column. Two of their columns are new: the third row's pixels in them are a
/// pair, so that no product is without a use.
template <typename T, typename Scale>
class PairsOfStride2
{
public:
    explicit HWY_INLINE PairsOfStride2(const DepthwiseStrips8& strips)
        : m_Strips(&strips), m_Constants(strips), m_Columns(strips)
    {
        __m256i left[3];
        m_Columns.Next(left);
        HWY_UNROLL(2)
        for (size_t v = 0; v < PairVectors; ++v)
        {
            constexpr int Upper = 16; // bits: weights of the fourth row are zeros
            m_Last[v] = _mm256_slli_epi32(m_Constants.GetWeights(1, 0, v), Upper);
            m_Third[v] = _mm256_or_si256(m_Constants.GetWeights(1, 1, v),
                                         _mm256_slli_epi32(m_Constants.GetWeights(1, 2, v), Upper));
            const __m256i first =
                AddPairs(m_Constants.GetBias(v), PairShorts(left[0], left[1], v), m_Constants.GetWeights(0, 0, v));
            m_Next[v] = AddPairs(first, PairShorts(left[2], left[2], v), m_Last[v]);
        }
    }

    HWY_INLINE void WriteAll()
    {
        uint8_t* to = m_Strips->m_Out[0];
        size_t left = m_Strips->m_Pixels;
        for (; left >= 2; left -= 2, to += 2 * m_Strips->m_OutStride)
        {
            __m256i sums[2][PairVectors];
            SumNext(sums[0]);
            SumNext(sums[1]);
            m_Constants.StoreTwo(sums[0], sums[1], to, to + m_Strips->m_OutStride);
        }
        if (left > 0)
        {
            __m256i sums[PairVectors];
            SumNext(sums);
            m_Constants.StoreOne(sums, to);
        }
    }

private:
    HWY_INLINE void SumNext(__m256i (&sums)[PairVectors])
    {
        __m256i middle[3];
        __m256i right[3];
        m_Columns.Next(middle);
        m_Columns.Next(right);
        HWY_UNROLL(2)
        for (size_t v = 0; v < PairVectors; ++v)
        {
            const __m256i last = PairShorts(right[0], right[1], v);
            const __m256i third = PairShorts(middle[2], right[2], v);
            sums[v] = AddPairs(m_Next[v], PairShorts(middle[0], middle[1], v), m_Constants.GetWeights(0, 1, v));
            sums[v] = AddPairs(sums[v], last, m_Constants.GetWeights(0, 2, v));
            sums[v] = AddPairs(sums[v], third, m_Third[v]);
            m_Next[v] =
                AddPairs(AddPairs(m_Constants.GetBias(v), last, m_Constants.GetWeights(0, 0, v)), third, m_Last[v]);
        }
    }

    const DepthwiseStrips8* m_Strips;
    ShortPairConstants<T, Scale> m_Constants;
    ShortColumns<T, 3> m_Columns;
    __m256i m_Next[PairVectors];  ///< of the window that has seen one column
    __m256i m_Third[PairVectors]; ///< weights of the third row: of the two new columns
    __m256i m_Last[PairVectors];  ///< of the one that the next window sees, too
};

template <typename T, typename Scale>
void WritePairsOf(const DepthwiseStrips8& strips)
{
    if (strips.m_Stride == 2)
    {
        PairsOfStride2<T, Scale>(strips).WriteAll();
    }
    else if (strips.m_HasSecond)
    {
        PairsOfStride1<T, Scale, 2>(strips).WriteAll();
    }
    else
    {
        PairsOfStride1<T, Scale, 1>(strips).WriteAll();
    }
}

template <typename T>
void WritePairsOf(const DepthwiseStrips8& strips)
{
    strips.m_IsPositive ? WritePairsOf<T, PositiveScale>(strips) : WritePairsOf<T, AnyScale>(strips);
}

/// See DepthwiseEngine8::m_WriteStrips.
void WritePairStrips(const DepthwiseStrips8& strips)
{
    strips.m_IsSigned ? WritePairsOf<int8_t>(strips) : WritePairsOf<uint8_t>(strips);
}

template <typename Scale>
HWY_INLINE Scale MakePairScale(const RequantizeColumns& columns, size_t v)
{
    const __m256i right = _mm256_load_si256(reinterpret_cast<const __m256i*>(columns.m_Right + 8 * v));
    return Scale(columns.m_Multiplier + 8 * v, right, columns.m_ZeroPoint);
}

/// See DepthwiseEngine8::m_PrepareStrips.
void PreparePairStrips(const RequantizeColumns& columns, const int32_t* bias, size_t count, bool,
                       ByteColumns8& prepared)
{
    static_assert(sizeof(PositiveScale) <= ByteColumns8::VectorBytes && sizeof(AnyScale) <= ByteColumns8::VectorBytes);
    std::copy_n(bias, count, prepared.m_Bias);
    std::fill(std::begin(prepared.m_Min), std::end(prepared.m_Min), static_cast<uint8_t>(columns.m_Min));
    std::fill(std::begin(prepared.m_Max), std::end(prepared.m_Max), static_cast<uint8_t>(columns.m_Max));
    const bool isPositive = columns.m_Min >= columns.m_ZeroPoint;
    for (size_t v = 0; v < PairVectors; ++v)
    {
        if (!isPositive)
        {
            new (prepared.m_Scales + v * sizeof(AnyScale)) AnyScale(MakePairScale<AnyScale>(columns, v));
            continue;
        }
        // (sum + bias) * multiplier: 64 bits hold the parts, too.
        auto scale = MakePairScale<PositiveScale>(columns, v);
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
