// SPDX-License-Identifier: Apache-2.0
// Weighted sums of gathered columns and of rows, out[i] = sum_k weight[k][i] * in[offset[k][i]], with tables
// [taps][count]. Interpolate, GridSample, TransformTensorBilinear, RoiAlign and PoolingNd call them.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Output column i is a weighted sum of m_Taps input columns. A column of weight 0 is skipped, even if it is infinite.
struct WeightedColumns
{
    size_t m_Count = 0; ///< output columns
    size_t m_Taps = 1;
    size_t m_Channels = 1;             ///< floats in a column
    const int32_t* m_Offset = nullptr; ///< [m_Taps][m_Count]: offset of the first float of an input column
    const float* m_Weight = nullptr;   ///< [m_Taps][m_Count]
};

/// The most elements along a dimension of GridDimension: floats have all indices up to it.
constexpr unsigned int MaxGridSize = 1U << 24;

/// One dimension of an image that is sampled at points. Coordinate g is at position g * m_Scale + m_Shift.
struct GridDimension
{
    float m_Scale = 1.0f;
    float m_Shift = 0.0f;
    float m_First = 0.0f; ///< reflection: the first position of the image
    float m_Range = 0.0f; ///< reflection: the length of the image
    int32_t m_Size = 1;
    int32_t m_Stride = 1; ///< elements from one index to the next

    /// Coordinates are indices.
    static GridDimension InPixels(size_t size, size_t stride)
    {
        GridDimension dimension;
        dimension.m_Size = static_cast<int32_t>(size);
        dimension.m_Stride = static_cast<int32_t>(stride);
        return dimension;
    }
};

/// Parameters of the points in images of two dimensions.
struct GridPoints
{
    GridDimension m_Rows;
    GridDimension m_Columns;
    InterpolationMode m_Mode = InterpolationMode::Linear; ///< or Nearest
    GridPadding m_Padding = GridPadding::Zeros;
};

struct InterpolateFunctions
{
    /// Computes the taps of `count` points (x, y), 4 a point, or 1 if Nearest: offset and weight of WeightedColumns.
    void (*m_FindGridTaps)(const GridPoints& grid, const float* points, size_t count, int32_t* offsets,
                           float* weights) = nullptr;
    void (*m_CombineColumns)(const float* in, const WeightedColumns& columns, float* out) = nullptr;
    /// out[i] = the sum of rows[k][i] * weights[k] over k in [0, taps). Rows are floats.
    void (*m_CombineRows)(const void* const* rows, const float* weights, size_t taps, size_t count,
                          float* out) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const InterpolateFunctions& GetInterpolateFunctions();

} // namespace tenon::cpu
