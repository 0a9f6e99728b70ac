// SPDX-License-Identifier: Apache-2.0
// Product of up to 16 rows of x by a y with contiguous columns: dot products read y once, in place; packing it would
// take many times as long as the product. Microkernels without an int8 dot product cannot take -128 (0 of uint8) in y,
// see TakesMinByte(). Used by BatchMatMulInt8.cpp and RunTimeWeightsInt8.cpp.
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
    /// Whether this product, with contiguous columns of y, is faster in place on this processor. Precondition:
    /// BatchedGemmInt8::Takes().
    static bool Takes(const ref::MatMulGeometry& geometry, const TensorInfo& x);
    /// Whether y may contain -128 (0 of uint8). If not, HasMinByte() decides at run time.
    static bool TakesLeastByte(const TensorInfo& x);

    /// See BatchedGemmInt8.
    FewByteRows(const ref::MatMulGeometry& geometry, const ReshapeArgs& args, const ByteEnds& ends);

    /// Whether the matrix y of this run contains -128 (0 of uint8).
    bool HasLeastByte(const ExecuteArgs& args) const;
    void operator()(const ExecuteArgs& args) const;

private:
    static constexpr size_t MostRows = 16;
    static constexpr size_t RunColumns = TileSet8::MostVectors * Engine8::MostLanes;

    /// `index`: number of the run of columns in the batch.
    void Multiply(const ExecuteArgs& args, const ref::MatMulGeometry::Batch& batch, size_t index) const;

    ref::MatMulGeometry m_Geometry;
    ByteEnds m_Ends;
    bool m_IsSigned; ///< whether x, y and the output are int8
    int32_t m_ZeroX;
    int32_t m_ZeroY;
    const TileSet8* m_Tiles;
    Form8 m_Form;
    ColumnEnds8 m_Columns;
    size_t m_Runs; ///< runs of columns of a batch
};

} // namespace tenon::cpu
