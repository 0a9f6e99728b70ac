// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: builds a graph with a layer of each family by hand, visits it, runs it, writes it
// to a stream, reads it back and runs what came back. Each output has values that are known beforehand.
#include "Graph.hpp"

#include <algorithm>
#include <armnn/StrategyBase.hpp>
#include <armnnDeserializer/IDeserializer.hpp>
#include <armnnSerializer/ISerializer.hpp>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace layers
{

/// The values as bytes of the type.
std::vector<uint8_t> Store(const TensorInfo& info, const std::vector<float>& values)
{
    std::vector<uint8_t> bytes(info.GetNumBytes());
    for (size_t i = 0; i < values.size(); ++i)
    {
        switch (info.GetDataType())
        {
        case DataType::Float32: std::memcpy(&bytes[4 * i], &values[i], 4); break;
        case DataType::Signed32:
        {
            const int32_t value = static_cast<int32_t>(values[i]);
            std::memcpy(&bytes[4 * i], &value, 4);
            break;
        }
        case DataType::QSymmS16:
        {
            const int16_t value = static_cast<int16_t>(values[i]);
            std::memcpy(&bytes[2 * i], &value, 2);
            break;
        }
        default: bytes[i] = static_cast<uint8_t>(static_cast<int>(values[i])); break;
        }
    }
    return bytes;
}

float Load(const TensorInfo& info, const std::vector<uint8_t>& bytes, size_t i)
{
    switch (info.GetDataType())
    {
    case DataType::Float32:
    {
        float value;
        std::memcpy(&value, &bytes[4 * i], 4);
        return value;
    }
    case DataType::Signed32:
    {
        int32_t value;
        std::memcpy(&value, &bytes[4 * i], 4);
        return static_cast<float>(value);
    }
    case DataType::QSymmS16:
    {
        int16_t value;
        std::memcpy(&value, &bytes[2 * i], 2);
        return static_cast<float>(value);
    }
    case DataType::QAsymmS8: return static_cast<float>(static_cast<int8_t>(bytes[i]));
    default: return static_cast<float>(bytes[i]);
    }
}

namespace
{

/// Counts layers by type and remembers their names; looks into some descriptors.
class LayerRecorder : public StrategyBase<NoThrowStrategy>
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>& constants, const char* name,
                         const LayerBindingId id = 0) override
    {
        ++m_Types[GetLayerTypeAsCString(layer->GetType())];
        m_Names.insert(name == nullptr ? "" : name);
        switch (layer->GetType())
        {
        case LayerType::Input: m_Inputs.insert(id); break;
        case LayerType::Output: m_Outputs.insert(id); break;
        case LayerType::Constant: m_ConstantBytes += constants.at(0).GetNumBytes(); break;
        case LayerType::Convolution2d:
        {
            const auto& convolution = static_cast<const Convolution2dDescriptor&>(descriptor);
            m_IsAsBuilt = m_IsAsBuilt && convolution.m_DataLayout == DataLayout::NHWC && convolution.m_StrideX == 1 &&
                          convolution.m_BiasEnabled;
            break;
        }
        case LayerType::Pad:
        {
            const auto& pad = static_cast<const PadDescriptor&>(descriptor);
            m_IsAsBuilt = m_IsAsBuilt && pad.m_PadValue == 9.0f && pad.m_PadList.size() == 2 &&
                          pad.m_PadList[1] == std::make_pair(1u, 1u);
            break;
        }
        case LayerType::Splitter:
        {
            const auto& views = static_cast<const ViewsDescriptor&>(descriptor);
            m_IsAsBuilt = m_IsAsBuilt && views.GetNumViews() == 2 && views.GetViewOrigin(1)[1] == 2 &&
                          views.GetViewSizes(0)[1] == 2;
            break;
        }
        default: m_DefaultStrategy.Apply(GetLayerTypeAsCString(layer->GetType())); break;
        }
    }

    std::map<std::string, unsigned int> m_Types;
    std::multiset<std::string> m_Names;
    std::set<LayerBindingId> m_Inputs;
    std::set<LayerBindingId> m_Outputs;
    size_t m_ConstantBytes = 0;
    bool m_IsAsBuilt = true;
};

