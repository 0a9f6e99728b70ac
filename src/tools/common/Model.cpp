// SPDX-License-Identifier: Apache-2.0
// See Model.hpp.
#include "tools/common/Model.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/OnnxModel.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/parsers/ITfLiteParser.hpp>
#include <tenon/serializer/IDeserializer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace tenon::tools
{
namespace
{

using formats::FindModelFormat;
using formats::ModelFormat;
using formats::Reader;

INetworkPtr ParseTfLite(ITfLiteParser& parser, const InputSource& file, const ModelChoice& choice)
{
    try
    {
        return file.Content() != nullptr
                   ? parser.CreateNetworkFromMemory(file.Content()->data(), file.Content()->size())
                   : parser.CreateNetworkFromBinaryFile(file.Path().c_str());
    }
    catch (const InvalidArgumentException&)
    {
        const std::vector<std::string> entries = parser.GetEntryNames();
        if (choice.m_Entry.empty() && entries.size() > 1)
        {
            throw UnchosenEntryError(fmt::format("model '{}': it holds {} models; choose one with --entry: {}",
                                                 OneLine(file.Path()), entries.size(), QuotedList(entries)),
                                     entries);
        }
        throw;
    }
}

ModelTexts ToTexts(const ITfLiteParser::ModelMetadata& metadata)
{
    const std::string files = fmt::format("{}", fmt::join(metadata.m_Files, ", "));
    ModelTexts texts;
    for (const auto& [name, text] : {std::pair<const char*, const std::string&>{"name", metadata.m_Name},
                                     {"description", metadata.m_Description},
                                     {"version", metadata.m_Version},
                                     {"author", metadata.m_Author},
                                     {"license", metadata.m_License},
                                     {"min_parser_version", metadata.m_MinParserVersion},
                                     {"files", files}})
    {
        if (!text.empty())
        {
            texts.emplace_back(name, text);
        }
    }
    return texts;
}

Model LoadTfLite(const InputSource& file, const ModelChoice& choice, const Limits& limits)
{
    ITfLiteParser::TfLiteParserOptions options;
    options.m_Entry = choice.m_Entry;
    options.m_InputShapes = choice.m_InputShapes;
    options.m_Subgraph = choice.m_Subgraph;
    options.m_Signature = choice.m_Signature;
    options.m_Limits = limits;
    const ITfLiteParserPtr parser = ITfLiteParser::Create(options);
    Model model;
    model.m_Network = ParseTfLite(*parser, file, choice);
    const ITfLiteParser::ModelMetadata& metadata = parser->GetMetadata();
    model.m_Remarks = metadata.m_Faults;
    model.m_Texts = ToTexts(metadata);
    model.m_Signatures = parser->GetSignatureNames();
    model.m_NumSubgraphs = parser->GetSubgraphCount();
    const size_t subgraph = parser->GetNetworkSubgraph();
    for (const std::string& name : parser->GetSubgraphInputTensorNames(subgraph))
    {
        const BindingPointInfo binding = parser->GetNetworkInputBindingInfo(subgraph, name);
        const ITfLiteParser::TensorMetadata& tensor = metadata.m_Inputs[model.m_Inputs.size()];
        model.m_Inputs.push_back({name, binding.first, binding.second});
        model.m_Inputs.back().m_Normalisation = {tensor.m_Mean, tensor.m_Std};
        model.m_Inputs.back().m_Description = tensor.m_Description;
    }
    for (const std::string& name : parser->GetSubgraphOutputTensorNames(subgraph))
    {
        const BindingPointInfo binding = parser->GetNetworkOutputBindingInfo(subgraph, name);
        const ITfLiteParser::TensorMetadata& tensor = metadata.m_Outputs[model.m_Outputs.size()];
        model.m_Outputs.push_back({name, binding.first, binding.second});
        model.m_Outputs.back().m_Labels = tensor.m_AxisLabels;
        model.m_Outputs.back().m_Description = tensor.m_Description;
    }
    return model;
}

/// `ending`: of such files, for messages.
Model LoadTenon(const InputSource& file, const ModelChoice& choice, const Limits& limits, const IDeviceSpec& deviceSpec,
                const char* ending)
{
    if (!choice.m_Signature.empty() || choice.m_Subgraph != 0)
    {
        throw UsageError(fmt::format("{}: a {} file holds one network, without further subgraphs and signatures",
                                     choice.m_Signature.empty() ? choice.m_SubgraphOption : "--signature", ending));
    }
    IDeserializer::DeserializerOptions options;
    options.m_Limits = limits;
    const IDeserializerPtr deserializer = IDeserializer::Create(options);
    Model model;
    const std::vector<uint8_t>* const content = file.Content().get();
    const char* const path = file.Path().c_str();
    if (content != nullptr ? deserializer->IsOptimizedBinary(*content) : deserializer->IsOptimizedFile(path))
    {
        model.m_Optimized = content != nullptr ? deserializer->CreateOptimizedNetworkFromBinary(*content, deviceSpec)
                                               : deserializer->CreateOptimizedNetworkFromBinaryFile(path, deviceSpec);
    }
    else
    {
        model.m_Network = content != nullptr ? deserializer->CreateNetworkFromBinary(*content)
                                             : deserializer->CreateNetworkFromBinaryFile(path);
    }
    for (const std::string& name : deserializer->GetNetworkInputNames())
    {
        const BindingPointInfo binding = deserializer->GetNetworkInputBindingInfo(0, name);
        model.m_Inputs.push_back({name, binding.first, binding.second});
    }
    for (const std::string& name : deserializer->GetNetworkOutputNames())
    {
        const BindingPointInfo binding = deserializer->GetNetworkOutputBindingInfo(0, name);
        model.m_Outputs.push_back({name, binding.first, binding.second});
    }
    return model;
}

} // namespace

const ModelFormat* FindFormat(const InputSource& file)
{
    std::string content;
    const auto whole = [&]() -> std::string_view
    {
        if (file.Content() != nullptr)
        {
            return {reinterpret_cast<const char*>(file.Content()->data()), file.Content()->size()};
        }
        content = file.ReadAll();
        return content;
    };
    return FindModelFormat(file.Path(), file.ReadStart(formats::ModelStartBytes), whole);
}

ModelFile OpenModel(const std::string& path, const std::string& format, const Limits& limits)
{
    try
    {
        if (std::error_code error; std::filesystem::exists(std::filesystem::path(path) / "saved_model.pb", error))
        {
            throw InputError("it is a folder with a SavedModel of TensorFlow, which is not read; convert it to "
                             "TensorFlow Lite with tf.lite.TFLiteConverter.from_saved_model");
        }
        InputSource file(path, limits.m_MaxFileBytes);
        if (file.ReadStart(1).empty())
        {
            throw InputError(IsStandardInput(path) ? "standard input is empty" : "the file is empty");
        }
        const ModelFormat* const named = FindModelFormat(format);
        const ModelFormat* found = FindFormat(file);
        const ModelFormat* const known = found != nullptr ? found : named;
        if (known != nullptr && known->m_Advice != nullptr)
        {
            throw InputError(fmt::format("it is {}, which is not read; {}", known->m_Description, known->m_Advice));
        }
        if (found == nullptr && named != nullptr &&
            (named->m_Reader == Reader::Onnx || named->m_Reader == Reader::ArmNN))
        {
            found = named;
        }
        if (found == nullptr)
        {
            throw InputError(
                fmt::format("it is of no known format; supported: {}", formats::DescribeFormatsThatAreRead()));
        }
        if (!format.empty() && (named == nullptr || named->m_Reader != found->m_Reader))
        {
            PrintWarning(fmt::format("--model-format: '{}' is {} and is read as that, in place of {}", OneLine(path),
                                     found->m_Description, OneLine(format)));
        }
        return {std::move(file), found->m_Reader};
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("model '{}': {}", OneLine(path), error.what()));
    }
}

