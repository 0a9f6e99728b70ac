// SPDX-License-Identifier: Apache-2.0
// The preparation of broadcasting loops.
#include "backends/cpu/elementwise/Broadcast.hpp"

namespace tenon::cpu
{

namespace
{

/// Rows of fewer bytes are joined where they can be: several vectors are needed for a run to be worth its call.
constexpr size_t ShortRowBytes = 2048;
/// What the joined row comes to at least.
constexpr size_t JoinedRowBytes = 4096;

} // namespace

Runs::Runs(const TensorShape& a, const TensorShape& b, const TensorShape& output, size_t elementSize)
    : m_ElementSize(elementSize)
{
    const ref::BroadcastLoop loop(a, b, output);
    m_Row = loop.GetRow();
    m_Count = loop.GetNumRows() * m_Row.m_Size;
    for (const Dimension& dimension : loop.GetOuter())
    {
        m_Outer[m_NumOuter++] = dimension;
    }
    if (m_Row.m_Size == 1) // a single element: neither needs to move
    {
        m_Row.m_StepA = m_Row.m_StepB = 1;
    }
    m_Motion = m_Row.m_StepB == 0 ? Motion::FixedB : m_Row.m_StepA == 0 ? Motion::FixedA : Motion::Both;
    JoinShortRows();
}

void Runs::JoinShortRows()
{
    if (m_Motion != Motion::Both || m_NumOuter == 0 || m_Row.m_Size == 0 ||
        m_Row.m_Size * m_ElementSize >= ShortRowBytes)
    {
        return;
    }
    // The innermost of the outer dimensions repeats one input and goes on through the other.
    const Dimension& rows = m_Outer[0];
    const bool repeatsA = rows.m_StepA == 0 && rows.m_StepB == m_Row.m_Size;
    const bool repeatsB = rows.m_StepB == 0 && rows.m_StepA == m_Row.m_Size;
    if (repeatsA == repeatsB || m_NumOuter != 1 || rows.m_Size == 0)
    {
        return; // with more dimensions the repeated input is not one row
    }
    const size_t wanted = JoinedRowBytes / (m_Row.m_Size * m_ElementSize) + 1;
    m_RepeatsA = repeatsA;
    m_Period = m_Row.m_Size;
    m_Repeats = std::min(wanted, rows.m_Size);
    // The last row of the walk may be cut short by the end of the output.
    m_Row.m_Size *= m_Repeats;
    m_Outer[0] = {rows.m_Size / m_Repeats + 1, repeatsA ? 0 : m_Row.m_Size, repeatsB ? 0 : m_Row.m_Size};
}

Runs::Position Runs::Find(size_t row) const
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
