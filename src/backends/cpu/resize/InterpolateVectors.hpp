// SPDX-License-Identifier: Apache-2.0
// Weighted sums of columns and rows of floats. Used by Interpolate, GridSample, RoiAlign and PoolingNd.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// What columns are made of: column i of the output is the sum of m_Taps columns of the input. One that has no weight
/// is left out, even if it is infinite.
struct WeighedColumns
{
    size_t m_Count = 0; ///< of the output
    size_t m_Taps = 1;
    size_t m_Channels = 1;            ///< floats in a column
    const int32_t* m_Place = nullptr; ///< [m_Taps][m_Count]: the first float of an input column
    const float* m_Weight = nullptr;  ///< likewise
};

/// One dimension of images of GridSample. Coordinate g is at g * m_Scale + m_Shift.
struct GridDimension
{
    float m_Scale = 0.0f;
    float m_Shift = 0.0f;
    float m_First = 0.0f; ///< reflection: where the image begins
    float m_Range = 0.0f; ///< and how far it reaches
    int32_t m_Size = 1;
    int32_t m_Stride = 1; ///< elements from one index to the next
};

/// Points in images of two dimensions.
struct GridPoints
{
    GridDimension m_Rows;
    GridDimension m_Columns;
    InterpolationMode m_Mode = InterpolationMode::Linear; ///< or Nearest
    GridPadding m_Padding = GridPadding::Zeros;
};

struct InterpolateFunctions
{
    /// The taps of `count` points (x, y), of which each has 4, or 1 if Nearest: place and weight of WeighedColumns.
    void (*m_FindGridTaps)(const GridPoints& grid, const float* points, size_t count, int32_t* places,
                           float* weights) = nullptr;
    void (*m_WeighColumns)(const float* in, const WeighedColumns& columns, float* out) = nullptr;
    /// out[i] is the sum of rows[k][i] * weights[k] over k in [0, taps). Rows are of floats.
    void (*m_WeighRows)(const void* const* rows, const float* weights, size_t taps, size_t count, float* out) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const InterpolateFunctions& GetInterpolateFunctions();

} // namespace tenon::cpu
