// SPDX-License-Identifier: Apache-2.0
// Transposition of 16-byte blocks in registers. For sources with Foreach.hpp.
#if defined(TENON_CPU_TRANSPOSE_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_TRANSPOSE_BLOCKS_INL
#undef TENON_CPU_TRANSPOSE_BLOCKS_INL
#else
#define TENON_CPU_TRANSPOSE_BLOCKS_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Transposes the N x N elements of each 16-byte block. N: elements of a block, and number of vectors.
template <class D, size_t N>
HWY_INLINE void TransposeBlocks(D d, hn::Vec<D> (&v)[N])
{
    // log2(N) rounds, each of which interleaves the two halves of the list.
    HWY_UNROLL(4)
    for (size_t width = 1; width < N; width *= 2)
    {
        hn::Vec<D> shuffled[N];
        HWY_UNROLL(8)
        for (size_t i = 0; i < N / 2; ++i)
        {
            shuffled[2 * i] = hn::InterleaveLower(d, v[i], v[i + N / 2]);
            shuffled[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + N / 2]);
        }
        HWY_UNROLL(16)
        for (size_t i = 0; i < N; ++i)
        {
            v[i] = shuffled[i];
        }
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
