// SPDX-License-Identifier: Apache-2.0
// MoveRuns: moves of short runs between chunks of a joined tensor and 2 to 4 tensors (concat and split of few
// channels). A vector is stored for each run; the next run overwrites its end. With AVX-512 VBMI, vpermt2b joins or
// splits the runs of several chunks in two vectors.
#include "backends/cpu/move/CopyPlane.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifndef TENON_CHUNK_CURSOR // once, as the source is read for each target
#define TENON_CHUNK_CURSOR
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
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move/MoveRuns.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/move/CopyFixed-inl.hpp"
#include "backends/cpu/simd/PermuteBytes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

// Groups of chunks with AVX-512 VBMI (CpuFeatures::m_Avx512Vbmi): 64-byte vectors hold the runs of several chunks, and
// byte permutations join or split them.
#if HWY_TARGET == HWY_AVX3

/// A group has as many chunks as fit two vectors; its runs in each tensor fit one vector.
template <size_t Count, bool IsJoin>
class RunGroups
{
public:
    using Cursor = ChunkCursor<Count, IsJoin>;

    explicit RunGroups(const Cursor& cursor)
    {
        size_t maxBytes = 0;
        size_t chunk = 0;
        for (size_t segment = 0; segment < Count; ++segment)
        {
            maxBytes = std::max(maxBytes, cursor.GetBytes(segment));
            chunk += cursor.GetBytes(segment);
            m_HasWholeVectors = m_HasWholeVectors && cursor.GetBytes(segment) % 16 == 0;
        }
        m_Chunks = std::min(2 * LineBytes / chunk, LineBytes / maxBytes);
    }

    /// Moves as many of the next chunks as pay, and advances the cursor past them. Returns the number of chunks left.
    size_t Move(Cursor& cursor, size_t chunks) const
    {
        // The setup of the indices takes as long as a few hundred chunks. Runs that are whole vectors gain nothing, nor
        // do groups of few chunks.
        constexpr size_t MinChunks = 512;
        if (chunks < MinChunks || m_HasWholeVectors || m_Chunks < (IsJoin ? 3 : 2) || !cursor.IsDense())
        {
            return chunks;
        }
        // This many chunks are left over, so that their bytes cover a vector's end beyond MaxOverrun.
        constexpr size_t Left = LineBytes - 1 - MaxOverrun;
        const size_t groups = (chunks - Left) / m_Chunks;
        if constexpr (IsJoin)
        {
            cursor = Join(cursor, groups);
        }
        else
        {
            cursor = Split(cursor, groups);
        }
        return chunks - groups * m_Chunks;
    }

private:
    static constexpr size_t LineBytes = 64;
    using Indices = std::array<uint8_t, LineBytes>;

    /// Calls f(segment, byte of the segment's vector, byte of the chunks) for the bytes of a group.
    template <typename F>
    void ForEachByte(const Cursor& cursor, const F& f) const
    {
        size_t at = 0;
        for (size_t chunk = 0; chunk < m_Chunks; ++chunk)
        {
            for (size_t segment = 0; segment < Count; ++segment)
            {
                const size_t bytes = cursor.GetBytes(segment);
                for (size_t byte = 0; byte < bytes; ++byte, ++at)
                {
                    f(segment, chunk * bytes + byte, at);
                }
            }
        }
    }

    /// The cursor is passed by value to stay in registers. Returns the cursor of the next chunk.
    Cursor Split(Cursor cursor, size_t groups) const
    {
        alignas(LineBytes) std::array<Indices, Count> indices{};
        ForEachByte(cursor,
                    [&](size_t segment, size_t byte, size_t at) { indices[segment][byte] = static_cast<uint8_t>(at); });
        for (; groups != 0; --groups, cursor.Step(m_Chunks))
        {
            const LineVec lower = LoadLine(cursor.GetFrom(0));
            const LineVec upper = LoadLine(cursor.GetFrom(0) + LineBytes);
            HWY_UNROLL(4)
            for (size_t segment = 0; segment < Count; ++segment)
            {
                StoreLine(PermuteBytes(lower, upper, hn::Load(Line(), indices[segment].data())), cursor.GetTo(segment));
            }
        }
        return cursor;
    }

