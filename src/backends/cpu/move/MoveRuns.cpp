// SPDX-License-Identifier: Apache-2.0
// MoveRuns: moves of short runs by one vector each, or by groups of chunks.
#include "backends/cpu/move/MoveRuns.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move/MoveRuns.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.

#include "backends/cpu/move/ChunkCursor.hpp"
#include "backends/cpu/move/CopyFixed-inl.hpp"
#include "backends/cpu/move/MoveRunGroups-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

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
