// SPDX-License-Identifier: Apache-2.0
// ChunkedMove: moves between the chunks of a joined tensor and other tensors.
#include "backends/cpu/move/ChunkedMove.hpp"

#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>

namespace tenon::cpu
{

ChunkedMove::ChunkedMove(Direction direction, const std::vector<Segment>& segments, size_t chunkBytes, size_t chunks)
    : m_IsJoin(direction == Direction::Join), m_Chunks(chunks), m_ChunkBytes(chunkBytes)
{
    size_t least = SIZE_MAX;
    size_t most = 0;
    size_t sum = 0;
    for (const Segment& segment : segments)
    {
        Move& move = m_Moves.emplace_back();
        (m_IsJoin ? move.m_Input : move.m_Output) = segment.m_Index;
        (m_IsJoin ? move.m_ToBegin : move.m_FromBegin) = segment.m_Begin;
        move.m_FromStep = static_cast<int64_t>(m_IsJoin ? segment.m_Bytes : chunkBytes);
        move.m_ToStep = static_cast<int64_t>(m_IsJoin ? chunkBytes : segment.m_Bytes);
        move.m_Bytes = segment.m_Bytes;
        move.m_Copy = ChooseCopyPlane(segment.m_Bytes);
        least = std::min(least, segment.m_Bytes);
        most = std::max(most, segment.m_Bytes);
        sum += segment.m_Bytes;
    }
    constexpr size_t LongChunk = 16 * 1024;
    if (chunkBytes >= LongChunk)
    {
        for (const Move& move : m_Moves)
        {
            m_Long.push_back(StridedMove({{chunks, move.m_FromStep, move.m_ToStep}, {move.m_Bytes, 1, 1}}, 1));
        }
    }
    else if (!m_Moves.empty())
    {
        m_BlockChunks = LongChunk / chunkBytes;
        // Gaps belong to inputs that are requantized by a table (ConcatSplit.cpp), possibly in place: vectors must not
        // overwrite them.
        const bool hasGaps = m_IsJoin && sum != chunkBytes;
        m_MoveRuns = hasGaps ? nullptr : ChooseMoveRuns(m_Moves.size(), most);
        m_ScalarChunks = (MaxOverrun + least - 1) / least;
    }
}

void ChunkedMove::Run(const ExecuteArgs& run) const
{
    if (!m_Long.empty())
    {
        for (size_t i = 0; i < m_Long.size(); ++i)
        {
            m_Long[i].Run(*run.m_Parallel, GetSource(run, m_Moves[i]), GetTarget(run, m_Moves[i]));
        }
        return;
    }
    const auto isInPlace = [&](const Move& move) { return IsInPlace(run, move); };
    if (std::all_of(m_Moves.begin(), m_Moves.end(), isInPlace))
    {
        return;
    }
    // The end of a vector must not overwrite a segment that is in place already.
    const bool isShort = m_MoveRuns != nullptr && std::none_of(m_Moves.begin(), m_Moves.end(), isInPlace);
    RunRanges(*run.m_Parallel, m_Chunks, GetGrain(2 * m_ChunkBytes),
              [&](size_t begin, size_t end) { CopyBlocks(run, isShort ? MoveShort(run, begin, end) : begin, end); });
}

const std::byte* ChunkedMove::GetSource(const ExecuteArgs& run, const Move& move)
{
    return run.GetInput<std::byte>(move.m_Input) + move.m_FromBegin;
}

std::byte* ChunkedMove::GetTarget(const ExecuteArgs& run, const Move& move)
{
    return run.GetOutput<std::byte>(move.m_Output) + move.m_ToBegin;
}

bool ChunkedMove::IsInPlace(const ExecuteArgs& run, const Move& move)
{
    return GetSource(run, move) == GetTarget(run, move);
}

void ChunkedMove::CopyBlocks(const ExecuteArgs& run, size_t begin, size_t end) const
{
    for (size_t chunk = begin; chunk < end; chunk += m_BlockChunks)
    {
        Plane plane;
        plane.m_Runs = std::min(m_BlockChunks, end - chunk);
        const auto steps = static_cast<int64_t>(chunk);
        for (const Move& move : m_Moves)
        {
            if (!IsInPlace(run, move))
            {
                plane.m_RunBytes = move.m_Bytes;
                plane.m_FromRun = move.m_FromStep;
                plane.m_ToRun = move.m_ToStep;
                move.m_Copy(plane, GetSource(run, move) + steps * move.m_FromStep,
                            GetTarget(run, move) + steps * move.m_ToStep);
            }
        }
    }
}

size_t ChunkedMove::MoveShort(const ExecuteArgs& run, size_t begin, size_t end) const
{
    if (end - begin <= m_ScalarChunks)
    {
        return begin;
    }
    ChunkRuns runs;
    runs.m_IsJoin = m_IsJoin;
    runs.m_ChunkBytes = m_ChunkBytes;
    const auto steps = static_cast<int64_t>(begin);
    for (size_t i = 0; i < m_Moves.size(); ++i)
    {
        const Move& move = m_Moves[i];
        runs.m_Segments[i] = {GetSource(run, move) + steps * move.m_FromStep,
                              GetTarget(run, move) + steps * move.m_ToStep, move.m_Bytes};
    }
    m_MoveRuns(runs, end - begin - m_ScalarChunks);
    return end - m_ScalarChunks;
}

} // namespace tenon::cpu
