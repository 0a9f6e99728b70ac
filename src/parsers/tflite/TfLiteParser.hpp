// SPDX-License-Identifier: Apache-2.0
// TfLiteParser: the implementation of ITfLiteParser. Makes a network from one subgraph of a model and keeps the
// bindings and metadata of the last network.
#pragma once

#include "common/InferredShapes.hpp"
#include "parsers/common/BindingTable.hpp"
#include "parsers/tflite/Model.hpp"
#include "parsers/tflite/NetworkBuilder.hpp"
#include "parsers/tflite/TensorTable.hpp"

#include <tenon/parsers/ITfLiteParser.hpp>

#include <map>
#include <string>
#include <vector>

namespace tenon::tflite
{

class TfLiteParser final : public ITfLiteParser
{
public:
    explicit TfLiteParser(const TfLiteParserOptions& options) : m_Options(options) {}

    INetworkPtr CreateNetworkFromBinaryFile(const char* graphFile) override;
    INetworkPtr CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent) override;
    INetworkPtr CreateNetworkFromMemory(const void* data, size_t bytes) override;

    BindingPointInfo GetNetworkInputBindingInfo(size_t subgraphId, const std::string& name) const override;
    BindingPointInfo GetNetworkOutputBindingInfo(size_t subgraphId, const std::string& name) const override;
    size_t GetSubgraphCount() const override { return m_NumSubgraphs; }
    std::vector<std::string> GetSignatureNames() const override { return m_SignatureNames; }
    size_t GetNetworkSubgraph() const override { return m_Subgraph; }
    std::vector<std::string> GetSubgraphInputTensorNames(size_t subgraphId) const override;
    std::vector<std::string> GetSubgraphOutputTensorNames(size_t subgraphId) const override;
    std::vector<std::string> GetEntryNames() const override { return m_Entries; }
    const ModelMetadata& GetMetadata() const override { return m_Metadata; }

private:
    /// Inputs or outputs in the order of the model's list.
    struct Bindings
    {
        parsers::BindingTable m_Table;
        std::vector<int32_t> m_Tensors;                      ///< of each binding
        std::multimap<size_t, std::string> m_SignatureNames; ///< by tensor index, in the signature's order

        std::string AddName(const TensorView& tensor);
    };

    INetworkPtr Open(const ModelBytes& file);
    INetworkPtr Parse(Model model);
    void ChooseSubgraph(Model& model);
    void AddInputs(const schema::SubGraph& subgraph, TensorTable& tensors, NetworkBuilder& builder);
    void ReshapeInput(int32_t index, const std::string& name, TensorTable& tensors) const;
    void AddOutputs(const schema::SubGraph& subgraph, TensorTable& tensors, NetworkBuilder& builder);
    TensorShape ShapeOfOutput(const TensorView& tensor, const IOutputSlot& source, InferredShapes& shapes) const;
    void CheckSubgraph(size_t subgraphId) const;

    TfLiteParserOptions m_Options;
    size_t m_NumSubgraphs = 0;
    size_t m_Subgraph = 0;
    std::vector<std::string> m_SignatureNames;
    Bindings m_Inputs;
    Bindings m_Outputs;
    std::vector<std::string> m_Entries;
    ModelMetadata m_Metadata;
};

} // namespace tenon::tflite
