// SPDX-License-Identifier: Apache-2.0
// OnnxParser: see OnnxParser.hpp.
#include "parsers/onnx/OnnxParser.hpp"

#include "common/Log.hpp"
#include "parsers/common/ModelFile.hpp"
#include "parsers/onnx/GraphReader.hpp"
#include "parsers/onnx/Rows.hpp"
#include "parsers/onnx/TensorReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace tenon
{

IOnnxParser::~IOnnxParser() = default;

IOnnxParser* IOnnxParser::CreateRaw(const Optional<OnnxParserOptions>& options)
{
    return new onnx::OnnxParser(options.has_value() ? options.value() : OnnxParserOptions());
}

IOnnxParserPtr IOnnxParser::Create(const Optional<OnnxParserOptions>& options)
{
    return {CreateRaw(options), &IOnnxParser::Destroy};
}

void IOnnxParser::Destroy(IOnnxParser* parser)
{
    delete parser;
}

} // namespace tenon

namespace tenon::onnx
{

namespace
{

/// Strings of a message: data that may be read at any alignment.
constexpr size_t BytesAlignment = 1;

std::string FolderOf(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

/// The folder of the file that a link leads to; empty for a path that is no link.
std::string FolderBehindLink(const std::string& path)
{
    std::error_code error;
    const bool isLink = std::filesystem::is_symlink(path, error);
    const std::filesystem::path file = isLink ? std::filesystem::canonical(path, error) : std::filesystem::path();
    return error ? std::string() : file.parent_path().string();
}

IOnnxParser::ModelHeader ToHeader(const ModelMessage& model)
{
    IOnnxParser::ModelHeader header;
    header.m_IrVersion = model.m_IrVersion;
    header.m_ProducerName = model.m_ProducerName;
    header.m_ProducerVersion = model.m_ProducerVersion;
    header.m_Domain = model.m_Domain;
    header.m_ModelVersion = model.m_ModelVersion;
    header.m_DocString = model.m_DocString;
    for (const auto& [domain, version] : model.m_Opsets)
    {
        header.m_Opsets.emplace(domain.empty() ? "ai.onnx" : domain, version);
    }
    return header;
}

} // namespace

INetworkPtr OnnxParser::CreateNetworkFromBinaryFile(const char* graphFile)
{
    return parsers::WithModelFile(
        graphFile, [&](const std::string& path)
        { return Parse(ModelBytes::FromFile(path, m_Options.m_Limits), FolderOf(path), FolderBehindLink(path)); });
}

INetworkPtr OnnxParser::CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent)
{
    return Parse(ModelBytes::FromCopy(binaryContent, m_Options.m_Limits), m_Options.m_ExternalDataFolder);
}

INetworkPtr OnnxParser::CreateNetworkFromMemory(const void* data, size_t bytes)
{
    if (data == nullptr)
    {
        throw InvalidArgumentException("CreateNetworkFromMemory: the data is null");
    }
    return Parse(ModelBytes::FromMemory({static_cast<const uint8_t*>(data), bytes}, BytesAlignment, m_Options.m_Limits),
                 m_Options.m_ExternalDataFolder);
}

INetworkPtr OnnxParser::Parse(const ModelBytes& file, std::string folder, std::string folderBehindLink)
{
    m_Inputs = {};
    m_Outputs = {};
    m_DimensionNames.clear();
    m_Metadata.clear();
    m_Header = {};
    const ModelMessage model = ReadModelMessage(file.m_Bytes, m_Options.m_Limits);
    if (!model.m_Graph.has_value() || model.m_Opsets.empty())
    {
        throw ParseException(fmt::format("not an ONNX model: {}",
                                         model.m_Graph.has_value() ? "it imports no operator set" : "it has no graph"));
    }
    const auto opset = model.m_Opsets.find("");
    if (opset != model.m_Opsets.end() && opset->second > NewestOpset)
    {
        LogWarning("the model imports version {} of the operator set ai.onnx; {} is the newest one known, whose "
                   "operators are used",
                   opset->second, NewestOpset);
    }
    m_Header = ToHeader(model);
    for (const auto& [key, value] : model.m_Metadata)
    {
        m_Metadata.emplace(key, value);
    }
    TensorReader tensors(file.m_Owner, file.m_Bytes.size(), std::move(folder), std::move(folderBehindLink),
                         m_Options.m_ExternalData, m_Options.m_Limits);
    ModelReading reading(model, tensors, m_Options.m_Limits);
    INetworkPtr network = INetwork::Create();
    GraphBuilder builder(*network, reading.Size(), m_Options.m_Limits);
    GraphReader reader(reading, builder, *model.m_Graph, nullptr);
    AddInputs(*model.m_Graph, reader, builder);
    CheckDimensionNames();
    m_Inputs.CheckShapes(m_Options.m_InputShapes);
    CheckSizesAgree();

    const std::vector<Value> outputs = reader.ReadNodes();
    reading.ThrowRefusals(ListOpenSizes());
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        const std::string name = m_Outputs.AddName(std::string(model.m_Graph->m_Outputs[i].m_Name));
        WithModelContext([&] { return fmt::format("output '{}'", name); },
                         [&] { builder.AddOutput(m_Outputs.NextId() - 1, name, outputs[i]); });
        TensorInfo info = outputs[i]->m_Info;
        info.SetConstant(false);
        m_Outputs.Set(name, {m_Outputs.NextId() - 1, info});
    }
    return network;
}

