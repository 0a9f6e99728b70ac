// SPDX-License-Identifier: Apache-2.0
// How the kernels of CpuAcc split their loops over the threads of the caller.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace tenon::cpu
{

/// How many parts a layer of so many multiplications is worth splitting into.
size_t GetWorthwhileParts(double multiplications);

/// In how many parts a loop is cut where sums may be taken in another order for another number of parts: results are
/// the same for any number of threads. Each core gets one, and on a machine with few of them there are some more for
/// callers who ask for more threads than cores.
size_t GetCutParts();

/// The most parts, each with scratch memory of its own, that a kernel is made for: no more than GetCutParts(), nor than
/// `maxThreads`, see ReshapeArgs::m_MaxThreads.
size_t GetMaxParts(unsigned int maxThreads);

/// How many parts of `b` make up `a`.
constexpr size_t DivideUp(size_t a, size_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

/// Part `part` of [0, count) in `parts` almost equal contiguous parts, whose bounds are multiples of `unit`.
struct Part
{
    size_t m_Begin = 0;
    size_t m_End = 0;
};
Part GetPart(size_t count, size_t parts, size_t part, size_t unit = 1);

/// Calls body(begin, height, count) for tiles of at most `most` rows, as equal as they can be: one of few rows is slow.
/// They have one of two heights, and it is called once for all tiles of a height.
template <typename F>
void ForEachHeight(size_t rows, size_t most, F&& body)
{
    if (rows <= most) // without divisions, which take as long as a small tile
    {
        if (rows != 0)
        {
            body(size_t{0}, rows, size_t{1});
        }
        return;
    }
    const size_t tiles = DivideUp(rows, most);
    const size_t height = rows / tiles;
    const size_t higher = rows - height * tiles;
    if (higher != 0)
    {
        body(size_t{0}, height + 1, higher);
    }
    if (higher != tiles)
    {
        body(higher * (height + 1), height, tiles - higher);
    }
}

/// The same, called as body(begin, height) for each tile. There may be one for a few hundred nanoseconds.
template <typename F>
void ForEachTile(size_t rows, size_t most, F&& body)
{
    ForEachHeight(rows, most,
                  [&](size_t begin, size_t height, size_t count)
                  {
                      for (size_t i = 0; i < count; ++i)
                      {
                          body(begin + i * height, height);
                      }
                  });
}

/// Calls body(part) for each of `parts` parts, each once, on several threads. Two calls never share a part, so a part
/// may own scratch memory.
template <typename F>
void RunParts(IParallelFor& parallel, size_t parts, F&& body)
{
    if (parts <= 1)
    {
        body(size_t{0});
        return;
    }
    const auto range = [&body](size_t begin, size_t end)
    {
        for (size_t part = begin; part < end; ++part)
        {
            body(part);
        }
    };
    parallel.Run(parts, 1, range); // one reference captured: std::function holds it without allocating
}

/// How many units, each of which moves so many bytes, a part of a loop at the speed of memory should have at least:
/// then it takes several times what starting it on another thread does.
inline size_t GetGrain(size_t unitBytes)
{
    constexpr size_t BytesPerPart = size_t{1} << 15;
    return std::max<size_t>(1, BytesPerPart / std::max<size_t>(1, unitBytes));
}

/// Calls body(begin, end) for ranges of at least `grain` that make up [0, count).
template <typename F>
void RunRanges(IParallelFor& parallel, size_t count, size_t grain, const F& body)
{
    if (count <= grain)
    {
        body(size_t{0}, count);
        return;
    }
    parallel.Run(count, grain, std::ref(body)); // by reference: a copy could need memory
}

} // namespace tenon::cpu
