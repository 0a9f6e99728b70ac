// SPDX-License-Identifier: Apache-2.0
// Buffered rows of int8, every instruction set: rows of an image interleaved into the row ring buffer, and int32 sums
// from it.
//   m_Interleave: to [channel][row], four rows as int8 (XOR 0x80 where the dot product takes the other signedness), or
//   two rows as int16. AVX-512 interleaves 64 bytes at a time: a column of 64 or 48 channels, two of 32, four of 16.
//   SumBySliding: a sliding window of three columns, whose weights stay in registers, so that each interleaved column
//   is loaded once (see the drawing in ../README.md). FindColumnStep tells whether the taps of a run are such windows.
#if defined(TENON_CPU_BUFFERED_ROWS_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_BUFFERED_ROWS_INT8_INL
#undef TENON_CPU_BUFFERED_ROWS_INT8_INL
#else
#define TENON_CPU_BUFFERED_ROWS_INT8_INL
#endif

#include "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3

/// Loads the chunks of `4 / Chunks` columns (three chunks: of one column) of a row, one in each 128-bit lane; zeros for
/// channels that do not exist. `step`: bytes from a column to the next; 0 repeats one column.
template <size_t Chunks>
HWY_INLINE __m512i LoadChunks(const uint8_t* from, size_t step, size_t channels)
{
    if constexpr (Chunks == 1)
    {
        const auto mask = static_cast<__mmask16>((1U << std::min<size_t>(channels, 16)) - 1);
        if (step == 16 && channels == 16)
        {
            return _mm512_loadu_si512(from);
        }
        if (step == 8 && channels == 8)
        {
            const __m512i order = _mm512_setr_epi64(0, 0, 1, 0, 2, 0, 3, 0);
            const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
            return _mm512_maskz_permutexvar_epi64(0x55, order, _mm512_castsi256_si512(four));
        }
        const auto load = [&](size_t column) HWY_ATTR { return _mm_maskz_loadu_epi8(mask, from + column * step); };
        __m512i all = _mm512_castsi128_si512(load(0));
        all = _mm512_inserti64x2(all, load(1), 1);
        all = _mm512_inserti64x2(all, load(2), 2);
        return _mm512_inserti64x2(all, load(3), 3);
    }
    else if constexpr (Chunks == 2)
    {
        if (step == 32 && channels == 32)
        {
            return _mm512_loadu_si512(from);
        }
        const auto mask = static_cast<__mmask32>((uint64_t{1} << std::min<size_t>(channels, 32)) - 1);
        return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi8(mask, from)),
                                  _mm256_maskz_loadu_epi8(mask, from + step), 1);
    }
    else
    {
        const auto mask = (__mmask64{1} << std::min<size_t>(channels, 48)) - 1;
        return _mm512_maskz_loadu_epi8(mask, from);
    }
}

/// Stores four rows as [lane][channel][row], for the first `lanes` lanes.
HWY_INLINE void StoreLanes(__m512i a, __m512i b, __m512i c, __m512i e, size_t lanes, std::byte* to)
{
    const __m512i lowAb = _mm512_unpacklo_epi8(a, b);
    const __m512i highAb = _mm512_unpackhi_epi8(a, b);
    const __m512i lowCe = _mm512_unpacklo_epi8(c, e);
    const __m512i highCe = _mm512_unpackhi_epi8(c, e);
    // Each vector has a quarter of the 64 bytes of every lane.
    const __m512i first = _mm512_unpacklo_epi16(lowAb, lowCe);
    const __m512i second = _mm512_unpackhi_epi16(lowAb, lowCe);
    const __m512i third = _mm512_unpacklo_epi16(highAb, highCe);
    const __m512i fourth = _mm512_unpackhi_epi16(highAb, highCe);
    constexpr int Lower = 0x44;
    constexpr int Upper = 0xEE;
    constexpr int Even = 0x88;
    constexpr int Odd = 0xDD;
    const __m512i lowerHalves = _mm512_shuffle_i64x2(first, second, Lower); // of lanes 0 and 1
    const __m512i upperHalves = _mm512_shuffle_i64x2(third, fourth, Lower);
    auto* const out = reinterpret_cast<__m512i*>(to);
    _mm512_store_si512(out, _mm512_shuffle_i64x2(lowerHalves, upperHalves, Even));
    if (lanes > 1)
    {
        _mm512_store_si512(out + 1, _mm512_shuffle_i64x2(lowerHalves, upperHalves, Odd));
    }
    if (lanes > 2)
    {
        const __m512i lowerOfLast = _mm512_shuffle_i64x2(first, second, Upper); // of lanes 2 and 3
        const __m512i upperOfLast = _mm512_shuffle_i64x2(third, fourth, Upper);
        _mm512_store_si512(out + 2, _mm512_shuffle_i64x2(lowerOfLast, upperOfLast, Even));
        if (lanes > 3)
        {
            _mm512_store_si512(out + 3, _mm512_shuffle_i64x2(lowerOfLast, upperOfLast, Odd));
        }
    }
}

