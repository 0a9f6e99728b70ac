// SPDX-License-Identifier: Apache-2.0
// ChunkedMove: concat (Join) and split of tensors along an axis.
//
//   chunk of the joined tensor:  |segment of tensor 0|segment of tensor 1|...|
// There is one chunk for each index of the outer dimensions. Chunks of 16 KiB and more are moved by one StridedMove for
// each segment. Shorter ones are moved in blocks of chunks that fit the first-level cache; segments of at most 32 bytes
// by whole vectors (MoveRuns). Called by ConcatSplit.cpp.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/cpu/move/MoveRuns.hpp"
#include "backends/cpu/move/StridedMove.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

class ChunkedMove
{
public:
    enum class Direction
    {
        Join, ///< inputs to output 0
        Split ///< input 0 to the outputs
    };

    /// A segment: m_Bytes bytes of each chunk of the joined tensor, from the offset m_Begin on, are the next m_Bytes of
    /// an input or output.
    struct Segment
    {
        size_t m_Index = 0; ///< index of the input or output
        size_t m_Begin = 0;
        size_t m_Bytes = 0;
    };

    /// Segments in ascending order of m_Begin, none of them empty.
    ChunkedMove(Direction direction, const std::vector<Segment>& segments, size_t chunkBytes, size_t chunks);

    /// Leaves segments alone that are in place already, see TensorAliases.
    void Run(const ExecuteArgs& run) const;

private:
    /// One tensor: where its segments are read and written, with the strides from one chunk to the next.
    struct Move
    {
        size_t m_Input = 0;
        size_t m_FromBegin = 0;
        int64_t m_FromStep = 0;
        size_t m_Output = 0;
        size_t m_ToBegin = 0;
        int64_t m_ToStep = 0;
        size_t m_Bytes = 0;
        CopyPlaneFunction m_Copy = nullptr;
    };

    static const std::byte* GetSource(const ExecuteArgs& run, const Move& move);
    static std::byte* GetTarget(const ExecuteArgs& run, const Move& move);
    static bool IsInPlace(const ExecuteArgs& run, const Move& move);

    void CopyBlocks(const ExecuteArgs& run, size_t begin, size_t end) const;
    /// Moves the first of the chunks [begin, end) by whole vectors, as many as leave room for the overrun within this
    /// thread's chunks. Returns the first chunk that is left.
    size_t MoveShort(const ExecuteArgs& run, size_t begin, size_t end) const;

    bool m_IsJoin = false;
    std::vector<Move> m_Moves;
    size_t m_Chunks = 0;
    size_t m_ChunkBytes = 0;
    size_t m_BlockChunks = 1;              ///< chunks of a block
    MoveRunsFunction m_MoveRuns = nullptr; ///< not null if all runs are short
    size_t m_ScalarChunks = 0;             ///< last chunks, which are not moved by whole vectors because of the overrun
    std::vector<StridedMove> m_Long;       ///< for long chunks: one for each segment
};

} // namespace tenon::cpu
