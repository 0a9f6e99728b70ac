// SPDX-License-Identifier: Apache-2.0
// NextWeights: weights that will be wanted after those in use, and are to be on their way from memory by then.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

constexpr size_t LineBytes = 64; ///< of caches

/// A panel of weights that is fetched into the second-level cache line by line, beside the products of the one before:
/// else the first tile of each panel waits for its weights. In the first level they would take the place of those in
/// use.
class NextWeights
{
public:
    /// One line alone where there are so many that they would not stay in a second-level cache.
    NextWeights(const void* first, size_t bytes)
        : m_Next(reinterpret_cast<uintptr_t>(first)),
          m_Last(m_Next + (bytes > LineBytes && bytes <= MostBytes ? bytes - LineBytes : 0))
    {
    }

    /// Once it has come to the last line it fetches that again, which costs less than to ask. It is of memory that is
    /// there: the processor would look for the page of any other address each time.
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
    static constexpr size_t MostBytes = size_t{256} << 10;

    uintptr_t m_Next; ///< addresses
    uintptr_t m_Last;
};

} // namespace tenon::cpu
