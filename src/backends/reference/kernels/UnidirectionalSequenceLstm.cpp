// SPDX-License-Identifier: Apache-2.0
// UnidirectionalSequenceLstm, QLstm and Lstm: one LSTM cell, over a sequence or for one step.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/LstmCell.hpp"

#include <algorithm>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow FloatTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32),
};
constexpr backends::TypeRow IntegerTypes[] = {
    backends::Types({DataType::QAsymmS8, {DataType::QAsymmS8, DataType::QSymmS16}, DataType::QSymmS16},
                    {DataType::QAsymmS8, DataType::QSymmS16}),
};
constexpr backends::TypeRow SequenceTypes[] = {FloatTypes[0], IntegerTypes[0]};

template <typename D>
SupportResult Check(const LayerView& layer, const LstmOutputs& outputs)
{
    return CheckLstm(layer, GetLstmSlots(), LstmParameters(layer.GetDescriptor<D>()), outputs);
}

template <typename D>
Prepared Prepare(const ReshapeArgs& args, const LstmOutputs& outputs)
{
    backends::Scratch scratch;
    auto cell = MakeLstmCell(args, GetLstmSlots(), LstmParameters(args.GetDescriptor<D>()), outputs, false, scratch);
    return Prepared([cell = std::move(cell)](const ExecuteArgs& run) { cell->Run(run); }, scratch.GetBytes());
}

/// A single step, whose output 0 gets zeros.
Prepared PrepareStep(const ReshapeArgs& args, const backends::PackedWeights*)
{
    Prepared cell = Prepare<LstmDescriptor>(args, StepLstmOutputs);
    return Prepared(
        [run = std::move(cell.m_Run), count = args.GetOutput(0).GetNumElements()](const ExecuteArgs& runArgs)
        {
            std::fill_n(runArgs.GetOutput<float>(0), count, 0.0f);
            run(runArgs);
        },
        cell.m_ScratchBytes);
}

Prepared PrepareSequence(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return Prepare<UnidirectionalSequenceLstmDescriptor>(args, SequenceLstmOutputs);
}

Prepared PrepareQuantized(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return Prepare<QLstmDescriptor>(args, SequenceLstmOutputs);
}

SupportResult CheckStep(const LayerView& layer)
{
    return Check<LstmDescriptor>(layer, StepLstmOutputs);
}

SupportResult CheckSequence(const LayerView& layer)
{
    return Check<UnidirectionalSequenceLstmDescriptor>(layer, SequenceLstmOutputs);
}

SupportResult CheckQuantized(const LayerView& layer)
{
    return Check<QLstmDescriptor>(layer, SequenceLstmOutputs);
}

} // namespace

extern const backends::Kernel RefUnidirectionalSequenceLstmKernel = {"RefUnidirectionalSequenceLstm", SequenceTypes,
                                                                     PrepareSequence, CheckSequence};
extern const backends::Kernel RefLstmKernel = {"RefLstm", FloatTypes, PrepareStep, CheckStep};
extern const backends::Kernel RefQLstmKernel = {"RefQLstm", IntegerTypes, PrepareQuantized, CheckQuantized};

} // namespace tenon::ref
