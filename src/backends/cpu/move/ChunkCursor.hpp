// SPDX-License-Identifier: Apache-2.0
// ChunkCursor: pointers to the runs of the next chunk. Used by MoveRuns.
#pragma once

#include "backends/cpu/move/MoveRuns.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

namespace tenon::cpu
{

/// The first or the second argument, which have types of their own.
template <bool IsFirst, typename A, typename B>
constexpr std::conditional_t<IsFirst, A, B> Select(A a, B b)
{
    if constexpr (IsFirst)
    {
        return a;
    }
    else
    {
        return b;
    }
}

/// Pointers to the current chunk and to the current run of each tensor. Segments within a chunk are offsets from its
/// begin, so that all pointers that advance stay in registers.
template <size_t Count, bool IsJoin>
class ChunkCursor
{
public:
    explicit ChunkCursor(const ChunkRuns& runs)
        : m_Chunk(Select<IsJoin>(runs.m_Segments[0].m_To, runs.m_Segments[0].m_From)), m_ChunkBytes(runs.m_ChunkBytes)
    {
        for (size_t i = 0; i < Count; ++i)
        {
            const ChunkRuns::Segment& segment = runs.m_Segments[i];
            m_Places[i] = Select<IsJoin>(segment.m_To, segment.m_From) - m_Chunk;
            m_Runs[i] = Select<IsJoin>(segment.m_From, segment.m_To);
            m_Bytes[i] = segment.m_Bytes;
        }
    }

    /// The source of a segment's run in the current chunk.
    const std::byte* GetFrom(size_t segment) const { return Select<IsJoin>(m_Runs[segment], GetInChunk(segment)); }
    std::byte* GetTo(size_t segment) const { return Select<IsJoin>(GetInChunk(segment), m_Runs[segment]); }
    size_t GetBytes(size_t segment) const { return m_Bytes[segment]; }

    /// True if the runs lie in order in a chunk, without gaps, and fill it.
    bool IsDense() const
    {
        size_t next = 0;
        for (size_t i = 0; i < Count; next += m_Bytes[i++])
        {
            if (m_Places[i] != static_cast<std::ptrdiff_t>(next))
            {
                return false;
            }
        }
        return next == m_ChunkBytes;
    }

    void Step(size_t chunks)
    {
        m_Chunk += chunks * m_ChunkBytes;
        for (size_t i = 0; i < Count; ++i)
        {
            m_Runs[i] += chunks * m_Bytes[i];
        }
    }

private:
    using InChunk = decltype(Select<IsJoin>(static_cast<std::byte*>(nullptr), static_cast<const std::byte*>(nullptr)));
    using InSegment =
        decltype(Select<IsJoin>(static_cast<const std::byte*>(nullptr), static_cast<std::byte*>(nullptr)));

    InChunk GetInChunk(size_t segment) const { return segment == 0 ? m_Chunk : m_Chunk + m_Places[segment]; }

    InChunk m_Chunk;
    size_t m_ChunkBytes;
    std::array<std::ptrdiff_t, Count> m_Places{}; ///< offsets of the segments within a chunk; the first one is 0
    std::array<InSegment, Count> m_Runs{};
    std::array<size_t, Count> m_Bytes{};
};

} // namespace tenon::cpu
