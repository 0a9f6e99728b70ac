// SPDX-License-Identifier: Apache-2.0
// GraphReader: reads the nodes of one graph into a network, in topological order. The graph is the model's, or a branch
// or body, which is a network of its own, or the body of a function, which becomes a part of its caller's network.
// Nodes that nothing depends on are left out.
#pragma once

#include "parsers/common/NetworkSize.hpp"
#include "parsers/onnx/GraphBuilder.hpp"
#include "parsers/onnx/Messages.hpp"
#include "parsers/onnx/Operator.hpp"
#include "parsers/onnx/TensorReader.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tenon::onnx
{

struct Row;

/// A kind of node that cannot run, and the reason.
struct Refusal
{
    std::string m_Domain;
    std::string m_Operator;
    int64_t m_Version = 0;
    std::string m_Reason;
    std::string m_FirstNode;
    size_t m_Count = 0;
};

/// The state that all readers of one model share.
class ModelReading
{
public:
    ModelReading(const ModelMessage& model, TensorReader& tensors, const Limits& limits);

    const ModelMessage& Model() const { return m_Model; }
    TensorReader& Tensors() { return m_Tensors; }
    parsers::NetworkSize& Size() { return m_Size; }
    const Limits& GetLimits() const { return m_Limits; }

    /// Counts a graph that is read as a part of another one, each time.
    void CountVisit(const GraphMessage& graph);
    /// The function that a node calls; null if the model has none.
    const FunctionMessage* FindFunction(const NodeMessage& node) const;
    /// Marks a function as entered while it lives. Throws ParseException for a recursive call.
    class Call
    {
    public:
        Call(ModelReading& reading, const FunctionMessage& function);
        ~Call();
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

    private:
        ModelReading& m_Reading;
        const FunctionMessage& m_Function;
        parsers::NetworkSize::Level m_Level;
    };

    void Refuse(const NodeMessage& node, int64_t version, const std::string& reason);
    void Refuse(const NodeMessage& node, int64_t version, const UnimplementedException& reason);
    size_t NumRefused() const { return m_NumRefused; }
    /// Throws UnimplementedException, which lists the nodes that were refused, if there are any. `openSizes`: the open
    /// dimensions of inputs, which the text names if nodes were refused because of them; may be empty.
    void ThrowRefusals(const std::string& openSizes) const;

private:
    using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;
    using RefusalKey = std::tuple<std::string_view, std::string_view, int64_t, std::string>;

    const ModelMessage& m_Model;
    TensorReader& m_Tensors;
    Limits m_Limits;
    parsers::NetworkSize m_Size;
    std::map<FunctionKey, const FunctionMessage*> m_Functions;
    std::set<const FunctionMessage*> m_Entered;
    std::vector<Refusal> m_Refusals;
    std::map<RefusalKey, size_t> m_RefusalPlaces;
    size_t m_NumRefused = 0;
    bool m_NeedsSizes = false; ///< a node was refused because sizes of inputs are open
};

class GraphReader
{
public:
    /// A reader of a graph that sees the names of `outer`, if there is one. Layers go to `builder`.
    GraphReader(ModelReading& reading, GraphBuilder& builder, const GraphMessage& graph, const GraphReader* outer);

    ModelReading& Reading() const { return m_Reading; }
    GraphBuilder& Builder() const { return m_Builder; }

    /// Defines the value of a name, such as a graph's input.
    void Define(std::string_view name, Value value);
    /// Reads all nodes that the outputs depend on, and returns the outputs' values.
    std::vector<Value> ReadNodes();
    /// Whether the graph itself has an initializer of this name.
    bool HasInitializer(std::string_view name) const;

    /// The value of a name in this graph or an outer one; no value for an unknown name.
    Value Find(std::string_view name) const;

private:
    GraphReader(ModelReading& reading, GraphBuilder& builder, const FunctionMessage& function,
                Operator::Attributes attributes);

    std::vector<size_t> OrderNodes() const;
    void ReadNode(const NodeMessage& node);
    /// The row of a node's operator; null where there is none, which refuses the node.
    const Row* FindRowOrRefuse(const NodeMessage& node, int64_t version);
    void ReadRow(const NodeMessage& node, std::vector<Value> inputs, Operator::Attributes attributes);
    void ReadFunction(const FunctionMessage& function, const NodeMessage& node, const std::vector<Value>& inputs,
                      Operator::Attributes attributes);
    Operator::Attributes ResolveAttributes(const NodeMessage& node) const;
    void SetOutputs(const NodeMessage& node, const std::vector<Value>& values);
    void RefuseOutputs(const NodeMessage& node);
    int64_t VersionOf(std::string_view domain) const;
    bool IsAbsent(std::string_view name) const;
    std::string Describe(const NodeMessage& node) const;

    ModelReading& m_Reading;
    GraphBuilder& m_Builder;
    const GraphReader* m_Outer = nullptr;
    const std::vector<NodeMessage>& m_Nodes;
    std::vector<std::string_view> m_Outputs; ///< empty for an output of a function that is not used
    const OpsetImports& m_Opsets;
    Operator::Attributes m_OwnAttributes;             ///< attributes of a function: the caller's, and its defaults
    const Operator::Attributes* m_FunctionAttributes; ///< the same; graphs within a function share the function's
    std::set<std::string_view> m_Absent;              ///< inputs of a function that its caller leaves out
    bool m_IsFunction = false;
    std::string m_Label; ///< "graph 'main'"

    mutable std::unordered_map<std::string_view, Value> m_Values; ///< initializers are added at their first use
    std::unordered_map<std::string_view, const TensorMessage*> m_Initializers;
    std::unordered_map<std::string_view, const SparseTensorMessage*> m_SparseInitializers;
};

} // namespace tenon::onnx