/// Interleaves columns of `Chunks` chunks, several at a time; the last step overlaps the one before where fewer are
/// left. Returns false without effect if there are too few columns.
template <size_t Chunks>
bool InterleaveChunks(const InterleaveArgsInt8& columns, uint8_t signXor, std::byte* out)
{
    constexpr size_t Together = Chunks < 3 ? 4 / Chunks : 1;
    constexpr size_t ColumnBytes = Chunks * DepthwiseMicrokernelsInt8::ChunkBytes;
    if (columns.m_Columns < Together)
    {
        return false;
    }
    const __m512i signXors = _mm512_set1_epi8(static_cast<char>(signXor));
    const auto load = [&](size_t row, size_t column) HWY_ATTR
    {
        const size_t step = columns.m_Steps[row];
        return _mm512_xor_si512(LoadChunks<Chunks>(columns.m_Rows[row] + column * step, step, columns.m_Channels),
                                signXors);
    };
    for (size_t next = 0; next < columns.m_Columns; next += Together)
    {
        const size_t column = std::min(next, columns.m_Columns - Together);
        StoreLanes(load(0, column), load(1, column), load(2, column), load(3, column), Together * Chunks,
                   out + column * ColumnBytes);
    }
    return true;
}

#endif

constexpr size_t ChunkChannels = DepthwiseMicrokernelsInt8::ChunkChannels;
constexpr size_t ChunkBytes = DepthwiseMicrokernelsInt8::ChunkBytes;

using TagInt8x16 = hn::Full128<uint8_t>;

/// Loads sixteen channels of a row, or the `channels` that there are.
HWY_INLINE hn::Vec<TagInt8x16> LoadChunk(const uint8_t* from, size_t channels)
{
    if (channels >= ChunkChannels)
    {
        return hn::LoadU(TagInt8x16(), from);
    }
    constexpr size_t Half = ChunkChannels / 2;
    uint64_t halves[2] = {0, 0};
    if (channels >= Half)
    {
        // The upper half comes from the eight bytes that end with the last channel: nothing past it is read.
        std::memcpy(&halves[0], from, Half);
        std::memcpy(&halves[1], from + channels - Half, Half);
        halves[1] = channels == Half ? 0 : halves[1] >> (8 * (ChunkChannels - channels));
    }
    else
    {
        std::memcpy(&halves[0], from, channels);
    }
    const hn::Full128<uint64_t> d;
    return hn::BitCast(TagInt8x16(), hn::InterleaveLower(d, hn::Set(d, halves[0]), hn::Set(d, halves[1])));
}

