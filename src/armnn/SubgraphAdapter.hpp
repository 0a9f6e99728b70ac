// SPDX-License-Identifier: Apache-2.0
// SubgraphAdapter: shows a backend written for Arm NN a subgraph as layers of a network, and reads its answer.
#pragma once

#include <tenon/backend/SubgraphView.hpp>

#include <armnn/backends/IBackendInternal.hpp>

namespace tenon
{

/// Throws BackendCapabilityException for an answer with layers or slots from outside of the subgraph. A subgraph with a
/// layer that INetwork cannot build is left as it is, with a warning in the log.
backend::OptimizationViews OptimizeAdapted(const IBackendInternal& adapted, const backend::SubgraphView& subgraph,
                                           const ModelOptions& options);

} // namespace tenon
