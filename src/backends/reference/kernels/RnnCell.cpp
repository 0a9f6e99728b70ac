// SPDX-License-Identifier: Apache-2.0
// See RnnCell.hpp.
#include "backends/reference/kernels/RnnCell.hpp"

#include <algorithm>
#include <string>

namespace tenon::ref
{

RnnCell::RnnCell(const ReshapeArgs& args, const RnnSlots& slots, const RnnRun& run, backends::Scratch& scratch)
    : m_Slots(slots), m_Run(run), m_Weights(args, slots.m_Weights), m_Recurrent(args, slots.m_Recurrent),
      m_AuxWeights(args, slots.m_AuxWeights), m_Units(args.GetInput(slots.m_Weights).GetShape()[0])
{
    const auto columns = [&](size_t slot)
    {
        const TensorShape& shape = args.GetInput(slot).GetShape();
        return size_t{shape[shape.GetNumDimensions() - 1]};
    };
    const TensorShape& output = args.GetOutput(run.m_Output).GetShape();
    m_OutputStride = output[output.GetNumDimensions() - 1];
    const size_t rows = run.m_Sequence.RowsPerStep();
    m_Data = GateRows(rows, columns(slots.m_Data), IsHybrid(), run.m_IsAsymmetric, scratch);
    m_State = GateRows(rows, m_Units, IsHybrid(), run.m_IsAsymmetric, scratch);
    if (m_AuxWeights.IsPresent())
    {
        m_Aux = GateRows(rows, columns(slots.m_Aux), IsHybrid(), run.m_IsAsymmetric, scratch);
    }
    m_Partial = scratch.Add<float>(m_Units);
    m_Sums = scratch.Add<float>(rows, m_Units);
}

void RnnCell::Run(const ExecuteArgs& args) const
{
    std::copy_n(args.GetInput<float>(m_Slots.m_State), m_Run.m_Sequence.m_Batches * m_Units,
                args.GetOutput<float>(m_Run.m_StateOutput));
    Continue(args);
}

void RnnCell::Continue(const ExecuteArgs& args) const
{
    const size_t rows = m_Run.m_Sequence.RowsPerStep();
    const auto* bias = args.GetInput<float>(m_Slots.m_Bias);
    auto* partial = backends::Scratch::At<float>(args.m_Scratch, m_Partial);
    auto* sums = backends::Scratch::At<float>(args.m_Scratch, m_Sums);
    const auto add = [&](const GateRows& operand, const GateWeights& weights, const float* values)
    {
        operand.Load(args.m_Scratch, values, rows);
        operand.Accumulate(args, weights, values, rows, m_Units, partial, sums);
    };
    m_Run.m_Sequence.ForEach(
        m_Run.m_IsBackward,
        [&](size_t batch, size_t row)
        {
            float* state = args.GetOutput<float>(m_Run.m_StateOutput) + batch * m_Units;
            for (size_t i = 0; i < rows; ++i)
            {
                std::copy_n(bias, m_Units, sums + i * m_Units);
            }
            add(m_Data, m_Weights, args.GetInput<float>(m_Slots.m_Data) + row * m_Data.GetColumns());
            if (m_AuxWeights.IsPresent())
            {
                add(m_Aux, m_AuxWeights, args.GetInput<float>(m_Slots.m_Aux) + row * m_Aux.GetColumns());
            }
            add(m_State, m_Recurrent, state);
            ApplyRecurrentActivation(m_Run.m_Activation, sums, rows * m_Units);
            std::copy_n(sums, rows * m_Units, state);
            float* output = args.GetOutput<float>(m_Run.m_Output) + m_Run.m_Offset + row * m_OutputStride;
            for (size_t i = 0; i < rows; ++i)
            {
                std::copy_n(sums + i * m_Units, m_Units, output + i * m_OutputStride);
            }
        });
}

SupportResult CheckRnn(const LayerView& layer, const RnnSlots& slots, uint32_t activation, size_t stateOutput,
                       size_t output)
{
    const auto refuse = [](std::string reason)
    { return SupportResult::No(SupportCode::UnsupportedType, std::move(reason)); };
    for (const size_t slot : {slots.m_Data, slots.m_Weights, slots.m_Recurrent, slots.m_Bias, slots.m_State})
    {
        if (!layer.HasInput(slot))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters,
                                     "input " + std::to_string(slot) + " is not connected");
        }
    }
    for (const size_t slot : {slots.m_Data, slots.m_Bias, slots.m_State, slots.m_Aux})
    {
        if (layer.HasInput(slot) && layer.GetInput(slot).GetDataType() != DataType::Float32)
        {
            return refuse("input " + std::to_string(slot) + " has type " +
                          GetDataTypeName(layer.GetInput(slot).GetDataType()) + "; it must be Float32");
        }
    }
    const bool isHybrid = layer.GetInput(slots.m_Weights).GetDataType() != DataType::Float32;
    for (const size_t slot : {slots.m_Weights, slots.m_Recurrent, slots.m_AuxWeights})
    {
        if (layer.HasInput(slot) && (isHybrid ? !IsInt8Weights(layer.GetInput(slot).GetDataType())
                                              : layer.GetInput(slot).GetDataType() != DataType::Float32))
        {
            return refuse("input " + std::to_string(slot) + " has type " +
                          GetDataTypeName(layer.GetInput(slot).GetDataType()) +
                          "; all weights must be Float32, or all of 8 bits");
        }
    }
    for (const size_t i : {stateOutput, output})
    {
        if (i < layer.GetNumOutputs() && layer.GetOutput(i).GetDataType() != DataType::Float32)
        {
            return refuse("output " + std::to_string(i) + " has type " +
                          GetDataTypeName(layer.GetOutput(i).GetDataType()) + "; it must be Float32");
        }
    }
    SupportResult weights = CheckGateWeights(layer, {slots.m_Weights, slots.m_Recurrent, slots.m_AuxWeights});
    return weights ? CheckRecurrentActivation(activation) : weights;
}

} // namespace tenon::ref
