// SPDX-License-Identifier: Apache-2.0
// See Nested.hpp.
#include "graph/Nested.hpp"

#include <tenon/descriptors/ControlFlow.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

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
    if (!graph.HasBodies())
    {
        return count;
    }
    for (const auto& layer : graph.Layers())
    {
        if (!layer->Bodies().empty() && nestingLeft == 0)
        {
            throw LimitExceededException(fmt::format("{} nests networks deeper than the limit; raise "
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
    if (graph.Count(LayerType::Constant) == 0 && !graph.HasBodies())
    {
        return;
    }
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

/// A network may leave out inputs that another network of the same layer has, so that its ids may be larger than its
/// number of inputs.
constexpr LayerBindingId MaxNestedId = 65535;

/// The Input or Output layers of a nested network by binding id, which must be 0, 1, 2...
std::vector<const Layer*> FindBound(const Graph& graph, LayerType type, const char* what)
{
    std::vector<const Layer*> bound;
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetType() == LayerType::ReadState || layer->GetType() == LayerType::WriteState)
        {
            throw InvalidArgumentException(fmt::format(
                "{} has {}: a nested network cannot have states; pass them in and out", what, layer->Describe()));
        }
        if (layer->GetType() != type)
        {
            continue;
        }
        const LayerBindingId id = layer->GetBindingId();
        if (id < 0 || id > MaxNestedId)
        {
            throw InvalidArgumentException(
                fmt::format("{} has {} with binding id {}; ids of a nested network are from 0 to {}", what,
                            layer->Describe(), id, MaxNestedId));
        }
        bound.resize(std::max(bound.size(), static_cast<size_t>(id) + 1), nullptr);
        if (bound[static_cast<size_t>(id)] != nullptr)
        {
            throw InvalidArgumentException(fmt::format("{} has the binding id {} twice", what, id));
        }
        bound[static_cast<size_t>(id)] = layer.get();
    }
    return bound;
}

std::vector<const Layer*> FindOutputs(const Graph& graph, const char* what)
{
    std::vector<const Layer*> outputs = FindBound(graph, LayerType::Output, what);
    if (std::find(outputs.begin(), outputs.end(), nullptr) != outputs.end())
    {
        throw InvalidArgumentException(fmt::format(
            "{}: the binding ids of its {} outputs have a gap; they must count from 0", what, outputs.size()));
    }
    return outputs;
}

void CheckCount(const char* what, size_t count, const char* other, size_t wanted)
{
    if (count != wanted)
    {
        throw InvalidArgumentException(
            fmt::format("{} has {} outputs, but {} must have {}", what, count, other, wanted));
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
        throw LimitExceededException(fmt::format("the network has {} layers, more than the limit of {}; raise "
                                                 "Limits::m_MaxLayers",
                                                 count, limits.m_MaxLayers));
    }
}

void CheckStates(const Graph& graph)
{
    struct Ends
    {
        const Layer* m_Reader = nullptr;
        const Layer* m_Writer = nullptr;
    };
    if (graph.Count(LayerType::ReadState) + graph.Count(LayerType::WriteState) == 0)
    {
        return;
    }
    std::unordered_map<std::string_view, Ends> states;
    for (const auto& layer : graph.Layers())
    {
        const bool reads = layer->GetType() == LayerType::ReadState;
        if (!reads && layer->GetType() != LayerType::WriteState)
        {
            continue;
        }
        const std::string& name = layer->Descriptor<StateDescriptor>().m_Name;
        Ends& ends = states[name];
        const Layer*& end = reads ? ends.m_Reader : ends.m_Writer;
        if (end != nullptr)
        {
            throw GraphValidationException(fmt::format("{} {} state '{}', which another layer {} too",
                                                       layer->Describe(), reads ? "reads" : "writes", name,
                                                       reads ? "reads" : "writes"));
        }
        end = layer.get();
        if (ends.m_Reader == nullptr || ends.m_Writer == nullptr)
        {
            continue;
        }
        const DataType read = ends.m_Reader->Output(0).GetTensorInfo().GetDataType();
        const DataType written = ends.m_Writer->Input(0).GetTensorInfo().GetDataType();
        if (read != written)
        {
            throw GraphValidationException(fmt::format("state '{}' is read as {} but written as {}", name,
                                                       GetDataTypeName(read), GetDataTypeName(written)));
        }
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
    if (!graph.HasBodies())
    {
        return;
    }
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

IfDescriptor MakeIfDescriptor(const Graph& thenGraph, const Graph& elseGraph)
{
    const size_t inputs = std::max(FindBound(thenGraph, LayerType::Input, "If: the then network").size(),
                                   FindBound(elseGraph, LayerType::Input, "If: the else network").size());
    const size_t outputs = FindOutputs(thenGraph, "If: the then network").size();
    CheckCount("If: the else network", FindOutputs(elseGraph, "If: the else network").size(), "the then network",
               outputs);
    IfDescriptor descriptor;
    descriptor.m_NumInputs = static_cast<uint32_t>(inputs + 1);
    descriptor.m_NumOutputs = static_cast<uint32_t>(outputs);
    return descriptor;
}

WhileDescriptor MakeWhileDescriptor(const Graph& condition, const Graph& body)
{
    const size_t variables = FindOutputs(body, "While: the body").size();
    CheckCount("While: the condition", FindOutputs(condition, "While: the condition").size(), "a condition", 1);
    for (const auto& [graph, what] :
         {std::pair(&condition, "While: the condition"), std::pair(&body, "While: the body")})
    {
        const size_t inputs = FindBound(*graph, LayerType::Input, what).size();
        if (inputs > variables)
        {
            throw InvalidArgumentException(fmt::format("{} has an input {}, but the body has {} outputs: each loop "
                                                       "variable needs one",
                                                       what, inputs - 1, variables));
        }
    }
    WhileDescriptor descriptor;
    descriptor.m_NumVariables = static_cast<uint32_t>(variables);
    return descriptor;
}

void CheckBindings(const Layer& layer)
{
    const Graph& first = *layer.Bodies()[0];
    const Graph& second = *layer.Bodies()[1];
    const bool fits = layer.GetType() == LayerType::If
                          ? layer.Descriptor<IfDescriptor>() == MakeIfDescriptor(first, second)
                          : layer.Descriptor<WhileDescriptor>() == MakeWhileDescriptor(first, second);
    if (!fits)
    {
        throw GraphValidationException(
            fmt::format("{} has other inputs or outputs than its nested networks", layer.Describe()));
    }
}

} // namespace tenon
