// SPDX-License-Identifier: Apache-2.0
// BoxSelector: non-maximum suppression of boxes that are ranked by stored scores. Boxes are decoded only when it is
// their turn: few are looked at until as many stay as are wanted. Used by DetectionPostProcess.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/reduce/TopCandidates.hpp"
#include "backends/reference/kernels/Detection.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>

namespace tenon::cpu
{

/// T is the type of stored scores, which order as the real ones do: float, int8_t or uint8_t.
template <typename T>
class BoxSelector
{
public:
    /// For at most `limit` boxes that stay, out of one at least.
    BoxSelector(const ref::DetectionTensors& tensors, size_t limit, backends::Scratch& scratch)
        : m_Scan(FindTopScan<T>()), m_CandidatesAt(scratch.Add<uint64_t>(tensors.m_NumBoxes + MostFound)),
          m_KeptAt(scratch.Add<ref::Box>(limit))
    {
        FindBound(tensors);
    }

    /// The greatest stored score below the threshold, if there is one.
    std::optional<T> GetBound() const { return m_Bound; }

    /// Calls keep(i, box, its corners) for boxes that stay, the best first, at most `limit`; of those whose rank is
    /// above the bound. `getScore(box)` is the score that the rank stands for. Returns how many stay.
    template <typename GetScore, typename Keep>
    size_t Select(const ref::DetectionTensors& tensors, const ExecuteArgs& args, const T* ranks, std::optional<T> bound,
                  size_t limit, const GetScore& getScore, const Keep& keep) const
    {
        const size_t numBoxes = tensors.m_NumBoxes;
        auto* const candidates = backends::Scratch::At<uint64_t>(args.m_Scratch, m_CandidatesAt);
        auto* const kept = backends::Scratch::At<ref::Box>(args.m_Scratch, m_KeptAt);
        size_t count = 0;
        uint64_t next = 0; // all numbers before it have been looked at
        // Where boxes stand in each other's way, more of them are looked at than stay.
        for (size_t wanted = std::min(numBoxes, 4 * limit + 64);; wanted = std::min(numBoxes, 4 * wanted))
        {
            TopCandidates<T> top(m_Scan, numBoxes, wanted, candidates, next);
            top.Collect(ranks, bound);
            uint64_t* end = candidates + top.GetCount();
            // A heap, as perhaps not all of them are looked at.
            std::make_heap(candidates, end, std::greater<>());
            while (end != candidates && count < limit)
            {
                std::pop_heap(candidates, end--, std::greater<>());
                const uint32_t index = GetElement(*end);
                if (!(getScore(index) >= tensors.m_Rules.m_ScoreThreshold))
                {
                    continue; // NaN, which is collected even where better ones were left out
                }
                next = *end + 1;
                const ref::Box box = tensors.DecodeBox(args, index);
                const auto overlaps = [&](const ref::Box& better) { return tensors.m_Rules.Overlap(better, box); };
                if (std::none_of(kept, kept + count, overlaps))
                {
                    keep(count, index, box);
                    kept[count++] = box;
                }
            }
            if (count == limit || top.HasAll())
            {
                return count;
            }
        }
    }

private:
    void FindBound(const ref::DetectionTensors& tensors)
    {
        const float threshold = tensors.m_Rules.m_ScoreThreshold;
        if constexpr (std::is_floating_point_v<T>)
        {
            constexpr float Infinity = std::numeric_limits<float>::infinity();
            if (threshold != -Infinity)
            {
                m_Bound = std::nextafter(threshold, -Infinity);
            }
        }
        else
        {
            for (int stored = std::numeric_limits<T>::lowest(); stored <= std::numeric_limits<T>::max(); ++stored)
            {
                if (tensors.m_Scores.ToReal(stored) >= threshold)
                {
                    break;
                }
                m_Bound = static_cast<T>(stored);
            }
        }
    }

    TopScan<T> m_Scan;
    size_t m_CandidatesAt;
    size_t m_KeptAt;
    std::optional<T> m_Bound; ///< boxes whose score is not above it are left out
};

} // namespace tenon::cpu
