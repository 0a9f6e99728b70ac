// SPDX-License-Identifier: Apache-2.0
// Tiles of int8 data by 4-bit weights in the layout Int4x8: dot products, or sums of pairs in int16 (PairsInt4) where
// the processor has none of bytes.
//
//   C[r][c] = bias[c] + sum_k A[r][k] * w[k][c]      w: the weight plus 8, as unsigned 0..15
//
// A mask and a shift unpack the weights. In the four bytes that a column has in a vector, the lower halves are the
// weights of group 2g, the upper halves those of group 2g + 1:
//   byte j = w[8g + j] | w[8g + 4 + j] << 4
//
// Weights with a scale per block (Int4Blocks) are stored as 7 less the weight: see BlockSumsInt8.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/MicrokernelsInt4.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/BlockTiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Replaces a dot product where there is none of bytes: sums of two products in int16.
struct PairsInt4
{
    static constexpr size_t MaxGroupsInInt16 = 8; ///< 8 * 2 * 15 * 128 < 2^15

#if HWY_ARCH_X86
    static HWY_INLINE void Add(Vector& shorts, const Vector& data, const Vector& weights)
    {
        const hn::Repartition<int16_t, Ints> d16;
        const Vector pairs = MultiplyBytes(weights, data);
        shorts = hn::BitCast(Ints(), hn::Add(hn::BitCast(d16, shorts), hn::BitCast(d16, pairs)));
        asm("" : "+v"(shorts.raw)); // else the compiler adds up all pairs first, for which there are no registers
    }
    /// sums += the pairs of int16
    static HWY_INLINE void AddInt16(Vector& sums, const Vector& shorts)
    {
        AddPairs(sums, shorts);
    }
    /// The sums of the pairs of int16.
    static HWY_INLINE Vector SumInt16(const Vector& shorts)
    {
        Vector sums = hn::Zero(Ints());
        AddPairs(sums, shorts);
        return sums;
    }
#else
    static HWY_INLINE void Add(Vector& shorts, const Vector& data, const Vector& weights)
    {
        const int8x16_t x = vreinterpretq_s8_s32(data.raw);
        const int8x16_t w = vreinterpretq_s8_s32(weights.raw);
        const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(w));
        const int16x8_t high = vmull_s8(vget_high_s8(x), vget_high_s8(w));
#if HWY_ARCH_ARM_A64
        const int16x8_t pairs = vpaddq_s16(low, high);
#else
        const int16x8_t pairs = vcombine_s16(vpadd_s16(vget_low_s16(low), vget_high_s16(low)),
                                             vpadd_s16(vget_low_s16(high), vget_high_s16(high)));
#endif
        shorts.raw = vreinterpretq_s32_s16(vaddq_s16(vreinterpretq_s16_s32(shorts.raw), pairs));
    }
    static HWY_INLINE void AddInt16(Vector& sums, const Vector& shorts)
    {
        sums.raw = vpadalq_s16(sums.raw, vreinterpretq_s16_s32(shorts.raw));
    }
    static HWY_INLINE Vector SumInt16(const Vector& shorts)
    {
        return Vector(vpaddlq_s16(vreinterpretq_s16_s32(shorts.raw)));
    }
#endif
};

/// sums += data * weights for groups [begin, end), an even number of them, by a dot product.
template <typename Dot, size_t Rows, size_t Vectors>
HWY_INLINE void AddGroupsInt4(const uint8_t* const (&rows)[Rows], size_t begin, size_t end, const int32_t* weights,
                              Vector (&sums)[Rows][Vectors])
{
    const Ints d;
    const Vector mask = hn::Set(d, 0x0F0F0F0F);
    // In a low tile the few accumulators would wait for each other: upper halves get their own.
    constexpr bool HasOwn = Rows * Vectors <= 8 && !std::is_same_v<Dot, PairsInt4>;
    [[maybe_unused]] Vector own[Rows][Vectors];
    if constexpr (HasOwn)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                own[r][v] = hn::Zero(d);
            }
        }
    }
    for (size_t g = begin; g < end; g += 2, weights += Vectors * hn::Lanes(d))
    {
        Vector low[Vectors];
        Vector high[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Vector both = hn::Load(d, weights + v * hn::Lanes(d));
            low[v] = hn::And(both, mask);
            high[v] = hn::And(hn::ShiftRight<4>(both), mask);
        }
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            const Vector first = ReadGroup(rows[r] + 4 * g);
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                Dot::Add(sums[r][v], first, low[v]);
            }
            const Vector second = ReadGroup(rows[r] + 4 * g + 4);
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                Dot::Add(HasOwn ? own[r][v] : sums[r][v], second, high[v]);
            }
        }
    }
    if constexpr (HasOwn)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                sums[r][v] = hn::Add(sums[r][v], own[r][v]);
            }
        }
    }
}

