// SPDX-License-Identifier: Apache-2.0
// Small networks that many tests of the graph, optimizer and runtime build, and a run by one call.
#pragma once

#include <tenon/Tenon.hpp>

#include <numeric>
#include <vector>

namespace tenon::test
{

inline TensorInfo FloatInfo(std::initializer_list<unsigned int> shape)
{
    return TensorInfo(TensorShape(shape), DataType::Float32);
}

inline IConnectableLayer* AddInput(INetwork& network, LayerBindingId id, const TensorInfo& info,
                                   const char* name = "input")
{
    IConnectableLayer* layer = network.AddInputLayer(id, name);
    layer->GetOutputSlot(0).SetTensorInfo(info);
    return layer;
}

inline void Connect(IConnectableLayer* from, IConnectableLayer* to, unsigned int input = 0, unsigned int output = 0)
{
    from->GetOutputSlot(output).Connect(to->GetInputSlot(input));
}

/// input 0 -> abs -> abs ... -> output 0
inline INetworkPtr MakeChain(unsigned int length, const TensorInfo& info)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, info);
    for (unsigned int i = 0; i < length; ++i)
    {
        IConnectableLayer* layer =
            network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
        Connect(last, layer);
        last = layer;
    }
    Connect(last, network->AddOutputLayer(0, "output"));
    return network;
}

inline NetworkId Load(IRuntime& runtime, const INetwork& network, const std::vector<BackendId>& backends = {"CpuRef"},
                      const OptimizerOptionsOpaque& options = {})
{
    NetworkId id = 0;
    runtime.LoadNetwork(id, Optimize(network, backends, runtime.GetDeviceSpec(), options));
    return id;
}

/// Runs a network with one float input and one float output, whose shape the network gives.
inline std::vector<float> RunFloat(IRuntime& runtime, NetworkId id, const TensorShape& shape, std::vector<float> input)
{
    TensorInfo info(shape, DataType::Float32, 0.0f, 0, true);
    std::vector<float> result;
    runtime.EnqueueWorkload(id, {{0, ConstTensor(info, input.data())}},
                            [&](LayerBindingId, const TensorInfo& output)
                            {
                                result.resize(output.GetNumElements());
                                return result.data();
                            });
    return result;
}

inline std::vector<float> Ramp(size_t count, float first = 0.0f, float step = 1.0f)
{
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = first + step * static_cast<float>(i);
    }
    return values;
}

} // namespace tenon::test
