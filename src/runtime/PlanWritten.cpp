// SPDX-License-Identifier: Apache-2.0
// What of the host's arena a run writes: all of it but tensors between layers that run in strips, of which each thread
// writes one part.
#include "runtime/PlanSharing.hpp"

#include <algorithm>

namespace tenon
{

void Plan::FindWritten(const Program& program, const Sharing& sharing, const Contents& host)
{
    m_Written.clear();
    if (m_Strips.empty())
    {
        m_Written.push_back({0, m_Arenas[HostMemory].m_Bytes});
        return;
    }
    std::vector<ValueId> inner;
    for (const auto& strips : m_Strips)
    {
        for (size_t i = 0; i < strips->m_Steps.size(); ++i)
        {
            if (!strips->m_Steps[i].m_Output.m_IsKept)
            {
                inner.push_back(sharing.Root(program.Steps()[strips->m_First + i].m_FirstOutput));
            }
        }
    }
    std::sort(inner.begin(), inner.end());
    std::vector<ByteRange> ranges;
    for (size_t i = 0; i < host.m_Buffers.size(); ++i)
    {
        const bool isValue = i < host.m_Values.size(); // scratch memory follows them
        if (!isValue || !std::binary_search(inner.begin(), inner.end(), host.m_Values[i]))
        {
            ranges.push_back({host.m_Buffers[i].m_Offset, host.m_Buffers[i].m_Offset + host.m_Buffers[i].m_Bytes});
        }
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const ByteRange& a, const ByteRange& b) { return a.m_Begin < b.m_Begin; });
    for (const ByteRange& range : ranges)
    {
        if (m_Written.empty() || range.m_Begin > m_Written.back().m_End)
        {
            m_Written.push_back(range);
        }
        m_Written.back().m_End = std::max(m_Written.back().m_End, range.m_End);
    }
}

} // namespace tenon
