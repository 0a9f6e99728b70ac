// SPDX-License-Identifier: Apache-2.0
// GemmF64: float64 products by OpenBLAS's dgemm (DgemmLibrary), for BatchMatMul, FullyConnected and Convolution2d:
//   out[row][column] = clamp(bias[column] + sum_k x[row][k] * y[k][column])
// dgemm packs both matrices itself. This driver describes them to it, and cuts rows into blocks, so that tasks can
// share them.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/DgemmLibrary.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <cstddef>
#include <optional>

namespace tenon::cpu
{

/// How a matrix lies in memory, as dgemm takes it: rows of `m_Pitch` elements, of the matrix or of its transpose.
struct MatrixLayoutF64
{
    bool m_IsTransposed = false;
    int m_Pitch = 0;

    /// The layout of a matrix [rows, columns] with these elements from one row, and from one column, to the next. None
    /// where neither rows nor columns are contiguous, or where a size has more than 31 bits.
    static std::optional<MatrixLayoutF64> Find(size_t rows, size_t columns, size_t rowStep, size_t columnStep);
};

/// Products of one shape.
class GemmF64
{
public:
    struct Sizes
    {
        size_t m_Depth = 0;
        size_t m_Columns = 0;
        MatrixLayoutF64 m_X;
        MatrixLayoutF64 m_Y;
        size_t m_OutputPitch = 0; ///< elements from one row of the output to the next
    };

    /// Preconditions: the library has been found; depth and columns are not 0 and fit 31 bits, as the pitch does.
    GemmF64(const Sizes& sizes, const backends::FloatClamp& clamp)
        : m_Function(DgemmLibrary::Get().GetFunction()), m_Sizes(sizes), m_Clamp(clamp)
    {
    }

    /// `rows` rows on the calling thread; they fit 31 bits. `bias`: one for each column, or null.
    void Run(const double* x, const double* y, const double* bias, double* out, size_t rows) const;

private:
    DgemmLibrary::Function m_Function;
    Sizes m_Sizes;
    backends::FloatClamp m_Clamp;
};

/// The blocks of rows of several products of one shape. They depend on the sizes and the machine, not on the number of
/// threads: dgemm may add up a row in another order where it gets other rows with it.
class RowBlocksF64
{
public:
    RowBlocksF64() = default;
    /// `multiplications`: of all products. `maxRows`: of a block, at least 1.
    RowBlocksF64(size_t products, size_t rows, double multiplications, size_t maxRows);

    size_t GetCount() const { return m_Products * m_Blocks; }
    size_t GetMaxRows() const { return DivideUp(m_Rows, m_Blocks); }

    /// Calls body(task, product, rows) for each block, on at most `tasks` threads.
    template <typename F>
    void Run(IParallelFor& parallel, size_t tasks, const F& body) const
    {
        const size_t used = std::min<size_t>({tasks, parallel.GetNumThreads(), GetCount()});
        RunTasks(parallel, used,
                 [&](size_t task)
                 {
                     const IndexRange blocks = GetTaskRange(GetCount(), used, task);
                     for (size_t i = blocks.m_Begin; i < blocks.m_End; ++i)
                     {
                         body(task, i / m_Blocks, GetTaskRange(m_Rows, m_Blocks, i % m_Blocks));
                     }
                 });
    }

private:
    size_t m_Products = 0;
    size_t m_Rows = 0;
    size_t m_Blocks = 1; ///< of a product
};

/// Whether a size is one that dgemm takes.
bool IsSizeF64(size_t size);

/// Declines where there is no library, with the reason; else nothing.
std::optional<backends::Prepared> DeclineWithoutDgemm();

} // namespace tenon::cpu
