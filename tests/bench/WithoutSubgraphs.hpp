// SPDX-License-Identifier: Apache-2.0
// CpuAcc as backends of other names, each without something that is done to several layers at once, and an optimizer
// without one of its passes. For bench_subgraphs, which compares.
#pragma once

#include <tenon/INetwork.hpp>
#include <tenon/backend/IBackend.hpp>

#include <memory>
#include <vector>

namespace tenon::bench
{

/// "WithoutFusing": activations are layers of their own.
std::shared_ptr<const IBackend> MakeWithoutFusing();
/// "WithoutParts": tensors that are parts of others are copied.
std::shared_ptr<const IBackend> MakeWithoutParts();
/// "WithoutStrips": each layer is done for all of its tensor before the next one.
std::shared_ptr<const IBackend> MakeWithoutStrips();
/// "WithoutAttentions": attentions are run layer by layer, in strips where those are worth it.
std::shared_ptr<const IBackend> MakeWithoutAttentions();
/// "WithoutSums": residuals are added by layers of their own.
std::shared_ptr<const IBackend> MakeWithoutSums();
/// "WithoutChains": each elementwise layer is done for all of its tensor, or of its strip, before the next one.
std::shared_ptr<const IBackend> MakeWithoutChains();

/// Optimize() without one of its passes.
IOptimizedNetworkPtr OptimizeWithout(const char* pass, const INetwork& network, const std::vector<BackendId>& backends,
                                     const IDeviceSpec& device, const OptimizerOptionsOpaque& options);

} // namespace tenon::bench
