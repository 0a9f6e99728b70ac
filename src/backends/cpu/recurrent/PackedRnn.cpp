// SPDX-License-Identifier: Apache-2.0
// See PackedRnn.hpp.
#include "backends/cpu/recurrent/PackedRnn.hpp"

#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/cpu/recurrent/StepRows.hpp"

#include <algorithm>

namespace tenon::cpu
{

using backends::Scratch;

namespace
{

void Activate(uint32_t code, float* values, size_t count)
{
    switch (code)
    {
    case ref::TanhCode: return FindUnaryLoopF32(FloatFunction::TanH)(values, values, count, 0.0f, 0.0f);
    case ref::SigmoidCode: return FindUnaryLoopF32(FloatFunction::Sigmoid)(values, values, count, 0.0f, 0.0f);
    default: return ref::ApplyRecurrentActivation(code, values, count);
    }
}

} // namespace

SupportResult CheckPackableRnn(const LayerView& layer, const ref::RnnSlots& slots)
{
    const TensorShape& weights = layer.GetInput(slots.m_Weights).GetShape();
    if (layer.HasInput(slots.m_AuxWeights) || !IsKnownMatrix(weights) ||
        !IsConstantOf(layer, slots.m_Weights, weights) ||
        !IsConstantOf(layer, slots.m_Recurrent, TensorShape({weights[0], weights[0]})) ||
        !IsConstantOf(layer, slots.m_Bias, TensorShape({weights[0]})))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it is no cell with constant weights, without auxiliary weights");
    }
    const SupportResult size = CheckGateSize(layer, slots.m_Weights, 1);
    return size ? CheckGateSize(layer, slots.m_Recurrent, 1) : size;
}

PackedRnn::PackedRnn(const LayerView& layer, const ref::RnnSlots& slots, backends::PackedStore& store)
    : m_Data(layer, {slots.m_Weights}, GetMaxRows(layer, slots.m_Data), JoinConstants<float>(layer, {slots.m_Bias}),
             store),
      m_State(layer, {slots.m_Recurrent}, GetMaxRows(layer, slots.m_State), {}, store)
{
}

bool PackedRnn::Fits(const TensorShape& data) const
{
    return m_Data.IsExact() && m_State.IsExact() && data.GetNumElements() != 0 &&
           data[data.GetNumDimensions() - 1] == m_Data.GetDepth();
}

RnnSequence::RnnSequence(const ReshapeArgs& args, const ref::RnnSlots& slots, const ref::RnnRun& run,
                         const PackedRnn& packed, Scratch& scratch)
    : m_Slots(slots), m_Run(run), m_Units(packed.GetData().GetColumns()),
      m_FromData(packed.GetData(), backends::CheckedCount(run.m_Sequence.m_Batches, run.m_Sequence.m_Steps),
                 run.m_IsAsymmetric, args.m_MaxThreads),
      m_FromState(packed.GetState(), run.m_Sequence.m_Batches, run.m_IsAsymmetric, args.m_MaxThreads)
{
    const TensorShape& output = args.GetOutput(run.m_Output).GetShape();
    m_OutputStride = output[output.GetNumDimensions() - 1];
    m_DataSums = scratch.Add<float>(run.m_Sequence.m_Batches, run.m_Sequence.m_Steps, m_Units);
    m_StateSums = scratch.Add<float>(run.m_Sequence.m_Batches, m_Units);
    m_ProductScratch = scratch.Add<std::byte>(std::max(m_FromData.GetScratchBytes(), m_FromState.GetScratchBytes()));
}

void RnnSequence::Run(const ExecuteArgs& args) const
{
    m_FromData.Run(args, args.GetInput<float>(m_Slots.m_Data), Scratch::At<float>(args.m_Scratch, m_DataSums),
                   Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch));
    std::copy_n(args.GetInput<float>(m_Slots.m_State), GetStateSize(), GetState(args));
    Continue(args);
}

void RnnSequence::Continue(const ExecuteArgs& args) const
{
    const ref::SequenceShape& shape = m_Run.m_Sequence;
    const auto* const dataSums = Scratch::At<float>(args.m_Scratch, m_DataSums);
    auto* const sums = Scratch::At<float>(args.m_Scratch, m_StateSums);
    auto* const state = GetState(args);
    auto* const output = args.GetOutput<float>(m_Run.m_Output) + m_Run.m_Offset;
    for (size_t t = 0; t < shape.m_Steps; ++t)
    {
        m_FromState.Run(args, state, sums, Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch));
        const StepRows rows = GetStepRows(shape, m_Run.m_IsBackward ? shape.m_Steps - 1 - t : t);
        for (size_t batch = 0; batch < shape.m_Batches; ++batch)
        {
            const size_t row = rows.m_First + batch * rows.m_Stride;
            const float* const ofData = dataSums + row * m_Units;
            float* const values = state + batch * m_Units;
            std::transform(ofData, ofData + m_Units, sums + batch * m_Units, values,
                           [](float a, float b) { return a + b; });
            Activate(m_Run.m_Activation, values, m_Units);
            std::copy_n(values, m_Units, output + row * m_OutputStride);
        }
    }
}

} // namespace tenon::cpu
