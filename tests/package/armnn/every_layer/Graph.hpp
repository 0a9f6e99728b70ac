// SPDX-License-Identifier: Apache-2.0
// A graph of branches, each of which is one layer with the inputs that it is fed and the outputs that it has to give.
#pragma once

#include <armnn/ArmNN.hpp>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace layers
{

using namespace armnn;

/// A tensor that is fed to the network, or that it has to give.
struct Fixture
{
    std::string m_Name;
    TensorInfo m_Info;
    std::vector<float> m_Values; ///< as stored: without scale and offset
    float m_Tolerance = 0.0f;
};

/// The values as bytes of the type.
std::vector<uint8_t> Store(const TensorInfo& info, const std::vector<float>& values);
/// Element `i` of a tensor.
float Load(const TensorInfo& info, const std::vector<uint8_t>& bytes, size_t i);

inline TensorInfo Floats(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float32);
}
inline TensorInfo Ints(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Signed32);
}
inline TensorInfo Booleans(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Boolean);
}

/// A network of branches: inputs, a layer, its outputs.
class Graph
{
public:
    using Layers = std::vector<IConnectableLayer*>;

    INetwork& GetNetwork() const { return *m_Network; }
    const std::vector<Fixture>& GetInputs() const { return m_Inputs; }
    const std::vector<Fixture>& GetOutputs() const { return m_Outputs; }

    IConnectableLayer* Input(const TensorInfo& info, const std::vector<float>& values)
    {
        const std::string name = "input " + std::to_string(m_Inputs.size());
        IConnectableLayer* layer = m_Network->AddInputLayer(static_cast<LayerBindingId>(m_Inputs.size()), name.c_str());
        layer->GetOutputSlot(0).SetTensorInfo(info);
        m_Inputs.push_back({name, info, values, 0.0f});
        return layer;
    }
    IConnectableLayer* Input(const TensorShape& shape, const std::vector<float>& values)
    {
        return Input(Floats(shape), values);
    }

    /// The memory lives as long as the graph.
    ConstTensor Tensor(TensorInfo info, const std::vector<float>& values)
    {
        info.SetConstant();
        m_Memory.push_back(Store(info, values));
        return ConstTensor(info, m_Memory.back().data());
    }
    IConnectableLayer* Constant(const TensorInfo& info, const std::vector<float>& values)
    {
        const ConstTensor tensor = Tensor(info, values);
        const std::string name = "constant " + std::to_string(m_Memory.size());
        IConnectableLayer* layer = m_Network->AddConstantLayer(tensor, name.c_str());
        layer->GetOutputSlot(0).SetTensorInfo(tensor.GetInfo());
        return layer;
    }
    IConnectableLayer* Constant(const TensorShape& shape, const std::vector<float>& values)
    {
        return Constant(Floats(shape), values);
    }

    /// Connects a layer's inputs.
    static IConnectableLayer* Connect(IConnectableLayer* layer, const Layers& sources)
    {
        for (size_t i = 0; i < sources.size(); ++i)
        {
            sources[i]->GetOutputSlot(0).Connect(layer->GetInputSlot(static_cast<unsigned int>(i)));
        }
        return layer;
    }
    /// Says what an output of a layer holds, and has the network give it.
    void Expect(IConnectableLayer* layer, unsigned int slot, const TensorInfo& info, const std::vector<float>& values,
                float tolerance = 1e-5f)
    {
        const std::string name = "output " + std::to_string(m_Outputs.size()) + " of " + layer->GetName();
        layer->GetOutputSlot(slot).SetTensorInfo(info);
        IConnectableLayer* output =
            m_Network->AddOutputLayer(static_cast<LayerBindingId>(m_Outputs.size()), name.c_str());
        layer->GetOutputSlot(slot).Connect(output->GetInputSlot(0));
        m_Outputs.push_back({name, info, values, tolerance});
    }
    void Expect(IConnectableLayer* layer, const TensorShape& shape, const std::vector<float>& values)
    {
        Expect(layer, 0, Floats(shape), values);
    }

private:
    INetworkPtr m_Network = INetwork::Create();
    std::vector<Fixture> m_Inputs;
    std::vector<Fixture> m_Outputs;
    std::deque<std::vector<uint8_t>> m_Memory;
};

/// Layers that compute element by element.
void AddElementwise(Graph& graph);
/// Layers with weights, and products.
void AddProducts(Graph& graph);
/// Pools, reductions and normalizations.
void AddReductions(Graph& graph);
/// Layers that move elements.
void AddMoves(Graph& graph);
/// The layer after a detector of objects.
void AddDetection(Graph& graph);
/// Layers of recurrent networks.
void AddRecurrent(Graph& graph);

} // namespace layers
