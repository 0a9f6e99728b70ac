// SPDX-License-Identifier: Apache-2.0
// OnnxParser: the implementation of IOnnxParser.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/common/BindingTable.hpp"
#include "parsers/onnx/GraphBuilder.hpp"
#include "parsers/onnx/Messages.hpp"

#include <tenon/parsers/IOnnxParser.hpp>

#include <map>
#include <string>
#include <vector>

namespace tenon::onnx
{

class GraphReader;

class OnnxParser final : public IOnnxParser
{
public:
    explicit OnnxParser(OnnxParserOptions options) : m_Options(std::move(options)) {}

    INetworkPtr CreateNetworkFromBinaryFile(const char* graphFile) override;
    INetworkPtr CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent) override;
    INetworkPtr CreateNetworkFromMemory(const void* data, size_t bytes) override;

    BindingPointInfo GetNetworkInputBindingInfo(const std::string& name) const override;
    BindingPointInfo GetNetworkOutputBindingInfo(const std::string& name) const override;
    std::vector<std::string> GetInputNames() const override { return m_Inputs.Names(); }
    std::vector<std::string> GetOutputNames() const override { return m_Outputs.Names(); }
    std::vector<std::string> GetDimensionNames(const std::string& input) const override;
    std::map<std::string, std::string> GetMetadata() const override { return m_Metadata; }
    const ModelHeader& GetHeader() const override { return m_Header; }

private:
    INetworkPtr Parse(const ModelBytes& file, std::string folder, std::string folderBehindLink = {});
    void AddInputs(const GraphMessage& graph, GraphReader& reader, GraphBuilder& builder);
    TensorShape ReadShape(const ValueInfoMessage& input, const std::string& name);
    void CheckDimensionNames() const;
    void CheckSizesAgree() const;
    std::string ListOpenSizes() const;

    OnnxParserOptions m_Options;
    parsers::BindingTable m_Inputs;
    parsers::BindingTable m_Outputs;
    std::map<std::string, std::vector<std::string>> m_DimensionNames; ///< names of dimensions by input
    std::map<std::string, std::string> m_Metadata;
    ModelHeader m_Header;
};

} // namespace tenon::onnx
