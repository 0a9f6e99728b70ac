// SPDX-License-Identifier: Apache-2.0
// SubgraphRewriter: applies a backend's OptimizationViews (substitutions, deleted and failed layers) to one network,
// after checking that they fit together and to the network around them. Used by OptimizeSubgraphs.
#pragma once

#include "optimizer/subgraphs/BackendFallback.hpp"
#include "optimizer/subgraphs/SubgraphViewMaker.hpp"

#include <tenon/Limits.hpp>
#include <tenon/backend/IBackend.hpp>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon
{

/// A subgraph and what its backend makes of it.
struct SubgraphAnswer
{
    std::unique_ptr<SubgraphViewMaker> m_Subgraph;
    OptimizationViews m_Views;
};

/// Everything is checked before anything changes, but for cycles, which show at the end. What does not fit throws
/// BackendCapabilityException that names the backend and a layer.
class SubgraphRewriter
{
public:
    SubgraphRewriter(const LocatedGraph& graph, const IBackend& backend, const ModelOptions& options,
                     const Limits& limits);

    void Rewrite(std::vector<SubgraphAnswer> answers, BackendFallback& fallback);

private:
    /// A substitution that was checked.
    struct Replacement
    {
        std::unique_ptr<Graph> m_Graph; ///< of the replacement, with all infos
        const SubgraphViewMaker* m_Subgraph = nullptr;
        const Substitution* m_Substitution = nullptr;
    };

    /// Constants of one subgraph by where their memory begins.
    using Constants = std::map<const uint8_t*, std::shared_ptr<const ConstantPayload>>;

    void Check(const SubgraphAnswer& answer);
    void CheckNames(const SubgraphAnswer& answer) const;
    void CheckTensors(const SubgraphViewMaker& subgraph, const Substitution& substitution) const;
    void CheckDeleted(const Layer& layer) const;
    std::unique_ptr<Graph> MakeReplacement(const SubgraphViewMaker& subgraph, const Substitution& substitution,
                                           const Constants& constants) const;
    void BindReplacement(const SubgraphViewMaker& subgraph, const Substitution& substitution, Graph& replacement) const;
    void CheckReplacementLayers(const Graph& replacement, const Layer& named) const;
    void CheckInfo(const Layer& named, const std::string& what, const TensorInfo& wanted,
                   const TensorInfo& given) const;

    void Substitute(const Replacement& replacement);
    void Delete(Layer& layer);
    void MoveTensor(OutputSlot& from, OutputSlot& to, const Layer& named);
    OutputSlot& Resolve(OutputSlot& slot) const;
    void RemoveReplaced();

    [[noreturn]] void Refuse(const Layer& layer, const std::string& text) const;

    LocatedGraph m_Graph;
    const IBackend& m_Backend;
    std::shared_ptr<const ILayerSupport> m_Support;
    Limits m_Limits;
    std::vector<Replacement> m_Replacements;
    std::vector<bool> m_IsReplaced; ///< by layer
    std::unordered_map<const OutputSlot*, OutputSlot*> m_Substituted;
};

} // namespace tenon
