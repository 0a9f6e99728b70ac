// SPDX-License-Identifier: Apache-2.0
// Rnn and BidirectionalSequenceRnn of floats with constant weights, F32 or 8-bit (hybrid): one cell without gates a
// direction over the sequence:
//     sums[t] = W x[t] + b          one product for all steps
//     h[t] = f(sums[t] + R h[t-1])  one product a step
// Other layers run on the reference kernel.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/cpu/recurrent/GateGemmF32.hpp"
#include "backends/cpu/recurrent/StepRows.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/BidirectionalRnn.hpp"
#include "backends/reference/kernels/RnnCell.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using ref::BidirectionalRnnCell;
using ref::SingleRnnSlots;

constexpr backends::TypeRow RnnTypes[] = {backends::Types({DataType::Float32}, DataType::Float32)};

/// Whether PackedRnn supports the cell: constant weights, no auxiliary ones. Precondition: the reference kernel's check
/// accepts it.
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

class PackedRnn final : public backends::PackedWeights
{
public:
    PackedRnn(const LayerView& layer, const ref::RnnSlots& slots, backends::PackedStore& store);

    /// Whether RnnSequence computes the numbers of the reference kernel for data of this shape.
    bool Fits(const TensorShape& data) const;
    bool RefersToConstants() const override { return m_Data.RefersToConstants() || m_State.RefersToConstants(); }
    const PackedGatesF32& GetData() const { return m_Data; }
    const PackedGatesF32& GetState() const { return m_State; }

private:
    PackedGatesF32 m_Data;
    PackedGatesF32 m_State;
};

/// A cell of known shapes.
class RnnSequence
{
public:
    /// Reserves its buffers in `scratch`. Precondition: PackedRnn::Fits.
    RnnSequence(const ReshapeArgs& args, const ref::RnnSlots& slots, const ref::RnnRun& run, const PackedRnn& packed,
                backends::Scratch& scratch);

    /// Run and Continue do what those of ref::RnnCell do; Continue reads the scratch memory that Run left.
    void Run(const ExecuteArgs& args) const;
    void Continue(const ExecuteArgs& args) const;
    float* GetState(const ExecuteArgs& args) const { return args.GetOutput<float>(m_Run.m_StateOutput); }
    size_t GetStateSize() const { return m_Run.m_Sequence.m_Batches * m_Units; }

private:
    ref::RnnSlots m_Slots;
    ref::RnnRun m_Run;
    size_t m_Units;
    size_t m_OutputStride; ///< elements in a row of the output
    GateGemmF32 m_FromData;
    GateGemmF32 m_FromState;
    size_t m_DataSums = 0; ///< offset in scratch memory: sums of all rows of data
    size_t m_StateSums = 0;
    size_t m_ProductScratch = 0;
};

void Activate(uint32_t code, float* values, size_t count)
{
    switch (code)
    {
    case ref::TanhCode: return FindUnaryLoopF32(FloatFunction::TanH)(values, values, count, 0.0f, 0.0f);
    case ref::SigmoidCode: return FindUnaryLoopF32(FloatFunction::Sigmoid)(values, values, count, 0.0f, 0.0f);
    default: return ref::ApplyRecurrentActivation(code, values, count);
    }
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

SupportResult Check(const LayerView& layer)
{
    return CheckPackableRnn(layer, SingleRnnSlots);
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedRnn>(layer, SingleRnnSlots, store);
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedRnn&>(*packed);
    const TensorShape& data = args.GetInput(SingleRnnSlots.m_Data).GetShape();
    if (!weights.Fits(data))
    {
        return Prepared::Declined("the data are empty or not of the depth of the weights, or these are not exact");
    }
    Scratch scratch;
    const ref::RnnRun run(args.GetDescriptor<RnnDescriptor>(), data);
    const RnnSequence sequence(args, SingleRnnSlots, run, weights, scratch);
    return {[sequence](const ExecuteArgs& runArgs) { sequence.Run(runArgs); }, scratch.GetBytes()};
}

SupportResult CheckBoth(const LayerView& layer)
{
    SupportResult result = SupportResult::Yes();
    for (const bool isBackward : {false, true})
    {
        result = result ? CheckPackableRnn(layer, BidirectionalRnnCell(layer, isBackward).m_Slots) : result;
    }
    return result;
}

class PackedCells final : public backends::PackedWeights
{
public:
    PackedCells(const LayerView& layer, backends::PackedStore& store)
        : m_Forward(layer, BidirectionalRnnCell(layer, false).m_Slots, store),
          m_Backward(layer, BidirectionalRnnCell(layer, true).m_Slots, store)
    {
    }

    bool RefersToConstants() const override { return m_Forward.RefersToConstants() || m_Backward.RefersToConstants(); }
    const PackedRnn& Get(bool isBackward) const { return isBackward ? m_Backward : m_Forward; }

private:
    PackedRnn m_Forward;
    PackedRnn m_Backward;
};

std::unique_ptr<backends::PackedWeights> PackBoth(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedCells>(layer, store);
}

Prepared PrepareBoth(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& cells = static_cast<const PackedCells&>(*packed);
    for (const bool isBackward : {false, true})
    {
        const BidirectionalRnnCell cell(args, isBackward);
        if (!cells.Get(isBackward).Fits(args.GetInput(cell.m_Slots.m_Data).GetShape()))
        {
            return Prepared::Declined("the data are empty or not of the depth of the weights, or these are not exact");
        }
    }
    const auto make = [&](bool isBackward, Scratch& scratch)
    {
        const BidirectionalRnnCell cell(args, isBackward);
        return RnnSequence(args, cell.m_Slots, cell.GetRun(args), cells.Get(isBackward), scratch);
    };
    Scratch scratch;
    const RnnSequence forward = make(false, scratch);
    const RnnSequence backward = make(true, scratch);
    return ref::PrepareBidirectionalRnn(args, forward, backward, scratch);
}

} // namespace

extern const backends::Kernel CpuRnnKernel = {.m_Name = "CpuRnn",
                                              .m_Types = RnnTypes,
                                              .m_Prepare = Prepare,
                                              .m_Check = Check,
                                              .m_Pack = Pack,
                                              .m_Reference = &ref::RefRnnKernel};
extern const backends::Kernel CpuBidirectionalSequenceRnnKernel = {.m_Name = "CpuBidirectionalSequenceRnn",
                                                                   .m_Types = RnnTypes,
                                                                   .m_Prepare = PrepareBoth,
                                                                   .m_Check = CheckBoth,
                                                                   .m_Pack = PackBoth,
                                                                   .m_Reference =
                                                                       &ref::RefBidirectionalSequenceRnnKernel};

} // namespace tenon::cpu
