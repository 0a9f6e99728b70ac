// SPDX-License-Identifier: Apache-2.0
// Copies of short runs. A processor stores as many vectors of 32 bytes in a time as of 16, so these are compiled for
// each target.
#include "backends/cpu/moves/CopyPlane.hpp"

#include "common/CopyBlock.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/moves/CopyPlane.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.

#include "backends/cpu/moves/MoveRunGroups-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

/// Vectors as far as they go, where there are some, then smaller moves. Vectors of 64 bytes are for multiples of
/// them alone: else every store would cross cache lines.
template <size_t N, size_t Widest = (N != 0 && N % 64 == 0 ? 64 : 32)>
HWY_INLINE void CopyFixed(std::byte* to, const std::byte* from)
{
    constexpr size_t Lanes = std::clamp<size_t>(HWY_LANES(uint8_t), 16, Widest);
    if constexpr (N >= Lanes)
    {
        const hn::FixedTag<uint8_t, Lanes> d;
        hn::StoreU(hn::LoadU(d, reinterpret_cast<const uint8_t*>(from)), d, reinterpret_cast<uint8_t*>(to));
        CopyFixed<N - Lanes, Widest>(to + Lanes, from + Lanes);
    }
    else if constexpr (N != 0)
    {
        std::memcpy(to, from, N);
    }
}

template <size_t N>
struct Fixed
{
    static constexpr size_t Bytes = N;
    static HWY_INLINE void Copy(std::byte* to, const std::byte* from, size_t) { CopyFixed<N>(to, from); }
};

/// N to 2 * N bytes: the first N and the last N.
template <size_t N>
struct Ends
{
    static constexpr size_t Bytes = 0; // any
    static HWY_INLINE void Copy(std::byte* to, const std::byte* from, size_t bytes)
    {
        CopyFixed<N, 32>(to, from);
        CopyFixed<N, 32>(to + bytes - N, from + bytes - N);
    }
};

struct Any
{
    static constexpr size_t Bytes = 0;
    static HWY_INLINE void Copy(std::byte* to, const std::byte* from, size_t bytes) { CopyBlock(to, from, bytes); }
};

/// `plane` by value: what is stored might else be the plane itself, for all that the compiler knows.
template <typename Run>
void CopyRows(const Plane plane, const std::byte* from, std::byte* to)
{
    for (size_t row = 0; row < plane.m_Rows; ++row, from += plane.m_FromRow, to += plane.m_ToRow)
    {
        const std::byte* source = from;
        std::byte* target = to;
        for (size_t run = 0; run < plane.m_Runs; ++run, source += plane.m_FromRun, target += plane.m_ToRun)
        {
            Run::Copy(target, source, plane.m_RunBytes);
        }
    }
}

template <typename Run>
void CopyPlane(const Plane& plane, const std::byte* from, std::byte* to)
{
    CopyRows<Run>(plane, from, to);
}

/// The next runs, N bytes each, as a vector.
template <size_t N, class D>
HWY_INLINE hn::Vec<D> LoadPicked(D d, const std::byte* from, const size_t* indices)
{
    if constexpr (hn::MaxLanes(D()) == N)
    {
        return hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + *indices * N));
    }
    else
    {
        const hn::Half<D> half;
        constexpr size_t InHalf = hn::MaxLanes(D()) / 2 / N;
        return hn::Combine(d, LoadPicked<N>(half, from, indices + InHalf), LoadPicked<N>(half, from, indices));
    }
}

/// As many runs as fill a vector are one store, as far as they go.
template <typename Run>
void CopyPicked(const std::byte* from, const size_t* indices, size_t count, size_t bytes, std::byte* to)
{
    size_t i = 0;
    constexpr size_t N = Run::Bytes;
    if constexpr (N >= 16 && std::has_single_bit(N) && N < HWY_LANES(uint8_t))
    {
        const hn::ScalableTag<uint8_t> d;
        constexpr size_t Runs = HWY_LANES(uint8_t) / N;
        for (; i + Runs <= count; i += Runs, to += Runs * N)
        {
            hn::StoreU(LoadPicked<N>(d, from, indices + i), d, reinterpret_cast<uint8_t*>(to));
        }
    }
    for (; i < count; ++i, to += bytes)
    {
        Run::Copy(to, from + indices[i] * (N != 0 ? N : bytes), bytes);
    }
}

