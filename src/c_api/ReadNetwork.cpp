// SPDX-License-Identifier: Apache-2.0
// tenon_network: from files and memory, what it has, and to files.
#include "c_api/Handles.hpp"
#include "common/MappedFile.hpp"
#include "common/ReplaceFile.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>
#include <tenon/serializer/IDeserializer.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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

/// The identifier that a FlatBuffers file has behind the offset of its root table; fewer letters in a shorter one.
std::string IdentifierOf(const ModelSource& source)
{
    constexpr size_t Begin = 4;
    constexpr size_t End = 8;
    std::shared_ptr<const MappedFile> file; // refuses directories, pipes and devices
    std::span<const std::byte> bytes = std::as_bytes(std::span(source.m_Data, source.m_NumBytes));
    if (source.m_Path != nullptr)
    {
        file = MappedFile::Open(source.m_Path, std::numeric_limits<uint64_t>::max());
        bytes = file->Bytes();
    }
    std::string identifier;
    for (size_t i = Begin; i < std::min(End, bytes.size()); ++i)
    {
        identifier.push_back(static_cast<char>(bytes[i]));
    }
    return identifier;
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

std::unique_ptr<tenon_network> ReadTfLite(const ModelSource& source, const tenon_read_options& options)
{
    ITfLiteParser::TfLiteParserOptions parserOptions;
    parserOptions.m_Subgraph = options.subgraph;
    parserOptions.m_Signature = options.signature == nullptr ? "" : options.signature;
    parserOptions.m_Limits = ToLimits(options.limits);
    parserOptions.m_CustomOperators = ToOperators(options);
    for (const tenon_input_shape& shape : ListOf(options.input_shapes, options.num_input_shapes, "the list of shapes"))
    {
        parserOptions.m_InputShapes[&Deref(shape.input, "the name of an input")] =
            plugin::ToShape(shape.rank, shape.dims);
    }
    const ITfLiteParserPtr parser = ITfLiteParser::Create(parserOptions);
    auto network = std::make_unique<tenon_network>();
    if (source.m_Path != nullptr)
    {
        network->m_Network = parser->CreateNetworkFromBinaryFile(source.m_Path);
    }
    else if (source.m_InPlace)
    {
        network->m_Network = parser->CreateNetworkFromMemory(source.m_Data, source.m_NumBytes);
    }
    else
    {
        network->m_Network = parser->CreateNetworkFromBinary(source.Copy());
    }
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
    OwnOperators(parserOptions.m_CustomOperators);
    return network;
}

std::unique_ptr<tenon_network> ReadTenon(const ModelSource& source, const tenon_read_options& options,
                                         const IDeviceSpec& deviceSpec)
{
    if (options.signature != nullptr || options.subgraph != 0 || options.num_input_shapes != 0)
    {
        throw InvalidArgumentException(fmt::format("{} is a .tenon file, which has one network with the shapes of its "
                                                   "inputs: give no signature, subgraph or shapes",
                                                   source.Describe()));
    }
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
    const std::string identifier = IdentifierOf(source);
    if (identifier == "TFL3")
    {
        return ReadTfLite(source, options).release();
    }
    if (identifier == "TNON")
    {
        return ReadTenon(source, options, deviceSpec).release();
    }
    throw ParseException(
        fmt::format("{} is of no known format; known are TensorFlow Lite (.tflite, identifier TFL3) and "
                    "networks of Tenon (.tenon, identifier TNON)",
                    source.Describe()));
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
