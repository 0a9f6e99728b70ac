// SPDX-License-Identifier: Apache-2.0
// BoxSelector: non-maximum suppression. Boxes come from the best rank on and stay unless a better one overlaps them. A
// box is decoded when it is next in this order; the search stops as soon as enough boxes stay. DetectionPostProcess
// calls it.
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

/// T is the type of stored scores, whose order is that of the real scores: float, int8_t or uint8_t.
template <typename T>
class BoxSelector
{
public:
    /// A selection of at most `limit` boxes (1 or more).
    BoxSelector(const ref::DetectionTensors& tensors, size_t limit, backends::Scratch& scratch)
        : m_Scan(FindTopScan<T>()), m_CandidatesAt(scratch.Add<uint64_t>(tensors.m_NumBoxes + MaxFound)),
          m_KeptAt(scratch.Add<ref::Box>(limit))
    {
        FindBound(tensors);
    }

    /// The largest stored score below the threshold, if there is one.
    std::optional<T> GetBound() const { return m_Bound; }

    /// Calls keep(i, box, its corners) for boxes that stay, the best first, at most `limit`. Only boxes whose rank is
    /// above the bound are considered. `getScore(box)` is the real score of the rank. Returns the number of boxes that
    /// stay.
    template <typename GetScore, typename Keep>
    size_t Select(const ref::DetectionTensors& tensors, const ExecuteArgs& args, const T* ranks, std::optional<T> bound,
                  size_t limit, const GetScore& getScore, const Keep& keep) const
    {
        const size_t numBoxes = tensors.m_NumBoxes;
        auto* const candidates = backends::Scratch::At<uint64_t>(args.m_Scratch, m_CandidatesAt);
        auto* const kept = backends::Scratch::At<ref::Box>(args.m_Scratch, m_KeptAt);
        size_t count = 0;
        uint64_t next = 0; // all candidates before it are done
        // If boxes suppress each other, more candidates are needed than boxes stay.
        for (size_t wanted = std::min(numBoxes, 4 * limit + 64);; wanted = std::min(numBoxes, 4 * wanted))
        {
            TopCandidates<T> top(m_Scan, numBoxes, wanted, candidates, next);
            top.Collect(ranks, bound);
            uint64_t* end = candidates + top.GetCount();
            // A heap, as perhaps not all candidates are needed.
            std::make_heap(candidates, end, std::greater<>());
            while (end != candidates && count < limit)
            {
                std::pop_heap(candidates, end--, std::greater<>());
                const uint32_t index = GetElement(*end);
                if (!(getScore(index) >= tensors.m_Rules.m_ScoreThreshold))
                {
                    continue; // NaN: such boxes are collected even if better ones are left out
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
    std::optional<T> m_Bound; ///< boxes must have a score above it
};

} // namespace tenon::cpu
