// SPDX-License-Identifier: Apache-2.0
// Copies of runs of a few bytes each, whose length the compiler knows, so that each is a move or two. Used by the
// kernels that move elements, and by Resize.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Two loops of copies. Strides are in bytes; those of the source may be 0 or negative.
struct Plane
{
    size_t m_Rows = 1;
    int64_t m_FromRow = 0;
    int64_t m_ToRow = 0;
    size_t m_Runs = 1; ///< in a row
    int64_t m_FromRun = 0;
    int64_t m_ToRun = 0;
    size_t m_RunBytes = 0;
    bool m_IsOfMany = false; ///< part of a move that is larger than caches close to the processor
};

// Precondition of all that is chosen: the processor has vectors, see CpuFeatures.

/// to + row * toRow + run * toRun gets what is at from + row * fromRow + run * fromRun.
using CopyPlaneFunction = void (*)(const Plane& plane, const std::byte* from, std::byte* to);
/// For runs of so many bytes.
CopyPlaneFunction ChooseCopyPlane(size_t runBytes);

/// to[i] = from[indices[i]], each `bytes` bytes, of the `slices` that there are from `from` on.
using CopyPickedFunction = void (*)(const std::byte* from, size_t slices, const uint32_t* indices, size_t count,
                                    size_t bytes, std::byte* to);
CopyPickedFunction ChooseCopyPicked(size_t bytes);

/// Whether all indices are below a limit of at most 2^31.
using AreBelowFunction = bool (*)(const uint32_t* indices, size_t count, uint32_t limit);
AreBelowFunction ChooseAreBelow();

} // namespace tenon::cpu
