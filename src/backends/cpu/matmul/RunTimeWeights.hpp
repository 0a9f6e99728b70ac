// SPDX-License-Identifier: Apache-2.0
// What the kernels of layers ask whose weights are not constant: they come from another layer, or from the application
// with each run. Such a FullyConnected, and such a Convolution2d of single pixels, is a product of two matrices that
// both change.
#pragma once

#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <optional>

namespace tenon::cpu
{

/// Of a FullyConnected that the reference kernel takes.
SupportResult CheckConnectedMatrices(const LayerView& layer);

/// Of a Convolution2d that the reference kernel takes: whether its windows are the pixels of the image. Weights may be
/// of unknown shape.
SupportResult CheckPixelMatrices(const LayerView& layer);

/// The product that a FullyConnected is. None where it is empty, or its shapes do not fit together: the reference
/// kernel says what is wrong with them.
std::optional<ref::MatMulGeometry> FindConnectedMatrices(const ReshapeArgs& args);

/// The same of a Convolution2d; none either where its channels are grouped, or the weights have several points.
std::optional<ref::MatMulGeometry> FindPixelMatrices(const ReshapeArgs& args);

} // namespace tenon::cpu
