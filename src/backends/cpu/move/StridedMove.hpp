// SPDX-License-Identifier: Apache-2.0
// StridedMove: elements from one place to another, both given by strides: transpositions, slices, joins, repetitions.
// Made when shapes are known. Used by the kernels that move elements.
#pragma once

#include "backends/cpu/move/CopyPlane.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

class StridedMove
{
public:
    /// `m_Count` elements, each so many bytes further in source and target. A source stride may be 0 or negative.
    struct Dimension
    {
        size_t m_Count = 1;
        int64_t m_From = 0;
        int64_t m_To = 0;
    };

    /// Of elements of so many bytes. No two of them have the same target.
    StridedMove(std::vector<Dimension> dimensions, size_t elementBytes);

    /// `from` and `to`: the elements with all indices 0. Where both are one, the elements are there already.
    void Run(IParallelFor& parallel, const std::byte* from, std::byte* to) const;

private:
    /// Neighbours that go on where the inner one ends become one, and the innermost ones a longer run.
    void Merge();
    void MakePlane();
    /// Cuts the plane where there are fewer planes than threads may want.
    void CutPlane();
    /// Copies planes [begin, end), counted with the last dimension fastest.
    void RunUnits(size_t begin, size_t end, const std::byte* from, std::byte* to) const;

    std::vector<Dimension> m_Outer; ///< outermost first, without those of the plane
    Plane m_Plane;
    size_t Plane::*m_Cut = nullptr;     ///< of which the last outer dimension counts pieces; null: not cut
    size_t m_Whole = 0;                 ///< what is cut: its last piece may be shorter
    CopyPlaneFunction m_Copy = nullptr; ///< null: nothing to move
    size_t m_Units = 1;                 ///< planes
    size_t m_Grain = 1;
};

} // namespace tenon::cpu
