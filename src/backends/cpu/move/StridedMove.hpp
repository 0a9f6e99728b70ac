// SPDX-License-Identifier: Apache-2.0
// StridedMove: a loop nest of copies, given by strides of source and target. Transposes, slices, tiles and block
// rearrangements are one StridedMove each.
//   merge: dimensions that continue each other become one, the innermost ones a longer run
//   plane: the two innermost loops become a fill, a transposition in registers, or a CopyPlane
//   split: planes of 64 KiB and more become several tasks; for two or three threads, planes of 256 KiB and more
// Made when shapes are known. Called by StridedMoveLayers.cpp, SpaceToBatchNd.cpp and ConcatSplit.cpp.
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
    /// A loop over `m_Count` elements, with strides in bytes in source and target. A source stride may be 0 or
    /// negative.
    struct Dimension
    {
        size_t m_Count = 1;
        int64_t m_From = 0;
        int64_t m_To = 0;
    };

    /// `elementBytes`: bytes of an element. No two elements may have the same target.
    StridedMove(std::vector<Dimension> dimensions, size_t elementBytes);

    /// `from` and `to`: the elements whose indices are all 0. Nothing is moved if both are the same.
    void Run(IParallelFor& parallel, const std::byte* from, std::byte* to) const;

private:
    /// Merges dimensions that continue their inner neighbour, and the innermost ones into a longer run.
    void Merge();
    void MakePlane();
    /// Splits a large plane along its longest loop, so that threads can share it.
    void SplitPlane();
    /// Copies the planes [begin, end); the last dimension is the fastest.
    void RunUnits(size_t begin, size_t end, const std::byte* from, std::byte* to) const;

    std::vector<Dimension> m_Outer; ///< outermost first, without the dimensions of the plane
    Plane m_Plane;
    size_t Plane::*m_SplitSize = nullptr; ///< split into segments, which the last outer dimension counts; or null
    size_t m_UnsplitSize = 0;             ///< the size before the split; the last segment may be shorter
    CopyPlaneFunction m_Copy = nullptr;   ///< null if there is nothing to move
    size_t m_Segments = 1;                ///< segments of a plane
    size_t m_Units = 1;                   ///< segments of all planes
    size_t m_Grain = 1;                   ///< grain of units
    size_t m_GrainOfFew = 1;              ///< the same for few threads, which leave planes whole unless they are large
};

} // namespace tenon::cpu
