// SPDX-License-Identifier: Apache-2.0
// Moves of short runs between chunks of a joined tensor and 2 to 4 tensors that have one run of each chunk (concat and
// split of few channels). A vector is stored for each run; the next run overwrites its end, so up to MaxOverrun bytes
// behind a run are read and written. With AVX-512 VBMI, vpermt2b joins or splits the runs of several chunks in two
// vectors. Called by ChunkedMove (ConcatSplit.cpp).
#pragma once

#include <array>
#include <cstddef>

namespace tenon::cpu
{

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
