// SPDX-License-Identifier: Apache-2.0
// BlockTile: tiles of int8 data by weights with a scale per block of the depth.
//
//   S[r][c] += scale[b][c] * float(sum_(k in block b) A[r][k] w[k][c])      for each block b, in their order
//
// The sums of a block are integers in registers, then a vector of floats for each of them takes the product with the
// scales. Blocks is the microkernel of one block: Int4Blocks (MicrokernelsInt4.cpp), DotBlocks. A panel has for each
// block, one after the other,
//
//   | scales of nr columns, float16 or float32, up to a whole vector | weights of the block in the row's layout |
//
// Included once for each target, by the sources of the layouts.
#if defined(TENON_CPU_BLOCK_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_BLOCK_TILES_INL
#undef TENON_CPU_BLOCK_TILES_INL
#else
#define TENON_CPU_BLOCK_TILES_INL
#endif

#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/WeightPrefetcher.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// A vector of scales, of the number of bytes that each has in a panel.
HWY_INLINE VecF32 LoadScales(const std::byte* scales, size_t scaleBytes, size_t vector)
{
    const TagF32 d;
    const size_t first = vector * hn::Lanes(d);
    if (scaleBytes == sizeof(float))
    {
        return hn::Load(d, reinterpret_cast<const float*>(scales) + first);
    }
    const hn::Rebind<hwy::float16_t, TagF32> dHalf;
    return hn::PromoteTo(d, hn::LoadU(dHalf, reinterpret_cast<const hwy::float16_t*>(scales) + first));
}

/// Prefetches `Bytes` of weights from a page ahead: while others are multiplied, they are on their way from memory, and
/// one row of data takes no longer than that.
template <size_t Bytes>
HWY_INLINE void PrefetchBlocks([[maybe_unused]] const void* weights)
{
#if defined(__GNUC__)
    constexpr size_t Distance = 4096;
    HWY_UNROLL(8)
    for (size_t line = 0; line < Bytes; line += LineBytes)
    {
        __builtin_prefetch(static_cast<const std::byte*>(weights) + Distance + line);
    }
#endif
}

/// Rows of a tile while it runs through the blocks.
template <size_t Rows>
struct BlockCursor
{
    const uint8_t* m_Rows[Rows];
    const int32_t* m_Starts[Rows];
    size_t m_Group = 0; ///< of the data
    size_t m_Slice = 0;
    const std::byte* m_Weights = nullptr;

    /// The initial sums of the next slice.
    template <size_t Vectors>
    HWY_INLINE void Start(Vector (&sums)[Rows][Vectors])
    {
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                sums[r][v] = ReadGroup(reinterpret_cast<const uint8_t*>(m_Starts[r] + m_Slice));
            }
        }
        ++m_Slice;
    }
};

/// One block by dot products of groups: all of a block is one slice. `IsPrefetched`: weights may come from memory.
template <typename Dot, bool IsPrefetched = true>
struct DotBlocks
{
    /// Calls finish(sums) with the sums of a block.
    template <size_t Vectors, size_t Rows, typename F>
    static HWY_INLINE void Run(BlockCursor<Rows>& at, size_t groups, const F& finish)
    {
        Vector sums[Rows][Vectors];
        at.Start(sums);
        for (const size_t end = at.m_Group + groups; at.m_Group < end; at.m_Group += 2)
        {
            if constexpr (IsPrefetched)
            {
                PrefetchBlocks<2 * Vectors * hn::MaxLanes(Ints()) * GetGroupBytes<Dot>()>(at.m_Weights);
            }
            DotTile<Dot>::AddGroup(at.m_Rows, 4 * at.m_Group, at.m_Weights, sums);
            DotTile<Dot>::AddGroup(at.m_Rows, 4 * at.m_Group + 4, at.m_Weights, sums);
        }
        finish(sums);
    }
};

template <typename Blocks>
struct BlockTile
{
    template <size_t Rows, size_t Vectors>
    static void Run(const BlockRowsInt8& operands)
    {
        const size_t width = Vectors * hn::Lanes(TagF32());
        BlockCursor<Rows> at;
        at.m_Weights = operands.m_Panel;
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            at.m_Rows[r] = static_cast<const uint8_t*>(operands.m_Data) + r * operands.m_DataStride;
            at.m_Starts[r] = operands.m_Starts + r * operands.m_StartStride;
        }
        for (size_t block = 0; block < operands.m_Blocks; ++block)
        {
            const std::byte* const scales = at.m_Weights;
            PrefetchBlocks<Vectors * hn::MaxLanes(Ints()) * sizeof(uint16_t)>(scales);
            at.m_Weights += GetBlockScaleBytes(width, operands.m_ScaleBytes, width / Vectors);
            Blocks::template Run<Vectors>(at, operands.m_Groups,
                                          [&](const Vector(&sums)[Rows][Vectors]) HWY_ATTR
                                          { AddScaled(sums, scales, operands.m_ScaleBytes, operands.m_Sums); });
        }
    }

private:
    /// Two roundings, as in the reference kernel, in place of a fused multiply-add. The floats are in memory: registers
    /// are for the sums of a block.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddScaled(const Vector (&sums)[Rows][Vectors], const std::byte* scales, size_t scaleBytes,
                                     float* out)
    {
        const TagF32 d;
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const VecF32 scale = LoadScales(scales, scaleBytes, v);
            HWY_UNROLL(8)
            for (size_t r = 0; r < Rows; ++r)
            {
                float* const to = out + (r * Vectors + v) * hn::Lanes(d);
                hn::Store(hn::Add(hn::Load(d, to), hn::Mul(hn::ConvertTo(d, sums[r][v]), scale)), d, to);
            }
        }
    }
};

/// Fills the microkernels of panels of `Vectors` vectors, for tiles of 1 to `Rows` rows.
template <typename Blocks, size_t Vectors, size_t Rows>
void FillBlockTiles(BlockTilesInt8& tiles)
{
    if constexpr (Rows != 0)
    {
        tiles[Vectors][Rows] = BlockTile<Blocks>::template Run<Rows, Vectors>;
        FillBlockTiles<Blocks, Vectors, Rows - 1>(tiles);
    }
}

/// The same for all panels; see FillPanels.
template <typename Blocks, size_t H1, size_t H2, size_t H3, size_t H4>
void FillBlockPanels(BlockTilesInt8& tiles)
{
    FillBlockTiles<Blocks, 1, H1>(tiles);
    FillBlockTiles<Blocks, 2, H2>(tiles);
    FillBlockTiles<Blocks, 3, H3>(tiles);
    FillBlockTiles<Blocks, 4, H4>(tiles);
}

/// Fills a set. `Blocks` for weights that several rows share may have Wide, for the same weights as bytes, and
/// Widen(), which makes these.
template <typename Blocks, size_t H1, size_t H2, size_t H3, size_t H4>
void FillBlockSet(MicrokernelSetInt8& set, const BlockSumsInt8& sums)
{
    set.m_BlockSums = sums;
    FillBlockPanels<Blocks, H1, H2, H3, H4>(set.m_BlockTiles);
    if constexpr (requires { typename Blocks::Wide; })
    {
        FillBlockPanels<typename Blocks::Wide, H1, H2, H3, H4>(set.m_WideBlockTiles);
        set.m_WidenBlocks = Blocks::Widen;
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
