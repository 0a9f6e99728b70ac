// SPDX-License-Identifier: Apache-2.0
// The layers of a network that compute, and the backends that run them.
#pragma once

#include <tenon/INetwork.hpp>
#include <tenon/IOptimizedNetwork.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools
{

/// Whether a layer is neither input nor output nor constant.
bool Computes(LayerType type);

/// The number of layers of a network that compute; a nested network is a part of its layer.
uint64_t CountLayers(const INetwork& network);
/// The same of an optimized network.
uint64_t CountLayers(const std::vector<LayerAssignment>& assignment);

using BackendCounts = std::vector<std::pair<std::string, uint64_t>>;

/// The number of these layers per backend, in the order of first use.
BackendCounts CountByBackend(const std::vector<LayerAssignment>& assignment);

/// "CpuAcc 36, CpuRef 30"
std::string FormatCounts(const BackendCounts& counts);

} // namespace tenon::tools
