// SPDX-License-Identifier: Apache-2.0
// NextWeights: weights that will be wanted after those in use, and are to be on their way from memory by then.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

constexpr size_t LineBytes = 64; ///< of caches

/// A panel of weights that is fetched into the second-level cache line by line, beside the products of the one before:
/// else the first tile of each panel waits for its weights. In the first level they would take the place of those in
/// use.
class NextWeights
{
public:
    NextWeights() = default;
    /// None where there are so many that they would not stay in a second-level cache.
    NextWeights(const void* first, size_t bytes)
        : m_Next(static_cast<const std::byte*>(first)), m_Left(bytes <= MostBytes ? bytes : 0)
    {
    }

    /// Once there is nothing left it fetches the last line again, which costs less than to ask.
    void FetchLine()
    {
#if defined(__GNUC__)
        __builtin_prefetch(m_Next, 0, 2);
#endif
        const size_t step = m_Left > LineBytes ? LineBytes : 0;
        m_Next += step;
        m_Left -= step;
    }
    void FetchLines(size_t count)
    {
        for (; count != 0 && m_Left != 0; --count)
        {
            FetchLine();
        }
    }

private:
    static constexpr size_t MostBytes = size_t{256} << 10;

    const std::byte* m_Next = nullptr;
    size_t m_Left = 0;
};

} // namespace tenon::cpu
