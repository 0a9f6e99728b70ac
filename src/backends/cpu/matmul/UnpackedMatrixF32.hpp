// SPDX-License-Identifier: Apache-2.0
// Constant float matrices that are read where the model has them, [depth, columns]: those of a few rows of data, for
// which the weights are read once anyway. What SumsF32 takes.
#pragma once

#include "backends/cpu/gemm/kernels/f32/AxpyF32.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/weights/KnownRows.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>

namespace tenon::cpu
{

/// Whether input 1 is such a matrix, for as few rows as are known when the weights would be packed. Smaller ones are
/// packed: their tiles take the bias and what is added to the output as well.
inline bool StaysInModel(const LayerView& layer, const WeightSizes& sizes, WeightOrder order)
{
    constexpr uint64_t LeastBytes = 1024 * 1024;
    const size_t rows = GetKnownRows(layer, sizes.m_Columns);
    const bool isLarge = uint64_t{sizes.m_Columns} * sizes.m_Depth * sizeof(float) >= LeastBytes;
    return order == WeightOrder::Depth && layer.IsConstant(1) && isLarge && !AreFewColumns(sizes) &&
           layer.GetInput(1).GetDataType() == DataType::Float32 &&
           (rows <= SumsF32::MostRows || TakesManyRows(rows, sizes.m_Columns, sizes.m_Depth));
}

/// The answer of kernels that pack their weights.
inline SupportResult RefuseToPack()
{
    return SupportResult::No(SupportCode::UnsupportedParameters,
                             "its weights are read where the model has them, for few rows");
}

} // namespace tenon::cpu
