// SPDX-License-Identifier: Apache-2.0
// Float matrix products through OpenBLAS, for the kernels of CpuAcc. OpenBLAS computes on the calling thread only;
// products are split over the threads of the caller's IParallelFor.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/Parts.hpp"

#include <cstddef>
#include <memory>

namespace tenon::cpu
{

class OpenBlas;

/// Whether OpenBLAS, which counts in int, can address `size` rows or columns.
bool FitsBlas(size_t size);

/// Weights as a matrix [depth, columns], row by row: what a product reads fastest, above all for few rows of data.
class WeightMatrix final : public backends::PackedWeights
{
public:
    /// Refers to weights that are [depth, columns] already. They must outlive this.
    static std::unique_ptr<WeightMatrix> Wrap(const float* weights, size_t depth, size_t columns);
    /// Copies weights that are [columns, depth].
    static std::unique_ptr<WeightMatrix> Transpose(const float* weights, size_t depth, size_t columns);

    const float* GetData() const { return m_Data; }
    size_t GetDepth() const { return m_Depth; }
    size_t GetColumns() const { return m_Columns; }

private:
    WeightMatrix(size_t depth, size_t columns) : m_Depth(depth), m_Columns(columns) {}

    std::unique_ptr<float[]> m_Owned; ///< null when the weights are used in place
    const float* m_Data = nullptr;
    size_t m_Depth;
    size_t m_Columns;
};

/// out = clamp(bias + data * weights), all row-major with the given distances between rows. A null bias is zeros.
struct Product
{
    size_t m_Rows = 0;    ///< of data and out
    size_t m_Columns = 0; ///< of weights and out
    size_t m_Depth = 0;   ///< columns of data, rows of weights
    size_t m_DataStride = 0;
    size_t m_WeightStride = 0;
    size_t m_OutStride = 0;
    const float* m_Weights = nullptr;
    backends::FloatClamp m_Clamp; ///< of the fused activation, if there is one

    const OpenBlas* m_Blas = nullptr; ///< Prepare sets it

    /// To be called before the others, when all sizes are set. Throws UnimplementedException when OpenBLAS cannot
    /// address these sizes, BackendUnavailableException when it cannot be loaded.
    void Prepare();
    /// Computes rows [firstRow, lastRow) and columns [firstColumn, lastColumn) of `out` on this thread.
    void RunTile(const float* data, const float* bias, float* out, size_t firstRow, size_t lastRow, size_t firstColumn,
                 size_t lastColumn) const;
    /// Computes all of `out`.
    void Run(const float* data, const float* bias, float* out, IParallelFor& parallel) const;
};

} // namespace tenon::cpu
