// SPDX-License-Identifier: Apache-2.0
// The model of bench_serve: the parser of its file, and its inputs.
#pragma once

#include "ServeArguments.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/parsers/IOnnxParser.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>

#include <string>
#include <vector>

namespace tenon::bench
{

struct ServeInput
{
    std::string m_Name;
    LayerBindingId m_Id;
    TensorInfo m_Info;
};

/// "[1,null,4]"
inline std::string DescribeShape(const TensorShape& shape)
{
    if (shape.GetDimensionality() != Dimensionality::Specified)
    {
        return shape.GetDimensionality() == Dimensionality::Scalar ? "[]" : "null";
    }
    std::string text = "[";
    for (unsigned int d = 0; d < shape.GetNumDimensions(); ++d)
    {
        text.append(d == 0 ? "" : ",");
        text.append(shape.GetDimensionSpecificity(d) ? std::to_string(shape[d]) : "null");
    }
    return text.append("]");
}

/// The text as a string of JSON.
inline std::string Quote(const std::string& text)
{
    std::string quoted = "\"";
    for (const char c : text)
    {
        quoted.append(c == '"' || c == '\\' ? "\\" : "");
        quoted.push_back(static_cast<unsigned char>(c) < ' ' ? '?' : c);
    }
    return quoted.append("\"");
}

/// An .onnx file by its ending, otherwise a file of TensorFlow Lite. The parser is made before it reads anything.
class ServeModel
{
public:
    ServeModel(const std::string& path, const Shapes& shapes) : m_Path(path)
    {
        const std::string ending = ".onnx";
        if (path.size() > ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0)
        {
            IOnnxParser::OnnxParserOptions options;
            options.m_InputShapes = shapes;
            m_Onnx = IOnnxParser::Create(options);
            return;
        }
        ITfLiteParser::TfLiteParserOptions options;
        options.m_InputShapes = shapes;
        m_TfLite = ITfLiteParser::Create(options);
    }

    INetworkPtr Parse()
    {
        m_Inputs.clear();
        if (m_Onnx != nullptr)
        {
            INetworkPtr network = m_Onnx->CreateNetworkFromBinaryFile(m_Path.c_str());
            for (const std::string& name : m_Onnx->GetInputNames())
            {
                Add(name, m_Onnx->GetNetworkInputBindingInfo(name));
            }
            return network;
        }
        INetworkPtr network = m_TfLite->CreateNetworkFromBinaryFile(m_Path.c_str());
        const size_t subgraph = m_TfLite->GetNetworkSubgraph();
        for (const std::string& name : m_TfLite->GetSubgraphInputTensorNames(subgraph))
        {
            Add(name, m_TfLite->GetNetworkInputBindingInfo(subgraph, name));
        }
        return network;
    }

    /// Inputs of the model that was parsed last.
    const std::vector<ServeInput>& Inputs() const { return m_Inputs; }

private:
    void Add(const std::string& name, const BindingPointInfo& binding)
    {
        m_Inputs.push_back({name, binding.first, binding.second});
    }

    std::string m_Path;
    IOnnxParserPtr m_Onnx{nullptr, &IOnnxParser::Destroy};
    ITfLiteParserPtr m_TfLite{nullptr, &ITfLiteParser::Destroy};
    std::vector<ServeInput> m_Inputs;
};

} // namespace tenon::bench
