// SPDX-License-Identifier: Apache-2.0
// BidirectionalSequenceLstm: two LSTM cells over a sequence, one of which starts at its end.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/BidirectionalLstm.hpp"

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
    for (const bool isBackward : {false, true})
    {
        const BidirectionalLstmCell cell(layer, isBackward);
        SupportResult result = CheckLstm(layer, cell.m_Slots, cell.m_Parameters, cell.m_Outputs);
        if (!result)
        {
            return result;
        }
    }
    return SupportResult::Yes();
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    backends::Scratch scratch;
    std::shared_ptr<const LstmCell> cells[2];
    for (const bool isBackward : {false, true})
    {
        const BidirectionalLstmCell cell(args, isBackward);
        cells[isBackward ? 1 : 0] =
            MakeLstmCell(args, cell.m_Slots, cell.m_Parameters, cell.GetOutputs(args), isBackward, scratch);
    }
    return Prepared(
        [forward = cells[0], backward = cells[1]](const ExecuteArgs& run)
        {
            forward->Run(run);
            backward->Run(run);
        },
        scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefBidirectionalSequenceLstmKernel = {"RefBidirectionalSequenceLstm", BidirectionalTypes,
                                                                    Prepare, Check};

} // namespace tenon::ref
