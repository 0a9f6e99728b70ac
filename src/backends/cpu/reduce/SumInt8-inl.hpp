// SPDX-License-Identifier: Apache-2.0
// Sums of int8 and uint8, for ReduceVectors.cpp. Columns: pairs of rows are added to 16 bits (pmaddubsw by ones), 128
// rows at most before they are widened. Rows: psadbw adds eight bytes; int8 is biased by 128 (XOR 0x80), and 128 *
// length is subtracted. Included after simd/Foreach.hpp, once for each target.
#if defined(TENON_SUM_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_SUM_INT8_INL
#undef TENON_SUM_INT8_INL
#else
#define TENON_SUM_INT8_INL
#endif

#include "backends/cpu/simd/Cover-inl.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Adds neighbouring 8-bit lanes to 16-bit lanes.
#if HWY_ARCH_X86
HWY_INLINE auto AddPairs(hn::Vec128<int8_t> v)
{
    return hn::Vec128<int16_t>{_mm_maddubs_epi16(_mm_set1_epi8(1), v.raw)};
}
HWY_INLINE auto AddPairs(hn::Vec128<uint8_t> v)
{
    return hn::Vec128<int16_t>{_mm_maddubs_epi16(v.raw, _mm_set1_epi8(1))};
}
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_INLINE auto AddPairs(hn::Vec256<int8_t> v)
{
    return hn::Vec256<int16_t>{_mm256_maddubs_epi16(_mm256_set1_epi8(1), v.raw)};
}
HWY_INLINE auto AddPairs(hn::Vec256<uint8_t> v)
{
    return hn::Vec256<int16_t>{_mm256_maddubs_epi16(v.raw, _mm256_set1_epi8(1))};
}
#endif
#if HWY_TARGET == HWY_AVX3
HWY_INLINE auto AddPairs(hn::Vec512<int8_t> v)
{
    return hn::Vec512<int16_t>{_mm512_maddubs_epi16(_mm512_set1_epi8(1), v.raw)};
}
HWY_INLINE auto AddPairs(hn::Vec512<uint8_t> v)
{
    return hn::Vec512<int16_t>{_mm512_maddubs_epi16(v.raw, _mm512_set1_epi8(1))};
}
#endif
#else
HWY_INLINE auto AddPairs(hn::Vec128<int8_t> v)
{
    return hn::Vec128<int16_t>(vpaddlq_s8(v.raw));
}
HWY_INLINE auto AddPairs(hn::Vec128<uint8_t> v)
{
    return hn::Vec128<int16_t>(vreinterpretq_s16_u16(vpaddlq_u8(v.raw)));
}
#endif

/// Adds 16-bit sums to `sums` in the order of columns. `lower` and `upper` hold the sums of the lower and the upper
/// half of each block of 16 bytes.
template <size_t Lanes>
HWY_INLINE void AddHalves(const int16_t* lower, const int16_t* upper, int32_t* sums)
{
    const hn::CappedTag<int32_t, 8> d;
    constexpr size_t Step = hn::MaxLanes(hn::CappedTag<int32_t, 8>());
    for (size_t i = 0; i < Lanes; i += Step)
    {
        const int16_t* const half = i % 16 < 8 ? lower : upper;
        const auto words = hn::LoadU(hn::Rebind<int16_t, decltype(d)>(), half + i / 16 * 8 + i % 8);
        hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::PromoteTo(d, words)), d, sums + i);
    }
}

/// Sums of columns: two rows at a time in 16 bits, up to 128 rows, then in int32.
template <size_t Vectors, class D>
HWY_INLINE void SumVectorsInt8(D d, const hn::TFromD<D>* in, size_t rows, size_t stride, int32_t* out)
{
    constexpr size_t Lanes = hn::MaxLanes(D());
    constexpr size_t Block = 128; // rows: 128 * 255 < 2^15
    const hn::Repartition<int16_t, D> dWords;
    HWY_ALIGN int32_t sums[Vectors * Lanes] = {};
    for (size_t first = 0; first < rows; first += Block)
    {
        hn::Vec<decltype(dWords)> lower[Vectors];
        hn::Vec<decltype(dWords)> upper[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            lower[v] = upper[v] = hn::Zero(dWords);
        }
        const size_t end = HWY_MIN(rows, first + Block);
        for (size_t row = first; row < end; row += 2, in += 2 * stride)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                const auto x = hn::LoadU(d, in + v * Lanes);
                const auto y = row + 1 < end ? hn::LoadU(d, in + stride + v * Lanes) : hn::Zero(d);
                lower[v] = hn::Add(lower[v], AddPairs(hn::InterleaveLower(d, x, y)));
                upper[v] = hn::Add(upper[v], AddPairs(hn::InterleaveUpper(d, x, y)));
            }
        }
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            HWY_ALIGN int16_t words[Lanes];
            hn::Store(lower[v], dWords, words);
            hn::Store(upper[v], dWords, words + Lanes / 2);
            AddHalves<Lanes>(words, words + Lanes / 2, sums + v * Lanes);
        }
    }
    std::memcpy(out, sums, sizeof(sums));
}

