// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: the answer of a backend to OptimizeSubgraphView.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/BackendOptions.hpp>
#include <armnn/Deprecated.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/backends/SubgraphView.hpp>
#include <utility>
#include <vector>

namespace tenon
{

/// The answer to IBackendInternal::OptimizeSubgraphView.
class TENON_API OptimizationViews
{
public:
    OptimizationViews(const NetworkOptions& networkOptions = {}); // NOLINT: implicit, as Arm NN's
    OptimizationViews(const OptimizationViews&) = delete;
    OptimizationViews& operator=(const OptimizationViews&) = delete;
    OptimizationViews(OptimizationViews&&) noexcept;
    OptimizationViews& operator=(OptimizationViews&&) noexcept;
    ~OptimizationViews();

    struct SubstitutionPair
    {
        SubgraphView m_SubstitutableSubgraph; ///< layers that are to be replaced
        SubgraphView m_ReplacementSubgraph;   ///< layers of GetINetwork() in their place
    };

    using Subgraphs = std::vector<SubgraphView>;
    using Substitutions = std::vector<SubstitutionPair>;

    void AddSubstitution(SubstitutionPair&& substitution) { m_Substitutions.emplace_back(std::move(substitution)); }
    /// Layers that the backend cannot run after all.
    void AddFailedSubgraph(SubgraphView&& subgraph) { m_Failed.emplace_back(std::move(subgraph)); }
    void AddUntouchedSubgraph(SubgraphView&& subgraph) { m_Untouched.emplace_back(std::move(subgraph)); }
    /// Layers that change nothing.
    void AddDeletedSubgraph(SubgraphView&& subgraph) { m_Deleted.emplace_back(std::move(subgraph)); }

    const Substitutions& GetSubstitutions() const { return m_Substitutions; }
    const Subgraphs& GetFailedSubgraphs() const { return m_Failed; }
    const Subgraphs& GetUntouchedSubgraphs() const { return m_Untouched; }
    const Subgraphs& GetDeletedSubgraphs() const { return m_Deleted; }
    Substitutions& GetSubstitutions() { return m_Substitutions; }
    Subgraphs& GetFailedSubgraphs() { return m_Failed; }
    Subgraphs& GetUntouchedSubgraphs() { return m_Untouched; }

    /// Whether each layer of the subgraph is named once, and each replacement has as many slots as it replaces.
    bool Validate(const SubgraphView& originalSubgraph) const;

    /// The network that the backend's own layers are made in.
    INetwork* GetINetwork() { return m_Network.get(); }
    INetwork& GetINetworkRef() { return *m_Network; }

private:
    friend struct OptimizationViewsAccess;

    Substitutions m_Substitutions;
    Subgraphs m_Failed;
    Subgraphs m_Untouched;
    Subgraphs m_Deleted;
    INetworkPtr m_Network;
};

} // namespace tenon
