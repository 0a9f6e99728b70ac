// SPDX-License-Identifier: Apache-2.0
// Ranks of boxes, the largest score among their classes: [boxes][columns] -> [boxes]; and scores split by class:
// [boxes][columns] -> [classes][boxes]. DetectionPostProcess calls them.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// The scores of boxes, [boxes][columns]: the background's if there is one, then those of the classes.
template <typename T>
struct BoxScores
{
    const T* m_Scores = nullptr;
    size_t m_Columns = 0; ///< columns of a box
    size_t m_First = 0;   ///< columns before the classes: 0, or 1 for the background
};

/// ranks[i] = the largest score of a class of box i, for boxes [begin, end). NaN counts as the lowest value.
template <typename T>
using RankBoxes = void (*)(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks);

/// The function for this number of columns, 2 or more, and the processor at hand; T is float, int8_t or uint8_t.
/// Precondition: it has vectors, see CpuFeatures.
template <typename T>
RankBoxes<T> FindRankBoxes(size_t columns);

/// to[c * stride + i] = the score of class c of box begin + i, for boxes [begin, end) and `classes` classes.
template <typename T>
void SplitClasses(const BoxScores<T>& scores, size_t classes, size_t begin, size_t end, T* to, size_t stride);

} // namespace tenon::cpu