void OnnxParser::AddInputs(const GraphMessage& graph, GraphReader& reader, GraphBuilder& builder)
{
    for (const ValueInfoMessage& input : graph.m_Inputs)
    {
        if (reader.HasInitializer(input.m_Name) && m_Options.m_InputShapes.count(std::string(input.m_Name)) == 0)
        {
            continue; // a weight, which files of before 2019 list here, too, or a default that stays
        }
        const std::string name(input.m_Name);
        WithModelContext([&] { return fmt::format("input '{}'", name); },
                         [&]
                         {
                             if (input.m_Type.m_Kind != TypeMessage::Kind::Tensor)
                             {
                                 throw UnimplementedException(
                                     "is no tensor; sequences, maps and optional values cannot be fed");
                             }
                             const LayerBindingId id = m_Inputs.NextId();
                             if (m_Inputs.AddName(name) != name)
                             {
                                 throw ParseException("there are two inputs of this name");
                             }
                             const TensorInfo info(ReadShape(input, name), ToLayerType(input.m_Type.m_ElementType));
                             reader.Define(input.m_Name, builder.AddInput(id, name, info, true));
                             TensorInfo bound = info;
                             bound.SetConstant();
                             m_Inputs.Set(name, {id, bound});
                         });
    }
}

TensorShape OnnxParser::ReadShape(const ValueInfoMessage& input, const std::string& name)
{
    std::vector<std::string>& names = m_DimensionNames[name];
    const auto given = m_Options.m_InputShapes.find(name);
    if (!input.m_Type.m_Shape.has_value())
    {
        return given != m_Options.m_InputShapes.end() ? given->second : TensorShape(Dimensionality::NotSpecified);
    }
    std::vector<int64_t> sizes;
    for (const DimensionMessage& dimension : *input.m_Type.m_Shape)
    {
        // Some tools write 0 or -1 for a size that varies.
        if (dimension.m_Value.value_or(0) > 0)
        {
            names.emplace_back();
            sizes.push_back(*dimension.m_Value);
            continue;
        }
        names.push_back(dimension.m_Name.empty() ? fmt::format("{}.{}", name, sizes.size())
                                                 : std::string(dimension.m_Name));
        const auto size = m_Options.m_Dimensions.find(names.back());
        sizes.push_back(size != m_Options.m_Dimensions.end() ? int64_t{size->second} : OpenSize);
    }
    if (given != m_Options.m_InputShapes.end())
    {
        return given->second;
    }
    if (sizes.size() > m_Options.m_Limits.m_MaxRank)
    {
        const bool mayBeRaised = m_Options.m_Limits.m_MaxRank < MaxNumOfTensorDimensions;
        throw ParseException(fmt::format("has rank {}, at most {} is possible{}", sizes.size(),
                                         m_Options.m_Limits.m_MaxRank, mayBeRaised ? " (Limits::m_MaxRank)" : ""));
    }
    return ToShape(sizes);
}

/// Of the shapes that are given with the sizes that are given by name.
void OnnxParser::CheckSizesAgree() const
{
    for (const auto& [input, shape] : m_Options.m_InputShapes)
    {
        const std::vector<std::string> names = GetDimensionNames(input);
        const bool hasRank = shape.GetDimensionality() == Dimensionality::Specified;
        for (unsigned int d = 0; hasRank && d < std::min<size_t>(shape.GetNumDimensions(), names.size()); ++d)
        {
            const auto size = m_Options.m_Dimensions.find(names[d]);
            if (size != m_Options.m_Dimensions.end() && shape.GetDimensionSpecificity(d) && shape[d] != size->second)
            {
                throw InvalidArgumentException(fmt::format("input '{}': dimension {} of the shape {} that is given for "
                                                           "it contradicts the size {} that is given for '{}'",
                                                           input, d, shape.ToString(), size->second, names[d]));
            }
        }
    }
}

/// "'batch', 'images.2'", and an input of open rank by its name. A few of them are enough to go on.
std::string OnnxParser::ListOpenSizes() const
{
    constexpr size_t maxShown = 16;
    std::vector<std::string> open;
    const auto add = [&](const std::string& name)
    {
        if (std::find(open.begin(), open.end(), name) == open.end())
        {
            open.push_back(name);
        }
    };
    for (const std::string& input : m_Inputs.Names())
    {
        const TensorShape& shape = m_Inputs.Find(input, "input").second.GetShape();
        if (shape.GetDimensionality() == Dimensionality::NotSpecified)
        {
            add(input);
            continue;
        }
        const std::vector<std::string> names = GetDimensionNames(input);
        for (unsigned int d = 0; d < std::min<size_t>(names.size(), shape.GetNumDimensions()); ++d)
        {
            if (!shape.GetDimensionSpecificity(d))
            {
                add(names[d]);
            }
        }
        if (open.size() >= maxShown)
        {
            break;
        }
    }
    return open.empty() ? std::string() : parsers::Quote(open);
}

void OnnxParser::CheckDimensionNames() const
{
    std::set<std::string> known;
    for (const auto& [input, names] : m_DimensionNames)
    {
        known.insert(names.begin(), names.end());
    }
    known.erase(std::string()); // of sizes that the model gives
    for (const auto& [name, size] : m_Options.m_Dimensions)
    {
        if (known.count(name) == 0)
        {
            throw InvalidArgumentException(
                fmt::format("the model has no open dimension '{}'; it has {}", name,
                            parsers::Quote(std::vector<std::string>(known.begin(), known.end()))));
        }
    }
}

BindingPointInfo OnnxParser::GetNetworkInputBindingInfo(const std::string& name) const
{
    return m_Inputs.Find(name, "input");
}

BindingPointInfo OnnxParser::GetNetworkOutputBindingInfo(const std::string& name) const
{
    return m_Outputs.Find(name, "output");
}

std::vector<std::string> OnnxParser::GetDimensionNames(const std::string& input) const
{
    m_Inputs.Find(input, "input");
    const auto found = m_DimensionNames.find(input);
    return found != m_DimensionNames.end() ? found->second : std::vector<std::string>();
}

} // namespace tenon::onnx
