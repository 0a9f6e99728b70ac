// SPDX-License-Identifier: Apache-2.0
// CheckOptimized: see OptimizedCheck.hpp.
#include "serializer/OptimizedCheck.hpp"

#include "common/ModelBytes.hpp"
#include "graph/InferTensors.hpp"
#include "graph/MakeLayerView.hpp"
#include "graph/Nested.hpp"
#include "graph/Support.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace tenon::serializer
{

namespace
{

class Checker
{
public:
    Checker(const BackendRegistry& registry, const OptimizerOptionsOpaque& options)
        : m_Options(options), m_Supports(registry, options.GetModelOptions())
    {
    }

    void Check(Graph& graph)
    {
        for (const auto& layer : graph.Layers()) // first: the outputs of nested networks give types
        {
            for (const auto& body : layer->Bodies())
            {
                WithModelContext([&] { return fmt::format("in a nested network of {}", layer->Describe()); },
                                 [&] { Check(*body); });
            }
        }
        // Shapes are not taken from the file: those that follow from others are inferred as Optimize() does, and a
        // contradiction is refused.
        std::vector<std::string> messages;
        InferTensors(graph, m_Options, messages);
        CheckBodies(graph);
        CheckStates(graph);
        uint32_t subgraph = 0;
        for (const auto& layer : graph.Layers())
        {
            CheckBackend(*layer);
            if (layer->m_Subgraph == LayerAssignment::NoSubgraph)
            {
                continue;
            }
            if (layer->m_Subgraph < subgraph || layer->m_Subgraph > layer->m_Index)
            {
                throw ParseException(fmt::format("{} is in subgraph {}, but layers are in the order of subgraphs",
                                                 layer->Describe(), layer->m_Subgraph));
            }
            subgraph = layer->m_Subgraph;
        }
    }

private:
    const IBackend& Require(const Layer& layer) const
    {
        const BackendRegistry& registry = m_Supports.GetRegistry();
        if (!registry.IsBackendRegistered(layer.GetBackendId()))
        {
            throw BackendUnavailableException(
                fmt::format("{} was given to backend '{}', which is not there; there are {}. Optimize the network "
                            "for these",
                            layer.Describe(), layer.GetBackendId().Get(), registry.GetBackendIdsAsString()));
        }
        return registry.Get(layer.GetBackendId());
    }

    /// Throws unless the memory that a copy leads to is there.
    void CheckCopy(const Layer& layer)
    {
        const bool leadsToHost = layer.GetBackendId() == BackendId(RuntimeId);
        const ITensorHandleFactory* memory = leadsToHost ? nullptr : Require(layer).GetTensorHandleFactory();
        constexpr auto malloc = static_cast<MemorySourceFlags>(MemorySource::Malloc);
        if (layer.GetType() == LayerType::MemImport && (memory == nullptr || (memory->GetImportFlags() & malloc) == 0))
        {
            throw UnimplementedException(fmt::format("{} imports memory of the host, which {} does not take. Optimize "
                                                     "the network on this machine",
                                                     layer.Describe(), layer.GetBackendId().Get()));
        }
    }

    void CheckBackend(const Layer& layer)
    {
        if (layer.GetType() == LayerType::MemCopy || layer.GetType() == LayerType::MemImport)
        {
            CheckCopy(layer);
            return;
        }
        if (IsBoundByRuntime(layer.GetType()) || IsRunByRuntime(layer.GetType()))
        {
            return;
        }
        Require(layer);
        const SupportResult result = AskSupport(*m_Supports.Get(layer.GetBackendId()), m_Maker.Make(layer));
        if (!result.IsSupported())
        {
            throw UnimplementedException(fmt::format("{} was given to backend {}, which refuses it here: {}. Optimize "
                                                     "the network on this machine",
                                                     layer.Describe(), layer.GetBackendId().Get(), result.m_Reason));
        }
    }

    const OptimizerOptionsOpaque& m_Options;
    SupportCache m_Supports;
    LayerViewMaker m_Maker;
};

} // namespace

void CheckOptimized(Graph& graph, const BackendRegistry& registry, const OptimizerOptionsOpaque& options)
{
    const DeclaredOutputs declared(graph);
    Checker(registry, options).Check(graph);
    declared.Fill(graph, options.GetLimits());
}

} // namespace tenon::serializer