    Cursor Join(Cursor cursor, size_t groups) const
    {
        // For each segment but the first one: indices that insert its bytes and keep the bytes that are in place
        // already.
        alignas(LineBytes) std::array<std::array<Indices, 2>, Count> indices{};
        for (auto& ofSegment : indices)
        {
            for (size_t i = 0; i < LineBytes; ++i)
            {
                ofSegment[0][i] = ofSegment[1][i] = static_cast<uint8_t>(i);
            }
        }
        ForEachByte(cursor,
                    [&](size_t segment, size_t byte, size_t at)
                    {
                        // The first permutation takes bytes of the first two segments.
                        const size_t line = segment == 0 ? byte : LineBytes + byte;
                        indices[std::max<size_t>(segment, 1)][at / LineBytes][at % LineBytes] =
                            static_cast<uint8_t>(line);
                    });
        for (; groups != 0; --groups, cursor.Step(m_Chunks))
        {
            LineVec lower = LoadLine(cursor.GetFrom(0));
            LineVec upper = lower;
            HWY_UNROLL(4)
            for (size_t segment = 1; segment < Count; ++segment)
            {
                const LineVec line = LoadLine(cursor.GetFrom(segment));
                lower = PermuteBytes(lower, line, hn::Load(Line(), indices[segment][0].data()));
                upper = PermuteBytes(upper, line, hn::Load(Line(), indices[segment][1].data()));
            }
            StoreLine(lower, cursor.GetTo(0));
            StoreLine(upper, cursor.GetTo(0) + LineBytes);
        }
        return cursor;
    }

    static HWY_INLINE LineVec LoadLine(const std::byte* from)
    {
        return hn::LoadU(Line(), reinterpret_cast<const uint8_t*>(from));
    }

    static HWY_INLINE void StoreLine(LineVec line, std::byte* to)
    {
        hn::StoreU(line, Line(), reinterpret_cast<uint8_t*>(to));
    }

    size_t m_Chunks = 1; ///< chunks of a group
    bool m_HasWholeVectors = true;
};

#endif

namespace
{

/// One vector store for each run, whose end the next run overwrites, instead of several exact moves. The processor
/// combines consecutive stores to one cache line.
template <size_t Width, size_t Count, bool IsJoin>
HWY_NOINLINE void MoveByVectors(const ChunkCursor<Count, IsJoin>& first, size_t chunks)
{
    ChunkCursor<Count, IsJoin> cursor = first; // a copy, which stays in registers
    for (; chunks != 0; --chunks, cursor.Step(1))
    {
        HWY_UNROLL(4)
        for (size_t segment = 0; segment < Count; ++segment)
        {
            CopyFixed<Width>(cursor.GetTo(segment), cursor.GetFrom(segment));
        }
    }
}

template <size_t Width, size_t Count, bool IsJoin>
void MoveBetween(const ChunkRuns& runs, size_t chunks)
{
    ChunkCursor<Count, IsJoin> cursor(runs);
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Vbmi)
    {
        chunks = RunGroups<Count, IsJoin>(cursor).Move(cursor, chunks);
    }
#endif
    MoveByVectors<Width>(cursor, chunks);
}

template <size_t Width, size_t Count>
void MoveRuns(const ChunkRuns& runs, size_t chunks)
{
    static_assert(Width <= MaxOverrun + 1);
    runs.m_IsJoin ? MoveBetween<Width, Count, true>(runs, chunks) : MoveBetween<Width, Count, false>(runs, chunks);
}

template <size_t Width>
MoveRunsFunction FindMoveOfWidth(size_t segments)
{
    return segments == 2   ? MoveRuns<Width, 2>
           : segments == 3 ? MoveRuns<Width, 3>
           : segments == 4 ? MoveRuns<Width, 4>
                           : nullptr;
}

MoveRunsFunction FindMoveRuns(size_t segments, size_t maxBytes)
{
    return maxBytes <= 4    ? FindMoveOfWidth<4>(segments)
           : maxBytes <= 8  ? FindMoveOfWidth<8>(segments)
           : maxBytes <= 16 ? FindMoveOfWidth<16>(segments)
           : maxBytes <= 32 ? FindMoveOfWidth<32>(segments)
                            : nullptr;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

MoveRunsFunction ChooseMoveRuns(size_t segments, size_t maxBytes)
{
    return TENON_CHOOSE(FindMoveRuns)(segments, maxBytes);
}

} // namespace tenon::cpu
#endif
