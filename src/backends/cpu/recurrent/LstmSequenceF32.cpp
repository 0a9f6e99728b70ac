// SPDX-License-Identifier: Apache-2.0
// See LstmSequenceF32.hpp.
#include "backends/cpu/recurrent/LstmSequenceF32.hpp"

#include "backends/cpu/recurrent/StepRows.hpp"

#include <algorithm>

namespace tenon::cpu
{

using backends::Scratch;

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
