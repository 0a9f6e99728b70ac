// SPDX-License-Identifier: Apache-2.0
// Runs of a few bytes of two to four moves, with AVX-512 and VBMI (CpuFeatures::m_Avx512Vbmi): lines are loaded and
// stored that hold the runs of several chunks, and permutations of bytes put them together or apart.
// Included by CopyPlane.cpp after simd/Foreach.hpp, once for each target.
#if defined(TENON_MOVE_RUN_GROUPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_MOVE_RUN_GROUPS_INL
#undef TENON_MOVE_RUN_GROUPS_INL
#else
#define TENON_MOVE_RUN_GROUPS_INL
#endif

#include "backends/cpu/moves/CopyPlane.hpp"
#include "backends/cpu/simd/PermuteBytes-inl.hpp"

#include <algorithm>
#include <array>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Moves between chunks, which are a run of every move in turn without gaps, and tensors beside them. A group is as
/// many chunks as two lines hold, and a line of each tensor.
template <size_t Count>
class RunGroups
{
public:
    explicit RunGroups(const RunMove* moves) : m_IsJoin(moves[0].m_FromStep < moves[0].m_ToStep)
    {
        std::copy_n(moves, Count, m_Moves.begin());
        size_t most = 0;
        size_t chunk = 0;
        for (size_t i = 0; i < Count; ++i)
        {
            m_Bytes[i] = static_cast<size_t>(m_IsJoin ? moves[i].m_FromStep : moves[i].m_ToStep);
            most = std::max(most, m_Bytes[i]);
            chunk += m_Bytes[i];
        }
        m_Chunks = std::min(2 * LineBytes / chunk, LineBytes / most);
    }

    /// Whether these are such moves, and groups are faster than a vector for each run. They are not where runs are
    /// whole vectors or few chunks make a group; and to find the indices takes as long as a few hundred chunks.
    bool Pay(size_t times) const
    {
        constexpr size_t FewestTimes = 512;
        const auto isVectors = [](size_t bytes) { return bytes % 16 == 0; };
        return times >= FewestTimes && m_Chunks >= (m_IsJoin ? 3 : 2) &&
               !std::all_of(m_Bytes.begin(), m_Bytes.end(), isVectors) && AreDense();
    }

    /// Whole groups of the next `times` chunks. Returns how many chunks are left, which GetMoves are of.
    size_t Move(size_t times) { return m_IsJoin ? Join(times) : Split(times); }

    const RunMove* GetMoves() const { return m_Moves.data(); }

private:
    static constexpr size_t LineBytes = 64;
    static_assert(LineBytes - 1 <= MostOverrun);
    using Indices = std::array<uint8_t, LineBytes>;

    bool AreDense() const
    {
        const auto getChunk = [this](const RunMove& move) -> const std::byte*
        { return m_IsJoin ? move.m_To : move.m_From; };
        const std::byte* next = getChunk(m_Moves[0]);
        for (size_t i = 0; i < Count; next += m_Bytes[i++])
        {
            if (getChunk(m_Moves[i]) != next)
            {
                return false;
            }
        }
        const int64_t chunk = next - getChunk(m_Moves[0]);
        return std::all_of(m_Moves.begin(), m_Moves.end(),
                           [&](const RunMove& move) { return (m_IsJoin ? move.m_ToStep : move.m_FromStep) == chunk; });
    }

    /// Calls f(part, its byte, byte of the chunks) for the bytes of a group.
    template <typename F>
    void ForEachByte(const F& f) const
    {
        size_t at = 0;
        for (size_t chunk = 0; chunk < m_Chunks; ++chunk)
        {
            for (size_t part = 0; part < Count; ++part)
            {
                for (size_t byte = 0; byte < m_Bytes[part]; ++byte, ++at)
                {
                    f(part, chunk * m_Bytes[part] + byte, at);
                }
            }
        }
    }

    size_t Split(size_t times)
    {
        alignas(LineBytes) std::array<Indices, Count> indices{};
        ForEachByte([&](size_t part, size_t byte, size_t at) { indices[part][byte] = static_cast<uint8_t>(at); });
        for (; times >= m_Chunks; times -= m_Chunks)
        {
            const LineVec lower = LoadLine(m_Moves[0].m_From);
            const LineVec upper = LoadLine(m_Moves[0].m_From + LineBytes);
            HWY_UNROLL(4)
            for (size_t part = 0; part < Count; ++part)
            {
                StoreLine(PermuteBytes(lower, upper, hn::Load(Line(), indices[part].data())), m_Moves[part].m_To);
            }
            Step();
        }
        return times;
    }

    size_t Join(size_t times)
    {
        // Of each part but the first one: its bytes in a line, and those that are there already.
        alignas(LineBytes) std::array<std::array<Indices, 2>, Count> indices{};
        for (auto& ofPart : indices)
        {
            for (size_t i = 0; i < LineBytes; ++i)
            {
                ofPart[0][i] = ofPart[1][i] = static_cast<uint8_t>(i);
            }
        }
        ForEachByte(
            [&](size_t part, size_t byte, size_t at)
            {
                // What the first step of all picks is of the first two parts.
                const size_t line = part == 0 ? byte : LineBytes + byte;
                indices[std::max<size_t>(part, 1)][at / LineBytes][at % LineBytes] = static_cast<uint8_t>(line);
            });
        for (; times >= m_Chunks; times -= m_Chunks)
        {
            const LineVec first = LoadLine(m_Moves[0].m_From);
            LineVec lower = first;
            LineVec upper = first;
            HWY_UNROLL(4)
            for (size_t part = 1; part < Count; ++part)
            {
                const LineVec line = LoadLine(m_Moves[part].m_From);
                lower = PermuteBytes(lower, line, hn::Load(Line(), indices[part][0].data()));
                upper = PermuteBytes(upper, line, hn::Load(Line(), indices[part][1].data()));
            }
            StoreLine(lower, m_Moves[0].m_To);
            StoreLine(upper, m_Moves[0].m_To + LineBytes);
            Step();
        }
        return times;
    }

    static HWY_INLINE LineVec LoadLine(const std::byte* from)
    {
        return hn::LoadU(Line(), reinterpret_cast<const uint8_t*>(from));
    }

    static HWY_INLINE void StoreLine(LineVec line, std::byte* to)
    {
        hn::StoreU(line, Line(), reinterpret_cast<uint8_t*>(to));
    }

    HWY_INLINE void Step()
    {
        HWY_UNROLL(4)
        for (RunMove& move : m_Moves)
        {
            move.m_From += static_cast<int64_t>(m_Chunks) * move.m_FromStep;
            move.m_To += static_cast<int64_t>(m_Chunks) * move.m_ToStep;
        }
    }

    bool m_IsJoin;
    std::array<RunMove, Count> m_Moves;
    std::array<size_t, Count> m_Bytes{};
    size_t m_Chunks = 1; ///< of a group
};

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
