// SPDX-License-Identifier: Apache-2.0
// ChunkedMove: tensors that lie beside each other in chunks of another one, moved there or from there: where chunks are
// short, a cache-sized piece at a time of all of them. Used by the layers that join and split (ConcatSplit.cpp).
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
        Join, ///< inputs into output 0
        Split ///< input 0 into outputs
    };

    /// A chunk of the joined tensor has, m_Begin bytes from its begin, the next m_Bytes of an input or output.
    struct Part
    {
        size_t m_Index = 0; ///< of the input or output
        size_t m_Begin = 0;
        size_t m_Bytes = 0;
    };

    /// Parts in the order of m_Begin, none of them empty.
    ChunkedMove(Direction direction, const std::vector<Part>& parts, size_t chunkBytes, size_t chunks);

    /// A part that lies in its place already is left alone, see TensorAliases.
    void Run(const ExecuteArgs& run) const;

private:
    /// A part from here to there; a chunk's run of it lies so many bytes behind the one of the chunk before.
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

    void CopyPieces(const ExecuteArgs& run, size_t begin, size_t end) const;
    /// As many of the chunks [begin, end), which are one thread's, as vectors may read and write over the ends of.
    /// Returns the first of the others.
    size_t MoveShort(const ExecuteArgs& run, size_t begin, size_t end) const;

    bool m_IsJoin = false;
    std::vector<Move> m_Moves;
    size_t m_Chunks = 0;
    size_t m_ChunkBytes = 0;
    size_t m_Piece = 1;                    ///< chunks that are moved together
    MoveRunsFunction m_MoveRuns = nullptr; ///< where all runs are short
    size_t m_Left = 0;                     ///< chunks at the end that vectors would reach beyond
    std::vector<StridedMove> m_Long;       ///< where chunks are long, one for each part
};

} // namespace tenon::cpu
