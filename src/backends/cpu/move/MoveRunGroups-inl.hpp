// SPDX-License-Identifier: Apache-2.0
// Moves of short runs for groups of chunks with AVX-512 VBMI (CpuFeatures::m_Avx512Vbmi): 64-byte vectors hold the runs
// of several chunks, and byte permutations join or split them. Included by MoveRuns.cpp after simd/Foreach.hpp, once
// for each target.
#if defined(TENON_MOVE_RUN_GROUPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_MOVE_RUN_GROUPS_INL
#undef TENON_MOVE_RUN_GROUPS_INL
#else
#define TENON_MOVE_RUN_GROUPS_INL
#endif

#include "backends/cpu/move/ChunkCursor.hpp"
#include "backends/cpu/simd/PermuteBytes-inl.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// A group has as many chunks as fit two vectors; its runs in each tensor fit one vector.
template <size_t Count, bool IsJoin>
class RunGroups
{
public:
    using Cursor = ChunkCursor<Count, IsJoin>;

    explicit RunGroups(const Cursor& cursor)
    {
        size_t most = 0;
        size_t chunk = 0;
        for (size_t segment = 0; segment < Count; ++segment)
        {
            most = std::max(most, cursor.GetBytes(segment));
            chunk += cursor.GetBytes(segment);
            m_HasWholeVectors = m_HasWholeVectors && cursor.GetBytes(segment) % 16 == 0;
        }
        m_Chunks = std::min(2 * LineBytes / chunk, LineBytes / most);
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

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
