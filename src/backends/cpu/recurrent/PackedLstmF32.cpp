// SPDX-License-Identifier: Apache-2.0
// See PackedLstmF32.hpp.
#include "backends/cpu/recurrent/PackedLstmF32.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using ref::LstmParameters;

std::vector<size_t> GetSlots(const LstmSlots::PerGate& slots, const LstmParameters& parameters)
{
    return GetGateSlots(slots, LstmCellF32::Order, parameters.m_HasInputGate);
}

bool HasProjection(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters)
{
    return parameters.m_HasProjection && layer.HasInput(slots.m_Projection);
}

bool IsHybrid(const LayerView& layer, const LstmSlots& slots)
{
    return layer.GetInput(slots.m_InputWeights[LstmSlots::Output]).GetDataType() != DataType::Float32;
}

bool IsEachConstantOf(const LayerView& layer, const std::vector<size_t>& slots, const TensorShape& shape)
{
    return std::all_of(slots.begin(), slots.end(), [&](size_t slot) { return IsConstantOf(layer, slot, shape); });
}

/// The slots of the inputs that are present.
std::vector<size_t> GetPresent(const LayerView& layer, std::vector<size_t> slots)
{
    slots.erase(std::remove_if(slots.begin(), slots.end(), [&](size_t slot) { return !layer.HasInput(slot); }),
                slots.end());
    return slots;
}

bool HasPackableWeights(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters)
{
    const TensorShape& input = layer.GetInput(slots.m_InputWeights[LstmSlots::Output]).GetShape();
    const TensorShape& recurrent = layer.GetInput(slots.m_RecurrentWeights[LstmSlots::Output]).GetShape();
    if (!IsKnownMatrix(input) || !IsKnownMatrix(recurrent) || recurrent[0] != input[0])
    {
        return false;
    }
    const unsigned int outputs = recurrent[1];
    const TensorShape unit({input[0]});
    const bool fit =
        IsEachConstantOf(layer, GetSlots(slots.m_InputWeights, parameters), input) &&
        IsEachConstantOf(layer, GetSlots(slots.m_RecurrentWeights, parameters), recurrent) &&
        IsEachConstantOf(layer, GetSlots(slots.m_Bias, parameters), unit) &&
        (!parameters.m_HasPeephole ||
         IsEachConstantOf(layer, GetPresent(layer, GetSlots(slots.m_Peephole, parameters)), unit)) &&
        (!parameters.m_HasLayerNorm || IsEachConstantOf(layer, GetSlots(slots.m_LayerNorm, parameters), unit));
    if (!HasProjection(layer, slots, parameters))
    {
        return fit && outputs == input[0];
    }
    return fit && IsConstantOf(layer, slots.m_Projection, TensorShape({outputs, input[0]})) &&
           IsEachConstantOf(layer, GetPresent(layer, {slots.m_ProjectionBias}), TensorShape({outputs}));
}

} // namespace

SupportResult CheckLstmF32(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters)
{
    // The states of such layers are quantized by the scales of the data.
    const bool sharesScales = parameters.m_HasSparseRecurrent && IsHybrid(layer, slots);
    const bool hasAux = layer.HasInput(slots.m_AuxWeights[LstmSlots::Forget]);
    if (sharesScales || hasAux || parameters.m_Activation != ref::TanhCode ||
        !HasPackableWeights(layer, slots, parameters))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it is no cell with constant weights and tanh, without auxiliary weights");
    }
    return CheckLstmSize(layer, slots, parameters.m_HasInputGate, HasProjection(layer, slots, parameters));
}

PackedLstmF32::PackedLstmF32(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters,
                             backends::PackedStore& store)
    : m_Data(layer, GetSlots(slots.m_InputWeights, parameters), GetMaxRows(layer, slots.m_Data),
             parameters.m_HasLayerNorm ? std::vector<float>()
                                       : JoinConstants<float>(layer, GetSlots(slots.m_Bias, parameters)),
             store),
      m_State(layer, GetSlots(slots.m_RecurrentWeights, parameters), GetMaxRows(layer, slots.m_OutputState), {}, store)
{
    if (HasProjection(layer, slots, parameters))
    {
        m_Projection.emplace(layer, std::vector<size_t>{slots.m_Projection}, GetMaxRows(layer, slots.m_OutputState),
                             JoinConstants<float>(layer, GetPresent(layer, {slots.m_ProjectionBias})), store);
    }
    for (size_t gate = parameters.m_HasInputGate ? 0 : 1; gate < LstmSlots::NumGates; ++gate)
    {
        if (parameters.m_HasPeephole && layer.HasInput(slots.m_Peephole[gate]))
        {
            m_Peephole[gate] = ReadGateFloats(layer, slots.m_Peephole[gate]);
        }
        if (parameters.m_HasLayerNorm)
        {
            m_LayerNorm[gate] = ReadGateFloats(layer, slots.m_LayerNorm[gate]);
            m_Bias[gate] = ReadGateFloats(layer, slots.m_Bias[gate]);
        }
    }
}

LstmCellF32::Gates PackedLstmF32::GetGates() const
{
    LstmCellF32::Gates gates;
    for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
    {
        const auto find = [gate](const Values& values) { return values[gate].empty() ? nullptr : values[gate].data(); };
        gates[gate] = {find(m_Peephole), find(m_LayerNorm), find(m_Bias)};
    }
    return gates;
}

} // namespace tenon::cpu
