// SPDX-License-Identifier: Apache-2.0
// CopyRepeated: runs that are repeated. Vectors of short runs are interleaved with themselves.
#include "backends/cpu/move/CopyRepeated.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move/CopyRepeated.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

/// Copies `Group` runs of N bytes (N a multiple of 16). All loads come before all stores, because the compiler must
/// assume that the buffers alias. `Times` 0: the argument `times` counts. `step`: bytes from one copy to the next.
template <size_t N, size_t Times, size_t Group>
HWY_INLINE void RepeatGroup(size_t times, size_t step, size_t rows, size_t rowBytes, const std::byte* from,
                            std::byte* to)
{
    constexpr size_t Lanes = std::min<size_t>({HWY_LANES(uint8_t), N & (~N + 1), 64});
    constexpr size_t Vectors = N / Lanes;
    const hn::FixedTag<uint8_t, Lanes> d;
    hn::Vec<decltype(d)> v[Group * Vectors];
    HWY_UNROLL(8)
    for (size_t i = 0; i < Group * Vectors; ++i)
    {
        v[i] = hn::LoadU(d, reinterpret_cast<const uint8_t*>(from) + i * Lanes);
    }
    for (size_t row = 0; row < rows; ++row, to += rowBytes)
    {
        auto* target = reinterpret_cast<uint8_t*>(to);
        HWY_UNROLL(8)
        for (size_t run = 0; run < Group; ++run)
        {
            HWY_UNROLL(2)
            for (size_t time = 0; time < (Times != 0 ? Times : times); ++time, target += step)
            {
                HWY_UNROLL(8)
                for (size_t i = 0; i < Vectors; ++i)
                {
                    hn::StoreU(v[run * Vectors + i], d, target + i * Lanes);
                }
            }
        }
    }
}

template <size_t N, size_t Times>
void RepeatRuns(const Repeated& repeated, const std::byte* from, std::byte* to)
{
    constexpr size_t Group = 128 / N;
    const size_t runs = repeated.m_Runs;
    const size_t rows = repeated.m_Rows;
    const size_t times = repeated.m_Times;
    const size_t rowBytes = runs * N * times;
    size_t run = 0;
    for (; run + Group <= runs; run += Group, from += Group * N, to += Group * N * times)
    {
        RepeatGroup<N, Times, Group>(times, N, rows, rowBytes, from, to);
    }
    for (; run < runs; ++run, from += N, to += N * times)
    {
        RepeatGroup<N, Times, 1>(times, N, rows, rowBytes, from, to);
    }
}

/// Longer runs, 128 bytes at a time; the last 128 bytes overlap their neighbours.
void RepeatLongRuns(const Repeated& repeated, const std::byte* from, std::byte* to)
{
    constexpr size_t Segment = 128;
    const Repeated r = repeated;
    const size_t rowBytes = r.m_Runs * r.m_RunBytes * r.m_Times;
    for (size_t run = 0; run < r.m_Runs; ++run, from += r.m_RunBytes, to += r.m_RunBytes * r.m_Times)
    {
        for (size_t next = 0; next < r.m_RunBytes; next += Segment)
        {
            const size_t at = std::min(next, r.m_RunBytes - Segment);
            RepeatGroup<Segment, 0, 1>(r.m_Times, r.m_RunBytes, r.m_Rows, rowBytes, from + at, to + at);
        }
    }
}

/// Runs of one element, repeated Times times.
template <typename T, size_t Times>
void SpreadElements(const Repeated& repeated, const std::byte* from, std::byte* to)
{
    using D = hn::ScalableTag<T>;
    constexpr size_t Lanes = hn::MaxLanes(D());
    const D d;
    const size_t rowBytes = repeated.m_Runs * sizeof(T) * Times;
    const size_t rows = repeated.m_Rows;
    const size_t runs = repeated.m_Runs;
    size_t run = 0;
    for (; run + Lanes <= runs; run += Lanes, from += Lanes * sizeof(T), to += Times * Lanes * sizeof(T))
    {
        const auto v = hn::LoadU(d, reinterpret_cast<const T*>(from));
        std::byte* target = to;
        for (size_t row = 0; row < rows; ++row, target += rowBytes)
        {
            if constexpr (Times == 2)
            {
                hn::StoreInterleaved2(v, v, d, reinterpret_cast<T*>(target));
            }
            else
            {
                static_assert(Times == 4);
                hn::StoreInterleaved4(v, v, v, v, d, reinterpret_cast<T*>(target));
            }
        }
    }
    for (; run < runs; ++run, from += sizeof(T), to += Times * sizeof(T))
    {
        T spread[Times];
        std::memcpy(spread, from, sizeof(T));
        std::fill_n(spread + 1, Times - 1, spread[0]);
        std::byte* target = to;
        for (size_t row = 0; row < rows; ++row, target += rowBytes)
        {
            std::memcpy(target, spread, sizeof(spread));
        }
    }
}

/// Pixels of a few elements. Their memory may have the alignment of one element only, and 32-bit Arm requires multiples
/// of 8 for 8-byte loads.
template <size_t Times>
CopyRepeatedFunction FindSpread(size_t runBytes)
{
    switch (runBytes)
    {
    case 1: return SpreadElements<uint8_t, Times>;
    case 2: return SpreadElements<uint16_t, Times>;
    case 4: return SpreadElements<uint32_t, Times>;
#if !HWY_ARCH_ARM_V7
    case 8: return SpreadElements<uint64_t, Times>;
#endif
    default: return nullptr;
    }
}

/// `Times` 0: the number is an argument.
template <size_t Times>
CopyRepeatedFunction FindRepeat(size_t runBytes)
{
    switch (runBytes)
    {
    case 16: return Times == 2 ? RepeatRuns<16, 2> : nullptr; // for other factors, gathers fill vectors of 32 bytes
    case 32: return RepeatRuns<32, Times>;
    case 48: return RepeatRuns<48, Times>;
    case 64: return RepeatRuns<64, Times>;
    case 96: return RepeatRuns<96, Times>;
    case 128: return RepeatRuns<128, Times>;
    default: break;
    }
    // Vectors of shorter runs overlap too much. Longer runs have too many targets in the same sets of the cache.
    constexpr size_t Shortest = 192;
    constexpr size_t Longest = Times == 2 ? 1024 : 256;
    return runBytes >= Shortest && runBytes <= Longest ? RepeatLongRuns : nullptr;
}

CopyRepeatedFunction FindCopyRepeated(size_t runBytes, size_t times)
{
    const CopyRepeatedFunction spread = times == 2   ? FindSpread<2>(runBytes)
                                        : times == 4 ? FindSpread<4>(runBytes)
                                                     : nullptr;
    return spread != nullptr ? spread : times == 2 ? FindRepeat<2>(runBytes) : FindRepeat<0>(runBytes);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

CopyRepeatedFunction ChooseCopyRepeated(size_t runBytes, size_t times)
{
    return TENON_CHOOSE(FindCopyRepeated)(runBytes, times);
}

} // namespace tenon::cpu
#endif
