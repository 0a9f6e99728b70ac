// SPDX-License-Identifier: Apache-2.0
// Maker: puts a network together around one layer.
#pragma once

#include "KernelNetworks.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tenon::bench
{

inline constexpr float DataScale = 1.0f / 128.0f;
inline constexpr float WeightScale = 1.0f / 256.0f;

DataType DataTypeOf(Element element);
/// "1x56x56x24".
std::string ShapeName(const TensorShape& shape);
TensorInfo DataInfo(Element element, const TensorShape& shape, float scale = DataScale);

/// Puts a network together around one layer.
class Maker
{
public:
    Maker(Element element, std::string name)
    {
        m_Result.m_Name = std::move(name) + "/" + GetName(element);
        m_Result.m_Network = INetwork::Create();
        m_Result.m_Element = element;
    }

    INetwork& Network() { return *m_Result.m_Network; }

    /// An input of the network for each of the first inputs of the layer.
    void SetLayer(IConnectableLayer* layer, const std::vector<TensorInfo>& inputs)
    {
        m_Layer = layer;
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            IConnectableLayer* input = Network().AddInputLayer(static_cast<LayerBindingId>(i), "input");
            input->GetOutputSlot(0).SetTensorInfo(inputs[i]);
            input->GetOutputSlot(0).Connect(layer->GetInputSlot(i));
            m_Result.m_Bytes += static_cast<double>(inputs[i].GetNumBytes());
        }
        m_Result.m_Inputs = inputs;
    }

    /// Random values: floats in [-0.1, 0.1], 8-bit integers of the whole range.
    void AddWeights(const TensorShape& shape, unsigned int channelDimension);

    /// Connects a constant to an input of the layer.
    template <typename T>
    void AddConstant(unsigned int slot, TensorInfo info, const std::vector<T>& values)
    {
        info.SetConstant();
        auto memory = std::make_unique<std::vector<char>>(values.size() * sizeof(T));
        std::memcpy(memory->data(), values.data(), memory->size());
        IConnectableLayer* constant = Network().AddConstantLayer(ConstTensor(info, memory->data()), "constant");
        constant->GetOutputSlot(0).SetTensorInfo(info);
        constant->GetOutputSlot(0).Connect(m_Layer->GetInputSlot(slot));
        m_Result.m_Constants.push_back(std::move(memory));
    }

    LayerNetwork Finish(const TensorShape& output, double macs = 0.0, float scale = DataScale);
    /// Of a layer with several outputs.
    LayerNetwork Finish(const std::vector<TensorShape>& outputs);

    /// Weights count as traffic where an inference uses each of them once.
    void CountWeights(const TensorShape& shape)
    {
        m_Result.m_Bytes +=
            static_cast<double>(shape.GetNumElements()) * GetDataTypeSize(DataTypeOf(m_Result.m_Element));
    }

private:
    void AddOutput(const TensorInfo& info);

    LayerNetwork m_Result;
    IConnectableLayer* m_Layer = nullptr;
};

} // namespace tenon::bench