Model LoadModel(const ModelFile& file, const ModelChoice& choice, const Limits& limits, const IDeviceSpec& deviceSpec)
{
    if (!choice.m_Entry.empty() && file.m_Reader != Reader::TfLite)
    {
        throw UsageError("--entry: only .task and .litertlm files hold several models; leave it out");
    }
    if (file.m_Reader == Reader::Onnx)
    {
        return LoadOnnx(file.m_Source, choice, limits);
    }
    if (!choice.m_Dimensions.empty())
    {
        throw UsageError("--dim: only dimensions of ONNX models have names; give the shapes of this model's inputs by "
                         "--input-tensor-shape");
    }
    if (file.m_Reader == Reader::TfLite)
    {
        return LoadTfLite(file.m_Source, choice, limits);
    }
    return LoadTenon(file.m_Source, choice, limits, deviceSpec, file.m_Reader == Reader::ArmNN ? ".armnn" : ".tenon");
}

std::vector<Binding> SelectBindings(const std::vector<Binding>& bindings, const std::vector<std::string>& names,
                                    const char* kind)
{
    if (names.empty())
    {
        return bindings;
    }
    std::vector<Binding> selected;
    for (const std::string& name : names)
    {
        const auto found = std::find_if(bindings.begin(), bindings.end(),
                                        [&](const Binding& binding) { return binding.m_Name == name; });
        if (found == bindings.end())
        {
            std::vector<std::string> there;
            for (const Binding& binding : bindings)
            {
                there.push_back(binding.m_Name);
            }
            throw UsageError(fmt::format("--{}-name: the model has no {} '{}'; it has {}", kind, kind, OneLine(name),
                                         there.empty() ? "none" : QuotedList(there)));
        }
        selected.push_back(*found);
    }
    return selected;
}

std::vector<Binding> OrderInputs(const std::vector<Binding>& inputs, const std::vector<std::string>& names)
{
    std::vector<Binding> ordered = SelectBindings(inputs, names, "input");
    std::set<LayerBindingId> taken;
    for (const Binding& input : ordered)
    {
        taken.insert(input.m_Id);
    }
    for (const Binding& input : inputs)
    {
        if (taken.insert(input.m_Id).second)
        {
            ordered.push_back(input);
        }
    }
    return ordered;
}

} // namespace tenon::tools
