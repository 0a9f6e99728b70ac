// SPDX-License-Identifier: Apache-2.0
// The points of RoiAlign's regions. Used by its kernels on CpuRef and CpuAcc.
#pragma once

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tenon::ref
{

/// The points of a region along one dimension of the image.
struct RegionAxis
{
    double m_Start;   ///< start of the region
    double m_Cell;    ///< size of a cell
    int64_t m_Points; ///< points in a cell
    int64_t m_Size;   ///< size of the image

    RegionAxis(double from, double to, const RoiAlignDescriptor& descriptor, int64_t cells, int64_t size) : m_Size(size)
    {
        const double offset = descriptor.m_HalfPixel ? 0.5 : 0.0;
        m_Start = from * static_cast<double>(descriptor.m_SpatialScale) - offset;
        double extent = to * static_cast<double>(descriptor.m_SpatialScale) - offset - m_Start;
        extent = descriptor.m_HalfPixel ? extent : std::max(extent, 1.0);
        m_Cell = extent / static_cast<double>(cells);
        const double max = static_cast<double>(size) * 64.0; // points in a cell, for regions out of all bounds
        m_Points = descriptor.m_SamplingRatio > 0 ? static_cast<int64_t>(descriptor.m_SamplingRatio)
                   : m_Cell > 0.0                 ? static_cast<int64_t>(std::min(std::ceil(m_Cell), max))
                                                  : 0;
    }
};

/// The position of a point between two elements.
struct RegionPoint
{
    bool m_IsOutside;
    int64_t m_Low;
    int64_t m_High;
    double m_LowWeight;
    double m_HighWeight;

    /// Point i of a cell.
    RegionPoint(const RegionAxis& axis, int64_t cell, int64_t i)
    {
        double at = axis.m_Start + static_cast<double>(cell) * axis.m_Cell +
                    (static_cast<double>(i) + 0.5) * axis.m_Cell / static_cast<double>(axis.m_Points);
        m_IsOutside = !(at >= -1.0 && at <= static_cast<double>(axis.m_Size));
        at = m_IsOutside ? 0.0 : std::clamp(at, 0.0, static_cast<double>(axis.m_Size - 1));
        m_Low = static_cast<int64_t>(at);
        m_High = std::min(m_Low + 1, axis.m_Size - 1);
        m_HighWeight = at - static_cast<double>(m_Low);
        m_LowWeight = 1.0 - m_HighWeight;
    }
};

} // namespace tenon::ref
