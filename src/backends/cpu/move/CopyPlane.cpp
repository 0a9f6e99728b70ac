// SPDX-License-Identifier: Apache-2.0
// CopyPlane: copies of short runs. Compiled for each target, because a processor stores as many vectors of 32 bytes per
// cycle as of 16 bytes.
#include "backends/cpu/move/CopyPlane.hpp"

#include "common/CopyBlock.hpp"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/move/CopyPlane.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.

#include "backends/cpu/move/CopyFixed-inl.hpp"
#include "backends/cpu/simd/CombineHalves-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <size_t N>
struct Fixed
{
    static constexpr size_t Bytes = N;
    static HWY_INLINE void Copy(std::byte* to, const std::byte* from, size_t) { CopyFixed<N>(to, from); }
};

/// N to 2 * N bytes: the first N and the last N, which overlap.
template <size_t N>
struct FirstAndLast
{
    static constexpr size_t Bytes = 0; // any size
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

/// Runs that end in half a vector of 32 bytes. Two runs that are neighbours in the target fill whole vectors.
template <size_t N>
inline constexpr bool HasHalfVector = N % 32 == 16 && HWY_LANES(uint8_t) >= 32;

template <size_t N>
HWY_INLINE void CopyHalves(std::byte* to, const std::byte* first, const std::byte* second)
{
    constexpr size_t Whole = N / 32 * 32;
    const hn::CappedTag<uint8_t, 32> d;
    const hn::CappedTag<uint8_t, 16> half;
    const auto load = [&](const std::byte* from) HWY_ATTR
    { return hn::LoadU(half, reinterpret_cast<const uint8_t*>(from)); };
    CopyFixed<Whole, 32>(to, first);
    hn::StoreU(CombineHalves(d, load(second), load(first + Whole)), d, reinterpret_cast<uint8_t*>(to + Whole));
    CopyFixed<Whole, 32>(to + Whole + 32, second + 16);
}

/// `plane` is passed by value, because the compiler must assume that stores may alias a reference.
template <typename Run>
void CopyRows(const Plane plane, const std::byte* from, std::byte* to)
{
    for (size_t row = 0; row < plane.m_Rows; ++row, from += plane.m_FromRow, to += plane.m_ToRow)
    {
        const std::byte* source = from;
        std::byte* target = to;
        size_t run = 0;
        if constexpr (HasHalfVector<Run::Bytes>)
        {
            if (plane.m_ToRun == static_cast<int64_t>(Run::Bytes))
            {
                for (; run + 2 <= plane.m_Runs; run += 2, source += 2 * plane.m_FromRun, target += 2 * Run::Bytes)
                {
                    CopyHalves<Run::Bytes>(target, source, source + plane.m_FromRun);
                }
            }
        }
        for (; run < plane.m_Runs; ++run, source += plane.m_FromRun, target += plane.m_ToRun)
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

/// The next runs, N bytes each, as one vector.
template <size_t N, class D>
HWY_INLINE hn::Vec<D> LoadGathered(D d, const std::byte* from, const uint32_t* indices)
{
    if constexpr (hn::MaxLanes(D()) == N)
    {
        return hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + size_t{*indices} * N));
    }
    else
    {
        const hn::Half<D> half;
        constexpr size_t InHalf = hn::MaxLanes(D()) / 2 / N;
        return CombineHalves(d, LoadGathered<N>(half, from, indices + InHalf), LoadGathered<N>(half, from, indices));
    }
}

/// Stores as many runs as fill a vector at once; the rest one by one.
template <typename Run>
void CopyGathered(const std::byte* from, size_t, const uint32_t* indices, size_t count, size_t bytes, std::byte* to)
{
    size_t i = 0;
    constexpr size_t N = Run::Bytes;
    if constexpr (N >= 16 && std::has_single_bit(N) && N < HWY_LANES(uint8_t))
    {
        const hn::ScalableTag<uint8_t> d;
        constexpr size_t Runs = HWY_LANES(uint8_t) / N;
        for (; i + Runs <= count; i += Runs, to += Runs * N)
        {
            hn::StoreU(LoadGathered<N>(d, from, indices + i), d, reinterpret_cast<uint8_t*>(to));
        }
    }
    for (; i < count; ++i, to += bytes)
    {
        Run::Copy(to, from + size_t{indices[i]} * (N != 0 ? N : bytes), bytes);
    }
}

/// Copies of runs of more than half of `Width` bytes. Each run is one store, whose end the next run overwrites, instead
/// of two exact ones.
template <size_t Width>
void CopyGatheredOver(const std::byte* from, size_t slices, const uint32_t* indices, size_t count, size_t bytes,
                      std::byte* to)
{
    const auto copyExactly = [&](size_t end)
    {
        for (size_t i = 0; i < end; ++i, to += bytes)
        {
            FirstAndLast<Width / 2>::Copy(to, from + size_t{indices[i]} * bytes, bytes);
        }
    };
    const hn::CappedTag<uint32_t, 8> d;
    constexpr size_t Group = hn::MaxLanes(d);
    // Reads past the last slice and writes past the last run are not allowed.
    const auto last = hn::Set(d, static_cast<uint32_t>(slices - 1));
    for (; count > Group; count -= Group, indices += Group)
    {
        if (!hn::AllFalse(d, hn::Eq(hn::LoadU(d, indices), last)))
        {
            copyExactly(Group);
            continue;
        }
        HWY_UNROLL(8)
        for (size_t i = 0; i < Group; ++i, to += bytes)
        {
            CopyFixed<Width>(to, from + size_t{indices[i]} * bytes);
        }
    }
    copyExactly(count);
}

/// Unsigned comparisons are avoided, as vectors of some processors compare signed elements only. For an index below
/// `limit`, the upper bits of the index and of limit - 1 - index are both 0.
bool IsEachBelow(const uint32_t* indices, size_t count, uint32_t limit)
{
    const hn::ScalableTag<uint32_t> d;
    constexpr size_t Lanes = hn::MaxLanes(d);
    const auto last = hn::Set(d, limit - 1);
    auto outside = hn::Zero(d);
    size_t i = 0;
    for (; i + Lanes <= count; i += Lanes)
    {
        const auto index = hn::LoadU(d, indices + i);
        outside = hn::Or(outside, hn::Or(index, hn::Sub(last, index)));
    }
    uint32_t rest = 0;
    for (; i < count; ++i)
    {
        rest |= indices[i] | (limit - 1 - indices[i]);
    }
    const auto isOutside = hn::Ne(hn::ShiftRight<31>(outside), hn::Zero(d));
    return hn::AllFalse(d, isOutside) && rest >> 31 == 0;
}

IsEachBelowFunction FindIsEachBelow()
{
    return IsEachBelow;
}

/// Calls f.operator()<Run>() with the copy class for runs of this length. Common lengths are moves that do not overlap.
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
    return bytes < 8    ? f.template operator()<FirstAndLast<4>>()
           : bytes < 16 ? f.template operator()<FirstAndLast<8>>()
           : bytes < 32 ? f.template operator()<FirstAndLast<16>>()
           : bytes < 64 ? f.template operator()<FirstAndLast<32>>()
                        : f.template operator()<FirstAndLast<64>>();
}

