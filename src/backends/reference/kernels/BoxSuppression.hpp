// SPDX-License-Identifier: Apache-2.0
// Boxes and non-maximum suppression: if boxes overlap too much, only the box with the best score stays. Used by
// DetectionPostProcess.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

struct Box
{
    float m_YMin = 0.0f;
    float m_XMin = 0.0f;
    float m_YMax = 0.0f;
    float m_XMax = 0.0f;
};

/// The area of the intersection divided by the area of the union; 0 if a box has no area.
inline float IntersectionOverUnion(const Box& a, const Box& b)
{
    const float height = std::min(a.m_YMax, b.m_YMax) - std::max(a.m_YMin, b.m_YMin);
    const float width = std::min(a.m_XMax, b.m_XMax) - std::max(a.m_XMin, b.m_XMin);
    if (height <= 0.0f || width <= 0.0f)
    {
        return 0.0f; // most pairs end here
    }
    const float areaA = (a.m_YMax - a.m_YMin) * (a.m_XMax - a.m_XMin);
    const float areaB = (b.m_YMax - b.m_YMin) * (b.m_XMax - b.m_XMin);
    if (areaA <= 0.0f || areaB <= 0.0f)
    {
        return 0.0f;
    }
    const float both = height * width;
    return both / (areaA + areaB - both);
}

/// The thresholds that say which boxes count, and which boxes suppress each other.
struct SuppressionRules
{
    size_t m_NumBoxes = 0;
    float m_ScoreThreshold = 0.0f; ///< boxes below it, or whose score is NaN, are left out
    float m_IouThreshold = 0.0f;   ///< a box that overlaps a better one by more is left out

    bool Overlap(const Box& better, const Box& box) const
    {
        return IntersectionOverUnion(better, box) > m_IouThreshold;
    }

    /// Writes the boxes that stay into `selected`, at most `limit`, the best first; among equal boxes the lower index
    /// comes first. `candidates` has room for all boxes. Returns how many stay.
    size_t Select(const Box* boxes, const float* scores, size_t limit, uint32_t* candidates, uint32_t* selected) const
    {
        uint32_t* end = candidates;
        for (uint32_t i = 0; i < m_NumBoxes; ++i)
        {
            if (scores[i] >= m_ScoreThreshold)
            {
                *end++ = i;
            }
        }
        // A heap, because few candidates are visited if the first ones already fill the limit.
        const auto isWorse = [scores](uint32_t a, uint32_t b)
        { return scores[a] < scores[b] || (scores[a] == scores[b] && a > b); };
        std::make_heap(candidates, end, isWorse);
        size_t count = 0;
        while (end != candidates && count < limit)
        {
            std::pop_heap(candidates, end--, isWorse);
            const auto overlaps = [&](uint32_t better) { return Overlap(boxes[better], boxes[*end]); };
            if (std::none_of(selected, selected + count, overlaps))
            {
                selected[count++] = *end;
            }
        }
        return count;
    }
};

} // namespace tenon::ref
