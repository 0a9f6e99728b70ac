// SPDX-License-Identifier: Apache-2.0
// Activations that backends apply to the outputs of other layers. Runs when backends are assigned, as only they know
// what they fuse. Called by Optimize().
#pragma once

#include "graph/Graph.hpp"

#include <tenon/backend/BackendRegistry.hpp>

namespace tenon
{

/// Activation layers become a part of the layers before them, wherever the backend of such a layer says that it takes
/// them, the layer feeds nothing else, and its output has the activation's type and quantization. The layer then gives
/// the activation's output. In nested networks, too.
void FuseActivations(Graph& graph, const BackendRegistry& registry, const ModelOptions& options);

/// Whether a backend takes a layer with its fused activation, if it has one. Backends that were written before there
/// were any do not look at LayerView::m_FusedActivation, so IsLayerSupported alone does not tell.
SupportResult AskSupport(const ILayerSupport& support, const LayerView& layer);

} // namespace tenon
