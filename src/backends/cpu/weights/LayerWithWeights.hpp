// SPDX-License-Identifier: Apache-2.0
// Views of layers whose constant weights are rearranged before they are packed: int4 unpacked, groups merged, taps of a
// phase taken.
#pragma once

#include "common/FourBits.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::cpu
{

/// Constant weights of 8 or 4 bits; int4 is unpacked to one byte each.
class ConstantWeightsInt8
{
public:
    /// Input 1 of the layer. Precondition: its shape is known.
    explicit ConstantWeightsInt8(const LayerView& layer) : m_Bytes(static_cast<const uint8_t*>(layer.m_ConstantData[1]))
    {
        if (layer.GetInput(1).GetDataType() == DataType::QSymmS4)
        {
            m_Unpacked.resize(layer.GetInput(1).GetNumElements());
            UnpackFourBits(m_Bytes, m_Unpacked.size(), true, m_Unpacked.data());
            m_Bytes = reinterpret_cast<const uint8_t*>(m_Unpacked.data());
        }
    }
    ConstantWeightsInt8(const ConstantWeightsInt8&) = delete;
    ConstantWeightsInt8& operator=(const ConstantWeightsInt8&) = delete;

    const uint8_t* Get() const { return m_Bytes; }

    /// The weight that adds nothing to a sum: the zero point, or 0 for hybrid layers and per-channel scales.
    static uint8_t GetZero(const LayerView& layer)
    {
        const TensorInfo& info = layer.GetInput(1);
        const bool isCentred =
            layer.GetInput(0).GetDataType() == DataType::Float32 || info.HasMultipleQuantizationScales();
        return isCentred ? 0 : static_cast<uint8_t>(info.GetQuantizationOffset());
    }

private:
    const uint8_t* m_Bytes;
    std::vector<int8_t> m_Unpacked;
};

/// The layer with other weights, one byte each, in place of its own.
class LayerWithWeights
{
public:
    LayerWithWeights(const LayerView& layer, const TensorShape& shape, std::vector<uint8_t> weights)
        : m_View(layer), m_Weights(std::move(weights)), m_Info(layer.GetInput(1)),
          m_Inputs(layer.m_Inputs.begin(), layer.m_Inputs.end()),
          m_Constants(layer.m_ConstantData.begin(), layer.m_ConstantData.end())
    {
        m_Info.SetShape(shape);
        m_Info.SetDataType(m_Info.GetDataType() == DataType::QSymmS4 ? DataType::QSymmS8 : m_Info.GetDataType());
        m_Inputs[1] = &m_Info;
        m_Constants[1] = m_Weights.data();
        m_View.m_Inputs = m_Inputs;
        m_View.m_ConstantData = m_Constants;
    }
    LayerWithWeights(const LayerWithWeights&) = delete;
    LayerWithWeights& operator=(const LayerWithWeights&) = delete;

    const LayerView& View() const { return m_View; }

private:
    LayerView m_View;
    std::vector<uint8_t> m_Weights;
    TensorInfo m_Info;
    std::vector<const TensorInfo*> m_Inputs;
    std::vector<const void*> m_Constants;
};

} // namespace tenon::cpu
