// SPDX-License-Identifier: Apache-2.0
// MatrixPoints: the points of an image that a matrix gives for the pixels of another one, in floats that are rounded as
// MediaPipe rounds them. Used by the kernels of TransformTensorBilinear on CpuRef and CpuAcc, which agree on the points
// that lie outside.
#pragma once

#include <cstddef>

namespace tenon::ref
{

/// In pixels: (0, 0) is the center of the first one.
struct ImagePoint
{
    float m_X;
    float m_Y;
};

class MatrixPoints
{
public:
    /// `matrix`: [4][4]; its first two rows are read. The sizes are those of the image.
    MatrixPoints(const float* matrix, size_t height, size_t width)
        : m_Across(matrix), m_Down(matrix + 4), m_MaxX(static_cast<float>(width) - 1),
          m_MaxY(static_cast<float>(height) - 1)
    {
    }

    ImagePoint Find(size_t row, size_t column) const
    {
        const auto x = static_cast<float>(column);
        const auto y = static_cast<float>(row);
        return {m_Across.At(x, y), m_Down.At(x, y)};
    }

    /// Whether the point lies between the centers of pixels, or on one. NaN is nowhere.
    bool IsInside(const ImagePoint& point) const
    {
        return point.m_X >= 0 && point.m_Y >= 0 && point.m_X <= m_MaxX && point.m_Y <= m_MaxY;
    }

private:
    /// A row of the matrix, between the centers of pixels.
    struct Coordinate
    {
        float m_OfX;
        float m_OfY;
        float m_Offset;

        explicit Coordinate(const float* row)
            : m_OfX(row[0]), m_OfY(row[1]), m_Offset(static_cast<float>(row[3] + (row[0] * 0.5 + row[1] * 0.5 - 0.5)))
        {
        }
        float At(float x, float y) const { return m_OfX * x + m_OfY * y + m_Offset; }
    };

    Coordinate m_Across;
    Coordinate m_Down;
    float m_MaxX;
    float m_MaxY;
};

} // namespace tenon::ref
