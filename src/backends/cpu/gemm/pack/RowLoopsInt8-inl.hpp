// SPDX-License-Identifier: Apache-2.0
// Loops over rows of data before an int8 GEMM: widening to int16, XOR 0x80, and row sums, for row corrections (several
// rows at a time: in a short row most of the time is the horizontal sum). Part of MicrokernelsInt8.cpp, which is
// compiled for each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_ROW_LOOPS_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_LOOPS_INT8_INL
#undef TENON_CPU_ROW_LOOPS_INT8_INL
#else
#define TENON_CPU_ROW_LOOPS_INT8_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void WidenFrom(const T* bytes, size_t count, int32_t zeroPoint, int16_t* wide)
{
    const hn::ScalableTag<int16_t> d;
    const hn::Rebind<T, decltype(d)> dBytes;
    const size_t lanes = hn::Lanes(d);
    const auto zero = hn::Set(d, static_cast<int16_t>(zeroPoint));
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(dBytes, bytes + i)), zero), d, wide + i);
    }
    for (; i < count; ++i)
    {
        wide[i] = static_cast<int16_t>(bytes[i] - zeroPoint);
    }
}

void Widen(const void* bytes, size_t count, bool isSigned, int32_t zeroPoint, int16_t* wide)
{
    isSigned ? WidenFrom(static_cast<const int8_t*>(bytes), count, zeroPoint, wide)
             : WidenFrom(static_cast<const uint8_t*>(bytes), count, zeroPoint, wide);
}

void SignXor(const uint8_t* bytes, size_t count, uint8_t* flipped)
{
    const hn::ScalableTag<uint8_t> d;
    const auto sign = hn::Set(d, uint8_t{0x80});
    size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    {
        hn::StoreU(hn::Xor(hn::LoadU(d, bytes + i), sign), d, flipped + i);
    }
    for (; i < count; ++i)
    {
        flipped[i] = bytes[i] ^ 0x80;
    }
}

#if HWY_TARGET == HWY_AVX3

/// Lane i: the sum of the lanes of totals[i].
HWY_INLINE __m512i SumLanes(const __m512i (&totals)[8])
{
    const auto pair = [](__m512i a, __m512i b) HWY_ATTR
    { return _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)); };
    constexpr int EvenBlocks = 0x88;
    constexpr int OddBlocks = 0xDD;
    const auto halve = [](__m512i a, __m512i b) HWY_ATTR
    { return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, EvenBlocks), _mm512_shuffle_i64x2(a, b, OddBlocks)); };
    return halve(halve(pair(totals[0], totals[1]), pair(totals[2], totals[3])),
                 halve(pair(totals[4], totals[5]), pair(totals[6], totals[7])));
}

void SumRows(const void* data, size_t dataStride, size_t rows, size_t depth, bool isSigned, int32_t factor,
             int32_t* sums)
{
    constexpr size_t Together = 8;
    constexpr size_t Lanes = 64;
    const __m512i signXors = isSigned ? _mm512_set1_epi8(-128) : _mm512_setzero_si512();
    const __mmask64 lastMask = (__mmask64{1} << depth % Lanes) - 1;
    const __m512i lastSignXors = _mm512_maskz_mov_epi8(lastMask, signXors);
    // Bytes become numbers from 0 on. Sums wrap around at 32 bits.
    const __m256i correction =
        _mm256_set1_epi32(static_cast<int32_t>(static_cast<uint32_t>(isSigned ? depth << 7 : 0)));
    const __m256i factors = _mm256_set1_epi32(factor);
    const auto* bytes = static_cast<const uint8_t*>(data);
    for (size_t r = 0; r < rows; r += Together)
    {
        const uint8_t* from[Together] = {bytes};
        for (size_t i = 1; i < Together; ++i)
        {
            from[i] = from[i - 1] + (r + i < rows ? dataStride : 0);
        }
        bytes += Together * dataStride;
        __m512i totals[Together] = {};
        size_t k = 0;
        for (; k + Lanes <= depth; k += Lanes)
        {
            HWY_UNROLL(8)
            for (size_t i = 0; i < Together; ++i)
            {
                const __m512i numbers = _mm512_xor_si512(_mm512_loadu_si512(from[i] + k), signXors);
                totals[i] = _mm512_add_epi64(totals[i], _mm512_sad_epu8(numbers, _mm512_setzero_si512()));
            }
        }
        if (k < depth)
        {
            HWY_UNROLL(8)
            for (size_t i = 0; i < Together; ++i)
            {
                const __m512i numbers = _mm512_xor_si512(_mm512_maskz_loadu_epi8(lastMask, from[i] + k), lastSignXors);
                totals[i] = _mm512_add_epi64(totals[i], _mm512_sad_epu8(numbers, _mm512_setzero_si512()));
            }
        }
        const __m256i all = _mm256_sub_epi32(_mm512_cvtepi64_epi32(SumLanes(totals)), correction);
        const auto rowMask = static_cast<__mmask8>((1U << std::min(rows - r, Together)) - 1);
        _mm256_mask_storeu_epi32(sums + r, rowMask, _mm256_mullo_epi32(all, factors));
    }
}