/// Interleaves four rows to [channel][row], within 128-bit lanes.
template <typename Bytes, typename V>
HWY_INLINE void StoreInterleaved(Bytes d, V a, V b, V c, V e, std::byte* to)
{
    const hn::Repartition<uint16_t, Bytes> d16;
    const size_t lanes = hn::Lanes(d16);
    const auto lowAb = hn::BitCast(d16, hn::InterleaveLower(d, a, b));
    const auto highAb = hn::BitCast(d16, hn::InterleaveUpper(d, a, b));
    const auto lowCe = hn::BitCast(d16, hn::InterleaveLower(d, c, e));
    const auto highCe = hn::BitCast(d16, hn::InterleaveUpper(d, c, e));
    auto* out = reinterpret_cast<uint16_t*>(to);
    hn::Store(hn::InterleaveLower(d16, lowAb, lowCe), d16, out);
    hn::Store(hn::InterleaveUpper(d16, lowAb, lowCe), d16, out + lanes);
    hn::Store(hn::InterleaveLower(d16, highAb, highCe), d16, out + 2 * lanes);
    hn::Store(hn::InterleaveUpper(d16, highAb, highCe), d16, out + 3 * lanes);
}

// The other instruction sets have no int8 dot products.
#define TENON_HAS_DOTS                                                                                                 \
    (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64))

#if TENON_HAS_DOTS
/// Interleaves four rows of a chunk, in the natural order of its channels.
HWY_INLINE void InterleaveFourRows(const uint8_t* const (&from)[4], size_t channels, uint8_t signXor, std::byte* to)
{
    const TagInt8x16 d;
    const auto load = [&](size_t row) HWY_ATTR { return hn::Xor(LoadChunk(from[row], channels), hn::Set(d, signXor)); };
    StoreInterleaved(d, load(0), load(1), load(2), load(3), to);
}

#if HWY_TARGET == HWY_AVX3
/// The same for a whole block of 64 channels.
HWY_INLINE void InterleaveBlock(const uint8_t* const (&from)[4], uint8_t signXor, std::byte* to)
{
    const hn::ScalableTag<uint8_t> d;
    const auto load = [&](size_t row) HWY_ATTR { return hn::Xor(hn::LoadU(d, from[row]), hn::Set(d, signXor)); };
    StoreInterleaved(d, load(0), load(1), load(2), load(3), to);
}
#endif

void InterleaveRowsInt8(const InterleaveArgsInt8& columns, size_t chunks, std::byte* out)
{
    constexpr bool TakesSigned = HWY_TARGET == HWY_NEON;
    const uint8_t signXor = columns.m_IsSigned != TakesSigned ? 0x80 : 0;
#if HWY_TARGET == HWY_AVX3
    if ((chunks == 1 && InterleaveChunks<1>(columns, signXor, out)) ||
        (chunks == 2 && InterleaveChunks<2>(columns, signXor, out)) ||
        (chunks == 3 && InterleaveChunks<3>(columns, signXor, out)))
    {
        return;
    }
#endif
    const uint8_t* from[4];
    std::copy_n(columns.m_Rows, 4, from);
    for (size_t column = 0; column < columns.m_Columns; ++column)
    {
#if HWY_TARGET == HWY_AVX3
        if (chunks == DepthwiseMicrokernelsInt8::MaxChunks)
        {
            InterleaveBlock(from, signXor, out);
            out += DepthwiseMicrokernelsInt8::MaxChunks * ChunkBytes;
        }
        else
#endif
        {
            for (size_t chunk = 0; chunk < chunks; ++chunk, out += ChunkBytes)
            {
                const size_t first = chunk * ChunkChannels;
                const uint8_t* const at[4] = {from[0] + first, from[1] + first, from[2] + first, from[3] + first};
                InterleaveFourRows(at, columns.m_Channels - first, signXor, out);
            }
        }
        for (size_t row = 0; row < 4; ++row)
        {
            from[row] += columns.m_Steps[row];
        }
    }
}
#endif

