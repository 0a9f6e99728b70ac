// SPDX-License-Identifier: Apache-2.0
// BroadcastRuns: preparation, and expansion of short rows.
#include "backends/cpu/elementwise/BroadcastRuns.hpp"

#include <cstdint>
#include <limits>

namespace tenon::cpu
{

namespace
{

/// Shorter rows are joined where possible: a run of several vectors is needed to be worth its call.
constexpr size_t ShortRowBytes = 2048;
/// The minimum size of a joined row.
constexpr size_t JoinedRowBytes = 4096;

/// Copies a row of `count` elements, or one element `count` times. May write up to seven bytes past the row.
template <typename T>
void WriteRow(const T* from, bool isScalar, size_t count, T* to)
{
    if (!isScalar)
    {
        std::memcpy(to, from, count * sizeof(T));
        return;
    }
    constexpr uint64_t Ones = ~uint64_t{0} / std::numeric_limits<T>::max(); // the number 1 in each element
    const uint64_t pattern = *from * Ones;
    for (size_t i = 0; i < count; i += sizeof(pattern) / sizeof(T))
    {
        std::memcpy(to + i, &pattern, sizeof(pattern));
    }
}

} // namespace

BroadcastRuns::BroadcastRuns(const TensorShape& a, const TensorShape& b, const TensorShape& output, size_t elementSize)
    : m_ElementSize(elementSize)
{
    const ref::BroadcastLoop loop(a, b, output);
    m_Row = loop.GetRow();
    m_Count = loop.GetNumRows() * m_Row.m_Size;
    for (const Dimension& dimension : loop.GetOuter())
    {
        m_Outer[m_NumOuter++] = dimension;
    }
    if (m_Row.m_Size == 1) // a single element: any step will do
    {
        m_Row.m_StepA = m_Row.m_StepB = 1;
    }
    m_OperandForms = m_Row.m_StepB == 0   ? OperandForms::VectorScalar
                     : m_Row.m_StepA == 0 ? OperandForms::ScalarVector
                                          : OperandForms::VectorVector;
    JoinShortRows();
    GatherShortRows();
}

void BroadcastRuns::JoinShortRows()
{
    if (m_OperandForms != OperandForms::VectorVector || m_NumOuter == 0 || m_Row.m_Size == 0 ||
        m_Row.m_Size * m_ElementSize >= ShortRowBytes)
    {
        return;
    }
    // The innermost of the outer dimensions repeats one input and advances in the other.
    const Dimension& rows = m_Outer[0];
    const bool repeatsA = rows.m_StepA == 0 && rows.m_StepB == m_Row.m_Size;
    const bool repeatsB = rows.m_StepB == 0 && rows.m_StepA == m_Row.m_Size;
    if (repeatsA == repeatsB || m_NumOuter != 1 || rows.m_Size == 0)
    {
        return; // with more dimensions the repeated input is more than one row
    }
    const size_t wanted = JoinedRowBytes / (m_Row.m_Size * m_ElementSize) + 1;
    m_RepeatsA = repeatsA;
    m_Period = m_Row.m_Size;
    m_Repeats = std::min(wanted, rows.m_Size);
    // The end of the output may cut the last joined row short.
    m_Row.m_Size *= m_Repeats;
    m_Outer[0] = {rows.m_Size / m_Repeats + 1, repeatsA ? 0 : m_Row.m_Size, repeatsB ? 0 : m_Row.m_Size};
}

void BroadcastRuns::GatherShortRows()
{
    const size_t rowBytes = m_Row.m_Size * m_ElementSize;
    if (m_Repeats != 0 || m_NumOuter == 0 || rowBytes == 0 || rowBytes > Chunk::ShortRowBytes)
    {
        return;
    }
    bool isWholeA = m_Row.m_StepA == 1;
    bool isWholeB = m_Row.m_StepB == 1;
    bool isSameA = true;
    bool isSameB = true;
    size_t elements = m_Row.m_Size;
    for (size_t d = 0; d < m_NumOuter; ++d)
    {
        isWholeA = isWholeA && m_Outer[d].m_StepA == elements;
        isWholeB = isWholeB && m_Outer[d].m_StepB == elements;
        isSameA = isSameA && m_Outer[d].m_StepA == 0;
        isSameB = isSameB && m_Outer[d].m_StepB == 0;
        elements *= m_Outer[d].m_Size;
    }
    using Source = Chunk::Source;
    m_Chunk = {Chunk::Bytes / rowBytes,
               isWholeA  ? Source::Whole
               : isSameA ? Source::SameRow
                         : Source::Rows,
               isWholeB  ? Source::Whole
               : isSameB ? Source::SameRow
                         : Source::Rows};
    m_OperandForms = OperandForms::VectorVector;
}

template <typename T>
void BroadcastRuns::GatherAs(const T* a, const T* b, size_t rows, bool isFirst, Position& at, T* toA, T* toB) const
{
    using Source = Chunk::Source;
    const bool writesA = m_Chunk.m_A == Source::Rows || (isFirst && m_Chunk.m_A == Source::SameRow);
    const bool writesB = m_Chunk.m_B == Source::Rows || (isFirst && m_Chunk.m_B == Source::SameRow);
    const size_t count = m_Row.m_Size;
    for (size_t row = 0; row < rows; ++row, toA += count, toB += count)
    {
        if (writesA)
        {
            WriteRow(a + at.m_A, m_Row.m_StepA == 0, count, toA);
        }
        if (writesB)
        {
            WriteRow(b + at.m_B, m_Row.m_StepB == 0, count, toB);
        }
        Step(at);
    }
}

void BroadcastRuns::Gather(const std::byte* a, const std::byte* b, size_t rows, bool isFirst, Position& at,
                           std::byte* toA, std::byte* toB) const
{
    const auto gather = [&](auto element)
    {
        using T = decltype(element);
        GatherAs(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b), rows, isFirst, at,
                 reinterpret_cast<T*>(toA), reinterpret_cast<T*>(toB));
    };
    switch (m_ElementSize)
    {
    case 1: gather(uint8_t{}); break;
    case 2: gather(uint16_t{}); break;
    default: gather(uint32_t{}); break;
    }
}

BroadcastRuns::Position BroadcastRuns::Find(size_t row) const
{
    Position at;
    for (size_t d = 0; d < m_NumOuter; ++d)
    {
        const Dimension& dimension = m_Outer[d];
        at.m_Index[d] = row % dimension.m_Size;
        at.m_A += at.m_Index[d] * dimension.m_StepA;
        at.m_B += at.m_Index[d] * dimension.m_StepB;
        row /= dimension.m_Size;
    }
    return at;
}

} // namespace tenon::cpu
