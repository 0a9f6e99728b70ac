// SPDX-License-Identifier: Apache-2.0
// The position of a point of GridSample along one dimension of an image, as in ONNX. With n elements, coordinate g is
// at (g + 1) / 2 * (n - 1), or at ((g + 1) * n - 1) / 2 if corners are not aligned, or in pixels at g. Used by the
// kernels of GridSample on CpuRef and CpuAcc.
#pragma once

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace tenon::ref
{

/// Elements along one dimension and their weights.
struct GridTaps
{
    static constexpr size_t Max = 4;

    size_t m_Count = 1;
    std::array<int64_t, Max> m_Index{}; ///< -1: 0 is taken in place of an element
    std::array<double, Max> m_Weight{1.0};
};

/// One dimension of the images.
class GridAxis
{
public:
    GridAxis() = default;
    GridAxis(int64_t size, const GridSampleDescriptor& descriptor)
        : m_Size(size), m_Mode(descriptor.m_Mode), m_Padding(descriptor.m_Padding),
          m_AlignCorners(descriptor.m_AlignCorners), m_InPixels(descriptor.m_InPixels),
          m_First(m_AlignCorners ? 0.0 : -0.5), m_Last(static_cast<double>(size) - (m_AlignCorners ? 1.0 : 0.5))
    {
    }

    GridTaps Find(double coordinate) const
    {
        const auto size = static_cast<double>(m_Size);
        double x = m_InPixels       ? coordinate
                   : m_AlignCorners ? (coordinate + 1.0) / 2.0 * (size - 1.0)
                                    : ((coordinate + 1.0) * size - 1.0) / 2.0;
        x = m_Mode == InterpolationMode::Nearest ? std::nearbyint(x) : x;
        x = Bound(x);
        const double floor = std::floor(x);
        const double rest = x - floor;
        const auto start = static_cast<int64_t>(floor);
        GridTaps taps;
        switch (m_Mode)
        {
        case InterpolationMode::Nearest: taps.m_Index[0] = Place(start); break;
        case InterpolationMode::Linear: taps = {2, {Place(start), Place(start + 1)}, {1.0 - rest, rest}}; break;
        case InterpolationMode::Cubic:
            taps.m_Count = 4;
            for (int i = 0; i < 4; ++i)
            {
                taps.m_Index[static_cast<size_t>(i)] = Place(start - 1 + i);
                taps.m_Weight[static_cast<size_t>(i)] = WeighCubic(std::abs(rest + 1.0 - i));
            }
            break;
        }
        return taps;
    }

private:
    /// The coordinate of an element, moved into the image as the padding says. With Cubic and padding by the border,
    /// the elements are moved and the coordinate stays, as in PyTorch and ONNX Runtime. A coordinate far outside stays
    /// where no element is near; NaN lies before the first element.
    double Bound(double x) const
    {
        const double outside = static_cast<double>(m_Size) + 4.0;
        if (!(x >= m_First && x <= m_Last))
        {
            switch (m_Padding)
            {
            case GridPadding::Border:
                x = m_Mode == InterpolationMode::Cubic ? x : std::clamp(x, 0.0, static_cast<double>(m_Size - 1));
                break;
            case GridPadding::Reflection: x = Reflect(x); break;
            case GridPadding::Zeros: break;
            }
        }
        return x >= -outside ? std::min(x, outside) : -outside;
    }

    double Reflect(double x) const
    {
        const double range = m_Last - m_First;
        const double beyond = x < m_First ? m_First - x : x - m_Last;
        if (!(range > 0.0) || !std::isfinite(x))
        {
            return m_AlignCorners ? m_First : 0.0;
        }
        const double reflections = std::floor(beyond / range);
        const double rest = beyond - reflections * range;
        const bool isFromStart = (x < m_First) == (std::fmod(reflections, 2.0) == 0.0);
        return isFromStart ? m_First + rest : m_Last - rest;
    }

    int64_t Place(int64_t index) const
    {
        if (index >= 0 && index < m_Size)
        {
            return index;
        }
        switch (m_Padding)
        {
        case GridPadding::Border: return std::clamp<int64_t>(index, 0, m_Size - 1);
        case GridPadding::Reflection:
            return std::clamp<int64_t>(static_cast<int64_t>(Reflect(static_cast<double>(index))), 0, m_Size - 1);
        case GridPadding::Zeros: break;
        }
        return -1;
    }

    /// Keys' cubic convolution with a = -0.75.
    static double WeighCubic(double x)
    {
        constexpr double A = -0.75;
        return x <= 1.0  ? ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
               : x < 2.0 ? ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A
                         : 0.0;
    }

    int64_t m_Size = 1;
    InterpolationMode m_Mode = InterpolationMode::Linear;
    GridPadding m_Padding = GridPadding::Zeros;
    bool m_AlignCorners = false;
    bool m_InPixels = false;
    double m_First = 0.0; ///< the image lies between these coordinates
    double m_Last = 0.0;
};

} // namespace tenon::ref
