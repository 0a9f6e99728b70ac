// SPDX-License-Identifier: Apache-2.0
// Layers of well-known networks, for bench_kernels.
#pragma once

#include "KernelNetworks.hpp"

#include <functional>

namespace tenon::bench
{

using Make = std::function<LayerNetwork(Element)>;

/// Convolutions, fully connected layers and products of two inputs.
void AddMatrixProducts(const std::function<void(const Make&)>& add);
void AddDepthwise(const std::function<void(const Make&)>& add);
/// Layers that move or map elements, pooling and softmax.
void AddOthers(const std::function<void(const Make&)>& add);

} // namespace tenon::bench
