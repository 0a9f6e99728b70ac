// SPDX-License-Identifier: Apache-2.0
// OptimizeSubgraphs (Stages.hpp): limits of partitions, and rewrites by backends.
#include "common/ErrorContext.hpp"
#include "optimizer/Stages.hpp"
#include "optimizer/partition/PartitionGraph.hpp"
#include "optimizer/subgraphs/BackendFallback.hpp"
#include "optimizer/subgraphs/SubgraphRewriter.hpp"
#include "optimizer/subgraphs/SubgraphViewMaker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace tenon
{

namespace
{

using Subgraph = std::vector<Layer*>;

bool IsRestricted(const PartitionOptions& options)
{
    return options.m_MaxPartitions != 0 || options.m_MinLayersPerPartition > 1 || options.m_AllOrNothing;
}

void AddGraphs(Graph& graph, const std::string& where, std::vector<LocatedGraph>& graphs)
{
    graphs.push_back({&graph, where});
    for (const auto& layer : graph.Layers())
    {
        for (const auto& body : layer->Bodies())
        {
            AddGraphs(*body, where + "in " + layer->Describe() + ", ", graphs);
        }
    }
}

/// The network and, after it, those nested in it.
std::vector<LocatedGraph> CollectGraphs(Graph& graph)
{
    std::vector<LocatedGraph> graphs;
    AddGraphs(graph, "", graphs);
    return graphs;
}

/// The subgraphs of one backend in order of execution.
std::vector<Subgraph> FindSubgraphs(Graph& graph, const BackendId& backend)
{
    std::vector<Subgraph> all(PartitionGraph(graph));
    for (const auto& layer : graph.Layers())
    {
        if (layer->m_Subgraph != LayerAssignment::NoSubgraph && layer->GetBackendId() == backend)
        {
            all[layer->m_Subgraph].push_back(layer.get());
        }
    }
    all.erase(std::remove_if(all.begin(), all.end(), [](const Subgraph& subgraph) { return subgraph.empty(); }),
              all.end());
    return all;
}

/// The limits and subgraphs of one backend.
class BackendSubgraphs
{
public:
    BackendSubgraphs(const std::vector<LocatedGraph>& graphs, const IBackend& backend,
                     const OptimizerOptionsOpaque& options, BackendFallback& fallback)
        : m_Graphs(graphs), m_Backend(backend), m_Id(backend.GetId()), m_Options(options),
          m_Partition(options.GetPartitionOptions(m_Id)), m_Fallback(fallback)
    {
    }

    /// Moves the layers that the limits exclude to other backends.
    void HoldLimits()
    {
        std::vector<Loss> losses;
        for (const LocatedGraph& graph : m_Graphs)
        {
            FindLosses(graph, losses);
        }
        if (m_Partition.m_AllOrNothing)
        {
            const std::string reason =
                !losses.empty() ? fmt::format("AllOrNothing is set, and {} is not among its layers because {}",
                                              losses.front().m_Layer->Describe(), losses.front().m_Reason)
                                : FindForeignLayer();
            if (!reason.empty())
            {
                MoveAll(SupportCode::PartitionLimit, reason);
                return;
            }
        }
        for (const Loss& loss : losses)
        {
            m_Fallback.Move(*loss.m_Layer, loss.m_Graph->m_Where, SupportCode::PartitionLimit, loss.m_Reason);
        }
    }

    /// All subgraphs are shown before any is changed: with AllOrNothing one failure means that none is.
    void Optimize()
    {
        std::vector<std::vector<SubgraphAnswer>> answers(m_Graphs.size());
        for (size_t i = 0; i < m_Graphs.size(); ++i)
        {
            for (const Subgraph& layers : FindSubgraphs(*m_Graphs[i].m_Graph, m_Id))
            {
                answers[i].push_back(Ask(m_Graphs[i], layers));
                const OptimizationViews& views = answers[i].back().m_Views;
                if (m_Partition.m_AllOrNothing && !views.m_FailedSubgraphs.empty())
                {
                    MoveAll(SupportCode::OptimizationFailed,
                            fmt::format("AllOrNothing is set, and a subgraph optimization failed: {}",
                                        views.m_FailureReason));
                    return;
                }
            }
        }
        // From the inside out: a layer that is not needed any more takes its nested networks with it.
        for (size_t i = m_Graphs.size(); i-- > 0;)
        {
            SubgraphRewriter rewriter(m_Graphs[i], m_Backend, m_Options.GetModelOptions(), m_Options.GetLimits());
            rewriter.Rewrite(std::move(answers[i]), m_Fallback);
        }
    }

private:
    struct Loss
    {
        Layer* m_Layer;
        const LocatedGraph* m_Graph;
        std::string m_Reason;
    };

    void FindLosses(const LocatedGraph& graph, std::vector<Loss>& losses) const
    {
        std::vector<Subgraph> subgraphs = FindSubgraphs(*graph.m_Graph, m_Id);
        std::stable_sort(subgraphs.begin(), subgraphs.end(),
                         [](const Subgraph& a, const Subgraph& b) { return a.size() > b.size(); });
        for (size_t i = 0; i < subgraphs.size(); ++i)
        {
            std::string reason;
            if (subgraphs[i].size() < m_Partition.m_MinLayersPerPartition)
            {
                reason = fmt::format("MinLayersPerPartition is {}, and its subgraph has {}",
                                     m_Partition.m_MinLayersPerPartition, subgraphs[i].size());
            }
            else if (m_Partition.m_MaxPartitions != 0 && i >= m_Partition.m_MaxPartitions)
            {
                reason = fmt::format("MaxPartitions is {}, and its subgraph is not one of the largest",
                                     m_Partition.m_MaxPartitions);
            }
            for (size_t k = 0; k < subgraphs[i].size() && !reason.empty(); ++k)
            {
                losses.push_back({subgraphs[i][k], &graph, reason});
            }
        }
    }

    /// Why the backend does not run all layers; empty if it does.
    std::string FindForeignLayer() const
    {
        for (const LocatedGraph& graph : m_Graphs)
        {
            for (const auto& layer : graph.m_Graph->Layers())
            {
                if (!IsBoundByRuntime(layer->GetType()) && !IsRunByRuntime(layer->GetType()) &&
                    layer->GetBackendId() != m_Id)
                {
                    return fmt::format("AllOrNothing is set, and {}{} runs on {}", graph.m_Where, layer->Describe(),
                                       layer->GetBackendId().Get());
                }
            }
        }
        return "";
    }

    void MoveAll(SupportCode code, const std::string& reason)
    {
        for (const LocatedGraph& graph : m_Graphs)
        {
            for (const auto& layer : graph.m_Graph->Layers())
            {
                if (!IsBoundByRuntime(layer->GetType()) && layer->GetBackendId() == m_Id)
                {
                    m_Fallback.Move(*layer, graph.m_Where, code, reason);
                }
            }
        }
    }

    SubgraphAnswer Ask(const LocatedGraph& graph, const Subgraph& layers) const
    {
        SubgraphAnswer answer;
        answer.m_Subgraph = std::make_unique<SubgraphViewMaker>(layers);
        try
        {
            answer.m_Views = m_Backend.OptimizeSubgraphView(answer.m_Subgraph->View(), m_Options.GetModelOptions());
        }
        catch (...)
        {
            RethrowWithContext(fmt::format("backend {} optimizing the subgraph of {}{}", m_Id.Get(), graph.m_Where,
                                           layers.front()->Describe()));
        }
        return answer;
    }

    const std::vector<LocatedGraph>& m_Graphs;
    const IBackend& m_Backend;
    const BackendId& m_Id;
    const OptimizerOptionsOpaque& m_Options;
    PartitionOptions m_Partition;
    BackendFallback& m_Fallback;
};

size_t CountLayers(const std::vector<LocatedGraph>& graphs)
{
    return std::accumulate(graphs.begin(), graphs.end(), size_t{0},
                           [](size_t count, const LocatedGraph& placed)
                           { return count + CountRunLayers(*placed.m_Graph); });
}

void WidenMoved(const std::vector<LocatedGraph>& graphs, BackendFallback& fallback)
{
    for (const LocatedGraph& placed : graphs)
    {
        fallback.WidenMoved(placed);
    }
}

/// Moves layers until the limits of all these backends hold.
void HoldLimits(Graph& graph, const std::vector<std::shared_ptr<const IBackend>>& limited,
                const OptimizerOptionsOpaque& options, BackendFallback& fallback)
{
    const std::vector<LocatedGraph> graphs = CollectGraphs(graph);
    size_t numMoves = 0;
    do
    {
        numMoves = fallback.GetNumMoves();
        for (const auto& backend : limited)
        {
            BackendSubgraphs(graphs, *backend, options, fallback).HoldLimits();
            WidenMoved(graphs, fallback);
            fallback.ThrowFailures(CountLayers(graphs));
        }
    } while (fallback.GetNumMoves() != numMoves);
}

/// The backends that have limits or optimize subgraphs, in their order.
std::vector<std::shared_ptr<const IBackend>> FindBackends(const std::vector<Candidate>& candidates,
                                                          const BackendRegistry& registry,
                                                          const OptimizerOptionsOpaque& options)
{
    std::vector<std::shared_ptr<const IBackend>> backends;
    const auto add = [&](const std::shared_ptr<const IBackend>& backend)
    {
        if (std::find(backends.begin(), backends.end(), backend) == backends.end() &&
            (backend->OptimizesSubgraphs() || IsRestricted(options.GetPartitionOptions(backend->GetId()))))
        {
            backends.push_back(backend);
        }
    };
    std::set<std::string> ids; // in an order that is the same in each run
    for (const BackendId& id : registry.GetBackendIds())
    {
        ids.insert(id.Get());
    }
    for (const std::string& id : ids)
    {
        const auto backend = registry.Find(id);
        if (std::none_of(candidates.begin(), candidates.end(),
                         [&](const Candidate& candidate) { return candidate.m_Backend == backend; }))
        {
            add(backend);
        }
    }
    for (const Candidate& candidate : candidates)
    {
        add(candidate.m_Backend);
    }
    return backends;
}

} // namespace

void OptimizeSubgraphs(Graph& graph, const std::vector<Candidate>& candidates, const BackendRegistry& registry,
                       const OptimizerOptionsOpaque& options, std::vector<std::string>& messages)
{
    const auto backends = FindBackends(candidates, registry, options);
    if (backends.empty())
    {
        return;
    }
    BackendFallback fallback(candidates, messages);
    // Backends that have limits and have not optimized their subgraphs yet.
    std::vector<std::shared_ptr<const IBackend>> limited;
    std::copy_if(backends.begin(), backends.end(), std::back_inserter(limited),
                 [&](const auto& backend) { return IsRestricted(options.GetPartitionOptions(backend->GetId())); });
    for (const auto& backend : backends)
    {
        HoldLimits(graph, limited, options, fallback);
        if (!backend->OptimizesSubgraphs())
        {
            continue;
        }
        const std::vector<LocatedGraph> graphs = CollectGraphs(graph);
        BackendSubgraphs(graphs, *backend, options, fallback).Optimize();
        WidenMoved(CollectGraphs(graph), fallback); // some may be gone with their layers
        fallback.ThrowFailures(CountLayers(CollectGraphs(graph)));
        const auto own = std::find(limited.begin(), limited.end(), backend);
        if (own != limited.end())
        {
            limited.erase(own);
            fallback.Close(backend->GetId());
        }
    }
    HoldLimits(graph, limited, options, fallback);
    for (const LocatedGraph& placed : CollectGraphs(graph))
    {
        AssignBoundLayers(*placed.m_Graph, candidates.front().m_Backend->GetId());
    }
}

} // namespace tenon
