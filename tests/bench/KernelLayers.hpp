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
/// Takes a layer, which is to be measured with each of some element types.
using Add = std::function<void(const Make& make, const Elements& elements)>;

/// All of them, by kind.
void AddLayers(const Add& add);

} // namespace tenon::bench
