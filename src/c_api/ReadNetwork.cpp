// SPDX-License-Identifier: Apache-2.0
// tenon_network: from files and memory, what it has, and to files.
#include "c_api/Handles.hpp"
#include "common/Log.hpp"
#include "common/MappedFile.hpp"
#include "common/ReplaceFile.hpp"
#include "formats/ModelFormat.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/parsers/IOnnxParser.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>
#include <tenon/serializer/IDeserializer.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

namespace tenon::c_api
{

namespace
{

/// The bytes of a model: those of a file, or the caller's.
struct ModelSource
{
    const char* m_Path = nullptr;
    const uint8_t* m_Data = nullptr;
    size_t m_NumBytes = 0;
    bool m_InPlace = false;

    std::string Describe() const
    {
        return m_Path != nullptr ? fmt::format("model '{}'", m_Path) : fmt::format("the model of {} bytes", m_NumBytes);
    }
    std::vector<uint8_t> Copy() const { return {m_Data, m_Data + m_NumBytes}; }
};

/// The format of a model; null for one that is not known. Refuses directories, pipes and devices.
const formats::ModelFormat* FindFormat(const ModelSource& source)
{
    std::shared_ptr<const MappedFile> file;
    std::span<const std::byte> bytes = std::as_bytes(std::span(source.m_Data, source.m_NumBytes));
    if (source.m_Path != nullptr)
    {
        file = MappedFile::Open(source.m_Path, std::numeric_limits<uint64_t>::max());
        bytes = file->Bytes();
    }
    const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                                 std::min(bytes.size(), formats::ModelStartBytes));
    std::vector<uint8_t> aligned;
    const auto whole = [&]() -> std::string_view
    {
        if (source.m_Path == nullptr) // the caller's bytes may be anywhere
        {
            aligned = source.Copy();
            bytes = std::as_bytes(std::span(aligned));
        }
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    };
    return formats::FindModelFormat(source.m_Path != nullptr ? source.m_Path : "", start, whole);
}

std::vector<std::shared_ptr<const ICustomOperator>> ToOperators(const tenon_read_options& options)
{
    std::vector<std::shared_ptr<const ICustomOperator>> operators;
    for (const tenon_operator* custom : ListOf(options.operators, options.num_operators, "the list of operators"))
    {
        operators.push_back(MakeCustomOperator(custom));
    }
    return operators;
}

/// When the network is read.
void OwnOperators(const std::vector<std::shared_ptr<const ICustomOperator>>& operators)
{
    for (const auto& custom : operators)
    {
        OwnOperator(*custom);
    }
}

bool HasOnnxOptions(const tenon_read_options& options)
{
    return options.num_dimensions != 0 || options.num_external_data != 0 || options.external_data_folder != nullptr;
}

/// Throws InvalidArgumentException for options that only models of other formats have. `format`: "a .tflite model".
void RefuseOptions(const ModelSource& source, const char* format, const char* options, bool isGiven)
{
    if (isGiven)
    {
        throw InvalidArgumentException(fmt::format("{} is {}: give no {}", source.Describe(), format, options));
    }
}

std::map<std::string, TensorShape> ToInputShapes(const tenon_read_options& options)
{
    std::map<std::string, TensorShape> shapes;
    for (const tenon_input_shape& shape : ListOf(options.input_shapes, options.num_input_shapes, "the list of shapes"))
    {
        shapes[&Deref(shape.input, "the name of an input")] = plugin::ToShape(shape.rank, shape.dims);
    }
    return shapes;
}

/// The network that a parser makes of the model.
template <typename Parser>
INetworkPtr Parse(Parser& parser, const ModelSource& source)
{
    if (source.m_Path != nullptr)
    {
        return parser.CreateNetworkFromBinaryFile(source.m_Path);
    }
    return source.m_InPlace ? parser.CreateNetworkFromMemory(source.m_Data, source.m_NumBytes)
                            : parser.CreateNetworkFromBinary(source.Copy());
}

std::unique_ptr<tenon_network> ReadTfLite(const ModelSource& source, const tenon_read_options& options)
{
    RefuseOptions(source, "a .tflite model", "dimensions or external data, which .onnx models have",
                  HasOnnxOptions(options));
    ITfLiteParser::TfLiteParserOptions parserOptions;
    parserOptions.m_Subgraph = options.subgraph;
    parserOptions.m_Signature = options.signature == nullptr ? "" : options.signature;
    parserOptions.m_Entry = options.entry == nullptr ? "" : options.entry;
    parserOptions.m_Limits = ToLimits(options.limits);
    parserOptions.m_CustomOperators = ToOperators(options);
    parserOptions.m_InputShapes = ToInputShapes(options);
    const ITfLiteParserPtr parser = ITfLiteParser::Create(parserOptions);
    auto network = std::make_unique<tenon_network>();
    network->m_Network = Parse(*parser, source);
    const size_t subgraph = parser->GetNetworkSubgraph();
    for (const std::string& name : parser->GetSubgraphInputTensorNames(subgraph))
    {
        const BindingPointInfo binding = parser->GetNetworkInputBindingInfo(subgraph, name);
        network->m_Inputs.emplace_back(name, binding.first, binding.second);
    }
    for (const std::string& name : parser->GetSubgraphOutputTensorNames(subgraph))
    {
        const BindingPointInfo binding = parser->GetNetworkOutputBindingInfo(subgraph, name);
        network->m_Outputs.emplace_back(name, binding.first, binding.second);
    }
    network->m_Signatures = parser->GetSignatureNames();
    network->m_Metadata = std::make_shared<const NetworkMetadata>(parser->GetMetadata());
    for (const std::string& fault : parser->GetMetadata().m_Faults)
    {
        LogWarning("{}: {}", source.Describe(), fault);
    }
    OwnOperators(parserOptions.m_CustomOperators);
    return network;
}

std::unique_ptr<tenon_network> ReadOnnx(const ModelSource& source, const tenon_read_options& options)
{
    RefuseOptions(source, "an .onnx model", "signature, subgraph or operators, which .tflite models have",
                  options.signature != nullptr || options.subgraph != 0 || options.num_operators != 0);
    IOnnxParser::OnnxParserOptions parserOptions;
    parserOptions.m_InputShapes = ToInputShapes(options);
    parserOptions.m_Limits = ToLimits(options.limits);
    parserOptions.m_ExternalDataFolder = options.external_data_folder == nullptr ? "" : options.external_data_folder;
    for (const tenon_dimension& dimension :
         ListOf(options.dimensions, options.num_dimensions, "the list of dimensions"))
    {
        parserOptions.m_Dimensions[&Deref(dimension.name, "the name of a dimension")] = dimension.size;
    }
    for (const tenon_external_data& data :
         ListOf(options.external_data, options.num_external_data, "the list of external data"))
    {
        parserOptions.m_ExternalData[&Deref(data.location, "the location of external data")] =
            ListOf(static_cast<const uint8_t*>(data.data), data.num_bytes, "the memory of external data");
    }
    const IOnnxParserPtr parser = IOnnxParser::Create(parserOptions);
    auto network = std::make_unique<tenon_network>();
    network->m_Network = Parse(*parser, source);
    for (const std::string& name : parser->GetInputNames())
    {
        const BindingPointInfo binding = parser->GetNetworkInputBindingInfo(name);
        network->m_Inputs.emplace_back(name, binding.first, binding.second);
    }
    for (const std::string& name : parser->GetOutputNames())
    {
        const BindingPointInfo binding = parser->GetNetworkOutputBindingInfo(name);
        network->m_Outputs.emplace_back(name, binding.first, binding.second);
    }
    network->m_Metadata = std::make_shared<const NetworkMetadata>(parser->GetMetadata());
    return network;
}

/// `format`: "a .tenon file".
std::unique_ptr<tenon_network> ReadTenon(const ModelSource& source, const tenon_read_options& options,
                                         const IDeviceSpec& deviceSpec, const std::string& format)
{
    RefuseOptions(source, (format + ", which has one network with the shapes of its inputs").c_str(),
                  "signature, subgraph, shapes, dimensions or external data",
                  options.signature != nullptr || options.subgraph != 0 || options.num_input_shapes != 0 ||
                      HasOnnxOptions(options));
    IDeserializer::DeserializerOptions deserializerOptions;
    deserializerOptions.m_Limits = ToLimits(options.limits);
    deserializerOptions.m_CustomOperators = ToOperators(options);
    const IDeserializerPtr deserializer = IDeserializer::Create(deserializerOptions);
    auto network = std::make_unique<tenon_network>();
    const std::vector<uint8_t> bytes = source.Copy();
    network->m_IsOptimized = source.m_Path != nullptr ? deserializer->IsOptimizedFile(source.m_Path)
                                                      : deserializer->IsOptimizedBinary(bytes);
    if (network->m_IsOptimized)
    {
        network->m_Optimized = source.m_Path != nullptr
                                   ? deserializer->CreateOptimizedNetworkFromBinaryFile(source.m_Path, deviceSpec)
                                   : deserializer->CreateOptimizedNetworkFromBinary(bytes, deviceSpec);
    }
    else
    {
        network->m_Network = source.m_Path != nullptr ? deserializer->CreateNetworkFromBinaryFile(source.m_Path)
                                                      : deserializer->CreateNetworkFromBinary(bytes);
    }
    for (const std::string& name : deserializer->GetNetworkInputNames())
    {
        const BindingPointInfo binding = deserializer->GetNetworkInputBindingInfo(0, name);
        network->m_Inputs.emplace_back(name, binding.first, binding.second);
    }
    for (const std::string& name : deserializer->GetNetworkOutputNames())
    {
        const BindingPointInfo binding = deserializer->GetNetworkOutputBindingInfo(0, name);
        network->m_Outputs.emplace_back(name, binding.first, binding.second);
    }
    OwnOperators(deserializerOptions.m_CustomOperators);
    return network;
}

tenon_network* Read(tenon_runtime* runtime, const ModelSource& source, const tenon_read_options& options)
{
    const IDeviceSpec& deviceSpec = Deref(runtime, "the runtime").m_Runtime->GetDeviceSpec();
    const formats::ModelFormat* const format = FindFormat(source);
    const formats::Reader reader = format != nullptr ? format->m_Reader : formats::Reader::None;
    if (reader != formats::Reader::TfLite && reader != formats::Reader::None)
    {
        RefuseOptions(source, format->m_Description, "entry, which files of several .tflite models have",
                      options.entry != nullptr);
    }
    switch (reader)
    {
    case formats::Reader::TfLite: return ReadTfLite(source, options).release();
    case formats::Reader::Onnx: return ReadOnnx(source, options).release();
    case formats::Reader::Tenon: return ReadTenon(source, options, deviceSpec, "a .tenon file").release();
    case formats::Reader::ArmNN: return ReadTenon(source, options, deviceSpec, "a .armnn file").release();
    case formats::Reader::None: break;
    }
    if (format != nullptr)
    {
        throw ParseException(
            fmt::format("{} is {}, which is not read; {}", source.Describe(), format->m_Description, format->m_Advice));
    }
    throw ParseException(fmt::format("{} is of no known format; supported: {}", source.Describe(),
                                     formats::DescribeFormatsThatAreRead()));
}

/// A file by the name of another format's would be taken for one by whoever finds it.
void CheckEnding(const std::string& path)
{
    if (const formats::ModelFormat* const format = formats::FindUnwrittenFormat(path))
    {
        throw InvalidArgumentException(
            fmt::format("'{}' has the name of {}, but a network can only be written as a .tenon file; give a name that "
                        "ends with .tenon",
                        path, format->m_Description));
    }
}

std::string Serialize(const tenon_network& network)
{
    const ISerializerPtr serializer = ISerializer::Create();
    if (network.m_Network != nullptr)
    {
        serializer->Serialize(*network.m_Network);
    }
    else
    {
        serializer->Serialize(Deref(network.m_Optimized.get(), "the content of the network, which went into a model,"));
    }
    std::ostringstream stream;
    serializer->SaveSerializedToStream(stream);
    return std::move(stream).str();
}

} // namespace

