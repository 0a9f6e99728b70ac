// SPDX-License-Identifier: Apache-2.0
// Loops over rows of data before an int8 GEMM:
//
//   Widen             wide[i] = bytes[i] - zero point                int8 or uint8 to int16
//   SignXor           flipped[i] = bytes[i] XOR 0x80                 bias by 128
//   SumRows           sums[row] = factor * sum_k data[row][k]        for row corrections
//   StartBlocks       starts[slice] = -offset * sum_k data[k]        where weights have a scale per block
//   FindRange         minimum and maximum of the values and 0        hybrid layers, at run time
//   QuantizeToBytes   q[i] = round(values[i] / scale) + zero point   likewise
//
// SumRows takes several rows at a time: in a short row most of the time is the horizontal sum.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/pack/RowLoopsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/QuantizeF32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

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

/// Sums of the even and of the odd pairs of bytes.
struct PairSums
{
    int32_t m_Even = 0;
    int32_t m_Odd = 0;
};

/// `count`: a multiple of eight, at most BlockSumsInt8::MaxPairedDepth.
HWY_INLINE PairSums SumPairsOfBytes(const int8_t* bytes, size_t count)
{
    constexpr size_t Bytes = 8;
    const hn::CappedTag<int16_t, Bytes / 2> d;
    const hn::Repartition<int8_t, decltype(d)> dBytes;
    auto sums = hn::Zero(d);
    for (size_t i = 0; i < count; i += Bytes)
    {
        const auto both = hn::BitCast(d, hn::LoadU(dBytes, bytes + i));
        sums = hn::Add(sums, hn::Add(hn::ShiftRight<8>(hn::ShiftLeft<8>(both)), hn::ShiftRight<8>(both)));
    }
    HWY_ALIGN int16_t pairs[Bytes / 2];
    hn::Store(sums, d, pairs);
    return {pairs[0] + pairs[2], pairs[1] + pairs[3]};
}

/// See MicrokernelsInt8::m_StartBlocks.
void StartBlocks(const int8_t* row, size_t blocks, size_t blockBytes, const BlockSumsInt8& sums, int32_t* starts)
{
    const size_t sliceBytes = sums.GetSliceBytes(blockBytes);
    for (size_t block = 0; block < blocks; ++block)
    {
        for (size_t slice = 0; slice < blockBytes; slice += sliceBytes)
        {
            PairSums total;
            const size_t end = std::min(slice + sliceBytes, blockBytes);
            for (size_t i = slice; i < end && sums.m_Offset != 0; i += BlockSumsInt8::MaxPairedDepth)
            {
                const PairSums part = SumPairsOfBytes(row + i, std::min(BlockSumsInt8::MaxPairedDepth, end - i));
                total.m_Even -= sums.m_Offset * part.m_Even;
                total.m_Odd -= sums.m_Offset * part.m_Odd;
            }
            // The even pairs are the lower half of an int32.
            *starts++ = sums.m_IsPaired ? static_cast<int32_t>(static_cast<uint32_t>(total.m_Odd) << 16 |
                                                               static_cast<uint16_t>(total.m_Even))
                                        : total.m_Even + total.m_Odd;
        }
        row += blockBytes;
    }
}

/// See MicrokernelsInt8::m_Quantize and m_QuantizeToFloats.
template <typename T>
void QuantizeValues(const float* values, size_t count, const QuantizeParametersInt8& steps, T* quantized)
{
    const hn::ScalableTag<float> d;
    const hn::Rebind<int32_t, decltype(d)> dInt;
    const hn::Rebind<T, decltype(d)> dOut;
    const size_t lanes = hn::Lanes(d);
    const auto lowest = hn::Set(d, static_cast<float>(steps.m_Lowest - steps.m_ZeroPoint));
    const auto highest = hn::Set(d, static_cast<float>(127 - steps.m_ZeroPoint));
    // A store to the output might change the parameters for all the compiler knows: copies are not loaded again after
    // each store.
    const auto inverse = hn::Set(d, steps.m_Inverse);
    // For values beyond int8, truncation to eight bits gives the same as XOR 0x80.
    const auto zeroPoint = hn::Set(dInt, steps.m_ZeroPoint + (HWY_TARGET == HWY_AVX3 ? steps.m_SignXor : 0));
    [[maybe_unused]] const auto signXor =
        hn::Set(hn::Rebind<int8_t, decltype(d)>(), static_cast<int8_t>(steps.m_SignXor));
    const auto quantize = [=](VecF32 value) HWY_ATTR
    {
        if constexpr (std::is_same_v<T, float>)
        {
            return QuantizedAsF32(value, inverse, lowest, highest);
        }
        else
        {
            const auto clamped = StepsOf(value, inverse, lowest, highest);
#if HWY_TARGET == HWY_AVX3
            // Values fit uint8 or int8, so no saturation is needed.
            const __m512i whole = _mm512_add_epi32(_mm512_cvttps_epi32(clamped.raw), zeroPoint.raw);
            return hn::Vec<decltype(dOut)>{_mm512_cvtepi32_epi8(whole)};
#else
            return hn::Xor(hn::DemoteTo(dOut, hn::Add(hn::ConvertTo(dInt, clamped), zeroPoint)), signXor);
#endif
        }
    };
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        hn::StoreU(quantize(hn::LoadU(d, values + i)), dOut, quantized + i);
    }
    if (i < count)
    {
        HWY_ALIGN T some[HWY_MAX_BYTES / sizeof(float)];
        hn::StoreU(quantize(LoadSome(values + i, count - i)), dOut, some);
        std::memcpy(quantized + i, some, (count - i) * sizeof(T));
    }
}

