// SPDX-License-Identifier: Apache-2.0
// See Nested.hpp.
#include "optimizer/Nested.hpp"

#include <fmt/format.h>

#include <unordered_set>

namespace tenon
{

namespace
{

const Layer* FindOutput(const Graph& body, unsigned int id)
{
    for (const auto& layer : body.Layers())
    {
        if (layer->GetType() == LayerType::Output && layer->GetBindingId() == static_cast<LayerBindingId>(id))
        {
            return layer.get();
        }
    }
    return nullptr;
}

uint64_t CountLayers(const Graph& graph, unsigned int nestingLeft)
{
    uint64_t count = graph.Size();
    for (const auto& layer : graph.Layers())
    {
        if (!layer->Bodies().empty() && nestingLeft == 0)
        {
            throw InvalidArgumentException(fmt::format("{} nests networks deeper than the limit; raise "
                                                       "Limits::m_MaxNesting",
                                                       layer->Describe()));
        }
        for (const auto& body : layer->Bodies())
        {
            count += CountLayers(*body, nestingLeft - 1);
        }
    }
    return count;
}

void AddConstantBytes(const Graph& graph, std::unordered_set<const void*>& seen, uint64_t& bytes)
{
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetConstant() != nullptr && seen.insert(layer->GetConstant()->m_Tensor.GetMemoryArea()).second)
        {
            bytes += layer->GetConstant()->m_Tensor.GetNumBytes();
        }
        for (const auto& body : layer->Bodies())
        {
            AddConstantBytes(*body, seen, bytes);
        }
    }
}

void CheckType(const Layer& layer, const std::string& outside, DataType given, const std::string& inside,
               DataType wanted)
{
    if (given != wanted)
    {
        throw GraphValidationException(fmt::format("{}: {} is {}, but {} is {}", layer.Describe(), outside,
                                                   GetDataTypeName(given), inside, GetDataTypeName(wanted)));
    }
}

/// Input layers of `body` take the layer's inputs from `first` on.
void CheckInputs(const Layer& layer, const Graph& body, unsigned int first)
{
    for (const auto& input : body.Layers())
    {
        if (input->GetType() == LayerType::Input)
        {
            const auto id = static_cast<unsigned int>(input->GetBindingId());
            CheckType(layer, fmt::format("input {}", first + id), layer.Input(first + id).GetTensorInfo().GetDataType(),
                      fmt::format("{} of its nested network", input->Describe()),
                      input->Output(0).GetTensorInfo().GetDataType());
        }
    }
}

void CheckOutputs(const Layer& layer, const Graph& body)
{
    for (unsigned int i = 0; i < layer.GetNumOutputSlots(); ++i)
    {
        CheckType(layer, fmt::format("output {}", i), layer.Output(i).GetTensorInfo().GetDataType(),
                  fmt::format("output {} of its nested network", i), GetBodyOutputInfo(body, i).GetDataType());
    }
}

} // namespace

const TensorInfo& GetBodyOutputInfo(const Graph& body, unsigned int id)
{
    const Layer* output = FindOutput(body, id);
    if (output == nullptr)
    {
        throw GraphValidationException(fmt::format("a nested network has no output {}", id));
    }
    return output->Input(0).GetTensorInfo();
}

void CheckSize(const Graph& graph, const Limits& limits)
{
    const uint64_t count = CountLayers(graph, limits.m_MaxNesting);
    if (count > limits.m_MaxLayers)
    {
        throw InvalidArgumentException(fmt::format("the network has {} layers, more than the limit of {}; raise "
                                                   "Limits::m_MaxLayers",
                                                   count, limits.m_MaxLayers));
    }
}

uint64_t CountConstantBytes(const Graph& graph)
{
    std::unordered_set<const void*> seen;
    uint64_t bytes = 0;
    AddConstantBytes(graph, seen, bytes);
    return bytes;
}

void CheckBodies(const Graph& graph)
{
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetType() == LayerType::If)
        {
            for (const auto& body : layer->Bodies())
            {
                CheckInputs(*layer, *body, 1);
                CheckOutputs(*layer, *body);
            }
        }
        else if (layer->GetType() == LayerType::While)
        {
            for (const auto& body : layer->Bodies())
            {
                CheckInputs(*layer, *body, 0);
            }
            CheckOutputs(*layer, *layer->Bodies()[1]);
            CheckType(*layer, "the result that a condition must give", DataType::Boolean, "output 0 of its condition",
                      GetBodyOutputInfo(*layer->Bodies()[0], 0).GetDataType());
            for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
            {
                CheckType(*layer, fmt::format("input {}", i), layer->Input(i).GetTensorInfo().GetDataType(),
                          fmt::format("output {}", i), layer->Output(i).GetTensorInfo().GetDataType());
            }
        }
    }
}

} // namespace tenon
