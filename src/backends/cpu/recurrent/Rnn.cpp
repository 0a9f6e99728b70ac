// SPDX-License-Identifier: Apache-2.0
// Rnn and BidirectionalSequenceRnn of floats with constant weights, F32 or 8-bit (hybrid): one cell a direction over
// the sequence. Other layers run on the reference kernel.
#include "backends/cpu/recurrent/PackedRnn.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/BidirectionalRnn.hpp"

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