CopyPlaneFunction FindCopyPlane(size_t runBytes)
{
    return ChooseRun(runBytes, []<typename Run>() -> CopyPlaneFunction { return CopyPlane<Run>; });
}

CopyGatheredFunction FindCopyGathered(size_t bytes)
{
    switch (std::has_single_bit(bytes) ? 0 : std::bit_ceil(bytes))
    {
    case 4: return CopyGatheredOver<4>;
    case 8: return CopyGatheredOver<8>;
    case 16: return CopyGatheredOver<16>;
    case 32:
        if constexpr (HWY_LANES(uint8_t) >= 32)
        {
            return CopyGatheredOver<32>;
        }
        break;
    default: break;
    }
    return ChooseRun(bytes, []<typename Run>() -> CopyGatheredFunction { return CopyGathered<Run>; });
}

template <class D>
HWY_INLINE hn::Vec<D> Reversed(D d, hn::Vec<D> v)
{
    if constexpr (sizeof(hn::TFromD<D>) == 1 && hn::MaxLanes(D()) > 1)
    {
        // Highway has no reversal of bytes: pairs are reversed, then the bytes of each pair.
        const hn::Repartition<uint16_t, D> pairs;
        const auto reversed = hn::Reverse(pairs, hn::BitCast(pairs, v));
        return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(reversed), hn::ShiftRight<8>(reversed)));
    }
    else if constexpr (hn::MaxLanes(D()) > 1)
    {
        return hn::Reverse(d, v);
    }
    return v;
}

template <typename T>
void ReverseElements(const std::byte* from, size_t count, std::byte* to)
{
    const T* in = reinterpret_cast<const T*>(from);
    T* out = reinterpret_cast<T*>(to);
    Cover<T>(count, [&](auto d, size_t i) HWY_ATTR
             { hn::StoreU(Reversed(d, hn::LoadU(d, in + count - i - hn::MaxLanes(d))), d, out + i); });
}

ReverseFunction FindReverseLoop(size_t elementBytes)
{
    switch (elementBytes)
    {
    case 1: return ReverseElements<uint8_t>;
    case 2: return ReverseElements<uint16_t>;
    case 4: return ReverseElements<uint32_t>;
    case 8: return ReverseElements<uint64_t>;
    default: return nullptr;
    }
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

CopyGatheredFunction ChooseCopyGathered(size_t bytes)
{
    return TENON_CHOOSE(FindCopyGathered)(bytes);
}

IsEachBelowFunction ChooseIsEachBelow()
{
    return TENON_CHOOSE(FindIsEachBelow)();
}

ReverseFunction FindReverse(size_t elementBytes)
{
    return TENON_CHOOSE(FindReverseLoop)(elementBytes);
}

} // namespace tenon::cpu
#endif
