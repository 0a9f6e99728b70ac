// SPDX-License-Identifier: Apache-2.0
// Deserializer: see Deserializer.hpp.
#include "serializer/Deserializer.hpp"

#include "common/InferredShapes.hpp"
#include "formats/ArmnnStructure.hpp"
#include "graph/Network.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "parsers/armnn/ReadNetwork.hpp"
#include "serializer/Attributes.hpp"
#include "serializer/GraphReader.hpp"
#include "serializer/OptimizedCheck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tenon
{

IDeserializer* IDeserializer::CreateRaw(const Optional<DeserializerOptions>& options)
{
    return new serializer::Deserializer(options.has_value() ? options.value() : DeserializerOptions());
}

IDeserializerPtr IDeserializer::Create(const Optional<DeserializerOptions>& options)
{
    return {CreateRaw(options), &IDeserializer::Destroy};
}

void IDeserializer::Destroy(IDeserializer* deserializer)
{
    delete deserializer;
}

} // namespace tenon

namespace tenon::serializer
{

namespace
{

/// All that is left of a stream, up to the limit.
std::vector<uint8_t> ReadStream(std::istream& stream, const Limits& limits)
{
    constexpr size_t step = 1U << 20; // bytes
    std::vector<uint8_t> bytes;
    size_t count = 0;
    do
    {
        if (count > limits.m_MaxFileBytes)
        {
            throw ParseException(fmt::format("a stream of more than {} bytes, the limit (Limits::m_MaxFileBytes)",
                                             limits.m_MaxFileBytes));
        }
        bytes.resize(count + std::max(step, count));
        stream.read(reinterpret_cast<char*>(bytes.data() + count), static_cast<std::streamsize>(bytes.size() - count));
        count += static_cast<size_t>(stream.gcount());
    } while (stream);
    if (stream.bad())
    {
        throw RuntimeException("the stream cannot be read");
    }
    bytes.resize(count);
    return bytes;
}

std::string PathOf(const char* graphFile)
{
    if (graphFile == nullptr)
    {
        throw InvalidArgumentException("the path of the file is null");
    }
    return graphFile;
}

/// Calls read(bytes) with the mapped file; what it throws names the file.
template <typename Function>
auto ReadFile(const char* graphFile, const Limits& limits, Function read)
{
    const std::string path = PathOf(graphFile);
    std::optional<decltype(read(ModelBytes()))> result;
    WithModelContext([&] { return fmt::format("model '{}'", path); },
                     [&] { result.emplace(read(ModelBytes::FromFile(path, limits))); });
    return *std::move(result);
}

/// Whether the bytes are those of a .armnn file and not of a .tenon file.
bool IsArmnn(const ModelBytes& bytes)
{
    return !FileReader::HasIdentifier(bytes.m_Bytes) &&
           formats::IsArmnn({reinterpret_cast<const char*>(bytes.m_Bytes.data()), bytes.m_Bytes.size()});
}

/// No .armnn file holds an optimized network.
bool IsOptimized(ModelBytes bytes, const Limits& limits)
{
    return !IsArmnn(bytes) && FileReader(std::move(bytes), limits).Root().optimized();
}

} // namespace

INetworkPtr Deserializer::CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent)
{
    return Read(ModelBytes::FromCopy(binaryContent, m_Options.m_Limits));
}

INetworkPtr Deserializer::CreateNetworkFromBinary(std::istream& binaryContent)
{
    return CreateNetworkFromBinary(ReadStream(binaryContent, m_Options.m_Limits));
}

INetworkPtr Deserializer::CreateNetworkFromBinaryFile(const char* graphFile)
{
    return ReadFile(graphFile, m_Options.m_Limits, [&](ModelBytes bytes) { return Read(std::move(bytes)); });
}

IOptimizedNetworkPtr Deserializer::CreateOptimizedNetworkFromBinary(const std::vector<uint8_t>& binaryContent,
                                                                    const IDeviceSpec& deviceSpec)
{
    return ReadOptimized(ModelBytes::FromCopy(binaryContent, m_Options.m_Limits), deviceSpec);
}

IOptimizedNetworkPtr Deserializer::CreateOptimizedNetworkFromBinary(std::istream& binaryContent,
                                                                    const IDeviceSpec& deviceSpec)
{
    return CreateOptimizedNetworkFromBinary(ReadStream(binaryContent, m_Options.m_Limits), deviceSpec);
}

IOptimizedNetworkPtr Deserializer::CreateOptimizedNetworkFromBinaryFile(const char* graphFile,
                                                                        const IDeviceSpec& deviceSpec)
{
    return ReadFile(graphFile, m_Options.m_Limits,
                    [&](ModelBytes bytes) { return ReadOptimized(std::move(bytes), deviceSpec); });
}

bool Deserializer::IsOptimizedFile(const char* graphFile) const
{
    return ReadFile(graphFile, m_Options.m_Limits,
                    [&](ModelBytes bytes) { return IsOptimized(std::move(bytes), m_Options.m_Limits); });
}

bool Deserializer::IsOptimizedBinary(const std::vector<uint8_t>& binaryContent) const
{
    return IsOptimized(ModelBytes::FromMemory(binaryContent, CopyAlignment, m_Options.m_Limits), m_Options.m_Limits);
}

