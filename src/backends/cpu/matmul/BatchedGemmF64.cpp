// SPDX-License-Identifier: Apache-2.0
// See BatchedGemmF64.hpp.
#include "backends/cpu/matmul/BatchedGemmF64.hpp"

#include <limits>
#include <optional>

namespace tenon::cpu
{

backends::Prepared PrepareBatchedGemmF64(const ref::MatMulGeometry& g, const EpilogueParamsF64& epilogue)
{
    if (std::optional<backends::Prepared> declined = DeclineWithoutDgemm())
    {
        return *std::move(declined);
    }
    if (g.IsEmpty() || g.m_Depth == 0)
    {
        return backends::Prepared::Declined("its matrices are empty");
    }
    const auto x = MatrixLayoutF64::Find(g.m_Rows, g.m_Depth, g.m_X.m_Row, g.m_X.m_Column);
    const auto y = MatrixLayoutF64::Find(g.m_Depth, g.m_Columns, g.m_Y.m_Row, g.m_Y.m_Column);
    const auto output = MatrixLayoutF64::Find(g.m_Rows, g.m_Columns, g.m_Output.m_Row, g.m_Output.m_Column);
    if (!x || !y || !output || output->m_IsTransposed)
    {
        return backends::Prepared::Declined("rows and columns of its matrices lie apart, or a size has over 31 bits");
    }
    const GemmF64 product({g.m_Depth, g.m_Columns, *x, *y, static_cast<size_t>(output->m_Pitch)}, epilogue.m_Clamp);
    const double multiplications = static_cast<double>(g.m_NumBatches) * static_cast<double>(g.m_Rows) *
                                   static_cast<double>(g.m_Columns) * static_cast<double>(g.m_Depth);
    const RowBlocksF64 blocks(g.m_NumBatches, g.m_Rows, multiplications, g.m_Rows);
    return [g, product, blocks, hasBias = epilogue.m_HasBias](const ExecuteArgs& args)
    {
        const double* const bias = hasBias ? args.GetInput<double>(2) : nullptr;
        blocks.Run(*args.m_Parallel, std::numeric_limits<size_t>::max(),
                   [&](size_t, size_t index, const IndexRange& rows)
                   {
                       const ref::MatMulGeometry::Batch batch = g.GetBatch(index);
                       product.Run(args.GetInput<double>(0) + batch.m_X + rows.m_Begin * g.m_X.m_Row,
                                   args.GetInput<double>(1) + g.GetMatrixY(batch.m_MatrixY), bias,
                                   args.GetOutput<double>(0) + batch.m_Output + rows.m_Begin * g.m_Output.m_Row,
                                   rows.m_End - rows.m_Begin);
                   });
    };
}

} // namespace tenon::cpu
