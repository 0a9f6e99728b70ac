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
        : m_Chunk(Select<IsJoin>(runs.m_Parts[0].m_To, runs.m_Parts[0].m_From)), m_ChunkBytes(runs.m_ChunkBytes)
    {
        for (size_t i = 0; i < Count; ++i)
        {
            const ChunkRuns::Part& part = runs.m_Parts[i];
            m_Places[i] = Select<IsJoin>(part.m_To, part.m_From) - m_Chunk;
            m_Runs[i] = Select<IsJoin>(part.m_From, part.m_To);
            m_Bytes[i] = part.m_Bytes;
        }
    }

    /// The source of a segment's run in the current chunk.
    const std::byte* GetFrom(size_t part) const { return Select<IsJoin>(m_Runs[part], GetInChunk(part)); }
    std::byte* GetTo(size_t part) const { return Select<IsJoin>(GetInChunk(part), m_Runs[part]); }
    size_t GetBytes(size_t part) const { return m_Bytes[part]; }

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
    using InPart = decltype(Select<IsJoin>(static_cast<const std::byte*>(nullptr), static_cast<std::byte*>(nullptr)));

    InChunk GetInChunk(size_t part) const { return part == 0 ? m_Chunk : m_Chunk + m_Places[part]; }

    InChunk m_Chunk;
    size_t m_ChunkBytes;
    std::array<std::ptrdiff_t, Count> m_Places{}; ///< offsets of the segments within a chunk; the first one is 0
    std::array<InPart, Count> m_Runs{};
    std::array<size_t, Count> m_Bytes{};
};

} // namespace tenon::cpu
