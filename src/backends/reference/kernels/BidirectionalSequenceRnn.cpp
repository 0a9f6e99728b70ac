// SPDX-License-Identifier: Apache-2.0
// BidirectionalSequenceRnn: two recurrent cells over a sequence, one of which starts at its end.
#include "backends/reference/kernels/BidirectionalRnn.hpp"

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow BidirectionalTypes[] = {
    backends::Types({DataType::Float32}, DataType::Float32),
};

SupportResult Check(const LayerView& layer)
{
    const uint32_t activation = layer.GetDescriptor<BidirectionalSequenceRnnDescriptor>().m_ActivationFunc;
    for (const bool isBackward : {false, true})
    {
        const BidirectionalRnnCell cell(layer, isBackward);
        SupportResult result = CheckRnn(layer, cell.m_Slots, activation, cell.m_StateOutput, cell.m_Output);
        if (!result)
        {
            return result;
        }
    }
    return SupportResult::Yes();
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto make = [&args](bool isBackward, backends::Scratch& scratch)
    {
        const BidirectionalRnnCell cell(args, isBackward);
        return RnnCell(args, cell.m_Slots, cell.GetRun(args), scratch);
    };
    backends::Scratch scratch;
    const RnnCell forward = make(false, scratch);
    const RnnCell backward = make(true, scratch);
    return PrepareBidirectionalRnn(args, forward, backward, scratch);
}

} // namespace

extern const backends::Kernel RefBidirectionalSequenceRnnKernel = {"RefBidirectionalSequenceRnn", BidirectionalTypes,
                                                                   Prepare, Check};

} // namespace tenon::ref