void GetPort(const Ports& ports, size_t index, const char* kind, const char** name, const tenon_tensor_info** info)
{
    if (index >= ports.size())
    {
        throw InvalidArgumentException(
            fmt::format("there is no {0} {1}; the number of {0}s is {2}", kind, index, ports.size()));
    }
    if (name != nullptr)
    {
        *name = ports[index].m_Name.c_str();
    }
    if (info != nullptr)
    {
        *info = ports[index].m_CInfo.Get();
    }
}

} // namespace tenon::c_api

using namespace tenon::c_api;

tenon_status tenon_network_read_file(tenon_runtime* runtime, const char* path, const tenon_read_options* options,
                                     tenon_network** network, tenon_error** error)
{
    return GuardMaking(network, error,
                       [&]
                       {
                           ModelSource source;
                           source.m_Path = &Deref(path, "the path of the model");
                           return Read(runtime, source, Complete(options, "tenon_read_options"));
                       });
}

tenon_status tenon_network_read_memory(tenon_runtime* runtime, const void* data, size_t num_bytes,
                                       const tenon_read_options* options, tenon_network** network, tenon_error** error)
{
    return GuardMaking(network, error,
                       [&]
                       {
                           const tenon_read_options given = Complete(options, "tenon_read_options");
                           ModelSource source;
                           source.m_Data =
                               ListOf(static_cast<const uint8_t*>(data), num_bytes, "the memory of the model").data();
                           source.m_NumBytes = num_bytes;
                           source.m_InPlace = given.in_place != 0;
                           return Read(runtime, source, given);
                       });
}

