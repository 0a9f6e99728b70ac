// SPDX-License-Identifier: Apache-2.0
// Loops over indices, compiled for each index type: see AxisIndices.hpp.
#include "backends/reference/kernels/AxisIndices.hpp"

#include <tenon/Exceptions.hpp>

#include <string>

namespace tenon::ref
{

AxisIndices::AxisIndices(const ReshapeArgs& args, int axis) : m_Indices(args, 1)
{
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& indices = args.GetInput(1).GetShape();
    m_Rank = data.GetNumDimensions();
    const int positive = axis < 0 ? axis + static_cast<int>(m_Rank) : axis;
    const auto along = static_cast<unsigned int>(positive);
    bool fits = positive >= 0 && along < m_Rank && indices.GetNumDimensions() == m_Rank;
    for (unsigned int i = 0; fits && i < m_Rank; ++i)
    {
        fits = i == along || indices[i] <= data[i];
    }
    if (!fits)
    {
        throw LayerValidationException("indices of shape " + indices.ToString() + " along axis " +
                                       std::to_string(axis) + " do not fit data of shape " + data.ToString() +
                                       ": both must have this axis, and one rank, and the indices be no larger "
                                       "elsewhere");
    }
    switch (args.GetInput(1).GetDataType())
    {
    case DataType::Signed16: m_Find = FindAs<int16_t>; break;
    case DataType::Signed32: m_Find = FindAs<int32_t>; break;
    default: m_Find = FindAs<int64_t>; break;
    }
    m_Rows = CountElements(indices, 0, m_Rank - 1);
    m_RowSize = indices[m_Rank - 1];
    m_Sizes = GetExtents(indices);
    m_Steps = GetStrides(data);
    m_AxisSize = int64_t{data[along]};
    m_AxisStride = static_cast<size_t>(m_Steps[along]);
    m_Step = along == m_Rank - 1 ? 0 : 1;
    m_Steps[along] = 0;
}

template <typename T>
bool AxisIndices::FindAs(const AxisIndices& self, const void* indices, size_t first, size_t count, size_t base,
                         size_t* places)
{
    const T* row = static_cast<const T*>(indices) + first;
    // The loop has no branches, because signs may come in any order. Neither a position nor the rest of the axis has
    // its upper bit set if the position is inside.
    const auto size = static_cast<uint64_t>(self.m_AxisSize);
    const size_t step = self.m_Step;
    const size_t stride = self.m_AxisStride;
    uint64_t outside = 0;
    for (size_t k = 0; k < count; ++k)
    {
        const auto index = int64_t{row[k]};
        const uint64_t place = static_cast<uint64_t>(index) + (size & static_cast<uint64_t>(index >> 63));
        outside |= place | (size - 1 - place);
        places[k] = base + k * step + static_cast<size_t>(place) * stride;
    }
    return outside >> 63 == 0;
}

void AxisIndices::ThrowOutside(const ExecuteArgs& args, size_t first, size_t count) const
{
    for (size_t i = first; i < first + count; ++i)
    {
        m_Indices.ReadChecked(args, i, m_AxisSize, true); // throws for the first index out of range
    }
}

} // namespace tenon::ref
