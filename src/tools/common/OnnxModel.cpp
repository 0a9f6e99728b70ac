// SPDX-License-Identifier: Apache-2.0
// See OnnxModel.hpp.
#include "tools/common/OnnxModel.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/parsers/IOnnxParser.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon::tools
{
namespace
{

bool IsOpen(const Binding& input)
{
    return !input.m_Info.GetShape().AreAllDimensionsSpecified();
}

std::vector<Binding> GetInputs(const IOnnxParser& parser)
{
    std::vector<Binding> inputs;
    for (const std::string& name : parser.GetInputNames())
    {
        const BindingPointInfo binding = parser.GetNetworkInputBindingInfo(name);
        inputs.push_back({name, binding.first, binding.second, parser.GetDimensionNames(name)});
    }
    return inputs;
}

/// None where reading ended before all of them were known.
std::vector<Binding> GetKnownInputs(const IOnnxParser& parser)
{
    try
    {
        return GetInputs(parser);
    }
    catch (const ParseException&)
    {
        return {};
    }
}

ModelTexts GetTexts(const IOnnxParser& parser)
{
    const IOnnxParser::ModelHeader& header = parser.GetHeader();
    ModelTexts texts;
    const auto add = [&](const char* name, const std::string& text)
    {
        if (!text.empty())
        {
            texts.emplace_back(name, text);
        }
    };
    const bool hasBoth = !header.m_ProducerName.empty() && !header.m_ProducerVersion.empty();
    add("producer", header.m_ProducerName + (hasBoth ? " " : "") + header.m_ProducerVersion);
    std::string opsets;
    for (const auto& [domain, version] : header.m_Opsets)
    {
        opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain, version);
    }
    add("opsets", opsets);
    add("ir_version", header.m_IrVersion != 0 ? std::to_string(header.m_IrVersion) : "");
    add("domain", header.m_Domain);
    add("model_version", header.m_ModelVersion != 0 ? std::to_string(header.m_ModelVersion) : "");
    add("doc_string", header.m_DocString);
    for (const auto& [key, value] : parser.GetMetadata())
    {
        texts.emplace_back("metadata_props." + key, value);
    }
    return texts;
}

INetworkPtr Parse(IOnnxParser& parser, const InputSource& file)
{
    return file.Content() != nullptr ? parser.CreateNetworkFromMemory(file.Content()->data(), file.Content()->size())
                                     : parser.CreateNetworkFromBinaryFile(file.Path().c_str());
}

} // namespace

Model LoadOnnx(const InputSource& file, const ModelChoice& choice, const Limits& limits)
{
    if (!choice.m_Signature.empty() || choice.m_Subgraph != 0)
    {
        throw UsageError(fmt::format("{}: an ONNX model is one graph, without further subgraphs and signatures to "
                                     "choose",
                                     choice.m_Signature.empty() ? choice.m_SubgraphOption : "--signature"));
    }
    IOnnxParser::OnnxParserOptions options;
    options.m_InputShapes = choice.m_InputShapes;
    options.m_Dimensions = choice.m_Dimensions;
    options.m_Limits = limits;
    const IOnnxParserPtr parser = IOnnxParser::Create(options);
    Model model;
    try
    {
        model.m_Network = Parse(*parser, file);
    }
    catch (const Exception& error)
    {
        const bool isUnimplemented = dynamic_cast<const UnimplementedException*>(&error) != nullptr;
        if (!isUnimplemented && dynamic_cast<const InvalidArgumentException*>(&error) != nullptr)
        {
            throw UsageError(fmt::format("--dim: {}", error.what()));
        }
        // Some operators can be read once the sizes of the inputs are known, which files may give.
        model.m_WhyNot = std::current_exception();
        model.m_Inputs = GetKnownInputs(*parser);
        model.m_Texts = GetTexts(*parser);
        const bool isKept = choice.m_KeepsRefused && isUnimplemented;
        if (!isKept && std::none_of(model.m_Inputs.begin(), model.m_Inputs.end(), IsOpen))
        {
            throw;
        }
        return model;
    }
    model.m_Inputs = GetInputs(*parser);
    model.m_Texts = GetTexts(*parser);
    for (const std::string& name : parser->GetOutputNames())
    {
        const BindingPointInfo binding = parser->GetNetworkOutputBindingInfo(name);
        model.m_Outputs.push_back({name, binding.first, binding.second});
    }
    return model;
}

void AskForDimensions(const Binding& input)
{
    const TensorShape& shape = input.m_Info.GetShape();
    if (input.m_DimensionNames.empty() || !IsOpen(input))
    {
        return;
    }
    std::string options;
    for (unsigned int d = 0; d < shape.GetNumDimensions(); ++d)
    {
        const std::string option = fmt::format(" --dim {}=SIZE", OneLine(input.m_DimensionNames[d]));
        if (!shape.GetDimensionSpecificity(d) && options.find(option) == std::string::npos)
        {
            options += option;
        }
    }
    throw UsageError(fmt::format("input '{}': the model leaves its shape open ({}); give{}, a shape by "
                                 "--input-tensor-shape, or a file by --input-tensor-data",
                                 OneLine(input.m_Name), shape.ToString(), options));
}

} // namespace tenon::tools
