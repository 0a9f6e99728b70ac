// SPDX-License-Identifier: Apache-2.0
// WeightPrefetcher: software prefetch of the next panel of weights into the second-level cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

constexpr size_t LineBytes = 64; ///< of a cache line

/// Prefetches a panel line by line while the microkernels multiply by the panel before it. Without it the first tile of
/// each panel waits for its weights. The second-level cache is the target, because lines in the first level would evict
/// the panel in use. Microkernels call FetchLine once per iteration of their unrolled loop.
class WeightPrefetcher
{
public:
    /// A panel too large for the second-level cache is reduced to its first line.
    WeightPrefetcher(const void* first, size_t bytes)
        : m_Next(reinterpret_cast<uintptr_t>(first)),
          m_Last(m_Next + (bytes > LineBytes && bytes <= MaxBytes ? bytes - LineBytes : 0))
    {
    }

    /// At the last line it fetches that line again, which is cheaper than a branch. The address stays valid memory: a
    /// prefetch of any other address would cost a page walk each time.
    void FetchLine()
    {
#if defined(__GNUC__)
        __builtin_prefetch(reinterpret_cast<const void*>(m_Next), 0, 2);
#endif
        const uintptr_t following = m_Next + LineBytes;
        m_Next = following < m_Last ? following : m_Last;
    }
    void FetchLines(size_t count)
    {
        for (; count != 0 && m_Next != m_Last; --count)
        {
            FetchLine();
        }
    }

private:
    static constexpr size_t MaxBytes = size_t{256} << 10;

    uintptr_t m_Next; ///< addresses
    uintptr_t m_Last;
};

} // namespace tenon::cpu
