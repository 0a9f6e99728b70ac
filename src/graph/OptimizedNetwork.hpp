// SPDX-License-Identifier: Apache-2.0
// OptimizedNetwork: the network that Optimize() returns, the serializer writes and reads, and LoadNetwork takes.
#pragma once

#include "common/Profiler.hpp"
#include "graph/Graph.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class OptimizedNetwork final : public IOptimizedNetwork
{
public:
    /// The graph's layers are in order of execution.
    /// The network keeps the backends: blobs that they compiled may need their code.
    OptimizedNetwork(std::unique_ptr<Graph> graph, const OptimizerOptionsOpaque& options,
                     std::shared_ptr<Profiler> profiler, const BackendRegistry& backends)
        : m_Backends(backends), m_Graph(std::move(graph)), m_Options(options), m_Profiler(std::move(profiler)),
          m_Guid(NewGuid())
    {
    }

    const BackendRegistry& GetBackends() const { return m_Backends; }
    const Graph& GetGraph() const { return *m_Graph; }
    /// For LoadNetwork, which consumes the network.
    std::unique_ptr<Graph> TakeGraph() { return std::move(m_Graph); }
    const OptimizerOptionsOpaque& GetOptions() const { return m_Options; }
    const ModelOptions& GetModelOptions() const { return m_Options.GetModelOptions(); }

    Status PrintGraph() override;
    Status SerializeToDot(std::ostream& stream) const override;
    void SerializeToJson(std::ostream& stream) const override;
    LayerGuid GetGuid() const override { return m_Guid; }
    size_t GetNumInputs() const override;
    size_t GetNumOutputs() const override;
    void ExecuteStrategy(IStrategy& strategy) const override;
    const std::shared_ptr<IProfiler>& GetProfiler() const override { return m_Profiler; }
    std::vector<LayerAssignment> GetAssignment() const override;

private:
    size_t CountLayers(LayerType type) const;

    const BackendRegistry m_Backends;
    std::unique_ptr<Graph> m_Graph;
    OptimizerOptionsOpaque m_Options;
    std::shared_ptr<IProfiler> m_Profiler;
    LayerGuid m_Guid;
};

} // namespace tenon
