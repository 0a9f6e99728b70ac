// SPDX-License-Identifier: Apache-2.0
// FullyConnected and 1x1 Convolution2d whose weights are not constant (another layer or the caller provides them): the
// geometry of the matrix product that such a layer is. Used by RunTimeWeightsF32.cpp and RunTimeWeightsInt8.cpp.
#pragma once

#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <optional>

namespace tenon::cpu
{

/// Checks a FullyConnected that the reference kernel supports.
SupportResult CheckFullyConnected(const LayerView& layer);

/// Checks a Convolution2d that the reference kernel supports: its windows have to be the pixels of the image. Weights
/// may be of unknown shape.
SupportResult CheckPointwiseConvolution(const LayerView& layer);

/// The matrix product of a FullyConnected. None where it is empty or its shapes do not fit together: the reference
/// kernel reports the error.
std::optional<ref::MatMulGeometry> MakeFullyConnectedGeometry(const ReshapeArgs& args);

/// The same of a Convolution2d; also none if it is grouped or the weights have several taps.
std::optional<ref::MatMulGeometry> MakePointwiseGeometry(const ReshapeArgs& args);

} // namespace tenon::cpu
