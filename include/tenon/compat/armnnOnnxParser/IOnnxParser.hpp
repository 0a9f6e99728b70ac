// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the parser of ONNX models. It is a class of its own, as Arm NN's gives shapes of
// inputs with each model, where Tenon's has them in its options.
#pragma once

#include <tenon/parsers/IOnnxParser.hpp>

#include <armnn/Exceptions.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace armnnOnnxParser
{

using BindingPointInfo = armnn::BindingPointInfo;

class IOnnxParser;
using IOnnxParserPtr = std::unique_ptr<IOnnxParser, void (*)(IOnnxParser* parser)>;

/// Reads the models that tenon::IOnnxParser reads, and throws the same exceptions. Models in protobuf's text format are
/// refused.
class IOnnxParser
{
public:
    static IOnnxParser* CreateRaw() { return new IOnnxParser(); }
    static IOnnxParserPtr Create() { return IOnnxParserPtr(CreateRaw(), &IOnnxParser::Destroy); }
    static void Destroy(IOnnxParser* parser) { delete parser; }

    armnn::INetworkPtr CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent)
    {
        return CreateNetworkFromBinary(binaryContent, {});
    }
    /// `inputShapes` takes the place of the model's own shapes of these inputs.
    armnn::INetworkPtr CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent,
                                               const std::map<std::string, armnn::TensorShape>& inputShapes)
    {
        Start(inputShapes);
        return m_Parser->CreateNetworkFromBinary(binaryContent);
    }
    armnn::INetworkPtr CreateNetworkFromBinaryFile(const char* graphFile)
    {
        return CreateNetworkFromBinaryFile(graphFile, {});
    }
    armnn::INetworkPtr CreateNetworkFromBinaryFile(const char* graphFile,
                                                   const std::map<std::string, armnn::TensorShape>& inputShapes)
    {
        Start(inputShapes);
        return m_Parser->CreateNetworkFromBinaryFile(graphFile);
    }

    /// Throws UnimplementedException, as the text's other functions do.
    armnn::INetworkPtr CreateNetworkFromTextFile(const char* graphFile)
    {
        RefuseText(std::string("'") + (graphFile == nullptr ? "" : graphFile) + "'");
    }
    armnn::INetworkPtr CreateNetworkFromTextFile(const char* graphFile,
                                                 const std::map<std::string, armnn::TensorShape>&)
    {
        return CreateNetworkFromTextFile(graphFile);
    }
    armnn::INetworkPtr CreateNetworkFromString(const std::string&) { RefuseText("the string"); }
    armnn::INetworkPtr CreateNetworkFromString(const std::string& protoText,
                                               const std::map<std::string, armnn::TensorShape>&)
    {
        return CreateNetworkFromString(protoText);
    }

    /// The bindings of the model that was read last.
    BindingPointInfo GetNetworkInputBindingInfo(const std::string& name) const
    {
        return m_Parser->GetNetworkInputBindingInfo(name);
    }
    BindingPointInfo GetNetworkOutputBindingInfo(const std::string& name) const
    {
        return m_Parser->GetNetworkOutputBindingInfo(name);
    }

private:
    IOnnxParser() : m_Parser(tenon::IOnnxParser::Create()) {}

    void Start(const std::map<std::string, armnn::TensorShape>& inputShapes)
    {
        tenon::IOnnxParser::OnnxParserOptions options;
        options.m_InputShapes = inputShapes;
        m_Parser = tenon::IOnnxParser::Create(options);
    }

    [[noreturn]] static void RefuseText(const std::string& source)
    {
        throw armnn::UnimplementedException(
            "a model in protobuf's text format is not read: " + source +
            "; write it in binary format, in Python with onnx.save(onnx.load(path, 'textproto'), 'model.onnx')");
    }

    tenon::IOnnxParserPtr m_Parser;
};

} // namespace armnnOnnxParser