/// The processor joins stores to one line that follow each other; a vector instead of several exact moves each is one
/// store, whose end the next run overwrites.
template <size_t Width, size_t Count>
void MoveRuns(const RunMove* moves, size_t times)
{
#if HWY_TARGET == HWY_AVX3
    RunGroups<Count> groups(moves);
    if (GetCpuFeatures().m_Avx512Vbmi && groups.Pay(times))
    {
        times = groups.Move(times);
        moves = groups.GetMoves();
    }
#endif
    // Places are in registers. Of four moves steps come from memory with AVX-512, where the compiler else keeps them in
    // vectors, from which they take longer; with other targets that does not gain.
    constexpr bool AreStepsInMemory = HWY_TARGET == HWY_AVX3 && Count == 4;
    RunMove inRegisters[Count];
    std::copy_n(moves, Count, inRegisters);
    for (size_t time = 0; time < times; ++time)
    {
        HWY_UNROLL(4)
        for (size_t i = 0; i < Count; ++i)
        {
            RunMove& move = inRegisters[i];
            CopyFixed<Width>(move.m_To, move.m_From);
            move.m_From += (AreStepsInMemory ? moves[i] : move).m_FromStep;
            move.m_To += (AreStepsInMemory ? moves[i] : move).m_ToStep;
        }
    }
}

/// f.operator()<Run>() with the copy of runs of so many bytes. Those that layers often have are moves that do not
/// overlap.
template <typename F>
auto ChooseRun(size_t bytes, const F& f)
{
    switch (bytes)
    {
    case 1: return f.template operator()<Fixed<1>>();
    case 2: return f.template operator()<Fixed<2>>();
    case 3: return f.template operator()<Fixed<3>>();
    case 4: return f.template operator()<Fixed<4>>();
    case 8: return f.template operator()<Fixed<8>>();
    case 12: return f.template operator()<Fixed<12>>();
    case 16: return f.template operator()<Fixed<16>>();
    case 24: return f.template operator()<Fixed<24>>();
    case 32: return f.template operator()<Fixed<32>>();
    case 40: return f.template operator()<Fixed<40>>();
    case 48: return f.template operator()<Fixed<48>>();
    case 64: return f.template operator()<Fixed<64>>();
    case 80: return f.template operator()<Fixed<80>>();
    case 96: return f.template operator()<Fixed<96>>();
    case 112: return f.template operator()<Fixed<112>>();
    case 128: return f.template operator()<Fixed<128>>();
    default: break;
    }
    if (bytes == 0 || bytes > 128)
    {
        return f.template operator()<Any>();
    }
    return bytes < 8    ? f.template operator()<Ends<4>>()
           : bytes < 16 ? f.template operator()<Ends<8>>()
           : bytes < 32 ? f.template operator()<Ends<16>>()
           : bytes < 64 ? f.template operator()<Ends<32>>()
                        : f.template operator()<Ends<64>>();
}

CopyPlaneFunction FindCopyPlane(size_t runBytes)
{
    return ChooseRun(runBytes, []<typename Run>() -> CopyPlaneFunction { return CopyPlane<Run>; });
}

CopyPickedFunction FindCopyPicked(size_t bytes)
{
    return ChooseRun(bytes, []<typename Run>() -> CopyPickedFunction { return CopyPicked<Run>; });
}

template <size_t Width>
MoveRunsFunction FindMoveOfWidth(size_t count)
{
    static_assert(Width <= MostOverrun + 1);
    return count == 2   ? MoveRuns<Width, 2>
           : count == 3 ? MoveRuns<Width, 3>
           : count == 4 ? MoveRuns<Width, 4>
                        : nullptr;
}

MoveRunsFunction FindMoveRuns(size_t moves, size_t mostBytes)
{
    return mostBytes <= 4    ? FindMoveOfWidth<4>(moves)
           : mostBytes <= 8  ? FindMoveOfWidth<8>(moves)
           : mostBytes <= 16 ? FindMoveOfWidth<16>(moves)
           : mostBytes <= 32 ? FindMoveOfWidth<32>(moves)
                             : nullptr;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

CopyPlaneFunction ChooseCopyPlane(size_t runBytes)
{
    return TENON_CHOOSE(FindCopyPlane)(runBytes);
}

CopyPickedFunction ChooseCopyPicked(size_t bytes)
{
    return TENON_CHOOSE(FindCopyPicked)(bytes);
}

MoveRunsFunction ChooseMoveRuns(size_t moves, size_t mostBytes)
{
    return TENON_CHOOSE(FindMoveRuns)(moves, mostBytes);
}

} // namespace tenon::cpu
#endif
