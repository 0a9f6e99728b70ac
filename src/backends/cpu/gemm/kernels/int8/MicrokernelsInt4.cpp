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

/// Adds the products of two groups of the rows, `at` bytes from their start, to `lower` and `upper`.
template <typename Dot, size_t Rows, size_t Vectors>
HWY_INLINE void AddGroupPairInt4(const uint8_t* const (&rows)[Rows], size_t at, const int32_t* weights,
                                 Vector (&lower)[Rows][Vectors], Vector (&upper)[Rows][Vectors])
{
    const Ints d;
    const Vector mask = hn::Set(d, 0x0F0F0F0F);
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
        const Vector first = ReadGroup(rows[r] + at);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            Dot::Add(lower[r][v], first, low[v]);
        }
        const Vector second = ReadGroup(rows[r] + at + 4);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            Dot::Add(upper[r][v], second, high[v]);
        }
    }
}

/// sums += data * weights for groups [begin, end), an even number of them, by a dot product. Calls prefetch() with the
/// address of the weights of each two groups.
template <typename Dot, size_t Rows, size_t Vectors, typename F>
HWY_INLINE void AddGroupsInt4(const uint8_t* const (&rows)[Rows], size_t begin, size_t end, const int32_t* weights,
                              Vector (&sums)[Rows][Vectors], const F& prefetch)
{
    const Ints d;
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
        prefetch(weights);
        if constexpr (HasOwn)
        {
            AddGroupPairInt4<Dot>(rows, 4 * g, weights, sums, own);
        }
        else
        {
            AddGroupPairInt4<Dot>(rows, 4 * g, weights, sums, sums);
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
            AddGroupsInt4<Dot>(rows, 0, groups, weights, acc, [](const int32_t*) {});
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
        AddGroupsInt4<Dot>(rows, begin, end, weights, shorts, [](const int32_t*) {});
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

/// One block of 4-bit weights, see BlockTile: all of it is one slice.
template <typename Dot>
struct Int4Blocks
{
    using Wide = DotBlocks<Dot, false>;

    /// Writes a panel's weights as bytes; see MicrokernelSetInt8::m_WidenBlocks.
    static void Widen(const BlockRowsInt8& panel, size_t vectors, std::byte* wide)
    {
        const Ints d;
        const Vector mask = hn::Set(d, 0x0F0F0F0F);
        const size_t lanes = hn::Lanes(d);
        const std::byte* from = panel.m_Panel;
        const auto put = [&](auto values) HWY_ATTR
        {
            hn::Store(hn::BitCast(d, values), d, reinterpret_cast<int32_t*>(wide));
            wide += lanes * sizeof(int32_t);
        };
        for (size_t block = 0; block < panel.m_Blocks; ++block)
        {
            for (size_t v = 0; v < vectors; ++v)
            {
                put(LoadScales(from, panel.m_ScaleBytes, v));
            }
            from += GetBlockScaleBytes(vectors * lanes, panel.m_ScaleBytes, lanes);
            for (size_t g = 0; g < panel.m_Groups; g += 2, from += vectors * lanes * sizeof(int32_t))
            {
                const auto* const both = reinterpret_cast<const int32_t*>(from);
                for (size_t v = 0; v < vectors; ++v)
                {
                    put(hn::And(hn::Load(d, both + v * lanes), mask));
                }
                for (size_t v = 0; v < vectors; ++v)
                {
                    put(hn::And(hn::ShiftRight<4>(hn::Load(d, both + v * lanes)), mask));
                }
            }
        }
    }

    template <size_t Vectors, size_t Rows, typename F>
    static HWY_INLINE void Run(BlockCursor<Rows>& at, size_t groups, const F& finish)
    {
        Vector sums[Rows][Vectors];
        at.Start(sums);
        AddGroupsInt4<Dot>(at.m_Rows, at.m_Group, at.m_Group + groups, reinterpret_cast<const int32_t*>(at.m_Weights),
                           sums, PrefetchBlocks<Vectors * hn::MaxLanes(Ints()) * sizeof(int32_t)>);
        at.m_Group += groups;
        at.m_Weights += groups * Vectors * hn::Lanes(Ints()) * 2;
        finish(sums);
    }
};

/// The same in slices whose sums fit int16. The sums of earlier slices of a block are in memory.
template <>
struct Int4Blocks<PairsInt4>
{
    static constexpr size_t MaxGroups = BlockSumsInt8::MaxPairedDepth / 4;

    template <size_t Vectors, size_t Rows, typename F>
    static HWY_INLINE void Run(BlockCursor<Rows>& at, size_t groups, const F& finish)
    {
        Vector sums[Rows][Vectors];
        if (groups <= MaxGroups)
        {
            AddSlice(at, groups, sums);
            finish(sums);
            return;
        }
        HWY_ALIGN int32_t earlier[Rows * Vectors * hn::MaxLanes(Ints())];
        AddSlice(at, MaxGroups, sums);
        EndTile(sums, earlier);
        for (groups -= MaxGroups; groups > MaxGroups; groups -= MaxGroups)
        {
            AddSlice(at, MaxGroups, sums);
            AddEarlier(earlier, sums);
            EndTile(sums, earlier);
        }
        AddSlice(at, groups, sums);
        AddEarlier(earlier, sums);
        finish(sums);
    }

private:
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddSlice(BlockCursor<Rows>& at, size_t groups, Vector (&sums)[Rows][Vectors])
    {
        // Usual blocks have whole runs of groups.
        constexpr size_t RunGroups = 8;
        Vector shorts[Rows][Vectors];
        at.Start(shorts);
        for (size_t i = 0; i < groups / RunGroups; ++i)
        {
            AddGroups<RunGroups>(at, shorts);
        }
        for (size_t i = 0; i < groups % RunGroups; i += 2)
        {
            AddGroups<2>(at, shorts);
        }
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                sums[r][v] = PairsInt4::SumInt16(shorts[r][v]);
            }
        }
    }

    template <size_t Groups, size_t Rows, size_t Vectors>
    static HWY_INLINE void AddGroups(BlockCursor<Rows>& at, Vector (&shorts)[Rows][Vectors])
    {
        HWY_UNROLL(8)
        for (size_t g = 0; g < Groups; g += 2)
        {
            PrefetchBlocks<Vectors * hn::MaxLanes(Ints()) * sizeof(int32_t)>(at.m_Weights);
            AddGroupPairInt4<PairsInt4>(at.m_Rows, 4 * (at.m_Group + g), reinterpret_cast<const int32_t*>(at.m_Weights),
                                        shorts, shorts);
            at.m_Weights += Vectors * hn::Lanes(Ints()) * sizeof(int32_t);
        }
        at.m_Group += Groups;
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddEarlier(const int32_t* earlier, Vector (&sums)[Rows][Vectors])
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                const size_t at = (r * Vectors + v) * hn::Lanes(Ints());
                sums[r][v] = hn::Add(sums[r][v], hn::Load(Ints(), earlier + at));
            }
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
