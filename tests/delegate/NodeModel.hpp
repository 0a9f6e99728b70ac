// SPDX-License-Identifier: Apache-2.0
// NodeModel: a .tflite model in the form in which an interpreter shows it to a delegate: TfLiteTensors, TfLiteNodes and
// structs of options in the layout that delegate/BuiltinData.hpp declares. Used by tests that give one model to both
// sources of the OperatorViews of the parser's rows.
#pragma once

#include "delegate/FakeMemory.hpp"
#include "delegate/NodeReader.hpp"
#include "parsers/ModelBuilder.hpp"
#include "parsers/common/Attribute.hpp"
#include "parsers/tflite/Model.hpp"

#include <tenon/INetwork.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tenon::test
{

class NodeModel
{
public:
    /// Throws tenon::Exception for an invalid model.
    explicit NodeModel(const ModelBuilder& model);

    TfLiteContext& Context(size_t subgraph = 0) { return m_Graphs.at(subgraph).m_Context; }
    TfLiteTensor& Tensor(size_t tensor) { return m_Graphs.front().m_Tensors.at(tensor); }
    TfLiteNode& Node(size_t node) { return m_Graphs.front().m_Nodes.at(node); }
    TfLiteRegistration& Registration(size_t node) { return m_Graphs.front().m_Registrations.at(node); }
    size_t NumNodes() const { return m_Graphs.front().m_Nodes.size(); }
    /// Whether a node computes the tensor, for each tensor.
    const std::vector<bool>& IsComputed() const { return m_Graphs.front().m_IsComputed; }

    /// The network of the first subgraph, by the parser's rows. Tensors have the parser's numbers, and inputs the
    /// parser's ids.
    INetworkPtr MakeNetwork(bool inferShapes);

    // It is not copied because contexts point into it.
    NodeModel(const NodeModel&) = delete;
    NodeModel& operator=(const NodeModel&) = delete;

private:
    struct Graph
    {
        TfLiteContext m_Context{};
        std::vector<TfLiteTensor> m_Tensors;
        std::vector<TfLiteNode> m_Nodes;
        std::vector<TfLiteRegistration> m_Registrations;
        std::vector<bool> m_IsComputed;
        IntArrayPtr m_Plan;
    };

    void AddTensor(Graph& graph, const schema::TensorT& tensor);
    void AddNode(Graph& graph, size_t subgraph, size_t index);
    /// A block of exactly the bytes that the options of the operator need; null if it has none.
    void* Pack(const parsers::AttributeList& options, int32_t code);
    TfLiteIntArray* Keep(const std::vector<int32_t>& values);
    TfLiteSparsity* Keep(const schema::SparsityParametersT& sparsity);

    ModelBuilder m_Model;
    tflite::Model m_File;
    std::deque<Graph> m_Graphs;
    // The arrays that the structs point to.
    std::deque<IntArrayPtr> m_Arrays;
    std::deque<FloatArrayPtr> m_FloatArrays;
    std::deque<TfLiteAffineQuantization> m_Quantizations;
    std::deque<TfLiteSparsity> m_Sparsities;
    std::deque<std::vector<TfLiteDimensionMetadata>> m_Levels;
    std::deque<std::vector<uint8_t>> m_Structs;
    std::deque<std::vector<float>> m_Floats;
};

/// The network as JSON, with layers numbered by their order, so that equal networks have equal texts.
std::string ToJson(const INetwork& network);

} // namespace tenon::test
