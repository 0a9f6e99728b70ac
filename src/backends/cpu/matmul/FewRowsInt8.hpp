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

class FewRowsInt8
{
public:
    /// Whether this product, with contiguous columns of y, is faster in place on this processor. Precondition:
    /// BatchedGemmInt8::Takes().
    static bool Takes(const ref::MatMulGeometry& geometry, const TensorInfo& x);
    /// Whether y may contain -128 (0 of uint8). If not, HasMinByte() decides at run time.
    static bool TakesMinByte(const TensorInfo& x);

    /// See BatchedGemmInt8.
    FewRowsInt8(const ref::MatMulGeometry& geometry, const ReshapeArgs& args, const EpilogueParamsInt8& epilogue);

    /// Whether the matrix y of this run contains -128 (0 of uint8).
    bool HasMinByte(const ExecuteArgs& args) const;
    void operator()(const ExecuteArgs& args) const;

private:
    static constexpr size_t MaxRows = 16;
    static constexpr size_t RunColumns = MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes;

    /// `index`: number of the run of columns in the batch.
    void Multiply(const ExecuteArgs& args, const ref::MatMulGeometry::Batch& batch, size_t index) const;

    ref::MatMulGeometry m_Geometry;
    EpilogueParamsInt8 m_Epilogue;
    bool m_IsSigned; ///< whether x, y and the output are int8
    int32_t m_ZeroX;
    int32_t m_ZeroY;
    const MicrokernelSetInt8* m_Microkernels;
    ZeroPointCorrectionInt8 m_ZeroPointCorrection;
    EpilogueColumnsInt8 m_Columns;
    size_t m_Runs; ///< runs of columns of a batch
};

} // namespace tenon::cpu