#else

/// Sums of two vectors' lanes; N: lanes.
template <class D>
HWY_INLINE void SumPair(D d, hn::Vec<D> a, hn::Vec<D> b, uint64_t* sums)
{
    constexpr size_t N = hn::MaxLanes(D());
    if constexpr (N == 1)
    {
        sums[0] = hn::GetLane(a);
        sums[1] = hn::GetLane(b);
    }
    else
    {
        HWY_ALIGN uint64_t pairs[N];
        hn::Store(hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)), d, pairs);
        sums[0] = pairs[0];
        sums[1] = pairs[1];
        for (size_t i = 2; i < N; i += 2)
        {
            sums[0] += pairs[i];
            sums[1] += pairs[i + 1];
        }
    }
}

/// The sums of four rows of at least `Lanes` bytes, XOR `signXor`, which biases int8 by 128.
template <size_t Lanes>
HWY_INLINE void SumFour(const uint8_t* const* rows, size_t depth, uint8_t signXor, uint64_t* sums)
{
    const hn::CappedTag<uint8_t, Lanes> d;
    const hn::Repartition<uint64_t, decltype(d)> dWide;
    const auto signXors = hn::Set(d, signXor);
    hn::Vec<decltype(dWide)> totals[4] = {hn::Zero(dWide), hn::Zero(dWide), hn::Zero(dWide), hn::Zero(dWide)};
    size_t i = 0;
    for (; i + Lanes <= depth; i += Lanes)
    {
        for (size_t r = 0; r < 4; ++r)
        {
            totals[r] = hn::Add(totals[r], hn::SumsOf8(hn::Xor(hn::LoadU(d, rows[r] + i), signXors)));
        }
    }
    if (i < depth)
    {
        // The last vector overlaps the one before, whose bytes count once.
        const auto isCounted = hn::FirstN(d, Lanes - (depth - i));
        for (size_t r = 0; r < 4; ++r)
        {
            const auto bytes = hn::Xor(hn::LoadU(d, rows[r] + depth - Lanes), signXors);
            totals[r] = hn::Add(totals[r], hn::SumsOf8(hn::IfThenZeroElse(isCounted, bytes)));
        }
    }
    SumPair(dWide, totals[0], totals[1], sums);
    SumPair(dWide, totals[2], totals[3], sums + 2);
}

/// The same for rows of any length.
template <size_t Lanes>
HWY_INLINE void SumFourBy(const uint8_t* const* rows, size_t depth, uint8_t signXor, uint64_t* sums)
{
    if (depth >= Lanes)
    {
        SumFour<Lanes>(rows, depth, signXor, sums);
    }
    else if constexpr (Lanes > 8)
    {
        SumFourBy<Lanes / 2>(rows, depth, signXor, sums);
    }
    else
    {
        for (size_t r = 0; r < 4; ++r)
        {
            sums[r] = 0;
            for (size_t i = 0; i < depth; ++i)
            {
                sums[r] += static_cast<uint8_t>(rows[r][i] ^ signXor);
            }
        }
    }
}

void SumRows(const void* data, size_t dataStride, size_t rows, size_t depth, bool isSigned, int32_t factor,
             int32_t* sums)
{
    const uint8_t signXor = isSigned ? 0x80 : 0;
    const auto* bytes = static_cast<const uint8_t*>(data);
    for (size_t r = 0; r < rows; r += 4)
    {
        const uint8_t* four[4];
        for (size_t i = 0; i < 4; ++i)
        {
            four[i] = bytes + std::min(r + i, rows - 1) * dataStride;
        }
        uint64_t totals[4];
        SumFourBy<HWY_LANES(uint8_t)>(four, depth, signXor, totals);
        for (size_t i = 0; i < std::min<size_t>(4, rows - r); ++i)
        {
            const int64_t sum = static_cast<int64_t>(totals[i]) - static_cast<int64_t>(depth) * signXor;
            sums[r + i] = static_cast<int32_t>(sum * factor);
        }
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
