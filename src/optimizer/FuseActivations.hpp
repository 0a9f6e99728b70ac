// SPDX-License-Identifier: Apache-2.0
// Activations that backends apply to the outputs of other layers. Runs when backends are assigned, as only they know
// what they fuse. Called by Optimize().
#pragma once

#include "graph/Graph.hpp"
#include "graph/Support.hpp"

namespace tenon
{

/// Activation layers become a part of the layers before them, wherever the backend of such a layer says that it takes
/// them, the layer feeds nothing else, and its output has the activation's type and quantization. The layer then gives
/// the activation's output. In nested networks, too.
void FuseActivations(Graph& graph, SupportCache& supports);

} // namespace tenon
