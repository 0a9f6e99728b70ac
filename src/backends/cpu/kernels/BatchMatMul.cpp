// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc: floats, through OpenBLAS. Both factors change from run to run, so there is nothing to pack
// beforehand, and it takes them as they lie, transposed or not.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/gemm/OpenBlas.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <algorithm>
#include <limits>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow Types[] = {
    backends::Types({DataType::Float32, DataType::Float32}, DataType::Float32),
};

/// OpenBLAS counts in int.
bool Fits(size_t size)
{
    return size <= static_cast<size_t>(std::numeric_limits<int>::max());
}

int ToBlas(size_t size)
{
    return static_cast<int>(size); // IsSuitable saw to it
}

/// Whether OpenBLAS can address the matrices: rows or columns are contiguous.
bool IsSuitable(const ref::MatMulGeometry& g)
{
    const auto isContiguous = [](const ref::MatMulGeometry::Strides& strides)
    { return (strides.m_Column == 1 || strides.m_Row == 1) && Fits(strides.m_Row) && Fits(strides.m_Column); };
    return isContiguous(g.m_X) && isContiguous(g.m_Y) && g.m_Output.m_Column == 1 && Fits(g.m_Output.m_Row) &&
           Fits(g.m_Rows) && Fits(g.m_Columns) && Fits(g.m_Depth) && g.m_Depth != 0;
}

struct Products
{
    ref::MatMulGeometry m_Geometry;
    const OpenBlas* m_Blas;
    size_t m_RowParts; ///< that a product is split into

    void operator()(const ExecuteArgs& args) const
    {
        const size_t parts = m_Geometry.m_NumBatches * m_RowParts;
        args.m_Parallel->Run(parts, 1,
                             [&](size_t begin, size_t end)
                             {
                                 m_Blas->PrepareThread();
                                 for (size_t part = begin; part < end; ++part)
                                 {
                                     Multiply(args, part / m_RowParts, part % m_RowParts);
                                 }
                             });
    }

    void Multiply(const ExecuteArgs& args, size_t product, size_t rowPart) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const ref::MatMulGeometry::Batch batch = g.GetBatch(product);
        const Part rows = GetPart(g.m_Rows, m_RowParts, rowPart);
        const float* x = args.GetInput<float>(0) + batch.m_X + rows.m_Begin * g.m_X.m_Row;
        const float* y = args.GetInput<float>(1) + g.GetMatrixY(batch.m_MatrixY);
        float* out = args.GetOutput<float>(0) + batch.m_Output + rows.m_Begin * g.m_Output.m_Row;
        const bool turnsX = g.m_X.m_Column != 1;
        const bool turnsY = g.m_Y.m_Column != 1;
        // A matrix of one row or column may have any distance between its rows; OpenBLAS asks for a possible one.
        const auto distance = [](size_t stride, size_t least) { return ToBlas(std::max({stride, least, size_t{1}})); };
        m_Blas->m_Sgemm(CblasRowMajor, turnsX ? CblasTrans : CblasNoTrans, turnsY ? CblasTrans : CblasNoTrans,
                        ToBlas(rows.m_End - rows.m_Begin), ToBlas(g.m_Columns), ToBlas(g.m_Depth), 1.0f, x,
                        turnsX ? distance(g.m_X.m_Column, 1) : distance(g.m_X.m_Row, g.m_Depth), y,
                        turnsY ? distance(g.m_Y.m_Column, g.m_Depth) : distance(g.m_Y.m_Row, g.m_Columns), 0.0f, out,
                        distance(g.m_Output.m_Row, g.m_Columns));
    }
};

SupportResult Check(const LayerView& layer)
{
    return ref::FindKernel(LayerType::BatchMatMul)->m_Check(layer);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ref::MatMulGeometry g(args);
    if (g.IsEmpty() || !IsSuitable(g))
    {
        return ref::FindKernel(LayerType::BatchMatMul)->Prepare(args, nullptr);
    }
    const double multiplications =
        static_cast<double>(g.m_Rows) * static_cast<double>(g.m_Columns) * static_cast<double>(g.m_Depth);
    constexpr size_t LeastRows = 16; // OpenBLAS rearranges y for each part anew
    const size_t rowParts = std::clamp<size_t>(
        std::min({GetWorthwhileParts(multiplications), GetMostParts(), g.m_Rows / LeastRows}), 1, GetMostParts());
    return Products{g, &GetOpenBlas(), g.m_NumBatches > 1 ? 1 : rowParts};
}

} // namespace

extern const backends::Kernel CpuBatchMatMulKernel = {"CpuBatchMatMul", Types,   Prepare,      Check,
                                                      nullptr,          nullptr, CheckOpenBlas};

} // namespace tenon::cpu
