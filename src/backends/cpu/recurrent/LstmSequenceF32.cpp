// SPDX-License-Identifier: Apache-2.0
// See LstmSequenceF32.hpp.
#include "backends/cpu/recurrent/LstmSequenceF32.hpp"

#include "backends/cpu/recurrent/StepRows.hpp"

#include <algorithm>

namespace tenon::cpu
{

using backends::Scratch;

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

LstmSequenceF32::LstmSequenceF32(const ref::LstmGeometry& geometry, const PackedLstmF32& packed,
                                 const ref::LstmParameters& parameters, unsigned int maxThreads, Scratch& scratch)
    : m_Geometry(geometry),
      m_Cell(geometry.m_Units, parameters.m_HasInputGate, parameters.m_CellClip, packed.GetGates()),
      m_ProjectionClip(parameters.m_ProjectionClip),
      m_FromData(packed.GetData(), GetDataRows(), parameters.m_Asymmetric, maxThreads),
      m_FromState(packed.GetState(), geometry.m_Sequence.m_Batches, parameters.m_Asymmetric, maxThreads)
{
    const size_t batches = geometry.m_Sequence.m_Batches;
    m_DataSums = scratch.Add<float>(GetDataRows(), m_Cell.GetNumGates(), geometry.m_Units);
    m_Gates = scratch.Add<float>(batches, m_Cell.GetNumGates(), geometry.m_Units);
    size_t product = std::max(m_FromData.GetScratchBytes(), m_FromState.GetScratchBytes());
    if (packed.GetProjection())
    {
        m_FromHidden.emplace(*packed.GetProjection(), batches, parameters.m_Asymmetric, maxThreads);
        m_Hidden = scratch.Add<float>(batches, geometry.m_Units);
        product = std::max(product, m_FromHidden->GetScratchBytes());
    }
    m_ProductScratch = scratch.Add<std::byte>(product);
}

void LstmSequenceF32::Run(const ExecuteArgs& args) const
{
    const ref::LstmGeometry& g = m_Geometry;
    const size_t batches = g.m_Sequence.m_Batches;
    m_FromData.Run(args, args.GetInput<float>(g.m_Slots.m_Data), Scratch::At<float>(args.m_Scratch, m_DataSums),
                   Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch));
    std::copy_n(args.GetInput<float>(g.m_Slots.m_OutputState), batches * g.m_Outputs,
                args.GetOutput<float>(g.m_OutputSlots.m_OutputState));
    std::copy_n(args.GetInput<float>(g.m_Slots.m_CellState), batches * g.m_Units,
                args.GetOutput<float>(g.m_OutputSlots.m_CellState));
    for (size_t t = 0; t < g.m_Sequence.m_Steps; ++t)
    {
        Step(args, g.m_IsBackward ? g.m_Sequence.m_Steps - 1 - t : t);
    }
}

void LstmSequenceF32::Step(const ExecuteArgs& args, size_t time) const
{
    const ref::LstmGeometry& g = m_Geometry;
    const size_t batches = g.m_Sequence.m_Batches;
    const size_t columns = m_Cell.GetNumGates() * g.m_Units;
    const StepRows rows = GetStepRows(g.m_Sequence, time);
    float* const state = args.GetOutput<float>(g.m_OutputSlots.m_OutputState);
    float* const cell = args.GetOutput<float>(g.m_OutputSlots.m_CellState);
    float* const gates = Scratch::At<float>(args.m_Scratch, m_Gates);
    float* const hidden = m_FromHidden ? Scratch::At<float>(args.m_Scratch, m_Hidden) : state;
    auto* const product = Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch);
    const float* const ofData = Scratch::At<float>(args.m_Scratch, m_DataSums) + rows.m_First * columns;
    const bool isContiguous = rows.m_Stride == 1 || batches == 1;
    m_FromState.RunAndAdd(args, state, isContiguous ? ofData : nullptr, gates, product);
    for (size_t batch = 0; batch < batches; ++batch)
    {
        float* const sums = gates + batch * columns;
        for (size_t i = 0; !isContiguous && i < columns; ++i)
        {
            sums[i] += ofData[batch * rows.m_Stride * columns + i];
        }
        m_Cell.Run(sums, cell + batch * g.m_Units, hidden + batch * g.m_Units);
    }
    if (m_FromHidden)
    {
        m_FromHidden->Run(args, hidden, state, product);
        ref::ClipValues(state, batches * g.m_Outputs, m_ProjectionClip);
    }
    float* const output = args.GetOutput<float>(g.m_OutputSlots.m_Output) + g.m_OutputSlots.m_Offset;
    for (size_t batch = 0; batch < batches; ++batch)
    {
        std::copy_n(state + batch * g.m_Outputs, g.m_Outputs,
                    output + (rows.m_First + batch * rows.m_Stride) * g.m_OutputStride);
    }
}

} // namespace tenon::cpu
