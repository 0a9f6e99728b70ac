// SPDX-License-Identifier: Apache-2.0
// Moves of short runs between chunks and tensors that hold a run of each. Used by ChunkedMove.
#pragma once

#include <array>
#include <cstddef>

namespace tenon::cpu
{

/// Chunks, and parts that have a run of each: of a part, runs lie side by side.
struct ChunkRuns
{
    static constexpr size_t MostParts = 4;

    struct Part
    {
        const std::byte* m_From = nullptr; ///< the first run, which comes
        std::byte* m_To = nullptr;         ///< here
        size_t m_Bytes = 0;                ///< of a run
    };

    bool m_IsJoin = false;   ///< parts come to chunks; else chunks to parts
    size_t m_ChunkBytes = 0; ///< from one chunk to the next
    std::array<Part, MostParts> m_Parts;
};

/// The runs of so many chunks. Moves whole vectors, so that of every part as many runs of the chunks behind them as
/// have MostOverrun bytes are read and written as well: those chunks are there, and are moved after it.
using MoveRunsFunction = void (*)(const ChunkRuns& runs, size_t chunks);
inline constexpr size_t MostOverrun = 31;
/// For so many parts, whose runs have at most so many bytes. Null: more or longer ones than gain by it. Precondition:
/// the processor has vectors, see CpuFeatures.
MoveRunsFunction ChooseMoveRuns(size_t parts, size_t mostBytes);

} // namespace tenon::cpu
