// SPDX-License-Identifier: Apache-2.0
// Layers of well-known networks, for bench_kernels.
#pragma once

#include "KernelNetworks.hpp"

#include <functional>
#include <vector>

namespace tenon::bench
{

using Make = std::function<LayerNetwork(Element)>;
using Elements = std::vector<Element>;
/// Receives a layer, which is measured with each of the element types.
using Add = std::function<void(const Make& make, const Elements& elements)>;

/// Adds all layers, by kind.
void AddLayers(const Add& add);

} // namespace tenon::bench
