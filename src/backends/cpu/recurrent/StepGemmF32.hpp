// SPDX-License-Identifier: Apache-2.0
// StepGemmF32: sums[rows][columns] = states[rows][depth] * weights[depth][columns], the product of each step of a
// RecurrentSequence. Up to MaxRowsOfSums rows read the weights in place; more rows go through the tiles of GemmF32.
//     weights [depth][stride]: stride = columns in whole vectors, one vector more if it were a multiple of a page
// Tasks are ranges of columns.
#pragma once

#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/gemm/pack/PanelsF32.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tenon::cpu
{

/// Packed weights [depth][columns], padded to whole vectors, for any number of rows.
class StepWeightsF32
{
public:
    /// `weights`: [columns][depth].
    StepWeightsF32(const float* weights, size_t columns, size_t depth, backends::PackedStore& store);

    /// The bytes of packed weights.
    static uint64_t GetPackedBytes(uint64_t columns, uint64_t depth);

    const float* GetData() const { return m_Data.As<float>(); }
    const PanelsF32& GetPanels() const { return m_Panels; }
    size_t GetDepth() const { return m_Panels.GetSizes().m_Depth; }
    size_t GetColumns() const { return m_Panels.GetSizes().m_Columns; } ///< with the padding of the last vector
    size_t GetStride() const { return m_Panels.GetSizes().m_InPlaceStride; }

private:
    PanelsF32 m_Panels;
    backends::PackedBlock m_Data;
};

/// A product of known shape. Results do not depend on the number of threads.
class StepGemmF32
{
public:
    /// The weights must outlive this object.
    StepGemmF32(const StepWeightsF32& weights, size_t rows);

    size_t GetScratchBytes() const { return m_Gemm ? m_Gemm->GetTaskBytes() * m_ColumnTasks : 0; }
    /// sums[row][column] = data[row] * weights
    void Run(const float* data, float* sums, std::byte* scratch, IParallelFor& parallel) const;

private:
    void RunTask(const float* data, float* sums, std::byte* scratch, size_t task) const;

    const StepWeightsF32* m_Weights;
    size_t m_Rows;
    size_t m_ColumnTasks;
    std::optional<GemmF32> m_Gemm; ///< for more than MaxRowsOfSums rows
};

} // namespace tenon::cpu
