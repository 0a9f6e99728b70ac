// SPDX-License-Identifier: Apache-2.0
// Batched GEMM of two int8 (or uint8) matrices that both change from run to run; results are the bytes of the reference
// kernels.
//
//   out = clamp(zo + requantize(bias + sum_k (x_k - zx)(y_k - zy)))
//   sum_k (x_k - zx)(y_k - zy) = sum_k x_k*y_k - zx * columnSum(y) - zy * rowSum(x) + depth * zx * zy
//
// Panels of y are packed at run time (MatrixPanelsInt8) with their column sums in the bias; blocks of rows of x are
// copied in the microkernels' layout, with their row sums. Exact while depth * 255 * 255 + |bias| is below 2^30. Used
// by BatchMatMulInt8.cpp and RunTimeWeightsInt8.cpp.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/pack/MatrixPanelsInt8.hpp"
#include "backends/cpu/matmul/BatchedEpilogueInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon::cpu
{

/// The GEMMs of all batches, cut into work items: (batch, group of panels of y, chunk of rows of x). The items that
/// share a packed group, in all batches with the same matrix y, follow each other.
class BatchedGemmInt8
{
public:
    /// Whether the products are exact. `maxBias`: upper bound of |bias|; with RoundingInt8::Double a bias of up to 2^29
    /// need not be counted. Call this before construction: inexact products may be too large to plan.
    static bool Takes(const ref::MatMulGeometry& geometry, int64_t maxBias = 0);

    /// Inputs 0 and 1 and the output are all int8 or all uint8, but for int8 weights of either type; each has one zero
    /// point.
    BatchedGemmInt8(const ref::MatMulGeometry& geometry, const ReshapeArgs& args, const EpilogueParamsInt8& epilogue);

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }
    void operator()(const ExecuteArgs& args) const;

private:
    size_t CountWorkItems() const { return m_Geometry.m_NumBatches * m_Groups * m_RowChunks; }
    void PlanTasks(unsigned int maxThreads);
    void RunTask(const ExecuteArgs& args, const IndexRange& items, std::byte* scratch) const;
    void Pack(const uint8_t* y, const int32_t* bias, const IndexRange& panels, std::byte* scratch) const;
    /// Copies rows of x and computes the correction of each row's sums.
    void CopyRows(const uint8_t* x, size_t count, std::byte* scratch) const;
    void CopyRow(const uint8_t* x, uint8_t* to) const;
    void RunPanels(const IndexRange& panels, size_t count, uint8_t* out, std::byte* scratch) const;

    ref::MatMulGeometry m_Geometry;
    bool m_IsSigned; ///< whether x, y and the output are int8
    int32_t m_ZeroX;
    EpilogueParamsInt8 m_Epilogue;
    std::shared_ptr<const MatrixPanelsInt8> m_Panels;
    EpilogueColumnsInt8 m_Columns;
    size_t m_Groups = 1;    ///< groups of panels
    size_t m_RowChunks = 1; ///< chunks of rows of a batch
    size_t m_Tasks = 1;     ///< tasks; the scratch memory of each begins with packed panels
    size_t m_BlockRows = 1;
    size_t m_Pitch = 0;  ///< elements of a copied row of x
    size_t m_Stride = 0; ///< bytes of a copied row of x
    size_t m_BiasOffset = 0;
    size_t m_BlockOffset = 0;
    size_t m_BytesOffset = 0;
    size_t m_TermsOffset = 0;
    size_t m_SliceOffset = 0;
    size_t m_TaskBytes = 0;
    backends::Scratch m_Scratch;
};

} // namespace tenon::cpu
