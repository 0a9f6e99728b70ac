// SPDX-License-Identifier: Apache-2.0
// TopCandidates: the best elements of a row without sorting it. Candidates are collected, and thinned out to the wanted
// number whenever they are too many: the last one of those is the bound that all further elements must be above, which
// few are. A candidate is a number that orders as the elements do, so that sorting reads nothing else. Used by TopK and
// DetectionPostProcess.
#pragma once

#include "backends/cpu/reduce/TopScan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace tenon::cpu
{

/// Smaller ones come first: the larger value, of equal ones the first. NaN come last.
template <typename T>
uint64_t MakeCandidate(T value, size_t index)
{
    uint32_t rank = 0;
    constexpr uint32_t Sign = uint32_t{1} << 31;
    if constexpr (std::is_floating_point_v<T>)
    {
        const auto bits = std::bit_cast<uint32_t>(value + 0.0f); // one zero only
        rank = value != value ? 0 : (bits & Sign) != 0 ? ~bits : bits | Sign;
    }
    else
    {
        rank = static_cast<uint32_t>(int32_t{value}) ^ Sign;
    }
    return uint64_t{~rank} << 32 | index;
}

/// The place in the row of what a candidate stands for.
inline uint32_t GetElement(uint64_t candidate)
{
    return static_cast<uint32_t>(candidate);
}

template <typename T>
class TopCandidates
{
public:
    /// How many candidates there should be room for, where `wanted` of a row of `length` elements are.
    static size_t GetCapacity(size_t length, size_t wanted) { return GetMost(length, wanted) + MostFound; }

    /// Candidates from `first` on, in order; `candidates` has room for GetCapacity(length, wanted).
    TopCandidates(TopScan<T> scan, size_t length, size_t wanted, uint64_t* candidates, uint64_t first = 0)
        : m_Scan(scan), m_Length(length), m_Wanted(wanted), m_Most(GetMost(length, wanted)), m_First(first),
          m_Candidates(candidates)
    {
    }

    /// Collects all elements of the row, or those above the bound and, perhaps, NaN, in no order: as many of the best
    /// ones as are wanted, or all if there are not so many, and perhaps some more of the next ones. All that were left
    /// out come behind these, but perhaps not behind NaN.
    void Collect(const T* row, std::optional<T> bound = {})
    {
        size_t next = 0;
        if (!bound)
        {
            next = Fill(row);
        }
        T above = bound.value_or(T{});
        std::array<uint32_t, MostFound> found;
        while (next < m_Length)
        {
            if (m_Count >= m_Most)
            {
                Thin();
                above = row[GetElement(m_Candidates[m_Wanted - 1])];
            }
            const size_t more = m_Scan(row, next, m_Length, above, found.data());
            uint64_t* const candidates = m_Candidates + m_Count;
            for (size_t i = 0; i < more; ++i)
            {
                candidates[i] = MakeCandidate(row[found[i]], found[i]);
            }
            Keep(more);
        }
    }

    /// Leaves the wanted number of candidates, the last one of them in its place.
    void Thin()
    {
        std::nth_element(m_Candidates, m_Candidates + m_Wanted - 1, m_Candidates + m_Count);
        m_Count = m_Wanted;
        m_HasAll = false;
    }

    size_t GetCount() const { return m_Count; }
    /// Whether nothing was left out but what the bound does.
    bool HasAll() const { return m_HasAll; }

private:
    static size_t GetMost(size_t length, size_t wanted)
    {
        // As many again as are wanted: a thinning takes as long as to collect them. Where all of a short row fits,
        // nothing is thinned out.
        constexpr size_t Some = 16;
        return length <= 2 * wanted + MostFound ? length : 2 * wanted + Some;
    }

    /// The first elements of the row, whatever they are: as many as there is room for. Returns what comes next.
    size_t Fill(const T* row)
    {
        size_t next = 0;
        while (next < m_Length && m_Count < m_Most)
        {
            const size_t count = std::min(m_Length - next, m_Most - m_Count);
            uint64_t* const candidates = m_Candidates + m_Count;
            for (size_t i = 0; i < count; ++i)
            {
                candidates[i] = MakeCandidate(row[next + i], next + i);
            }
            next += count;
            Keep(count);
        }
        return next;
    }

    /// Of so many new ones behind the candidates, those from the first one on.
    void Keep(size_t count)
    {
        uint64_t* const added = m_Candidates + m_Count;
        if (m_First != 0)
        {
            const auto isBefore = [this](uint64_t candidate) { return candidate < m_First; };
            count = static_cast<size_t>(std::remove_if(added, added + count, isBefore) - added);
        }
        m_Count += count;
    }

    TopScan<T> m_Scan;
    size_t m_Length;
    size_t m_Wanted; ///< one at least
    size_t m_Most;   ///< candidates that are thinned out before more are looked for
    uint64_t m_First;
    uint64_t* m_Candidates;
    size_t m_Count = 0;
    bool m_HasAll = true;
};

} // namespace tenon::cpu
