// SPDX-License-Identifier: Apache-2.0
// GraphReader: see GraphReader.hpp.
#include "parsers/onnx/GraphReader.hpp"

#include "parsers/onnx/Rows.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon::onnx
{

namespace
{

parsers::Attribute ToAttribute(std::string_view name, const AttributeMessage& message)
{
    parsers::Attribute attribute;
    attribute.m_Name = name;
    attribute.m_IsSet = true;
    switch (message.m_Type)
    {
    case AttributeType::Float: attribute.m_Value = static_cast<double>(message.m_Float); break;
    case AttributeType::Int: attribute.m_Value = message.m_Int; break;
    case AttributeType::String: attribute.m_Value = std::string(message.m_String); break;
    case AttributeType::Floats:
        attribute.m_Value = std::vector<double>(message.m_Floats.begin(), message.m_Floats.end());
        break;
    case AttributeType::Ints: attribute.m_Value = message.m_Ints; break;
    case AttributeType::Strings:
        attribute.m_Value = std::vector<std::string>(message.m_Strings.begin(), message.m_Strings.end());
        break;
    default: break;
    }
    return attribute;
}

parsers::AttributeList ToList(const Operator::Attributes& attributes)
{
    parsers::AttributeList list;
    list.m_IsPresent = true;
    for (const auto& [name, message] : attributes)
    {
        list.m_Attributes.push_back(ToAttribute(name, *message));
    }
    return list;
}

/// Names that nodes of a graph read from outside of it, nested graphs included.
void CollectOuterNames(const GraphMessage& graph, std::vector<std::string_view>& names)
{
    std::set<std::string_view> own;
    for (const ValueInfoMessage& input : graph.m_Inputs)
    {
        own.insert(input.m_Name);
    }
    for (const TensorMessage& tensor : graph.m_Initializers)
    {
        own.insert(tensor.m_Name);
    }
    for (const NodeMessage& node : graph.m_Nodes)
    {
        own.insert(node.m_Outputs.begin(), node.m_Outputs.end());
    }
    std::vector<std::string_view> all;
    for (const NodeMessage& node : graph.m_Nodes)
    {
        all.insert(all.end(), node.m_Inputs.begin(), node.m_Inputs.end());
        for (const AttributeMessage& attribute : node.m_Attributes)
        {
            if (attribute.m_Graph != nullptr)
            {
                CollectOuterNames(*attribute.m_Graph, all);
            }
        }
    }
    for (const ValueInfoMessage& output : graph.m_Outputs)
    {
        all.push_back(output.m_Name);
    }
    for (const std::string_view name : all)
    {
        if (own.count(name) == 0)
        {
            names.push_back(name);
        }
    }
}

std::vector<std::string_view> NamesThatNodeReads(const NodeMessage& node)
{
    std::vector<std::string_view> names = node.m_Inputs;
    for (const AttributeMessage& attribute : node.m_Attributes)
    {
        if (attribute.m_Graph != nullptr)
        {
            CollectOuterNames(*attribute.m_Graph, names);
        }
    }
    return names;
}

uint64_t CostOf(const GraphMessage& graph);

/// The bytes that are looked at, but for nested graphs.
uint64_t BytesOf(const AttributeMessage& attribute)
{
    uint64_t bytes = sizeof(attribute) + attribute.m_Name.size() + attribute.m_String.size() +
                     8 * (attribute.m_Ints.size() + attribute.m_Floats.size());
    for (const std::string_view text : attribute.m_Strings)
    {
        bytes += sizeof(text) + text.size();
    }
    return bytes;
}

/// Nodes, with nested graphs, whose names are looked through each time. Long names and lists count as several.
uint64_t CostOf(const std::vector<NodeMessage>& nodes)
{
    constexpr uint64_t bytesOfOne = 1024;
    uint64_t bytes = 0;
    uint64_t cost = 1 + nodes.size();
    for (const NodeMessage& node : nodes)
    {
        bytes += node.m_Name.size();
        for (const auto* names : {&node.m_Inputs, &node.m_Outputs})
        {
            for (const std::string_view name : *names)
            {
                bytes += sizeof(Value) + name.size();
            }
        }
        for (const AttributeMessage& attribute : node.m_Attributes)
        {
            bytes += BytesOf(attribute);
            cost += attribute.m_Graph != nullptr ? CostOf(*attribute.m_Graph) : 0;
        }
    }
    return cost + bytes / bytesOfOne;
}

uint64_t CostOf(const GraphMessage& graph)
{
    return CostOf(graph.m_Nodes) + graph.m_Initializers.size() + graph.m_SparseInitializers.size() +
           graph.m_Inputs.size() + graph.m_Outputs.size();
}

std::string_view DisplayDomain(std::string_view domain)
{
    return domain.empty() ? std::string_view("ai.onnx") : domain;
}

} // namespace

ModelReading::ModelReading(const ModelMessage& model, TensorReader& tensors, const Limits& limits)
    : m_Model(model), m_Tensors(tensors), m_Limits(limits), m_Size(limits, "functions and graphs")
{
    for (const FunctionMessage& function : model.m_Functions)
    {
        m_Functions.emplace(FunctionKey(function.m_Domain, function.m_Name, function.m_Overload), &function);
    }
}

void ModelReading::CountVisit(const GraphMessage& graph)
{
    m_Size.CountVisit(CostOf(graph));
}

const FunctionMessage* ModelReading::FindFunction(const NodeMessage& node) const
{
    const auto found = m_Functions.find(FunctionKey(node.m_Domain, node.m_OpType, node.m_Overload));
    return found != m_Functions.end() ? found->second : nullptr;
}

ModelReading::Call::Call(ModelReading& reading, const FunctionMessage& function)
    : m_Reading(reading), m_Function(function), m_Level(reading.m_Size)
{
    if (!reading.m_Entered.insert(&function).second)
    {
        throw ParseException(fmt::format("function '{}' calls itself", function.m_Name));
    }
}

ModelReading::Call::~Call()
{
    m_Reading.m_Entered.erase(&m_Function);
}

void ModelReading::Refuse(const NodeMessage& node, int64_t version, const std::string& reason)
{
    ++m_NumRefused;
    const auto [place, isNew] =
        m_RefusalPlaces.try_emplace(RefusalKey(node.m_Domain, node.m_OpType, version, reason), m_Refusals.size());
    if (!isNew)
    {
        ++m_Refusals[place->second].m_Count;
        return;
    }
    m_Refusals.push_back(
        {std::string(node.m_Domain), std::string(node.m_OpType), version, reason, std::string(node.m_Name), 1});
}

void ModelReading::Refuse(const NodeMessage& node, int64_t version, const UnimplementedException& reason)
{
    m_NeedsSizes = m_NeedsSizes || dynamic_cast<const OpenSizeException*>(&reason) != nullptr;
    Refuse(node, version, std::string(reason.what()));
}

void ModelReading::ThrowRefusals(const std::string& openSizes) const
{
    if (m_Refusals.empty())
    {
        return;
    }
    constexpr size_t maxShown = 1000;
    std::string text = "the model has operators that cannot run:";
    for (const Refusal& refusal : m_Refusals)
    {
        if (&refusal == m_Refusals.data() + maxShown)
        {
            text += fmt::format("\n  and {} more kinds", m_Refusals.size() - maxShown);
            break;
        }
        text += fmt::format(
            "\n  {} ({} version {}, {} node{}{}): {}", refusal.m_Operator, DisplayDomain(refusal.m_Domain),
            refusal.m_Version, refusal.m_Count, refusal.m_Count == 1 ? "" : "s",
            refusal.m_FirstNode.empty() ? "" : fmt::format(", first '{}'", refusal.m_FirstNode), refusal.m_Reason);
    }
    if (!openSizes.empty() && m_NeedsSizes)
    {
        text += fmt::format(". Open are {}", openSizes);
    }
    throw UnimplementedException(text);
}

GraphReader::GraphReader(ModelReading& reading, GraphBuilder& builder, const GraphMessage& graph,
                         const GraphReader* outer)
    : m_Reading(reading), m_Builder(builder), m_Outer(outer), m_Nodes(graph.m_Nodes),
      m_Opsets(outer != nullptr ? outer->m_Opsets : reading.Model().m_Opsets),
      m_FunctionAttributes(outer != nullptr ? outer->m_FunctionAttributes : &m_OwnAttributes),
      m_Label(fmt::format("graph '{}'", graph.m_Name))
{
    for (const ValueInfoMessage& output : graph.m_Outputs)
    {
        m_Outputs.push_back(output.m_Name);
    }
    for (const TensorMessage& tensor : graph.m_Initializers)
    {
        m_Initializers.emplace(tensor.m_Name, &tensor);
    }
    for (const SparseTensorMessage& tensor : graph.m_SparseInitializers)
    {
        m_SparseInitializers.emplace(tensor.m_Values.m_Name, &tensor);
    }
}

GraphReader::GraphReader(ModelReading& reading, GraphBuilder& builder, const FunctionMessage& function,
                         Operator::Attributes attributes)
    : m_Reading(reading), m_Builder(builder), m_Nodes(function.m_Nodes), m_Outputs(function.m_Outputs),
      m_Opsets(function.m_Opsets), m_OwnAttributes(std::move(attributes)), m_FunctionAttributes(&m_OwnAttributes),
      m_IsFunction(true), m_Label(fmt::format("function '{}'", function.m_Name))
{
}

void GraphReader::Define(std::string_view name, Value value)
{
    if (!m_Values.emplace(name, std::move(value)).second)
    {
        throw ParseException(fmt::format("'{}' is computed twice", name));
    }
}

bool GraphReader::HasInitializer(std::string_view name) const
{
    return m_Initializers.count(name) != 0 || m_SparseInitializers.count(name) != 0;
}

Value GraphReader::Find(std::string_view name) const
{
    if (name.empty())
    {
        return {};
    }
    const auto found = m_Values.find(name);
    if (found != m_Values.end())
    {
        return found->second;
    }
    const auto dense = m_Initializers.find(name);
    if (dense != m_Initializers.end())
    {
        return m_Values[name] = m_Reading.Tensors().Read(*dense->second);
    }
    const auto sparse = m_SparseInitializers.find(name);
    if (sparse != m_SparseInitializers.end())
    {
        return m_Values[name] = m_Reading.Tensors().Read(*sparse->second);
    }
    return m_Outer != nullptr ? m_Outer->Find(name) : Value();
}

/// Nodes that the outputs depend on, each after those that it depends on. That is their order in the file, unless some
/// tool has not sorted them.
std::vector<size_t> GraphReader::OrderNodes() const
{
    std::unordered_map<std::string_view, size_t> producers;
    for (size_t i = 0; i < m_Nodes.size(); ++i)
    {
        for (const std::string_view name : m_Nodes[i].m_Outputs)
        {
            if (!name.empty())
            {
                const auto found = producers.emplace(name, i).first;
                if (found->second != i)
                {
                    throw ParseException(fmt::format("{}: '{}' is computed by two nodes, {} {} and {} {}", m_Label,
                                                     name, found->second, Describe(m_Nodes[found->second]), i,
                                                     Describe(m_Nodes[i])));
                }
            }
        }
    }
    enum class State : uint8_t
    {
        Unseen,
        Open,
        Done
    };
    struct Visit
    {
        size_t m_Node;
        size_t m_NextName = 0;
    };
    std::vector<State> states(m_Nodes.size(), State::Unseen);
    std::vector<std::vector<std::string_view>> reads(m_Nodes.size()); ///< of nodes that were entered
    std::vector<size_t> order;
    std::vector<Visit> stack;
    const auto enter = [&](std::string_view name)
    {
        const auto found = producers.find(name);
        if (found == producers.end() || states[found->second] == State::Done)
        {
            return;
        }
        if (states[found->second] == State::Open)
        {
            throw ParseException(fmt::format("{}: the nodes form a cycle that '{}' is a part of", m_Label, name));
        }
        states[found->second] = State::Open;
        reads[found->second] = NamesThatNodeReads(m_Nodes[found->second]);
        stack.push_back({found->second});
    };
    for (const std::string_view output : m_Outputs)
    {
        enter(output);
        while (!stack.empty())
        {
            Visit& visit = stack.back();
            const std::vector<std::string_view>& names = reads[visit.m_Node];
            if (visit.m_NextName < names.size())
            {
                enter(names[visit.m_NextName++]);
                continue;
            }
            states[visit.m_Node] = State::Done;
            order.push_back(visit.m_Node);
            stack.pop_back();
        }
    }
    // The file's order, if it is one.
    std::vector<size_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<size_t> places(m_Nodes.size());
    for (size_t i = 0; i < sorted.size(); ++i)
    {
        places[sorted[i]] = i;
    }
    for (const size_t node : sorted)
    {
        for (const std::string_view name : reads[node])
        {
            const auto found = producers.find(name);
            if (found != producers.end() && places[found->second] >= places[node])
            {
                return order;
            }
        }
    }
    return sorted;
}

std::vector<Value> GraphReader::ReadNodes()
{
    for (const size_t i : OrderNodes())
    {
        const NodeMessage& node = m_Nodes[i];
        WithModelContext([&] { return fmt::format("{}: node {} {}", m_Label, i, Describe(node)); },
                         [&] { ReadNode(node); });
    }
    std::vector<Value> outputs;
    for (const std::string_view name : m_Outputs)
    {
        outputs.push_back(Find(name));
        const bool isUnwanted = name.empty() && m_IsFunction;
        if (!outputs.back() && !isUnwanted)
        {
            throw ParseException(fmt::format("{}: the output '{}' is computed by no node", m_Label, name));
        }
    }
    return outputs;
}

std::string GraphReader::Describe(const NodeMessage& node) const
{
    return node.m_Name.empty() ? fmt::format("({})", node.m_OpType)
                               : fmt::format("'{}' ({})", node.m_Name, node.m_OpType);
}

Operator::Attributes GraphReader::ResolveAttributes(const NodeMessage& node) const
{
    Operator::Attributes attributes;
    for (const AttributeMessage& attribute : node.m_Attributes)
    {
        if (attribute.m_Reference.empty())
        {
            attributes[attribute.m_Name] = &attribute;
            continue;
        }
        const auto found = m_FunctionAttributes->find(attribute.m_Reference);
        if (found != m_FunctionAttributes->end())
        {
            attributes[attribute.m_Name] = found->second;
        }
    }
    return attributes;
}

bool GraphReader::IsAbsent(std::string_view name) const
{
    return name.empty() || m_Absent.count(name) != 0 || (m_Outer != nullptr && m_Outer->IsAbsent(name));
}

int64_t GraphReader::VersionOf(std::string_view domain) const
{
    const auto found = m_Opsets.find(domain);
    if (found != m_Opsets.end())
    {
        return found->second;
    }
    if (domain.empty())
    {
        throw ParseException("the model imports no version of the operator set ai.onnx");
    }
    return 1; // files of tools that add operators of their own often do not import them
}

void GraphReader::SetOutputs(const NodeMessage& node, const std::vector<Value>& values)
{
    for (size_t i = 0; i < node.m_Outputs.size(); ++i)
    {
        const std::string_view name = node.m_Outputs[i];
        if (name.empty())
        {
            continue;
        }
        if (i >= values.size() || !values[i])
        {
            continue; // an output that the operator does not have here: whoever reads it finds no value
        }
        if (values[i]->m_Name.empty())
        {
            values[i].GetState()->m_Name = name;
        }
        // A small node can make a long list, and all values are kept.
        constexpr size_t elementsOfOne = 16;
        const size_t numbers = values[i]->m_Numbers.has_value() ? values[i]->m_Numbers->size() : 0;
        m_Reading.Size().CountVisit((numbers + values[i]->m_Elements.size()) / elementsOfOne);
        Define(name, values[i]);
    }
}

void GraphReader::RefuseOutputs(const NodeMessage& node)
{
    auto state = std::make_shared<Value::State>();
    state->m_Kind = Value::Kind::Refused;
    SetOutputs(node, std::vector<Value>(node.m_Outputs.size(), Value(std::move(state))));
}

void GraphReader::ReadNode(const NodeMessage& node)
{
    std::vector<Value> inputs;
    try
    {
        for (const std::string_view name : node.m_Inputs)
        {
            inputs.push_back(Find(name));
            if (!inputs.back() && !IsAbsent(name))
            {
                throw ParseException(fmt::format("reads '{}', which is neither an input, nor an initializer, nor "
                                                 "computed by a node",
                                                 name));
            }
        }
    }
    catch (const UnimplementedException& error) // the element type of an initializer
    {
        m_Reading.Refuse(node, VersionOf(node.m_Domain), error);
        RefuseOutputs(node);
        return;
    }
    while (!inputs.empty() && !inputs.back())
    {
        inputs.pop_back();
    }
    if (std::any_of(inputs.begin(), inputs.end(),
                    [](const Value& value) { return value && value->m_Kind == Value::Kind::Refused; }))
    {
        if (m_Reading.FindFunction(node) == nullptr)
        {
            FindRowOrRefuse(node, VersionOf(node.m_Domain));
        }
        RefuseOutputs(node);
        return;
    }
    const std::string_view firstOutput = node.m_Outputs.empty() ? std::string_view() : node.m_Outputs.front();
    m_Builder.SetName(std::string(node.m_Name.empty() ? firstOutput : node.m_Name));
    Operator::Attributes attributes = ResolveAttributes(node);
    if (const FunctionMessage* const function = m_Reading.FindFunction(node))
    {
        ReadFunction(*function, node, inputs, std::move(attributes));
        return;
    }
    ReadRow(node, std::move(inputs), std::move(attributes));
}

const Row* GraphReader::FindRowOrRefuse(const NodeMessage& node, int64_t version)
{
    const Row* const row = FindRow(node.m_Domain, node.m_OpType, version);
    if (row == nullptr)
    {
        m_Reading.Refuse(node, version,
                         IsKnownOperator(node.m_Domain, node.m_OpType) ? "this version of the operator is too old"
                                                                       : "no layer computes it");
    }
    return row;
}

void GraphReader::ReadRow(const NodeMessage& node, std::vector<Value> inputs, Operator::Attributes attributes)
{
    const int64_t version = VersionOf(node.m_Domain);
    const Row* const row = FindRowOrRefuse(node, version);
    if (row == nullptr)
    {
        RefuseOutputs(node);
        return;
    }
    const size_t refused = m_Reading.NumRefused();
    std::vector<bool> wanted;
    for (const std::string_view name : node.m_Outputs)
    {
        wanted.push_back(!name.empty());
    }
    Operator op(*this, std::string(node.m_OpType), version, ToList(attributes), attributes, std::move(inputs),
                node.m_Outputs.size(), std::move(wanted));
    try
    {
        AddOperator(*row, op, m_Builder);
    }
    catch (const UnimplementedException& error)
    {
        m_Reading.Refuse(node, version, error);
    }
    if (op.IsRefused() || m_Reading.NumRefused() != refused)
    {
        RefuseOutputs(node);
        return;
    }
    SetOutputs(node, op.Outputs());
}

void GraphReader::ReadFunction(const FunctionMessage& function, const NodeMessage& node,
                               const std::vector<Value>& inputs, Operator::Attributes attributes)
{
    const ModelReading::Call call(m_Reading, function);
    m_Reading.Size().CountVisit(CostOf(function.m_Nodes));
    for (const AttributeMessage& attribute : function.m_Defaults)
    {
        attributes.emplace(attribute.m_Name, &attribute);
    }
    if (inputs.size() > function.m_Inputs.size())
    {
        throw ParseException(fmt::format("has {} inputs, but function '{}' takes {}", inputs.size(), function.m_Name,
                                         function.m_Inputs.size()));
    }
    GraphReader body(m_Reading, m_Builder, function, std::move(attributes));
    for (size_t i = 0; i < body.m_Outputs.size(); ++i)
    {
        if (i >= node.m_Outputs.size() || node.m_Outputs[i].empty())
        {
            body.m_Outputs[i] = {};
        }
    }
    for (size_t i = 0; i < function.m_Inputs.size(); ++i)
    {
        if (i < inputs.size() && inputs[i])
        {
            body.Define(function.m_Inputs[i], inputs[i]);
        }
        else
        {
            body.m_Absent.insert(function.m_Inputs[i]);
        }
    }
    SetOutputs(node, body.ReadNodes());
}

} // namespace tenon::onnx
