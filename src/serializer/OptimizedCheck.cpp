// SPDX-License-Identifier: Apache-2.0
// CheckOptimized: see OptimizedCheck.hpp.
#include "serializer/OptimizedCheck.hpp"

#include "common/ModelBytes.hpp"
#include "graph/InferTensors.hpp"
#include "graph/MakeLayerView.hpp"
#include "graph/Nested.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
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
        : m_Registry(registry), m_Options(options)
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
    struct Backend
    {
        std::shared_ptr<const IBackend> m_Backend;
        std::shared_ptr<const ILayerSupport> m_Support;
    };

    const Backend& Find(const Layer& layer)
    {
        const std::string& id = layer.GetBackendId().Get();
        const auto [found, isNew] = m_Backends.try_emplace(id);
        if (isNew)
        {
            auto backend = m_Registry.Find(layer.GetBackendId());
            if (backend == nullptr)
            {
                throw BackendUnavailableException(
                    fmt::format("{} was given to backend '{}', which is not there; there are {}. Optimize the network "
                                "for these",
                                layer.Describe(), id, m_Registry.GetBackendIdsAsString()));
            }
            found->second = {backend, backend->GetLayerSupport(m_Options.GetModelOptions())};
        }
        return found->second;
    }

    /// Throws unless the memory that a copy leads to is there.
    void CheckCopy(const Layer& layer)
    {
        const bool leadsToHost = layer.GetBackendId() == BackendId(RuntimeId);
        const ITensorHandleFactory* memory = leadsToHost ? nullptr : Find(layer).m_Backend->GetTensorHandleFactory();
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
        const LayerView view = m_Maker.Make(layer);
        const ILayerSupport& support = *Find(layer).m_Support;
        SupportResult result = support.IsLayerSupported(view);
        if (result.IsSupported() && view.m_FusedActivation != nullptr)
        {
            result = support.IsActivationFusable(view, *view.m_FusedActivation);
        }
        if (!result.IsSupported())
        {
            throw UnimplementedException(fmt::format("{} was given to backend {}, which refuses it here: {}. Optimize "
                                                     "the network on this machine",
                                                     layer.Describe(), layer.GetBackendId().Get(), result.m_Reason));
        }
    }

    const BackendRegistry& m_Registry;
    const OptimizerOptionsOpaque& m_Options;
    std::map<std::string, Backend> m_Backends;
    LayerViewMaker m_Maker;
};

} // namespace

void CheckOptimized(Graph& graph, const BackendRegistry& registry, const OptimizerOptionsOpaque& options)
{
    Checker(registry, options).Check(graph);
}

} // namespace tenon::serializer