template <typename Dot>
struct TileInt4
{
    template <size_t Rows, size_t Vectors>
    static void Run(const void* data, size_t dataStride, const void* panel, size_t groups, const int32_t* bias,
                    int32_t* sums)
    {
        const size_t lanes = hn::Lanes(Ints());
        const auto* weights = static_cast<const int32_t*>(panel);
        Vector acc[Rows][Vectors];
        const uint8_t* rows[Rows];
        BeginTile(data, dataStride, bias, rows, acc);
        if constexpr (!std::is_same_v<Dot, PairsInt4>)
        {
            AddGroupsInt4<Dot>(rows, 0, groups, weights, acc);
        }
        else
        {
            constexpr size_t MaxGroups = PairsInt4::MaxGroupsInInt16;
            size_t begin = 0;
            for (; begin + MaxGroups <= groups; begin += MaxGroups, weights += MaxGroups / 2 * Vectors * lanes)
            {
                AddSlice(rows, begin, begin + MaxGroups, weights, acc);
            }
            if (begin < groups)
            {
                AddSlice(rows, begin, groups, weights, acc);
            }
        }
        EndTile(acc, sums);
    }

private:
    /// A number of groups whose sums fit int16.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddSlice(const uint8_t* const (&rows)[Rows], size_t begin, size_t end,
                                    const int32_t* weights, Vector (&acc)[Rows][Vectors])
    {
        Vector shorts[Rows][Vectors];
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                shorts[r][v] = hn::Zero(Ints());
            }
        }
        AddGroupsInt4<Dot>(rows, begin, end, weights, shorts);
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                Dot::AddInt16(acc[r][v], shorts[r][v]);
            }
        }
    }
};

/// The sums of one block of 4-bit weights, see BlockTile: by dot products, or in slices whose sums fit int16.
template <typename Dot>
struct Int4Blocks
{
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Run(const uint8_t* const (&rows)[Rows], size_t begin, size_t groups,
                               const int32_t* const (&starts)[Rows], size_t& slice, const std::byte*& weights,
                               Vector (&acc)[Rows][Vectors])
    {
        constexpr bool IsPaired = std::is_same_v<Dot, PairsInt4>;
        constexpr size_t MaxGroups = BlockSumsInt8::MaxPairedDepth / 4;
        const size_t end = begin + groups;
        for (size_t g = begin; g < end;)
        {
            const size_t last = IsPaired && end - g > MaxGroups ? g + MaxGroups : end;
            Vector sums[Rows][Vectors];
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                HWY_UNROLL(4)
                for (size_t v = 0; v < Vectors; ++v)
                {
                    sums[r][v] = hn::Set(Ints(), starts[r][slice]);
                }
            }
            ++slice;
            AddGroupsInt4<Dot>(rows, g, last, reinterpret_cast<const int32_t*>(weights), sums);
            weights += (last - g) * Vectors * hn::Lanes(Ints()) * 2;
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                HWY_UNROLL(4)
                for (size_t v = 0; v < Vectors; ++v)
                {
                    Keep<IsPaired>(sums[r][v], g == begin, acc[r][v]);
                }
            }
            g = last;
        }
    }

private:
    /// The sums of a slice become those of the block, or are added to them.
    template <bool IsPaired>
    static HWY_INLINE void Keep(const Vector& sums, bool isFirst, Vector& acc)
    {
        if constexpr (!IsPaired)
        {
            acc = sums;
        }
        else if (isFirst)
        {
            acc = PairsInt4::SumInt16(sums);
        }
        else
        {
            PairsInt4::AddInt16(acc, sums);
        }
    }
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define TENON_INT8_LAYOUT_Int4x8 TENON_INT8_FILL
#include "backends/cpu/gemm/kernels/int8/FillRowsInt8-inl.hpp"

#if HWY_ONCE
namespace tenon::cpu
{

void UseInt4Microkernels(MicrokernelsInt8& microkernels)
{
    TENON_CHOOSE(FillRows)(microkernels);
}

} // namespace tenon::cpu
#endif