/// Interleaves two rows of a chunk to [channel][row] of int16.
template <typename T>
HWY_INLINE void InterleaveTwoRows(const uint8_t* a, const uint8_t* b, size_t channels, std::byte* to)
{
    const TagInt8x16 d;
    const auto x = LoadChunk(a, channels);
    const auto y = LoadChunk(b, channels);
    auto* const out = reinterpret_cast<int16_t*>(to);
    const auto store = [out](const hn::Vec<TagInt8x16>& bytes, size_t half) HWY_ATTR
    {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
        const hn::Full256<int16_t> dWide;
        hn::Store(hn::PromoteTo(dWide, hn::BitCast(hn::Full128<T>(), bytes)), dWide, out + half * 16);
#else
        const hn::Full128<int16_t> dWide;
        const hn::Half<hn::Full128<T>> dHalf;
        const auto all = hn::BitCast(hn::Full128<T>(), bytes);
        hn::Store(hn::PromoteTo(dWide, hn::LowerHalf(dHalf, all)), dWide, out + half * 16);
        hn::Store(hn::PromoteTo(dWide, hn::UpperHalf(dHalf, all)), dWide, out + half * 16 + 8);
#endif
    };
    store(hn::InterleaveLower(d, x, y), 0);
    store(hn::InterleaveUpper(d, x, y), 1);
}

void InterleaveRowsInt16(const InterleaveArgsInt8& columns, size_t chunks, std::byte* out)
{
    const uint8_t* a = columns.m_Rows[0];
    const uint8_t* b = columns.m_Rows[1];
    for (size_t column = 0; column < columns.m_Columns; ++column, a += columns.m_Steps[0], b += columns.m_Steps[1])
    {
        for (size_t chunk = 0; chunk < chunks; ++chunk, out += ChunkBytes)
        {
            const size_t first = chunk * ChunkChannels;
            const size_t channels = columns.m_Channels - first;
            columns.m_IsSigned ? InterleaveTwoRows<int8_t>(a + first, b + first, channels, out)
                               : InterleaveTwoRows<uint8_t>(a + first, b + first, channels, out);
        }
    }
}

/// Columns of a window.
constexpr size_t SlidingWindowColumns = 3;

/// Adds an image column, all its row groups, to the sums of the window in which it is column `Column`.
template <typename Dot, size_t Column, size_t RowGroups, size_t Weights>
HWY_INLINE void AddColumn(Vector& sums, const Vector (&data)[RowGroups], const Vector (&weights)[Weights])
{
    HWY_UNROLL(2)
    for (size_t w = 0; w < Weights / SlidingWindowColumns; ++w)
    {
        Dot::Add(sums, data[w % RowGroups], weights[w * SlidingWindowColumns + Column]);
    }
}

/// Every m_Step-th pixel of a run from m_First on: the pixels whose windows share columns.
struct SlidingPixels
{
    size_t m_ColumnStep = 0; ///< int32 from a column of the window to the next
    size_t m_First = 0;      ///< first pixel, in the run
    size_t m_Step = 1;       ///< from one pixel to the next
    size_t m_Count = 0;
};

/// A sliding window over one vector of channels at a time: its weights stay in registers, and each column is loaded
/// once for all windows that it is in. `Stride`: columns from a window to the next. `WeightTerms`: int8 terms of a
/// weight.
template <typename Dot, size_t RowGroups, size_t WeightTerms, size_t Vectors, size_t Stride>
void SlidingSums(const BufferedRunInt8& run, const SlidingPixels& pixels)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    const size_t sumStep = pixels.m_Step * Vectors * lanes;
    for (size_t v = 0; v < Vectors; ++v)
    {
        Vector weights[WeightTerms * RowGroups * SlidingWindowColumns];
        HWY_UNROLL(6)
        for (size_t tap = 0; tap < WeightTerms * RowGroups * SlidingWindowColumns; ++tap)
        {
            weights[tap] = hn::Load(d, static_cast<const int32_t*>(run.m_Weights) + (tap * Vectors + v) * lanes);
        }
        const Vector bias = hn::Load(d, run.m_Bias + v * lanes);
        const std::byte* const columns = run.m_Columns + pixels.m_First * run.m_PixelStep;
        const int32_t* groups[RowGroups];
        HWY_UNROLL(2)
        for (size_t g = 0; g < RowGroups; ++g)
        {
            groups[g] = reinterpret_cast<const int32_t*>(columns + run.m_Offsets[g * SlidingWindowColumns]) + v * lanes;
        }
        const auto next = [&](Vector(&data)[RowGroups]) HWY_ATTR
        {
            HWY_UNROLL(2)
            for (size_t g = 0; g < RowGroups; ++g)
            {
                data[g] = hn::Load(d, groups[g]);
                groups[g] += pixels.m_ColumnStep;
            }
        };
        int32_t* sums = run.m_Sums + (pixels.m_First * Vectors + v) * lanes;
        Vector data[RowGroups];
        next(data);
        Vector first = bias; // sums of the window whose last column is next
        AddColumn<Dot, 0>(first, data, weights);
        if constexpr (Stride == 1)
        {
            next(data);
            AddColumn<Dot, 1>(first, data, weights);
            Vector second = bias;
            AddColumn<Dot, 0>(second, data, weights);
            for (size_t i = 0; i < pixels.m_Count; ++i, sums += sumStep)
            {
                next(data);
                AddColumn<Dot, 2>(first, data, weights);
                hn::Store(first, d, sums);
                AddColumn<Dot, 1>(second, data, weights);
                first = second;
                second = bias;
                AddColumn<Dot, 0>(second, data, weights);
            }
        }
        else
        {
            for (size_t i = 0; i < pixels.m_Count; ++i, sums += sumStep)
            {
                next(data);
                AddColumn<Dot, 1>(first, data, weights);
                next(data);
                AddColumn<Dot, 2>(first, data, weights);
                hn::Store(first, d, sums);
                first = bias;
                AddColumn<Dot, 0>(first, data, weights);
            }
        }
    }
}

