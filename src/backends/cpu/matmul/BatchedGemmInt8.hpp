// SPDX-License-Identifier: Apache-2.0
// GEMM of two int8 (or uint8) matrices that both change from run to run, packed (BatchedGemmInt8) or in place
// (FewRowsInt8); results are the bytes of the reference kernels.
//
//   out = clamp(zo + requantize(bias + sum_k (x_k - zx)(y_k - zy)))
//   sum_k (x_k - zx)(y_k - zy) = sum_k x_k*y_k - zx * columnSum(y) - zy * rowSum(x) + depth * zx * zy
//
// Exact while depth * 255 * 255 + |bias| is below 2^30. Used by BatchMatMulInt8.cpp and RunTimeWeights.cpp.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Quantization.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/pack/MatrixPanelsInt8.hpp"
#include "backends/cpu/gemm/pack/ZeroPointCorrectionInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::cpu
{

constexpr backends::TypeSet SignedInt8Matrices = {DataType::QAsymmS8, DataType::QSymmS8};
/// x, y -> output of a BatchMatMul
constexpr backends::TypeRow Int8MatrixTypes[] = {
    backends::WithScales(backends::Types({DataType::QAsymmU8, DataType::QAsymmU8}, DataType::QAsymmU8),
                         {backends::Scales::PerTensor}, backends::Scales::PerTensor),
    backends::WithScales(backends::Types({SignedInt8Matrices, SignedInt8Matrices}, SignedInt8Matrices),
                         {backends::Scales::PerTensor}, backends::Scales::PerTensor),
};

/// Epilogue: out = clamp(zo + requantize(sum + bias, scale)), with one scale, or one for each column.
struct EpilogueParamsInt8
{
    std::vector<double> m_Scales; ///< in units of the output: one for all columns, or one for each
    RoundingInt8 m_Rounding = RoundingInt8::FixedPoint;
    backends::QuantizedRange m_Range; ///< range of the output
    bool m_HasBias = false;           ///< input 2: one int32 for each column

    const int32_t* GetBias(const ExecuteArgs& args) const { return m_HasBias ? args.GetInput<int32_t>(2) : nullptr; }
};

inline bool HasSignedElements(const TensorInfo& info)
{
    return info.GetDataType() != DataType::QAsymmU8;
}

/// Upper bound of a sum's magnitude: depth * 255 * 255.
inline int64_t GetMaxSumInt8(const ref::MatMulGeometry& geometry)
{
    return static_cast<int64_t>(geometry.m_Depth) * 255 * 255;
}

/// The epilogue's constants by column, as the requantization loops read them.
class EpilogueColumnsInt8
{
public:
    /// For `columns` that are read in runs of up to `run` columns, whole vectors.
    EpilogueColumnsInt8(const EpilogueParamsInt8& params, size_t columns, size_t run, int32_t zeroPoint)
        : m_HasScales(params.m_Scales.size() != 1), m_Range(params.m_Range),
          m_Arrays(std::make_shared<RequantizeArraysInt8>(m_HasScales ? DivideUp(columns, run) * run : run,
                                                          params.m_Rounding, zeroPoint))
    {
        for (size_t place = 0; place < (m_HasScales ? columns : run); ++place)
        {
            m_Arrays->Set(place, 0, 0, params.m_Scales[m_HasScales ? place : 0]);
        }
    }

    /// The constants of the run that begins with `column`, a multiple of whole vectors.
    RequantizeColumns From(size_t column) const
    {
        RequantizeColumns columns = m_Arrays->From(m_HasScales ? column : 0);
        columns.m_Min = m_Range.m_Min;
        columns.m_Max = m_Range.m_Max;
        return columns;
    }

private:
    bool m_HasScales; ///< one scale for each column
    backends::QuantizedRange m_Range;
    std::shared_ptr<RequantizeArraysInt8> m_Arrays;
};

/// Panels of y are packed at run time (MatrixPanelsInt8) with their column sums in the bias; blocks of rows of x are
/// copied in the microkernels' layout, with their row sums. The GEMMs of all batches are cut into work items: (batch,
/// group of panels of y, chunk of rows of x). The items that share a packed group, in all batches with the same matrix
/// y, follow each other.
class BatchedGemmInt8
{
public:
    /// Whether the products are exact. `maxBias`: upper bound of |bias|; a bias of up to 2^29 need not be counted but
    /// with RoundingInt8::FixedPoint. Call this before construction: inexact products may be too large to plan.
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

/// Product of up to 16 rows of x by a y with contiguous columns: dot products read y once, in place; packing it would
/// take many times as long as the product. Microkernels without an int8 dot product cannot take -128 (0 of uint8) in y,
/// see TakesMinByte().
class FewRowsInt8
{
public:
    /// Whether this product, with contiguous columns of y, is faster in place on this processor. Precondition:
    /// BatchedGemmInt8::Takes().
    static bool Takes(const ref::MatMulGeometry& geometry, const TensorInfo& x);
    /// Whether y may contain -128 (0 of uint8). If not, RunTimeWeights.cpp asks HasMinByte() at run
    /// time, and BatchMatMul packs y.
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
