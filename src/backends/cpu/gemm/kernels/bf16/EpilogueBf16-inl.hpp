// SPDX-License-Identifier: Apache-2.0
// Epilogue of bfloat16 tiles: out = bf16(clamp(bf16(sum) + added)), or bf16(clamp(sum)) with nothing to add. Included
// once for each target. Loops over registers are fully unrolled, so that the arrays stay in registers.
#if defined(TENON_CPU_FINISHBF16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_FINISHBF16_INL
#undef TENON_CPU_FINISHBF16_INL
#else
#define TENON_CPU_FINISHBF16_INL
#endif

#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"
#include "backends/cpu/simd/Bf16-inl.hpp"

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3
/// Adds m_Added to the rounded product, as a separate layer would. `IsWhole`: the last vector of a row is whole; else
/// it has `last` columns.
template <bool IsWhole, size_t Rows, size_t Vectors>
HWY_INLINE void AddToSums(const TileBf16& tile, VecF32 (&sums)[Rows][Vectors], size_t last)
{
    const TagF32 d;
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const uint16_t* const from = tile.m_Added + r * tile.m_OutStride + v * hn::Lanes(d);
            const VecUint32 rounded = hn::ShiftLeft<16>(hn::PromoteTo(TagUint32(), RoundNormalToBf16(sums[r][v])));
            const VecF32 added = IsWhole || v + 1 < Vectors ? LoadBf16(from) : LoadSomeBf16(from, last);
            sums[r][v] = hn::Add(hn::BitCast(d, rounded), added);
        }
    }
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void ClampSums(const TileBf16& tile, VecF32 (&sums)[Rows][Vectors])
{
    const VecF32 low = hn::Set(TagF32(), tile.m_Low);
    const VecF32 high = hn::Set(TagF32(), tile.m_High);
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            sums[r][v] = Clamped(sums[r][v], low, high);
        }
    }
}

template <bool IsWhole, size_t Rows, size_t Vectors>
HWY_INLINE void StoreSums(const TileBf16& tile, const VecF32 (&sums)[Rows][Vectors], size_t last)
{
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const auto halves = RoundNormalToBf16(sums[r][v]);
            uint16_t* const to = tile.m_Out + r * tile.m_OutStride + v * hn::Lanes(TagF32());
            if (IsWhole || v + 1 < Vectors)
            {
                hn::StoreU(halves, TagUint16(), to);
            }
            else
            {
                StoreSomeUint16(halves, to, last);
            }
        }
    }
}

/// Adds, clamps, rounds and writes.
template <size_t Rows, size_t Vectors>
HWY_INLINE void ApplyEpilogue(const TileBf16& tile, VecF32 (&sums)[Rows][Vectors])
{
    const size_t lanes = hn::Lanes(TagF32());
    const size_t last = tile.m_Columns - (Vectors - 1) * lanes;
    const bool isWhole = last >= lanes;
    if (tile.m_Added != nullptr)
    {
        isWhole ? AddToSums<true>(tile, sums, last) : AddToSums<false>(tile, sums, last);
    }
    if (tile.m_HasClamp)
    {
        ClampSums(tile, sums);
    }
    isWhole ? StoreSums<true>(tile, sums, last) : StoreSums<false>(tile, sums, last);
}
#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
