// SPDX-License-Identifier: Apache-2.0
// The best score of each box, and scores by class. Used by DetectionPostProcess.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// Scores of boxes: those of their classes stand side by side, after that of the background where there is one.
template <typename T>
struct BoxScores
{
    const T* m_Scores = nullptr;
    size_t m_Columns = 0; ///< of a box
    size_t m_First = 0;   ///< columns in front of the classes: 0 or 1
};

/// ranks[i] = the largest score of a class of box i, for boxes [begin, end). NaN counts for the lowest value.
template <typename T>
using RankBoxes = void (*)(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks);

/// For the processor at hand and so many columns, two at least; T is float, int8_t or uint8_t. Precondition: it has
/// vectors, see CpuFeatures.
template <typename T>
RankBoxes<T> FindRankBoxes(size_t columns);

/// to[c * stride + i] = the score of class c of box begin + i, for boxes [begin, end) and `classes` classes.
template <typename T>
void SplitClasses(const BoxScores<T>& scores, size_t classes, size_t begin, size_t end, T* to, size_t stride);

} // namespace tenon::cpu
