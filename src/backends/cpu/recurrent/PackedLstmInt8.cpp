// SPDX-License-Identifier: Apache-2.0
// See PackedLstmInt8.hpp.
#include "backends/cpu/recurrent/PackedLstmInt8.hpp"

#include "backends/cpu/recurrent/LstmLoopsInt8.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using ref::LstmParameters;

constexpr LstmSlots Slots = GetLstmSlots();

PackedWeightsInt8 Pack(const LayerView& layer, const std::vector<size_t>& slots, size_t rows,
                       backends::PackedStore& store)
{
    return PackGateWeightsInt8(layer, slots, rows, {}, store);
}

std::vector<size_t> GetSlots(const LstmSlots::PerGate& slots, const LstmParameters& parameters)
{
    return GetGateSlots(slots, PackedLstmInt8::Order, parameters.m_HasInputGate);
}

bool IsEachConstantOf(const LayerView& layer, const std::vector<size_t>& slots, const TensorShape& shape)
{
    return std::all_of(slots.begin(), slots.end(), [&](size_t slot) { return IsConstantOf(layer, slot, shape); });
}

} // namespace

bool HasPackableLstmInt8(const LayerView& layer, const LstmParameters& parameters)
{
    const TensorShape& input = layer.GetInput(Slots.m_InputWeights[LstmSlots::Output]).GetShape();
    const TensorShape& recurrent = layer.GetInput(Slots.m_RecurrentWeights[LstmSlots::Output]).GetShape();
    if (!IsKnownMatrix(input) || !IsKnownMatrix(recurrent) || recurrent[0] != input[0])
    {
        return false;
    }
    const unsigned int units = input[0];
    const unsigned int outputs = recurrent[1];
    bool fit = IsEachConstantOf(layer, GetSlots(Slots.m_InputWeights, parameters), input) &&
               IsEachConstantOf(layer, GetSlots(Slots.m_RecurrentWeights, parameters), recurrent) &&
               IsEachConstantOf(layer, GetSlots(Slots.m_Bias, parameters), TensorShape({units})) &&
               (!parameters.m_HasLayerNorm ||
                IsEachConstantOf(layer, GetSlots(Slots.m_LayerNorm, parameters), TensorShape({units})));
    for (const size_t slot : GetSlots(Slots.m_Peephole, parameters))
    {
        // With fewer outputs than units TFLite's peephole weights shift from batch to batch.
        const bool isUsed = parameters.m_HasPeephole && slot != LstmSlots::None && layer.HasInput(slot);
        fit = fit && (!isUsed || (outputs >= units && IsConstantOf(layer, slot, TensorShape({units}))));
    }
    const bool hasProjection = parameters.m_HasProjection && layer.HasInput(Slots.m_Projection);
    if (!hasProjection)
    {
        return fit && outputs == units;
    }
    const size_t bias = Slots.m_ProjectionBias;
    return fit && IsConstantOf(layer, Slots.m_Projection, TensorShape({outputs, units})) &&
           (!layer.HasInput(bias) || IsConstantOf(layer, bias, TensorShape({outputs})));
}

PackedLstmInt8::PackedLstmInt8(const LayerView& layer, const LstmParameters& parameters, backends::PackedStore& store)
    : m_Data(Pack(layer, GetSlots(Slots.m_InputWeights, parameters), GetMaxRows(layer, Slots.m_Data), store),
             layer.GetInput(Slots.m_Data).GetQuantizationOffset(),
             parameters.m_HasLayerNorm ? std::vector<int32_t>()
                                       : JoinConstants<int32_t>(layer, GetSlots(Slots.m_Bias, parameters))),
      m_State(
          Pack(layer, GetSlots(Slots.m_RecurrentWeights, parameters), GetMaxRows(layer, Slots.m_OutputState), store),
          layer.GetInput(Slots.m_OutputState).GetQuantizationOffset(), {})
{
    if (parameters.m_HasProjection && layer.HasInput(Slots.m_Projection))
    {
        const bool hasBias = layer.HasInput(Slots.m_ProjectionBias);
        // As in TFLite: the zero point of the hidden state in front of a projection is negated.
        m_Projection.emplace(Pack(layer, {Slots.m_Projection}, GetMaxRows(layer, Slots.m_OutputState), store),
                             -parameters.m_HiddenZeroPoint,
                             hasBias ? JoinConstants<int32_t>(layer, {Slots.m_ProjectionBias})
                                     : std::vector<int32_t>());
    }
    for (const LstmSlots::Gate gate : Order)
    {
        const size_t slot = Slots.m_Peephole[gate];
        const bool hasGate = gate != LstmSlots::Input || parameters.m_HasInputGate;
        if (hasGate && parameters.m_HasPeephole && slot != LstmSlots::None && layer.HasInput(slot))
        {
            m_Peephole[gate] = JoinConstants<int16_t>(layer, {slot}, LstmLoopsInt8::ExtraUnits);
        }
        if (hasGate && parameters.m_HasLayerNorm)
        {
            m_LayerNorm[gate] = JoinConstants<int16_t>(layer, {Slots.m_LayerNorm[gate]}, LstmLoopsInt8::ExtraUnits);
            m_Bias[gate] = JoinConstants<int32_t>(layer, {Slots.m_Bias[gate]}, LstmLoopsInt8::ExtraUnits);
        }
    }
}

} // namespace tenon::cpu
