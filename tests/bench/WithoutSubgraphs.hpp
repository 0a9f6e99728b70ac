// SPDX-License-Identifier: Apache-2.0
// CpuAcc under another name without fused activations, and an optimizer without one of its passes. Used by
// bench_subgraphs for comparisons. INetworkProperties::m_DisabledFusions disables the runtime's fusions.
#pragma once

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/backend/IBackend.hpp>

#include <memory>
#include <vector>

namespace tenon::bench
{

/// "WithoutFusing": activations are layers of their own.
std::shared_ptr<const IBackend> MakeWithoutFusing();
/// Optimize() without one of its passes.
IOptimizedNetworkPtr OptimizeWithout(const char* pass, const INetwork& network, const std::vector<BackendId>& backends,
                                     const IDeviceSpec& device, const OptimizerOptionsOpaque& options);

} // namespace tenon::bench