/// See MicrokernelsInt8::m_Quantize. On x86 four vectors at a time: where the scale is that of the range by FindRange,
/// values saturate to their bounds, or one step beyond.
void QuantizeToBytes(const float* values, size_t count, const QuantizeParametersInt8& steps, int8_t* quantized)
{
    size_t i = 0;
#if HWY_ARCH_X86
    const TagF32 d;
    const hn::Repartition<int16_t, TagUint8> dInt16;
    const size_t lanes = hn::Lanes(d);
    const VecF32 inverse = hn::Set(d, steps.m_Inverse);
    const auto zeroPoint = hn::Set(dInt16, static_cast<int16_t>(steps.m_ZeroPoint + 128)); // of unsigned bytes
    const VecUint8 lowest = hn::Set(TagUint8(), static_cast<uint8_t>(steps.m_Lowest + 128));
    const VecUint8 signXor = hn::Set(TagUint8(), static_cast<uint8_t>(steps.m_SignXor ^ 0x80));
    // NaN become the lowest integer, and the lowest byte. So would values that are infinite only because the inverse
    // is.
    const size_t whole = steps.m_Inverse < 0x1p120f ? count / (4 * lanes) * (4 * lanes) : 0;
    const auto number = [&](size_t v) HWY_ATTR
    { return Truncated(UnboundedStepsOf(hn::LoadU(d, values + i + v * lanes), inverse)); };
    for (; i < whole; i += 4 * lanes)
    {
        const VecUint8 bytes = InOrder(JoinQuarters(number(0), number(1), number(2), number(3), zeroPoint));
        hn::StoreU(hn::Xor(hn::Max(bytes, lowest), signXor), TagUint8(), reinterpret_cast<uint8_t*>(quantized + i));
    }
#endif
    QuantizeValues(values + i, count - i, steps, quantized + i);
}

/// See MicrokernelsInt8::m_FindRange.
FloatRange FindRange(const float* values, size_t count)
{
    const hn::ScalableTag<float> d;
    const size_t lanes = hn::Lanes(d);
    constexpr size_t Chains = 4; // each waits for its own last comparison only
    VecF32 low[Chains], high[Chains];
    HWY_UNROLL(4)
    for (size_t c = 0; c < Chains; ++c)
    {
        low[c] = hn::Zero(d);
        high[c] = hn::Zero(d);
    }
    const auto add = [&](size_t chain, VecF32 value) HWY_ATTR
    {
        low[chain] = LessOf(value, low[chain]);
        high[chain] = GreaterOf(value, high[chain]);
    };
    size_t i = 0;
    for (; i + Chains * lanes <= count; i += Chains * lanes)
    {
        HWY_UNROLL(4)
        for (size_t c = 0; c < Chains; ++c)
        {
            add(c, hn::LoadU(d, values + i + c * lanes));
        }
    }
    for (; i < count; i += lanes)
    {
        add(0, LoadSome(values + i, count - i));
    }
    return {hn::GetLane(hn::MinOfLanes(d, hn::Min(hn::Min(low[0], low[1]), hn::Min(low[2], low[3])))),
            hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(high[0], high[1]), hn::Max(high[2], high[3]))))};
}

void FillRowLoops(MicrokernelsInt8& microkernels)
{
    microkernels.m_Widen = Widen;
    microkernels.m_SignXor = SignXor;
    microkernels.m_SumRows = SumRows;
    microkernels.m_StartBlocks = StartBlocks;
    microkernels.m_FindRange = FindRange;
    microkernels.m_Quantize = QuantizeToBytes;
    microkernels.m_QuantizeToFloats = QuantizeValues<float>;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseRowLoops(MicrokernelsInt8& microkernels)
{
    TENON_CHOOSE(FillRowLoops)(microkernels);
}

} // namespace tenon::cpu
#endif