/// Refuses every layer but inputs and outputs.
class OnlyBindings : public StrategyBase<ThrowingStrategy>
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>& constants, const char* name,
                         const LayerBindingId id = 0) override
    {
        if (layer->GetType() != LayerType::Input && layer->GetType() != LayerType::Output)
        {
            StrategyBase<ThrowingStrategy>::ExecuteStrategy(layer, descriptor, constants, name, id);
        }
    }
};

/// Runs a network and says which of its outputs are wrong; gives how many.
unsigned int Run(const INetwork& network, const std::vector<BackendId>& backends, const Graph& graph,
                 const std::map<std::string, std::pair<LayerBindingId, TensorInfo>>& bindings)
{
    IRuntimePtr runtime = IRuntime::Create(IRuntime::CreationOptions());
    IOptimizedNetworkPtr optimized = Optimize(network, backends, runtime->GetDeviceSpec(), OptimizerOptionsOpaque());
    if (!optimized)
    {
        throw Exception("the network was not optimized", CHECK_LOCATION());
    }
    std::stringstream dot;
    if (optimized->SerializeToDot(dot) != Status::Success || dot.str().find("digraph") == std::string::npos)
    {
        throw Exception("the network has no picture", CHECK_LOCATION());
    }
    NetworkId id = 0;
    if (runtime->LoadNetwork(id, std::move(optimized)) != Status::Success)
    {
        throw Exception("the network was not loaded", CHECK_LOCATION());
    }

    std::vector<std::vector<uint8_t>> memory;
    InputTensors inputs;
    for (const Fixture& input : graph.GetInputs())
    {
        TensorInfo info = bindings.at(input.m_Name).second;
        info.SetConstant(true);
        memory.push_back(Store(info, input.m_Values));
        inputs.emplace_back(bindings.at(input.m_Name).first, ConstTensor(info, memory.back().data()));
    }
    std::vector<std::vector<uint8_t>> results;
    OutputTensors outputs;
    for (const Fixture& output : graph.GetOutputs())
    {
        const TensorInfo& info = bindings.at(output.m_Name).second;
        results.emplace_back(info.GetNumBytes());
        outputs.emplace_back(bindings.at(output.m_Name).first, Tensor(info, results.back().data()));
    }
    if (runtime->EnqueueWorkload(id, inputs, outputs) != Status::Success)
    {
        throw Exception("the run failed", CHECK_LOCATION());
    }

    unsigned int wrong = 0;
    for (size_t i = 0; i < results.size(); ++i)
    {
        const Fixture& output = graph.GetOutputs()[i];
        for (size_t k = 0; k < output.m_Values.size(); ++k)
        {
            const float value = Load(output.m_Info, results[i], k);
            if (!(std::fabs(value - output.m_Values[k]) <= output.m_Tolerance * std::max(1.0f, std::fabs(value))))
            {
                std::cerr << output.m_Name << ", element " << k << ": " << value << ", expected " << output.m_Values[k]
                          << '\n';
                ++wrong;
            }
        }
    }
    runtime->UnloadNetwork(id);
    return wrong;
}

/// Layers that only visitors see here: no backend runs them.
unsigned int VisitOthers()
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo info({2}, DataType::Float32);
    IConnectableLayer* input = network->AddInputLayer(0, "input");
    input->GetOutputSlot(0).SetTensorInfo(info);
    IConnectableLayer* standIn = network->AddStandInLayer(StandInDescriptor(1, 2), "stand-in");
    IConnectableLayer* merge = network->AddMergeLayer("merge");
    IConnectableLayer* output = network->AddOutputLayer(0, "output");
    input->GetOutputSlot(0).Connect(standIn->GetInputSlot(0));
    standIn->GetOutputSlot(0).Connect(merge->GetInputSlot(0));
    standIn->GetOutputSlot(1).Connect(merge->GetInputSlot(1));
    standIn->GetOutputSlot(0).SetTensorInfo(info);
    standIn->GetOutputSlot(1).SetTensorInfo(info);
    merge->GetOutputSlot(0).SetTensorInfo(info);
    merge->GetOutputSlot(0).Connect(output->GetInputSlot(0));

    LayerRecorder recorder;
    network->ExecuteStrategy(recorder);
    unsigned int wrong = recorder.m_Types.at("StandIn") == 1 && recorder.m_Types.at("Merge") == 1 ? 0 : 1;
    OnlyBindings onlyBindings;
    try
    {
        network->ExecuteStrategy(onlyBindings);
        std::cerr << "a strategy that throws did not\n";
        ++wrong;
    }
    catch (const UnimplementedException& exception)
    {
        wrong += std::string(exception.what()).find("StandIn") != std::string::npos ? 0 : 1;
    }
    return wrong;
}

} // namespace

} // namespace layers