/// `Rest` sums the last columns, fewer than a block has bytes.
template <typename T, auto Rest>
void SumColumnsInt8(const void* in, size_t rows, size_t stride, size_t columns, void* out)
{
    constexpr size_t Lanes = HWY_LANES(T);
    constexpr size_t BlockLanes = 16;
    const auto* from = static_cast<const T*>(in);
    auto* to = static_cast<int32_t*>(out);
    size_t c = 0;
    for (; c + 4 * Lanes <= columns; c += 4 * Lanes)
    {
        SumVectorsInt8<4>(hn::CappedTag<T, Lanes>(), from + c, rows, stride, to + c);
    }
    for (; c + 2 * Lanes <= columns; c += 2 * Lanes)
    {
        SumVectorsInt8<2>(hn::CappedTag<T, Lanes>(), from + c, rows, stride, to + c);
    }
    for (; c + Lanes <= columns; c += Lanes)
    {
        SumVectorsInt8<1>(hn::CappedTag<T, Lanes>(), from + c, rows, stride, to + c);
    }
    for (; c + BlockLanes <= columns; c += BlockLanes)
    {
        SumVectorsInt8<1>(hn::CappedTag<T, BlockLanes>(), from + c, rows, stride, to + c);
    }
    if (c < columns)
    {
        Rest(from + c, rows, stride, columns - c, to + c);
    }
}

/// The XOR mask that biases int8 by 128: 0x80, and 0 for uint8.
template <typename T>
constexpr uint8_t SignXorOf = std::is_signed_v<T> ? 0x80 : 0;

/// The operation of ReduceRows that sums rows, with int8 biased by 128: one instruction (psadbw) adds eight bytes.
template <typename T>
struct SadSumInt8
{
    using Data = uint8_t;
    using Lane = int32_t;
    template <class D>
    using InTag = hn::Repartition<uint8_t, D>;
    static constexpr uint8_t Neutral = SignXorOf<T>;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<InTag<D>> bytes)
    {
        return hn::BitCast(d, hn::SumsOf8(hn::Xor(bytes, hn::Set(InTag<D>(), SignXorOf<T>))));
    }
    template <class V>
    static HWY_INLINE V Step(V a, V b)
    {
        return hn::Add(a, b);
    }
    /// Subtracts the bias of the whole row, 128 * length for int8, at its start.
    template <class D>
    static HWY_INLINE hn::Vec<D> Start(D d, size_t length)
    {
        return hn::IfThenElseZero(hn::FirstN(d, 1), hn::Set(d, -static_cast<int32_t>(SignXorOf<T> * length)));
    }
};

/// The sum of a row of any length.
template <typename T>
void SumRowInt8(const uint8_t* in, size_t length, int32_t* out)
{
    using Tag = hn::ScalableTag<uint8_t>;
    const Tag d;
    const hn::Repartition<uint64_t, Tag> dWide;
    constexpr size_t Lanes = hn::MaxLanes(Tag());
    constexpr uint8_t SignXor = SignXorOf<T>;
    const auto signXor = hn::Set(d, SignXor);
    auto sum0 = hn::Zero(dWide);
    auto sum1 = sum0;
    size_t i = 0;
    for (; i + 2 * Lanes <= length; i += 2 * Lanes)
    {
        sum0 = hn::Add(sum0, hn::SumsOf8(hn::Xor(hn::LoadU(d, in + i), signXor)));
        sum1 = hn::Add(sum1, hn::SumsOf8(hn::Xor(hn::LoadU(d, in + i + Lanes), signXor)));
    }
    for (; i < length; i += Lanes)
    {
        const size_t count = HWY_MIN(length - i, Lanes);
        const auto bytes = count == Lanes ? hn::LoadU(d, in + i) : LoadFirst(d, in + i, count, SignXor);
        sum0 = hn::Add(sum0, hn::SumsOf8(hn::Xor(bytes, signXor)));
    }
    HWY_ALIGN uint64_t lanes[Lanes / 8];
    hn::Store(hn::Add(sum0, sum1), dWide, lanes);
    const uint64_t sum = std::accumulate(std::begin(lanes), std::end(lanes), uint64_t{0});
    *out = static_cast<int32_t>(static_cast<uint32_t>(sum - uint64_t{SignXor} * length));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
