// SPDX-License-Identifier: Apache-2.0
// BlockTile: tiles of int8 data by weights with a scale per block of the depth.
//
//   S[r][c] = sum_b scale[b][c] * float(sum_(k in block b) A[r][k] w[k][c])      in the order of the blocks
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

/// One block by dot products of groups: all of a block is one slice.
template <typename Dot>
struct DotBlocks
{
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Run(const uint8_t* const (&rows)[Rows], size_t begin, size_t groups,
                               const int32_t* const (&starts)[Rows], size_t& slice, const std::byte*& weights,
                               Vector (&acc)[Rows][Vectors])
    {
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                acc[r][v] = hn::Set(Ints(), starts[r][slice]);
            }
        }
        ++slice;
        for (size_t g = begin; g < begin + groups; ++g)
        {
            DotTile<Dot>::AddGroup(rows, 4 * g, weights, acc);
        }
    }
};

template <typename Blocks>
struct BlockTile
{
    template <size_t Rows, size_t Vectors>
    static void Run(const BlockRowsInt8& operands)
    {
        const TagF32 d;
        const size_t lanes = hn::Lanes(d);
        const uint8_t* rows[Rows];
        const int32_t* starts[Rows];
        VecF32 sums[Rows][Vectors];
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            rows[r] = static_cast<const uint8_t*>(operands.m_Data) + r * operands.m_DataStride;
            starts[r] = operands.m_Starts + r * operands.m_StartStride;
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                sums[r][v] = hn::Zero(d);
            }
        }
        const std::byte* panel = operands.m_Panel;
        size_t slice = 0;
        for (size_t block = 0; block < operands.m_Blocks; ++block)
        {
            const std::byte* const scales = panel;
            panel += GetBlockScaleBytes(Vectors * lanes, operands.m_ScaleBytes, lanes);
            Vector acc[Rows][Vectors];
            Blocks::Run(rows, block * operands.m_Groups, operands.m_Groups, starts, slice, panel, acc);
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                const VecF32 scale = LoadScales(scales, operands.m_ScaleBytes, v);
                HWY_UNROLL(8)
                for (size_t r = 0; r < Rows; ++r)
                {
                    // Two roundings, as in the reference kernel, in place of a fused multiply-add.
                    sums[r][v] = hn::Add(sums[r][v], hn::Mul(hn::ConvertTo(d, acc[r][v]), scale));
                }
            }
        }
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                hn::Store(sums[r][v], d, operands.m_Sums + (r * Vectors + v) * lanes);
            }
        }
    }
};

/// Fills the microkernels of panels of `Vectors` vectors, for tiles of 1 to `Rows` rows.
template <typename Blocks, size_t Vectors, size_t Rows>
void FillBlockTiles(MicrokernelSetInt8& set)
{
    if constexpr (Rows != 0)
    {
        set.m_BlockTiles[Vectors][Rows] = BlockTile<Blocks>::template Run<Rows, Vectors>;
        FillBlockTiles<Blocks, Vectors, Rows - 1>(set);
    }
}

/// The same for all panels; see FillPanels.
template <typename Blocks, size_t H1, size_t H2, size_t H3, size_t H4>
void FillBlockPanels(MicrokernelSetInt8& set, const BlockSumsInt8& sums)
{
    FillBlockTiles<Blocks, 1, H1>(set);
    FillBlockTiles<Blocks, 2, H2>(set);
    FillBlockTiles<Blocks, 3, H3>(set);
    FillBlockTiles<Blocks, 4, H4>(set);
    set.m_BlockSums = sums;
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
