// SPDX-License-Identifier: Apache-2.0
// ReadGraphs: see GraphReader.hpp.
#include "serializer/GraphReader.hpp"

#include "graph/Nested.hpp"
#include "serializer/LayerReader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::serializer
{

namespace
{

using GraphList = flatbuffers::Vector<flatbuffers::Offset<schema::Graph>>;

void CheckLayerCount(const GraphList& graphs, const Limits& limits)
{
    uint64_t count = 0;
    for (const schema::Graph* graph : graphs)
    {
        count += graph->layers() != nullptr ? graph->layers()->size() : 0;
    }
    if (count > limits.m_MaxLayers)
    {
        throw ParseException(
            fmt::format("{} layers, more than the limit of {}; raise Limits::m_MaxLayers", count, limits.m_MaxLayers));
    }
}

/// Calls `check`. What is malformed in a file is the file's fault.
template <typename Function>
void Malformed(Function check)
{
    try
    {
        check();
    }
    catch (const GraphValidationException& error)
    {
        throw ParseException(fmt::format("the network is malformed: {}", error.what()));
    }
    catch (const LayerValidationException& error) // an input that is not connected
    {
        throw ParseException(fmt::format("the network is malformed: {}", error.what()));
    }
}

/// Names of layers are for people, guids for programs: two layers of one graph must not have the same.
void CheckGuids(const Graph& graph)
{
    std::vector<const Layer*> layers;
    for (const auto& layer : graph.Layers())
    {
        layers.push_back(layer.get());
    }
    const auto guid = [](const Layer* layer) { return uint64_t{layer->GetGuid()}; };
    std::sort(layers.begin(), layers.end(), [&](const Layer* a, const Layer* b) { return guid(a) < guid(b); });
    const auto twice = std::adjacent_find(layers.begin(), layers.end(),
                                          [&](const Layer* a, const Layer* b) { return guid(a) == guid(b); });
    if (twice != layers.end())
    {
        throw ParseException(
            fmt::format("{} and {} have the same guid {}", (*twice)->Describe(), twice[1]->Describe(), guid(*twice)));
    }
}

/// Nested graphs come after the ones that they are in, so reading from the last to the first has them ready, without a
/// recursion that a file could drive deep.
class GraphReader
{
public:
    GraphReader(FileReader& file, const CustomOperators& operators, const BackendRegistry* backends)
        : m_File(file), m_Layers(file, operators, backends), m_List(*file.Root().graphs()), m_Nested(m_List.size()),
          m_Depths(m_List.size(), 0)
    {
    }

    void Read(Graph& root)
    {
        if (m_List.size() == 0)
        {
            throw ParseException("the file has no graph");
        }
        CheckLayerCount(m_List, m_File.GetLimits());
        for (uint32_t i = m_List.size(); i-- > 1;)
        {
            m_Nested[i] = std::make_unique<Graph>();
            WithModelContext([&] { return fmt::format("nested graph {}", i); }, [&] { ReadGraph(i, *m_Nested[i]); });
        }
        ReadGraph(0, root);
        for (uint32_t i = 1; i < m_List.size(); ++i)
        {
            if (m_Nested[i] != nullptr)
            {
                throw ParseException(fmt::format("no layer has nested graph {}", i));
            }
        }
    }

private:
    void ReadGraph(uint32_t index, Graph& graph)
    {
        const auto* layers = m_List.Get(index)->layers();
        for (uint32_t i = 0; layers != nullptr && i < layers->size(); ++i)
        {
            const schema::Layer& source = *layers->Get(i);
            WithModelContext([&] { return m_Layers.Describe(source, i); },
                             [&] { ReadBodies(index, source, m_Layers.Add(source, graph)); });
        }
        for (uint32_t i = 0; layers != nullptr && i < layers->size(); ++i)
        {
            WithModelContext([&] { return graph.Layers()[i]->Describe(); },
                             [&] { m_Layers.Connect(*layers->Get(i), *graph.Layers()[i]); });
        }
        CheckGuids(graph);
        Malformed([&] { ValidateGraph(graph); });
    }

    void ReadBodies(uint32_t index, const schema::Layer& source, Layer& layer)
    {
        const uint32_t count = source.bodies() != nullptr ? source.bodies()->size() : 0;
        const bool hasBodies = layer.GetType() == LayerType::If || layer.GetType() == LayerType::While;
        if (count != (hasBodies ? 2U : 0U))
        {
            throw ParseException(fmt::format("it has {} nested graphs, should have {}", count, hasBodies ? 2 : 0));
        }
        for (uint32_t i = 0; i < count; ++i)
        {
            const uint32_t body = source.bodies()->Get(i);
            if (body <= index || body >= m_List.size() || m_Nested[body] == nullptr)
            {
                throw ParseException(fmt::format("nested graph {} does not exist, is in another layer or is the "
                                                 "layer's own",
                                                 body));
            }
            m_Depths[index] = std::max(m_Depths[index], m_Depths[body] + 1);
            if (m_Depths[index] > m_File.GetLimits().m_MaxNesting)
            {
                throw ParseException(fmt::format("it nests networks deeper than the limit of {}; raise "
                                                 "Limits::m_MaxNesting",
                                                 m_File.GetLimits().m_MaxNesting));
            }
            layer.AddBody(std::move(m_Nested[body]));
        }
        if (hasBodies)
        {
            Malformed([&] { CheckBindings(layer); });
        }
    }

    FileReader& m_File;
    LayerReader m_Layers;
    const GraphList& m_List;
    std::vector<std::unique_ptr<Graph>> m_Nested; ///< by index; null once it is in its layer
    std::vector<unsigned int> m_Depths;           ///< of the graphs nested in each
};

} // namespace

void ReadGraphs(FileReader& file, const CustomOperators& operators, const BackendRegistry* backends, Graph& graph)
{
    GraphReader(file, operators, backends).Read(graph);
}

} // namespace tenon::serializer
