// SPDX-License-Identifier: Apache-2.0
// Whether a constant float matrix [depth, columns] is read in place: 1 MiB or more, few rows of data. The weights are
// then read once a run anyway, and packing would only copy them. Kernels that pack refuse such layers; the run-time
// kernels (AxpyF32) take them.
#pragma once

#include "backends/cpu/gemm/kernels/f32/AxpyF32.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>

namespace tenon::cpu
{

/// Whether input 1 is read in place, from the rows known at packing time. Smaller matrices are packed, because the
/// packed microkernels also fuse the bias and the residual add.
inline bool StaysUnpacked(const LayerView& layer, const WeightSizes& sizes, WeightOrder order)
{
    constexpr uint64_t MinBytes = 1024 * 1024;
    const size_t rows = GetKnownRows(layer, sizes.m_Columns);
    const bool isLarge = uint64_t{sizes.m_Columns} * sizes.m_Depth * sizeof(float) >= MinBytes;
    return order == WeightOrder::Depth && layer.IsConstant(1) && isLarge && !HasFewColumns(sizes) &&
           layer.GetInput(1).GetDataType() == DataType::Float32 &&
           (rows <= AxpyF32::MaxRows || IsBlockedAxpyFaster(rows, sizes.m_Columns, sizes.m_Depth));
}

/// The refusal of kernels that pack their weights.
inline SupportResult RefuseToPack()
{
    return SupportResult::No(SupportCode::UnsupportedParameters,
                             "its weights are read where the model has them, for few rows");
}

} // namespace tenon::cpu
