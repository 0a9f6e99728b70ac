// SPDX-License-Identifier: Apache-2.0
// See RegionBorder.hpp.
#include "optimizer/layout/RegionBorder.hpp"

#include "common/CheckedMath.hpp"

#include <algorithm>

namespace tenon
{

void BorderCost::Add(const TensorInfo& info)
{
    ++m_Count;
    // A shape of nonsense may have more elements than can be counted; the run refuses it.
    uint64_t elements = info.GetShape().AreAllDimensionsSpecified() ? 1 : 0;
    for (unsigned int i = 0; elements != 0 && i < info.GetNumDimensions(); ++i)
    {
        elements = CheckedMul<uint64_t>(elements, uint64_t{info.GetShape()[i]}).value_or(0);
    }
    m_Elements += elements;
}

RegionBorder::Edges& RegionBorder::Find(OutputSlot* source)
{
    if (m_Size <= MaxSearched)
    {
        const auto end = m_Edges.begin() + static_cast<ptrdiff_t>(m_Size);
        const auto found =
            std::find_if(m_Edges.begin(), end, [&](const Edges& edges) { return edges.m_Source == source; });
        if (found != end)
        {
            return *found;
        }
        for (size_t i = 0; m_Size == MaxSearched && i < m_Size; ++i)
        {
            m_Places.emplace(m_Edges[i].m_Source, i);
        }
    }
    if (m_Size >= MaxSearched)
    {
        const auto [found, isNew] = m_Places.emplace(source, m_Size);
        if (!isNew)
        {
            return m_Edges[found->second];
        }
    }
    if (m_Size == m_Edges.size())
    {
        m_Edges.emplace_back();
    }
    Edges& edges = m_Edges[m_Size++];
    edges.m_Source = source;
    edges.m_Readers.clear();
    edges.m_IsTransposed = false;
    return edges;
}

} // namespace tenon
