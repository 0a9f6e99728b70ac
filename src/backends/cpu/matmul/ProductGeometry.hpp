// SPDX-License-Identifier: Apache-2.0
// The matrix product that a FullyConnected is, as a geometry for the batched GEMMs. For kernels that take weights as
// they lie.
#pragma once

#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/IWorkload.hpp>
#include <tenon/descriptors/Products.hpp>

#include <cstddef>
#include <optional>

namespace tenon::cpu
{

/// None where a matrix is empty, or the bias has not `columns` elements.
inline std::optional<ref::MatMulGeometry> MakeMatrices(const ReshapeArgs& args, size_t rows, size_t depth,
                                                       size_t columns, bool hasOutputsFirst)
{
    const bool fitsBias = !args.HasInput(2) || args.GetInput(2).GetNumElements() == columns;
    return rows != 0 && depth != 0 && columns != 0 && fitsBias
               ? std::optional(ref::MatMulGeometry::MakeOfOne(rows, depth, columns, hasOutputsFirst))
               : std::nullopt;
}

/// The matrix product of a FullyConnected. None where it is empty or its shapes do not fit together: the reference
/// kernel reports the error.
inline std::optional<ref::MatMulGeometry> MakeFullyConnectedGeometry(const ReshapeArgs& args)
{
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (weights.GetNumDimensions() != 2 || weights.GetNumElements() == 0 || output.GetNumDimensions() == 0)
    {
        return std::nullopt;
    }
    const bool hasOutputsFirst = args.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
    const size_t columns = weights[hasOutputsFirst ? 0 : 1];
    const size_t depth = weights[hasOutputsFirst ? 1 : 0];
    const size_t rows = output.GetNumElements() / columns;
    const bool fits =
        output[output.GetNumDimensions() - 1] == columns && rows * depth == args.GetInput(0).GetNumElements();
    return fits ? MakeMatrices(args, rows, depth, columns, hasOutputsFirst) : std::nullopt;
}

} // namespace tenon::cpu