int main()
{
    using namespace layers;
    armnn::ConfigureLogging(true, false, armnn::LogSeverity::Warning);
    try
    {
        Graph graph;
        AddElementwise(graph);
        AddProducts(graph);
        AddReductions(graph);
        AddMoves(graph);
        AddDetection(graph);
        AddRecurrent(graph);

        LayerRecorder built;
        graph.GetNetwork().ExecuteStrategy(built);
        unsigned int wrong = built.m_IsAsBuilt && built.m_Inputs.size() == graph.GetInputs().size() &&
                                     built.m_Outputs.size() == graph.GetOutputs().size()
                                 ? 0
                                 : 1;
        std::map<std::string, std::pair<LayerBindingId, TensorInfo>> bindings;
        for (size_t i = 0; i < graph.GetInputs().size(); ++i)
        {
            bindings[graph.GetInputs()[i].m_Name] = {static_cast<LayerBindingId>(i), graph.GetInputs()[i].m_Info};
        }
        for (size_t i = 0; i < graph.GetOutputs().size(); ++i)
        {
            bindings[graph.GetOutputs()[i].m_Name] = {static_cast<LayerBindingId>(i), graph.GetOutputs()[i].m_Info};
        }
        wrong += Run(graph.GetNetwork(), {Compute::CpuRef, Compute::CpuAcc}, graph, bindings);
        wrong += Run(graph.GetNetwork(), {Compute::CpuAcc, Compute::CpuRef}, graph, bindings);

        std::stringstream stream;
        armnnSerializer::ISerializerPtr serializer = armnnSerializer::ISerializer::Create();
        serializer->Serialize(graph.GetNetwork());
        if (!serializer->SaveSerializedToStream(stream))
        {
            throw Exception("the network was not serialized", CHECK_LOCATION());
        }
        armnnDeserializer::IDeserializerPtr deserializer = armnnDeserializer::IDeserializer::Create();
        INetworkPtr read = deserializer->CreateNetworkFromBinary(stream);
        LayerRecorder readBack;
        read->ExecuteStrategy(readBack);
        if (readBack.m_Types != built.m_Types || readBack.m_Names != built.m_Names ||
            readBack.m_ConstantBytes != built.m_ConstantBytes || !readBack.m_IsAsBuilt)
        {
            std::cerr << "other layers were read than were written\n";
            ++wrong;
        }
        for (const Fixture& input : graph.GetInputs())
        {
            const armnnDeserializer::BindingPointInfo info = deserializer->GetNetworkInputBindingInfo(0, input.m_Name);
            bindings[input.m_Name] = {info.m_BindingId, info.m_TensorInfo};
        }
        for (const Fixture& output : graph.GetOutputs())
        {
            const armnnDeserializer::BindingPointInfo info =
                deserializer->GetNetworkOutputBindingInfo(0, output.m_Name);
            bindings[output.m_Name] = {info.m_BindingId, info.m_TensorInfo};
        }
        wrong += Run(*read, {Compute::CpuAcc, Compute::CpuRef}, graph, bindings);
        wrong += VisitOthers();

        std::cout << built.m_Types.size() << " types of layers, " << graph.GetOutputs().size() << " outputs, " << wrong
                  << " wrong" << std::endl;
        return wrong == 0 ? 0 : 1;
    }
    catch (const armnn::Exception& exception)
    {
        std::cerr << exception.what() << std::endl;
        return 1;
    }
}