/// Bytes from a column of a window of `Columns` columns to the next; 0: the run has other windows.
template <size_t RowGroups, size_t WeightTerms, size_t Columns>
size_t FindColumnStep(const BufferedRunInt8& run)
{
    constexpr size_t WindowTaps = RowGroups * Columns;
    if (run.m_Taps != WeightTerms * WindowTaps)
    {
        return 0;
    }
    const size_t step = run.m_Offsets[1] - run.m_Offsets[0];
    for (size_t tap = 1; tap < run.m_Taps; ++tap)
    {
        const bool isNext = tap % Columns == 0 || run.m_Offsets[tap] - run.m_Offsets[tap - 1] == step;
        if (!isNext || run.m_Offsets[tap] != run.m_Offsets[tap % WindowTaps])
        {
            return 0;
        }
    }
    return step;
}

/// Computes all pixels of the run if its windows have three columns and share them. Otherwise returns false.
template <typename Dot, size_t RowGroups, size_t WeightTerms, size_t Vectors>
bool SumTermsBySliding(const BufferedRunInt8& run)
{
    const size_t column = FindColumnStep<RowGroups, WeightTerms, SlidingWindowColumns>(run);
    if (column == 0)
    {
        return false;
    }
    SlidingPixels pixels;
    pixels.m_ColumnStep = column / sizeof(int32_t);
    if (run.m_PixelStep == 2 * column)
    {
        pixels.m_Count = run.m_Pixels;
        SlidingSums<Dot, RowGroups, WeightTerms, Vectors, 2>(run, pixels);
        return true;
    }
    // With a dilation, every dilation-th pixel shares columns.
    const size_t step = column / run.m_PixelStep;
    if (step * run.m_PixelStep != column || 2 * step > run.m_Pixels)
    {
        return false;
    }
    pixels.m_Step = step;
    for (; pixels.m_First < step; ++pixels.m_First)
    {
        pixels.m_Count = DivideUp(run.m_Pixels - pixels.m_First, step);
        SlidingSums<Dot, RowGroups, WeightTerms, Vectors, 1>(run, pixels);
    }
    return true;
}

/// The same for each number of row groups (one or two pairs of rows, or one group of four rows) and of weight terms
/// (one or two).
template <typename Dot, size_t Vectors>
bool SumBySliding(const BufferedRunInt8& run)
{
    if constexpr (std::is_same_v<Dot, Int16x2>)
    {
        return SumTermsBySliding<Dot, 2, 1, Vectors>(run);
    }
    else
    {
        return SumTermsBySliding<Dot, 1, 1, Vectors>(run) || SumTermsBySliding<Dot, 1, 2, Vectors>(run);
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
