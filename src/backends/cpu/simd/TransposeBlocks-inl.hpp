// SPDX-License-Identifier: Apache-2.0
// Transposition of blocks of 16 bytes in registers. For sources that are compiled for each target (Foreach.hpp).
// Included once a target.
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

/// Transposes blocks of 16 bytes: lists of as many vectors as a block has elements.
template <class D, size_t N>
HWY_INLINE void TransposeBlocks(D d, hn::Vec<D> (&v)[N])
{
    // Shuffling the halves of the list into each other, as often as halving takes, puts all in place.
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
