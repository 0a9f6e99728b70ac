// SPDX-License-Identifier: Apache-2.0
// Two loops of copies of short runs (CopyPlane), gathers of runs (CopyGathered), copies in reverse order, and moves of
// short runs between a joined tensor and its parts (MoveRuns.cpp). The compiler knows the length of common runs, 1 to
// 128 bytes, so that each run is one or two moves:
//   to[row * toRow + run * toRun ...] = from[row * fromRow + run * fromRun ...]      m_RunBytes bytes each
// Runs of N to 2 N bytes are copied as their first N and their last N bytes, which overlap. Called by StridedMove,
// ChunkedMove, Gather.cpp, Pad.cpp, ReverseV2.cpp, resize/ and gemm/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Two nested loops of copies. Strides are in bytes; those of the source may be 0 or negative.
struct Plane
{
    size_t m_Rows = 1;
    int64_t m_FromRow = 0;
    int64_t m_ToRow = 0;
    size_t m_Runs = 1; ///< runs of a row
    int64_t m_FromRun = 0;
    int64_t m_ToRun = 0;
    size_t m_RunBytes = 0;
    bool m_IsLarge = false; ///< part of a move that is larger than the caches near the core
};

// Precondition of all functions that the choosers below return: the processor has vectors, see CpuFeatures.

/// Copies each run from `from` + row * fromRow + run * fromRun to `to` + row * toRow + run * toRun.
using CopyPlaneFunction = void (*)(const Plane& plane, const std::byte* from, std::byte* to);
/// The function for runs of `runBytes` bytes.
CopyPlaneFunction ChooseCopyPlane(size_t runBytes);

/// to[i] = from[indices[i]], `bytes` bytes each. `from` has `slices` runs.
using CopyGatheredFunction = void (*)(const std::byte* from, size_t slices, const uint32_t* indices, size_t count,
                                      size_t bytes, std::byte* to);
CopyGatheredFunction ChooseCopyGathered(size_t bytes);

/// True if all indices are below `limit`. Precondition: limit <= 2^31.
using IsEachBelowFunction = bool (*)(const uint32_t* indices, size_t count, uint32_t limit);
IsEachBelowFunction ChooseIsEachBelow();

/// to[i] = from[count - 1 - i]. Source and target must not overlap.
using ReverseFunction = void (*)(const std::byte* from, size_t count, std::byte* to);
/// For elements of 1, 2, 4 or 8 bytes; null for others.
ReverseFunction FindReverse(size_t elementBytes);

/// Chunks, and tensors that have one run of each chunk, side by side.
struct ChunkRuns
{
    static constexpr size_t MaxSegments = 4;

    struct Segment
    {
        const std::byte* m_From = nullptr; ///< the source of the first run
        std::byte* m_To = nullptr;         ///< the target of the first run
        size_t m_Bytes = 0;                ///< bytes of a run
    };

    bool m_IsJoin = false;   ///< true: from segments to chunks; false: from chunks to segments
    size_t m_ChunkBytes = 0; ///< the stride from one chunk to the next
    std::array<Segment, MaxSegments> m_Segments;
};

/// Moves the runs of `chunks` chunks by whole vectors. Up to MaxOverrun bytes behind them are read and written as well.
/// So enough chunks must follow, and they must be moved afterwards.
using MoveRunsFunction = void (*)(const ChunkRuns& runs, size_t chunks);
inline constexpr size_t MaxOverrun = 31;
/// The function for this number of segments with runs of at most `maxBytes`. Null if there are more segments or longer
/// runs than gain by it. Precondition: the processor has vectors, see CpuFeatures.
MoveRunsFunction ChooseMoveRuns(size_t segments, size_t maxBytes);

} // namespace tenon::cpu
