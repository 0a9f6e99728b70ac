// SPDX-License-Identifier: Apache-2.0
// Copies of short runs.
#include "backends/cpu/moves/CopyPlane.hpp"

#include "common/CopyBlock.hpp"

#include <cstring>

namespace tenon::cpu
{

namespace
{

template <size_t N>
struct Fixed
{
    static void Copy(std::byte* to, const std::byte* from, size_t) { std::memcpy(to, from, N); }
};

/// N to 2 * N bytes: the first N and the last N.
template <size_t N>
struct Ends
{
    static void Copy(std::byte* to, const std::byte* from, size_t bytes)
    {
        std::memcpy(to, from, N);
        std::memcpy(to + bytes - N, from + bytes - N, N);
    }
};

struct Any
{
    static void Copy(std::byte* to, const std::byte* from, size_t bytes) { CopyBlock(to, from, bytes); }
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

template <typename Run>
void CopyPicked(const std::byte* from, const size_t* indices, size_t count, size_t bytes, std::byte* to)
{
    for (size_t i = 0; i < count; ++i, to += bytes)
    {
        Run::Copy(to, from + indices[i] * bytes, bytes);
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

} // namespace

CopyPlaneFunction ChooseCopyPlane(size_t runBytes)
{
    return ChooseRun(runBytes, []<typename Run>() -> CopyPlaneFunction { return CopyPlane<Run>; });
}

CopyPickedFunction ChooseCopyPicked(size_t bytes)
{
    return ChooseRun(bytes, []<typename Run>() -> CopyPickedFunction { return CopyPicked<Run>; });
}

} // namespace tenon::cpu
