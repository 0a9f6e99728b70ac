// SPDX-License-Identifier: Apache-2.0
// Maker: puts a network together around one layer.
#pragma once

#include "KernelNetworks.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::bench
{

inline constexpr float DataScale = 1.0f / 128.0f;
inline constexpr float WeightScale = 1.0f / 256.0f;

/// The type of the data.
DataType DataTypeOf(Element element);
bool IsQuantized(Element element);
/// "1x56x56x24".
std::string ShapeName(const TensorShape& shape);
TensorInfo DataInfo(Element element, const TensorShape& shape, float scale = DataScale);

/// Puts a network together around one layer.
class Maker
{
public:
    Maker(Element element, const std::string& name) : Maker(element, name, GetName(element)) {}
    /// `type`: the name of the types in the table, if there are several.
    Maker(Element element, const std::string& name, const std::string& type)
    {
        m_Result.m_Name = name + "/" + type;
        m_Result.m_Network = INetwork::Create();
        m_Result.m_Element = element;
    }

    INetwork& Network() { return *m_Result.m_Network; }

    /// Sets the layer, and adds an input of the network for each of its first inputs.
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

    /// Random weights and a bias, as inputs 1 and 2, of the types that fit the data: floats of up to an eighth,
    /// integers of the whole range, which is symmetric for signed types.
    void AddWeights(const TensorShape& shape, unsigned int channelDimension);
    /// Adds such weights alone; without a dimension of channels they have one scale.
    void AddMatrix(unsigned int slot, const TensorShape& shape, std::optional<unsigned int> channelDimension = {});

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
    /// Finishes a layer with several outputs, or with outputs of other types than its data.
    LayerNetwork Finish(const std::vector<TensorInfo>& outputs);

    void SetMacs(double macs) { m_Result.m_Macs = macs; }
    void SetWindow(const DepthwiseWindow& window) { m_Result.m_Window = window; }
    /// Counts weights as traffic if an inference uses each of them once.
    void CountWeights(const TensorShape& shape);

private:
    void AddOutput(const TensorInfo& info);

    LayerNetwork m_Result;
    IConnectableLayer* m_Layer = nullptr;
};

} // namespace tenon::bench
