// SPDX-License-Identifier: Apache-2.0
// Rnn: a recurrent cell without gates over a sequence, or for one step.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/RnnCell.hpp"

#include <tenon/descriptors/Recurrent.hpp>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow RnnTypes[] = {
    backends::Types({DataType::Float32}, DataType::Float32),
};

SupportResult Check(const LayerView& layer)
{
    return CheckRnn(layer, SingleRnnSlots, layer.GetDescriptor<RnnDescriptor>().m_ActivationFunc, 0, 1);
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const RnnRun run(args.GetDescriptor<RnnDescriptor>(), args.GetInput(0).GetShape());
    backends::Scratch scratch;
    const RnnCell cell(args, SingleRnnSlots, run, scratch);
    return Prepared([cell](const ExecuteArgs& runArgs) { cell.Run(runArgs); }, scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefRnnKernel = {"RefRnn", RnnTypes, Prepare, Check};

} // namespace tenon::ref
