// SPDX-License-Identifier: Apache-2.0
// StridedMove: the two innermost loops are a plane, copied by a function that is chosen for the kind of plane.
#include "backends/cpu/move/StridedMove.hpp"

#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/Types.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace tenon::cpu
{

namespace
{

/// Bytes of a plane's share of a split: planes of at least twice this size are worth splitting.
constexpr size_t SplitBytes = size_t{1} << 15;
/// Bytes that no longer arrive from the caches in time, and of planes that two threads share: two gain less from a
/// smaller plane than the loop costs.
constexpr size_t LargeBytes = size_t{1} << 18;
/// The number of threads that gain from sharing smaller planes.
constexpr size_t ManyThreads = 4;

template <typename T>
void FillRuns(const Plane& plane, const std::byte* from, std::byte* to)
{
    const size_t runs = plane.m_Runs;
    for (size_t row = 0; row < plane.m_Rows; ++row, from += plane.m_FromRow, to += plane.m_ToRow)
    {
        T value;
        std::memcpy(&value, from, sizeof(T));
        for (size_t run = 0; run < runs; ++run)
        {
            std::memcpy(to + run * sizeof(T), &value, sizeof(T)); // two floats may have less alignment than one T
        }
    }
}

/// True if a transposition of `bytes` bytes is worth prefetches.
bool IsLarge(const Plane& plane, size_t bytes)
{
    // Long rows arrive from the second-level cache in time without prefetches. Bytes wait for their shuffles, which
    // hides the loads.
    constexpr int64_t LongRow = 512;
    const bool isNear = bytes < 2 * LargeBytes && plane.m_RunBytes > 1 && plane.m_FromRun >= LongRow;
    return bytes >= LargeBytes && !isNear;
}

/// The function that repeats one element side by side; null for other planes.
CopyPlaneFunction ChooseFill(const Plane& plane)
{
    if (plane.m_FromRun != 0 || plane.m_ToRun != static_cast<int64_t>(plane.m_RunBytes))
    {
        return nullptr;
    }
    switch (plane.m_RunBytes)
    {
    case 1: return FillRuns<uint8_t>;
    case 2: return FillRuns<uint16_t>;
    case 4: return FillRuns<uint32_t>;
    case 8: return FillRuns<uint64_t>;
    default: return nullptr;
    }
}

} // namespace

StridedMove::StridedMove(std::vector<Dimension> dimensions, size_t elementBytes) : m_Outer(std::move(dimensions))
{
    m_Plane.m_RunBytes = elementBytes;
    for (const Dimension& dimension : m_Outer)
    {
        if (dimension.m_Count == 0)
        {
            return;
        }
    }
    Merge();
    MakePlane();
    SplitPlane();
    size_t bytes = m_Plane.m_Rows * m_Plane.m_Runs * m_Plane.m_RunBytes;
    for (const Dimension& dimension : m_Outer)
    {
        m_Units *= dimension.m_Count;
    }
    m_Plane.m_IsLarge = IsLarge(m_Plane, m_Units * bytes);
    m_Grain = GetGrain(2 * bytes);
    const size_t planeBytes = bytes * m_Segments;
    m_GrainOfFew = planeBytes < LargeBytes ? m_Segments * GetGrain(2 * planeBytes) : m_Grain;
}

void StridedMove::Merge()
{
    std::erase_if(m_Outer, [](const Dimension& dimension) { return dimension.m_Count == 1; });
    std::stable_sort(m_Outer.begin(), m_Outer.end(),
                     [](const Dimension& a, const Dimension& b) { return a.m_To > b.m_To; });
    std::vector<Dimension> merged;
    for (const Dimension& inner : m_Outer)
    {
        const auto count = static_cast<int64_t>(inner.m_Count);
        if (!merged.empty() && merged.back().m_From == count * inner.m_From && merged.back().m_To == count * inner.m_To)
        {
            merged.back() = {merged.back().m_Count * inner.m_Count, inner.m_From, inner.m_To};
        }
        else
        {
            merged.push_back(inner);
        }
    }
    const auto run = static_cast<int64_t>(m_Plane.m_RunBytes);
    if (!merged.empty() && merged.back().m_From == run && merged.back().m_To == run)
    {
        m_Plane.m_RunBytes *= merged.back().m_Count;
        merged.pop_back();
    }
    m_Outer = std::move(merged);
}

void StridedMove::MakePlane()
{
    const auto run = static_cast<int64_t>(m_Plane.m_RunBytes);
    if (!m_Outer.empty())
    {
        const Dimension& runs = m_Outer.back();
        m_Plane.m_Runs = runs.m_Count;
        m_Plane.m_FromRun = runs.m_From;
        m_Plane.m_ToRun = runs.m_To;
        m_Outer.pop_back();
    }
    m_Copy = ChooseFill(m_Plane);
    auto rows = m_Outer.end();
    // The memory of a run may have the alignment of one element only. 32-bit Arm has no vectors of 8-byte elements.
    constexpr size_t LargestWord = sizeof(void*) == 4 ? 4 : 8;
    const bool hasWord = m_Plane.m_RunBytes <= LargestWord && std::has_single_bit(m_Plane.m_RunBytes);
    if (hasWord && m_Plane.m_ToRun == run && m_Plane.m_FromRun % run == 0)
    {
        // If another dimension than in the target is contiguous in the source, the plane is a transposition, of words
        // if a run has several elements.
        rows = std::find_if(m_Outer.begin(), m_Outer.end(),
                            [run](const Dimension& d) { return d.m_From == run && d.m_To % run == 0; });
        if (rows != m_Outer.end())
        {
            m_Copy = GetTransposeFunctions().m_Transpose[std::countr_zero(m_Plane.m_RunBytes)];
        }
    }
    if (rows == m_Outer.end() && !m_Outer.empty())
    {
        --rows;
    }
    if (rows != m_Outer.end())
    {
        m_Plane.m_Rows = rows->m_Count;
        m_Plane.m_FromRow = rows->m_From;
        m_Plane.m_ToRow = rows->m_To;
        m_Outer.erase(rows);
    }
    if (m_Copy == nullptr)
    {
        m_Copy = ChooseCopyPlane(m_Plane.m_RunBytes);
    }
}

void StridedMove::SplitPlane()
{
    constexpr size_t Line = 64;
    const size_t bytes = m_Plane.m_Rows * m_Plane.m_Runs * m_Plane.m_RunBytes;
    const size_t wanted = bytes / SplitBytes;
    if (wanted < 2)
    {
        return;
    }
    // Segments of a transposition are whole cache lines for any element size, and so are those of a single run.
    const bool isOfLines = m_Plane.m_RunBytes >= Line && m_Plane.m_Rows * m_Plane.m_Runs > 1;
    const size_t unit = isOfLines ? 1 : Line;
    // The longest loop is split: rows, runs, or the bytes of a single run.
    const auto cut = [this, wanted, unit](size_t Plane::*count, int64_t from, int64_t to)
    {
        m_UnsplitSize = m_Plane.*count;
        const size_t segment = DivideUp(DivideUp(m_UnsplitSize, 2 * wanted), unit) * unit;
        if (segment >= m_UnsplitSize)
        {
            return;
        }
        m_SplitSize = count;
        m_Plane.*count = segment;
        m_Segments = DivideUp(m_UnsplitSize, segment);
        const auto elements = static_cast<int64_t>(segment);
        m_Outer.push_back({m_Segments, elements * from, elements * to});
    };
    if (m_Plane.m_Rows >= m_Plane.m_Runs && m_Plane.m_Rows > 1)
    {
        cut(&Plane::m_Rows, m_Plane.m_FromRow, m_Plane.m_ToRow);
    }
    else if (m_Plane.m_Runs > 1)
    {
        cut(&Plane::m_Runs, m_Plane.m_FromRun, m_Plane.m_ToRun);
    }
    else
    {
        cut(&Plane::m_RunBytes, 1, 1);
    }
}

void StridedMove::Run(IParallelFor& parallel, const std::byte* from, std::byte* to) const
{
    if (m_Copy == nullptr || from == to)
    {
        return;
    }
    const size_t grain = parallel.GetNumThreads() < ManyThreads ? m_GrainOfFew : m_Grain;
    RunRanges(parallel, m_Units, grain, [&](size_t begin, size_t end) { RunUnits(begin, end, from, to); });
}

void StridedMove::RunUnits(size_t begin, size_t end, const std::byte* from, std::byte* to) const
{
    std::array<size_t, 2 * MaxNumOfTensorDimensions + 2> index{};
    size_t rest = begin;
    for (size_t i = m_Outer.size(); i-- > 0;)
    {
        index[i] = rest % m_Outer[i].m_Count;
        rest /= m_Outer[i].m_Count;
        from += static_cast<int64_t>(index[i]) * m_Outer[i].m_From;
        to += static_cast<int64_t>(index[i]) * m_Outer[i].m_To;
    }
    Plane plane = m_Plane;
    for (size_t unit = begin; unit < end;)
    {
        size_t units = 1;
        if (m_SplitSize != nullptr)
        {
            // Consecutive segments of one thread are joined again. The last segment of the plane may be shorter.
            const size_t at = index[m_Outer.size() - 1];
            const size_t segment = m_Plane.*m_SplitSize;
            units = std::min(end - unit, m_Outer.back().m_Count - at);
            plane.*m_SplitSize = std::min(units * segment, m_UnsplitSize - at * segment);
        }
        m_Copy(plane, from, to);
        unit += units;
        for (size_t i = m_Outer.size(); i-- > 0; units = 1)
        {
            const auto steps = static_cast<int64_t>(units);
            from += steps * m_Outer[i].m_From;
            to += steps * m_Outer[i].m_To;
            index[i] += units;
            if (index[i] < m_Outer[i].m_Count)
            {
                break;
            }
            from -= static_cast<int64_t>(m_Outer[i].m_Count) * m_Outer[i].m_From;
            to -= static_cast<int64_t>(m_Outer[i].m_Count) * m_Outer[i].m_To;
            index[i] = 0;
        }
    }
}

} // namespace tenon::cpu
