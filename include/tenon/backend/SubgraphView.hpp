// SPDX-License-Identifier: Apache-2.0
// SubgraphView: a connected piece of the network that one backend runs, as that backend sees it. OptimizationViews:
// what the backend makes of it.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/INetwork.hpp>
#include <tenon/Span.hpp>
#include <tenon/backend/LayerView.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon
{

/// Number of a tensor within one SubgraphView.
using SubgraphTensor = uint32_t;
constexpr SubgraphTensor NoSubgraphTensor = UINT32_MAX;

/// One layer of a subgraph and what its slots are connected to.
struct SubgraphLayer
{
    LayerView m_View;
    Span<const SubgraphTensor> m_Inputs; ///< by input slot; NoSubgraphTensor where not connected
    Span<const SubgraphTensor> m_Outputs;
};

/// Valid during the call that passes it; constant data as long as the network.
/// A constant that only layers of the subgraph read is not among its inputs: LayerView::m_ConstantData has it.
struct SubgraphView
{
    Span<const SubgraphLayer> m_Layers; ///< producers before consumers
    /// What comes from outside and is no constant, each tensor once.
    Span<const SubgraphTensor> m_Inputs;
    /// What layers outside of the subgraph, or the network's outputs, read.
    Span<const SubgraphTensor> m_Outputs;
    /// By SubgraphTensor. Shapes may be unknown, and input shapes may be others in each run.
    Span<const TensorInfo* const> m_Tensors;
};

/// Layers of a SubgraphView by their place in m_Layers.
using SubgraphLayers = std::vector<size_t>;

/// Replaces layers by a network of the backend's own.
struct Substitution
{
    SubgraphLayers m_Layers;
    /// Its Input layers with binding ids 0, 1, ... stand for m_Inputs, its Output layers for m_Outputs. Its layers run
    /// on this backend; a PreCompiled layer (INetwork::AddPrecompiledLayer) is one that the backend compiled.
    INetworkPtr m_Replacement = INetworkPtr(nullptr, nullptr);
    /// Every tensor that the layers read from others, but for constants that the replacement has itself.
    std::vector<SubgraphTensor> m_Inputs;
    /// Every tensor that others read from the layers. Types and quantization stay as they were.
    std::vector<SubgraphTensor> m_Outputs;
};

/// A backend's answer to IBackend::OptimizeSubgraphView. Each layer of the view may be named once; one that is not
/// named is untouched. The optimizer checks all of it and throws BackendCapabilityException, naming the backend, where
/// it does not fit together: a layer named twice, a tensor that is missing, a substitution that would make a cycle.
struct OptimizationViews
{
    std::vector<Substitution> m_Substitutions;
    /// Layers that this backend cannot run after all: they go to the backends after it in the order of preference.
    std::vector<SubgraphLayers> m_FailedSubgraphs;
    std::string m_FailureReason; ///< for people; goes into LayerAssignment::m_Reason of the failed layers
    /// Layers that change nothing: each has one connected input that is no constant, and its outputs are that input.
    std::vector<SubgraphLayers> m_DeletedSubgraphs;
    /// For completeness: layers that stay as they are.
    std::vector<SubgraphLayers> m_UntouchedSubgraphs;
};

} // namespace tenon
