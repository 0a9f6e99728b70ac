// SPDX-License-Identifier: Apache-2.0
// PartitionNetwork: see PartitionNetwork.hpp.
#include "delegate/PartitionNetwork.hpp"

#include "common/ModelBytes.hpp"
#include "delegate/NodeReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <variant>

namespace tenon::delegate
{

namespace
{

using parsers::OperatorView;
using parsers::TensorView;

/// Appends values to a key, each with its length or a mark behind it, so that different lists make different keys.
class KeyWriter
{
public:
    void Add(const OperatorView& op)
    {
        Text(op.Name());
        Number(op.Version());
        Number(op.HasOptions());
        Numbers(op.RawOptions());
        for (const parsers::Attribute& attribute : op.Attributes().m_Attributes)
        {
            Text(attribute.m_Name); // options of custom operators have any
            Number(attribute.m_IsSet);
            std::visit([this](const auto& value) { Value(value); }, attribute.m_Value);
        }
        for (size_t i = 0; i < op.NumInputs(); ++i)
        {
            Operand(op.HasInput(i) ? &op.Input(i) : nullptr);
        }
        for (size_t i = 0; i < op.NumOutputs(); ++i)
        {
            Operand(op.HasOutput(i) ? &op.Output(i) : nullptr);
        }
        for (size_t i = 0; i < op.NumIntermediates(); ++i)
        {
            Operand(&op.Intermediate(i));
        }
        m_Key += ';';
    }
    void Text(std::string_view text)
    {
        Number(text.size());
        m_Key += text;
    }
    std::string Take() { return std::move(m_Key); }

private:
    void Operand(const TensorView* tensor)
    {
        if (tensor == nullptr)
        {
            m_Key += "-,";
            return;
        }
        Number(tensor->m_Index);
        Constant(*tensor);
        const TensorInfo& info = tensor->m_Info;
        Number(static_cast<int>(info.GetDataType()));
        Text(info.GetShape().ToString());
        Number(tensor->m_IsVariable);
        Numbers(info.GetQuantizationScales());
        Numbers(info.GetQuantizationOffsets());
        Number(info.GetQuantizationBlockSize());
    }
    /// By its address and some of its bytes, as an application may put a model where another one was. A copy, whose
    /// memory is the network's, by all of its bytes.
    void Constant(const TensorView& tensor)
    {
        constexpr size_t sample = 64;
        const std::string_view bytes(reinterpret_cast<const char*>(tensor.m_Data.data()), tensor.m_Data.size());
        if (tensor.m_Owner != nullptr)
        {
            Number(std::hash<std::string_view>()(bytes));
            return;
        }
        Number(reinterpret_cast<uintptr_t>(bytes.data()));
        for (const size_t place : {size_t{0}, bytes.size() / 2, bytes.size() - std::min(bytes.size(), sample)})
        {
            Number(std::hash<std::string_view>()(bytes.substr(place, sample)));
        }
    }
    template <typename T>
    void Number(T value)
    {
        m_Key.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    /// A long list counts by its hash: the scales of channels are hundreds of kilobytes, and belong to constants, which
    /// count by their addresses.
    template <typename T>
    void Numbers(const std::vector<T>& list)
    {
        constexpr size_t longest = 64;
        const std::string_view bytes(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
        Number(list.size());
        if (bytes.size() <= longest)
        {
            m_Key += bytes;
        }
        else
        {
            Number(std::hash<std::string_view>()(bytes));
        }
    }
    void Value(std::monostate) {}
    void Value(const std::string& text) { Text(text); }
    void Value(const std::vector<std::string>& list)
    {
        Number(list.size());
        for (const std::string& text : list)
        {
            Text(text);
        }
    }
    template <typename T>
    void Value(const std::vector<T>& list)
    {
        Numbers(list);
    }
    template <typename T>
    void Value(T value)
    {
        Number(value);
    }

    std::string m_Key;
};

void CheckType(const TensorView& tensor, const IOutputSlot& slot)
{
    const DataType wanted = tensor.m_Info.GetDataType();
    const DataType given = slot.GetTensorInfo().GetDataType();
    if (given != wanted)
    {
        throw UnimplementedException(fmt::format("tensor {} is {} in the interpreter, but would be computed as {}",
                                                 tensor.Label(), GetDataTypeName(wanted), GetDataTypeName(given)));
    }
}

/// Of each tensor of the context, whether a node of the partition computes it.
std::vector<bool> FindComputed(const GraphView& graph, const Partition& partition)
{
    std::vector<bool> isComputed(graph.Context().tensors_size);
    for (const int32_t index : partition.m_Nodes)
    {
        for (const int32_t output : Elements(graph.Find(index).m_Node->outputs))
        {
            if (graph.FindTensor(output) != nullptr)
            {
                isComputed[static_cast<size_t>(output)] = true;
            }
        }
    }
    return isComputed;
}

std::string NameOf(const TensorView& tensor, int32_t number)
{
    return tensor.m_Name.empty() ? fmt::format("tensor_{}", number) : tensor.m_Name;
}

} // namespace

Partition MakePartition(const GraphView& graph, const Node& node)
{
    Partition partition;
    partition.m_Nodes = {node.m_Index};
    for (const int32_t tensor : Elements(node.m_Node->inputs))
    {
        const auto& inputs = partition.m_Inputs;
        if (graph.FindTensor(tensor) != nullptr && std::find(inputs.begin(), inputs.end(), tensor) == inputs.end())
        {
            partition.m_Inputs.push_back(tensor);
        }
    }
    for (const int32_t tensor : Elements(node.m_Node->outputs))
    {
        if (graph.FindTensor(tensor) != nullptr)
        {
            partition.m_Outputs.push_back(tensor);
        }
    }
    return partition;
}

PartitionNetwork MakeNetwork(const GraphView& graph, const Partition& partition, bool inferShapes, const Limits& limits)
{
    // Tensors from outside have sizes, also where other nodes of the graph compute them.
    const std::vector<bool> isComputed = FindComputed(graph, partition);
    TensorScope tensors(graph.Context(), isComputed, inferShapes, limits);
    ContextSubgraphs subgraphs(graph.Context());
    std::vector<std::pair<OperatorView, const tflite::OperatorRow*>> operators;
    operators.reserve(partition.m_Nodes.size());
    KeyWriter key;
    const auto withNode = [](int32_t index, const TfLiteRegistration& registration, const auto& function)
    { WithModelContext([&] { return fmt::format("node {} {}", index, NameOfOperator(registration)); }, function); };
    for (const int32_t index : partition.m_Nodes)
    {
        const Node node = graph.Find(index);
        withNode(index, *node.m_Registration,
                 [&]
                 {
                     const tflite::OperatorRow* row = FindRow(*node.m_Registration);
                     if (row == nullptr)
                     {
                         throw UnimplementedException("Tenon has no layer for it");
                     }
                     operators.emplace_back(ReadNode(tensors, *node.m_Node, *node.m_Registration, index), row);
                     key.Add(operators.back().first);
                 });
    }
    // All tensors that the network needs have their places from here on: the builder counts them.
    std::vector<std::pair<int32_t, const TensorView*>> inputs;
    for (const int32_t tensor : partition.m_Inputs)
    {
        const TensorView& view = tensors.Get(tensor);
        if (!view.m_IsConstant)
        {
            inputs.emplace_back(tensor, &view);
        }
    }
    for (const int32_t tensor : partition.m_Outputs)
    {
        tensors.Get(tensor);
    }

    tflite::Construction construction(limits);
    construction.m_Subgraphs = &subgraphs;
    tflite::NetworkState state;
    tflite::NetworkBuilder builder(construction, state, 0, tensors.Size());
    PartitionNetwork result;
    for (const auto& [tensor, view] : inputs)
    {
        const auto id = static_cast<LayerBindingId>(result.m_Inputs.size());
        builder.AddInput(*view, id, NameOf(*view, tensor));
        result.m_Inputs.emplace_back(tensor, id);
    }
    for (size_t i = 0; i < operators.size(); ++i)
    {
        withNode(partition.m_Nodes[i], *graph.Find(partition.m_Nodes[i]).m_Registration,
                 [&] { parsers::AddOperator(*operators[i].second, operators[i].first, builder); });
    }
    const auto addOutput = [&](int32_t tensor, const TensorView& view)
    {
        const auto id = static_cast<LayerBindingId>(result.m_Outputs.size());
        CheckType(view, builder.AddOutput(view, id, NameOf(view, tensor)));
        result.m_Outputs.emplace_back(tensor, id);
    };
    for (const int32_t tensor : partition.m_Outputs)
    {
        addOutput(tensor, tensors.Get(tensor));
    }
    for (const auto& [tensor, view] : inputs)
    {
        if (view->m_IsVariable)
        {
            addOutput(tensor, *view);
        }
    }
    builder.WriteStates(); // of operators that keep them by themselves
    result.m_Network = std::move(state.m_Network);
    key.Text(subgraphs.Describe()); // rows ask for some when they add their layers
    result.m_Key = key.Take();
    for (const auto* list : {&partition.m_Nodes, &partition.m_Inputs, &partition.m_Outputs})
    {
        result.m_Key += fmt::format("{};", fmt::join(*list, ","));
    }
    return result;
}

} // namespace tenon::delegate
