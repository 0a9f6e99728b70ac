// SPDX-License-Identifier: Apache-2.0
// SubgraphView: a connected piece of the network that one backend runs, as that backend sees it. OptimizationViews: the
// backend's changes to it.
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

/// One layer of a subgraph and the tensors that its slots are connected to.
struct SubgraphLayer
{
    LayerView m_View;
    Span<const SubgraphTensor> m_Inputs; ///< by input slot; NoSubgraphTensor where not connected
    Span<const SubgraphTensor> m_Outputs;
};

namespace backend
{

/// Valid during the call that passes it, constant data included: a blob has copies of all that is compiled into it. A
/// Constant layer of a replacement may point at the constant data that the view shows; it lives as long as that layer
/// then.
///
/// Constants are tensors too, but not among m_Inputs: LayerView::m_ConstantData has their values.
struct SubgraphView
{
    Span<const SubgraphLayer> m_Layers; ///< producers before consumers
    /// The tensors that come from outside and are no constants, each once.
    Span<const SubgraphTensor> m_Inputs;
    /// The tensors that layers outside of the subgraph, or the network's outputs, read.
    Span<const SubgraphTensor> m_Outputs;
    /// By SubgraphTensor. Shapes may be unknown. Known ones are those that the network has when it is optimized: runs
    /// may bring others, for which layers of the replacement are shaped anew as any, while a PreCompiled layer refuses
    /// them.
    Span<const TensorInfo* const> m_Tensors;
};

} // namespace backend

/// Layers of a SubgraphView by their place in m_Layers.
using SubgraphLayers = std::vector<size_t>;

/// Replaces layers by a network of the backend's own.
struct Substitution
{
    SubgraphLayers m_Layers;
    /// Its Input layers with binding ids 0, 1, ... stand for m_Inputs, its Output layers for m_Outputs, and have their
    /// types, quantization and known shapes. Its layers run on this backend, which must support them; a PreCompiled
    /// layer (INetwork::AddPrecompiledLayer) is one that the backend compiled. Control flow and states are refused.
    INetworkPtr m_Replacement = INetworkPtr(nullptr, nullptr);
    /// Tensors of the view that the replacement reads, constants included unless it has them itself; none that
    /// m_Layers produce.
    std::vector<SubgraphTensor> m_Inputs;
    /// Tensors that m_Layers produce, each once: at least every one that others read. Their readers read the
    /// replacement's outputs from then on.
    std::vector<SubgraphTensor> m_Outputs;
};

namespace backend
{

/// A backend's answer to IBackend::OptimizeSubgraphView. Each layer of the view may be named once; one that is not
/// named is untouched. The optimizer checks all of it and throws BackendCapabilityException, naming the backend and a
/// layer, where it does not fit together: a layer named twice, a tensor that is missing or of another type, a
/// substitution that makes a cycle.
struct OptimizationViews
{
    std::vector<Substitution> m_Substitutions;
    /// Layers that this backend cannot run after all: they go to the backends after it in the order of preference.
    /// PartitionOptions::m_AllOrNothing then takes all of its layers from it, and the substitutions are not made.
    std::vector<SubgraphLayers> m_FailedSubgraphs;
    std::string m_FailureReason; ///< for people; goes into LayerAssignment::m_Reason of the failed layers
    /// Layers that change nothing: each has one connected input, which is no constant, and one output, of the same
    /// type, quantization and shape.
    std::vector<SubgraphLayers> m_DeletedSubgraphs;
    /// For completeness: layers that stay as they are.
    std::vector<SubgraphLayers> m_UntouchedSubgraphs;
};

} // namespace backend

#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_SHORT_NAMES
using backend::OptimizationViews;
using backend::SubgraphView;
#endif

} // namespace tenon