void tenon_network_destroy(tenon_network* network)
{
    delete network;
}

size_t tenon_network_num_inputs(const tenon_network* network)
{
    return network == nullptr ? 0 : network->m_Inputs.size();
}

size_t tenon_network_num_outputs(const tenon_network* network)
{
    return network == nullptr ? 0 : network->m_Outputs.size();
}

tenon_status tenon_network_input(const tenon_network* network, size_t index, const char** name,
                                 const tenon_tensor_info** info, tenon_error** error)
{
    return Guard(error, [&] { GetPort(Deref(network, "the network").m_Inputs, index, "input", name, info); });
}

tenon_status tenon_network_output(const tenon_network* network, size_t index, const char** name,
                                  const tenon_tensor_info** info, tenon_error** error)
{
    return Guard(error, [&] { GetPort(Deref(network, "the network").m_Outputs, index, "output", name, info); });
}

size_t tenon_network_num_signatures(const tenon_network* network)
{
    return network == nullptr ? 0 : network->m_Signatures.size();
}

tenon_status tenon_network_signature(const tenon_network* network, size_t index, const char** name, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const std::vector<std::string>& names = Deref(network, "the network").m_Signatures;
                     if (index >= names.size())
                     {
                         throw tenon::InvalidArgumentException(fmt::format(
                             "there is no signature {}; the number of signatures is {}", index, names.size()));
                     }
                     Deref(name, "the pointer to the name") = names[index].c_str();
                 });
}

uint8_t tenon_network_is_optimized(const tenon_network* network)
{
    return network != nullptr && network->m_IsOptimized ? 1 : 0;
}

tenon_status tenon_network_save(const tenon_network* network, const char* path, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const tenon_network& saved = Deref(network, "the network");
                     const std::string name = &Deref(path, "the path of the file");
                     CheckEnding(name);
                     // What is mapped of an older file, maybe by this very network, stays as it is.
                     const std::string bytes = Serialize(saved);
                     const std::span<const std::byte> parts[] = {std::as_bytes(std::span(bytes))};
                     tenon::ReplaceFile(name, parts);
                 });
}

tenon_status tenon_network_save_memory(const tenon_network* network, void** data, size_t* num_bytes,
                                       tenon_error** error)
{
    return GuardMaking(data, error,
                       [&]
                       {
                           Deref(num_bytes, "the pointer to the number of bytes") = 0;
                           const std::string bytes = Serialize(Deref(network, "the network"));
                           void* const memory = MakeMemory(bytes.data(), bytes.size());
                           *num_bytes = bytes.size();
                           return memory;
                       });
}
