// SPDX-License-Identifier: Apache-2.0
// TopCandidates: the k best elements of a row, without sorting it. Elements above a bound are collected as candidates;
// if these are about 2k, nth_element keeps the best k and the k-th becomes the bound, which few later elements exceed.
// TopScan searches the row for the next elements above the bound. A candidate is rank << 32 | index, where a smaller
// rank is a larger element: comparing candidates reads no elements. TopK and DetectionPostProcess call it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace tenon::cpu
{

/// The largest number of elements that a call of TopScan finds.
constexpr size_t MaxFound = 64;

/// Scans the row from `next` on until it finds elements above the bound, or NaN. Their indices go to `found` in order,
/// at most MaxFound. Returns their number, 0 at the end of the row; `next` is the first element not yet scanned. Every
/// element is above a bound that is NaN.
template <typename T>
using TopScan = size_t (*)(const T* row, size_t& next, size_t end, T bound, uint32_t* found);

/// The scan for T: float, int32_t, int8_t or uint8_t.
template <typename T>
TopScan<T> FindTopScan();

/// The candidate of an element. A smaller candidate is a larger value, or of equal values the first; NaN is last.
template <typename T>
uint64_t MakeCandidate(T value, size_t index)
{
    uint32_t rank = 0;
    constexpr uint32_t Sign = uint32_t{1} << 31;
    if constexpr (std::is_floating_point_v<T>)
    {
        const auto bits = std::bit_cast<uint32_t>(value + 0.0f); // -0 becomes +0
        rank = value != value ? 0 : (bits & Sign) != 0 ? ~bits : bits | Sign;
    }
    else
    {
        rank = static_cast<uint32_t>(int32_t{value}) ^ Sign;
    }
    return uint64_t{~rank} << 32 | index;
}

/// The index of a candidate's element in the row.
inline uint32_t GetElement(uint64_t candidate)
{
    return static_cast<uint32_t>(candidate);
}

template <typename T>
class TopCandidates
{
public:
    /// The capacity of the memory for candidates if `wanted` of a row of `length` elements are wanted.
    static size_t GetCapacity(size_t length, size_t wanted) { return GetMaxCandidates(length, wanted) + MaxFound; }

    /// Only candidates from `first` on, in their order, are collected; `candidates` has room for GetCapacity(length,
    /// wanted).
    TopCandidates(TopScan<T> scan, size_t length, size_t wanted, uint64_t* candidates, uint64_t first = 0)
        : m_Scan(scan), m_Length(length), m_Wanted(wanted), m_MaxCandidates(GetMaxCandidates(length, wanted)),
          m_First(first), m_Candidates(candidates)
    {
    }

    /// Collects all elements of the row, or those above the bound and, perhaps, NaN, in no order: the `wanted` best
    /// ones, or all if there are fewer, and perhaps some more of the next ones. No element that is left out is better
    /// than a collected one, except for NaN.
    void Collect(const T* row, std::optional<T> bound = {})
    {
        size_t next = 0;
        if (!bound)
        {
            next = Fill(row);
        }
        T above = bound.value_or(T{});
        std::array<uint32_t, MaxFound> found;
        while (next < m_Length)
        {
            if (m_Count >= m_MaxCandidates)
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

    /// Keeps the wanted number of candidates; the worst of them is the last one.
    void Thin()
    {
        std::nth_element(m_Candidates, m_Candidates + m_Wanted - 1, m_Candidates + m_Count);
        m_Count = m_Wanted;
        m_HasAll = false;
    }

    size_t GetCount() const { return m_Count; }
    /// Whether no elements were left out but those that the bound excludes.
    bool HasAll() const { return m_HasAll; }

private:
    static size_t GetMaxCandidates(size_t length, size_t wanted)
    {
        // Twice the wanted number: thinning takes as long as collecting them. If all elements of a short row fit,
        // nothing is thinned.
        constexpr size_t Some = 16;
        return length <= 2 * wanted + MaxFound ? length : 2 * wanted + Some;
    }

    /// Collects the first elements of the row unconditionally, as many as there is room for. Returns the next index.
    size_t Fill(const T* row)
    {
        size_t next = 0;
        while (next < m_Length && m_Count < m_MaxCandidates)
        {
            const size_t count = std::min(m_Length - next, m_MaxCandidates - m_Count);
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

    /// Appends `count` new candidates and drops those before m_First.
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
    size_t m_Wanted;        ///< 1 or more
    size_t m_MaxCandidates; ///< number of candidates from which on Thin is called before the scan goes on
    uint64_t m_First;
    uint64_t* m_Candidates;
    size_t m_Count = 0;
    bool m_HasAll = true;
};

} // namespace tenon::cpu
