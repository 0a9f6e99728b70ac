// SPDX-License-Identifier: Apache-2.0
// Products of a few rows of bytes by columns that change from run to run: these are read where they are, as packing
// them would take many times what the products do.
#pragma once

#include "backends/cpu/gemm/pack/ZeroPointCorrectionInt8.hpp"
#include "backends/cpu/matmul/BatchedEpilogueInt8.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class FewByteRows
{
public:
    /// Whether so few rows, whose columns lie one behind the other, are faster so, with the instructions that this
    /// processor has. Asked of what ByteProducts takes.
    static bool Takes(const ref::MatMulGeometry& geometry, const TensorInfo& x);
    /// Whether columns may have -128 among them, or 0 of uint8; else what has none of them can be multiplied.
    static bool TakesLeastByte(const TensorInfo& x);

    /// See ByteProducts.
    FewByteRows(const ref::MatMulGeometry& geometry, const ReshapeArgs& args, const ByteEnds& ends);

    /// Whether the one matrix y of a run has such a byte.
    bool HasLeastByte(const ExecuteArgs& args) const;
    void operator()(const ExecuteArgs& args) const;

private:
    static constexpr size_t MostRows = 16;
    static constexpr size_t RunColumns = TileSet8::MostVectors * Engine8::MostLanes;

    /// `index`: of a run of columns in a batch.
    void Multiply(const ExecuteArgs& args, const ref::MatMulGeometry::Batch& batch, size_t index) const;

    ref::MatMulGeometry m_Geometry;
    ByteEnds m_Ends;
    bool m_IsSigned; ///< x, y and the output are
    int32_t m_ZeroX;
    int32_t m_ZeroY;
    const TileSet8* m_Tiles;
    Form8 m_Form;
    ColumnEnds8 m_Columns;
    size_t m_Runs; ///< of a batch
};

} // namespace tenon::cpu
