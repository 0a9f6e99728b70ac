// SPDX-License-Identifier: Apache-2.0
// Tiles whose last vector has columns in its lower half alone (AVX-512). Two rows share a vector of accumulators,
//     [ row 2p: c0 .. c7 | row 2p + 1: c0 .. c7 ],
// or, where the processor executes 512-bit instructions as two halves, each row has a 256-bit vector. Part of
// MicrokernelsF32.cpp.
#if defined(TENON_HALF_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_HALF_VECTORS_INL
#undef TENON_HALF_VECTORS_INL
#else
#define TENON_HALF_VECTORS_INL
#endif

#include "backends/cpu/simd/F32-inl.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3
/// Packs the last vectors of two rows, whose columns are in the lower half alone, into the halves of one vector of
/// accumulators; UnpackHalfVectors reverses it.
template <size_t Rows, size_t Vectors>
HWY_INLINE void PackHalfVectors(const VecF32 (&sums)[Rows][Vectors], VecF32 (&halves)[(Rows + 1) / 2])
{
    HWY_UNROLL(8)
    for (size_t p = 0; p < (Rows + 1) / 2; ++p)
    {
        const size_t second = 2 * p + 1 < Rows ? 2 * p + 1 : 2 * p;
        halves[p] = hn::ConcatLowerLower(TagF32(), sums[second][Vectors - 1], sums[2 * p][Vectors - 1]);
    }
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void UnpackHalfVectors(const VecF32 (&halves)[(Rows + 1) / 2], VecF32 (&sums)[Rows][Vectors])
{
    HWY_UNROLL(8)
    for (size_t p = 0; p < (Rows + 1) / 2; ++p)
    {
        sums[2 * p][Vectors - 1] = halves[p];
        if (2 * p + 1 < Rows)
        {
            sums[2 * p + 1][Vectors - 1] = hn::ConcatUpperUpper(TagF32(), halves[p], halves[p]);
        }
    }
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void StepWithHalfVectors(const float* const (&rows)[Rows], ptrdiff_t k, const float* weights,
                                    VecF32 (&sums)[Rows][Vectors], VecF32 (&halves)[(Rows + 1) / 2])
{
    const TagF32 d;
    VecF32 w[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v + 1 < Vectors; ++v)
    {
        w[v] = hn::Load(d, weights + v * hn::Lanes(d));
    }
    w[Vectors - 1] = VecF32{_mm512_broadcast_f32x8(_mm256_load_ps(weights + (Vectors - 1) * hn::Lanes(d)))};
    HWY_UNROLL(8)
    for (size_t p = 0; p < (Rows + 1) / 2; ++p)
    {
        const size_t second = 2 * p + 1 < Rows ? 2 * p + 1 : 2 * p;
        const VecF32 x = hn::Set(d, rows[2 * p][k]);
        const VecF32 y = hn::Set(d, rows[second][k]);
        HWY_UNROLL(4)
        for (size_t v = 0; v + 1 < Vectors; ++v)
        {
            sums[2 * p][v] = hn::MulAdd(x, w[v], sums[2 * p][v]);
            if (2 * p + 1 < Rows)
            {
                sums[second][v] = hn::MulAdd(y, w[v], sums[second][v]);
            }
        }
        constexpr __mmask16 UpperHalf = 0xFF00;
        halves[p] = hn::MulAdd(VecF32{_mm512_mask_mov_ps(x.raw, UpperHalf, y.raw)}, w[Vectors - 1], halves[p]);
    }
}

/// The step for one vector that has columns in its lower half alone.
template <size_t Rows>
HWY_INLINE void NarrowStep(const float* const (&rows)[Rows], ptrdiff_t k, const float* weights, __m256 (&narrow)[Rows])
{
    const __m256 w = _mm256_load_ps(weights);
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        narrow[r] = _mm256_fmadd_ps(_mm256_set1_ps(rows[r][k]), w, narrow[r]);
    }
}
#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
