// SPDX-License-Identifier: Apache-2.0
// Matrix products: what is called in OpenBLAS, and how a product is cut into tiles.
#include "backends/cpu/gemm/Gemm.hpp"

#include "backends/cpu/gemm/OpenBlas.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace tenon::cpu
{

namespace
{

/// Rows of a tile: its output, which starts as the bias, stays in the second-level cache until the product reads it.
constexpr size_t TileRows = 256;

/// With fewer rows a part than this the columns are split instead, in units that fill the widest vectors.
constexpr size_t LeastRowsPerPart = 16;
constexpr size_t ColumnUnit = 16;

int ToBlas(size_t size)
{
    return static_cast<int>(size); // Prepare saw to it
}

} // namespace

bool FitsBlas(size_t size)
{
    return size <= static_cast<size_t>(std::numeric_limits<int>::max());
}

std::unique_ptr<WeightMatrix> WeightMatrix::Wrap(const float* weights, size_t depth, size_t columns)
{
    std::unique_ptr<WeightMatrix> matrix(new WeightMatrix(depth, columns));
    matrix->m_Data = weights;
    return matrix;
}

std::unique_ptr<WeightMatrix> WeightMatrix::Transpose(const float* weights, size_t depth, size_t columns)
{
    constexpr size_t Block = 16; // a cache line of floats in both directions
    std::unique_ptr<WeightMatrix> matrix(new WeightMatrix(depth, columns));
    matrix->m_Owned = std::make_unique_for_overwrite<float[]>(depth * columns);
    float* out = matrix->m_Owned.get();
    for (size_t k0 = 0; k0 < depth; k0 += Block)
    {
        const size_t kEnd = std::min(depth, k0 + Block);
        for (size_t n0 = 0; n0 < columns; n0 += Block)
        {
            const size_t nEnd = std::min(columns, n0 + Block);
            for (size_t k = k0; k < kEnd; ++k)
            {
                for (size_t n = n0; n < nEnd; ++n)
                {
                    out[k * columns + n] = weights[n * depth + k];
                }
            }
        }
    }
    matrix->m_Data = out;
    return matrix;
}

void Product::Prepare()
{
    for (const size_t size : {m_Columns, m_Depth, m_DataStride, m_WeightStride, m_OutStride})
    {
        if (!FitsBlas(size))
        {
            throw UnimplementedException("CpuAcc cannot multiply matrices with rows of " + std::to_string(size) +
                                         " elements; run this layer on CpuRef");
        }
    }
    m_Blas = &GetOpenBlas();
}

void Product::RunTile(const float* data, const float* bias, float* out, size_t firstRow, size_t lastRow,
                      size_t firstColumn, size_t lastColumn) const
{
    const size_t columns = lastColumn - firstColumn;
    if (columns == 0)
    {
        return;
    }
    m_Blas->PrepareThread();
    const float* weights = m_Weights + firstColumn;
    for (size_t row = firstRow; row < lastRow;)
    {
        const size_t rows = std::min(TileRows, lastRow - row);
        float* tile = out + row * m_OutStride + firstColumn;
        // The product is added to the bias: OpenBLAS would write zeros first otherwise.
        for (size_t r = 0; r < rows; ++r)
        {
            if (bias != nullptr)
            {
                std::memcpy(tile + r * m_OutStride, bias + firstColumn, columns * sizeof(float));
            }
            else
            {
                std::memset(tile + r * m_OutStride, 0, columns * sizeof(float));
            }
        }
        const float* rowsOfData = data + row * m_DataStride;
        if (m_Depth != 0 && rows == 1)
        {
            // Several times faster than sgemm for one row.
            m_Blas->m_Sgemv(CblasRowMajor, CblasTrans, ToBlas(m_Depth), ToBlas(columns), 1.0f, weights,
                            ToBlas(m_WeightStride), rowsOfData, 1, 1.0f, tile, 1);
        }
        else if (m_Depth != 0)
        {
            m_Blas->m_Sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ToBlas(rows), ToBlas(columns), ToBlas(m_Depth),
                            1.0f, rowsOfData, ToBlas(m_DataStride), weights, ToBlas(m_WeightStride), 1.0f, tile,
                            ToBlas(m_OutStride));
        }
        if (m_Clamp.IsActive())
        {
            for (size_t r = 0; r < rows; ++r)
            {
                m_Clamp.Run(tile + r * m_OutStride, columns);
            }
        }
        row += rows;
    }
}

void Product::Run(const float* data, const float* bias, float* out, IParallelFor& parallel) const
{
    const double multiplications =
        static_cast<double>(m_Rows) * static_cast<double>(m_Columns) * static_cast<double>(m_Depth);
    const size_t threads = std::min<size_t>(parallel.GetNumThreads(), GetWorthwhileParts(multiplications));
    if (m_Rows >= threads * LeastRowsPerPart)
    {
        RunParts(parallel, threads,
                 [&](size_t index)
                 {
                     const Part part = GetPart(m_Rows, threads, index);
                     RunTile(data, bias, out, part.m_Begin, part.m_End, 0, m_Columns);
                 });
        return;
    }
    const size_t parts = std::clamp<size_t>(m_Columns / ColumnUnit, 1, threads);
    RunParts(parallel, parts,
             [&](size_t index)
             {
                 const Part part = GetPart(m_Columns, parts, index, ColumnUnit);
                 RunTile(data, bias, out, 0, m_Rows, part.m_Begin, part.m_End);
             });
}

} // namespace tenon::cpu
