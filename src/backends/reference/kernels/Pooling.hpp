// SPDX-License-Identifier: Apache-2.0
// Code that Pooling2d and Pooling3d share: maximum, average or root of the mean square (L2, floats only) over windows
// of channels-last data.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

constexpr backends::TypeRow PoolingTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::QAsymmU8,
                        DataType::QAsymmS8, DataType::QSymmS16})};

/// Checks types and quantization, which input and output share but for averages of RequantizationMode::FloatHalfEven;
/// the caller checks the layout.
SupportResult CheckPooling(const LayerView& layer, PoolingAlgorithm algorithm);

/// Throw LayerValidationException when shapes do not fit.
backends::Prepared PreparePooling2d(const ReshapeArgs& args, const backends::PackedWeights* packed);
backends::Prepared PreparePooling3d(const ReshapeArgs& args, const backends::PackedWeights* packed);

} // namespace tenon::ref