INetworkPtr Deserializer::ReadArmnn(ModelBytes bytes)
{
    arm_nn::ArmnnNetwork read = arm_nn::ReadNetwork(std::move(bytes), m_Options.m_Limits);
    // Network is the only implementation of INetwork. The constants of methods that take them have no owner yet.
    auto& network = static_cast<Network&>(*read.m_Network);
    for (const auto& layer : network.EditGraph().Layers())
    {
        if (layer->GetConstant() != nullptr)
        {
            layer->SetConstant(
                std::make_shared<ConstantPayload>(ConstantPayload{layer->GetConstant()->m_Tensor, read.m_Memory}));
        }
    }
    KeepBindings(network.GetGraph());
    return std::move(read.m_Network);
}

INetworkPtr Deserializer::Read(ModelBytes bytes)
{
    if (IsArmnn(bytes))
    {
        return ReadArmnn(std::move(bytes));
    }
    FileReader file(std::move(bytes), m_Options.m_Limits);
    if (file.Root().optimized())
    {
        throw ParseException("the file holds an optimized network; read it with CreateOptimizedNetworkFromBinary");
    }
    auto network = std::make_unique<Network>(ReadOptions(file, file.Root().options()));
    ReadGraphs(file, m_Options.m_CustomOperators, nullptr, network->EditGraph());
    KeepBindings(network->GetGraph());
    return {network.release(), &INetwork::Destroy};
}

IOptimizedNetworkPtr Deserializer::ReadOptimized(ModelBytes bytes, const IDeviceSpec& deviceSpec)
{
    constexpr const char* isPlain = "the file holds a network that is not optimized; read it with "
                                    "CreateNetworkFromBinary";
    if (IsArmnn(bytes))
    {
        throw ParseException(isPlain);
    }
    FileReader file(std::move(bytes), m_Options.m_Limits);
    if (!file.Root().optimized())
    {
        throw ParseException(isPlain);
    }
    OptimizerOptionsOpaque options;
    ReadOptimizerOptions(file, file.Root().optimizer_options(), options);
    for (BackendOptions& group : ReadOptions(file, file.Root().options()))
    {
        options.AddModelOption(std::move(group));
    }
    options.SetLimits(m_Options.m_Limits);
    auto graph = std::make_unique<Graph>();
    ReadGraphs(file, m_Options.m_CustomOperators, &deviceSpec.GetBackendRegistry(), *graph);
    CheckOptimized(*graph, deviceSpec.GetBackendRegistry(), options);
    KeepBindings(*graph);
    auto profiler = std::make_shared<Profiler>();
    profiler->EnableProfiling(options.GetProfilingEnabled());
    return {new OptimizedNetwork(std::move(graph), options, std::move(profiler), deviceSpec.GetBackendRegistry()),
            &IOptimizedNetwork::Destroy};
}

void Deserializer::KeepBindings(const Graph& graph)
{
    m_Inputs = {};
    m_Outputs = {};
    InferredShapes shapes;
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetType() == LayerType::Input)
        {
            // A ConstTensor, which is how inputs are given, is made from it as it is.
            TensorInfo info = layer->Output(0).GetTensorInfo();
            info.SetConstant();
            m_Inputs.Add(*layer, "input", info);
        }
        else if (layer->GetType() == LayerType::Output)
        {
            TensorInfo info = layer->Input(0).GetTensorInfo();
            const OutputSlot* const source = layer->Input(0).GetConnectedOutputSlot(); // null: Optimize() refuses it
            if (source != nullptr && !info.GetShape().AreAllDimensionsSpecified())
            {
                const TensorShape shape = shapes.Get(*source);
                info.SetShape(shape.AreAllDimensionsSpecified() ? shape : info.GetShape());
            }
            m_Outputs.Add(*layer, "output", info);
        }
    }
}

void Deserializer::Bindings::Add(const Layer& layer, const char* kind, const TensorInfo& info)
{
    const std::string base =
        layer.GetNameStr().empty() ? fmt::format("{}_{}", kind, layer.GetBindingId()) : layer.GetNameStr();
    std::string name = base;
    while (m_Infos.count(name) != 0)
    {
        name = fmt::format("{}_{}", base, ++m_LastSuffix[base]);
    }
    m_Names.push_back(name);
    m_Infos.emplace(std::move(name), BindingPointInfo(layer.GetBindingId(), info));
}

const BindingPointInfo& Deserializer::Bindings::Find(const std::string& name, const char* kind) const
{
    const auto found = m_Infos.find(name);
    if (found == m_Infos.end())
    {
        throw ParseException(
            fmt::format("the network has no {} '{}'; it has '{}'", kind, name, fmt::join(m_Names, "', '")));
    }
    return found->second;
}

BindingPointInfo Deserializer::GetNetworkInputBindingInfo(unsigned int, const std::string& layerName) const
{
    return m_Inputs.Find(layerName, "input");
}

BindingPointInfo Deserializer::GetNetworkOutputBindingInfo(unsigned int, const std::string& layerName) const
{
    return m_Outputs.Find(layerName, "output");
}

} // namespace tenon::serializer
