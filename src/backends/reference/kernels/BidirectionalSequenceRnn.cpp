// SPDX-License-Identifier: Apache-2.0
// BidirectionalSequenceRnn: two recurrent cells over a sequence, one of which starts at its end. Follows TFLite's
// kernel also in two places where one would expect something else; both are marked.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/RnnCell.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow BidirectionalTypes[] = {
    backends::Types({DataType::Float32}, DataType::Float32),
};

constexpr size_t Aux = 9;

template <typename Layer>
RnnSlots GetSlots(const Layer& layer, bool isBackward)
{
    const bool hasAuxWeights = layer.HasInput(Aux + 1);
    RnnSlots slots = isBackward ? RnnSlots{0, 5, 6, 7, 8, Aux, Aux + 2} : RnnSlots{0, 1, 2, 3, 4, Aux, Aux + 1};
    // Auxiliary data without weights is the backward cell's data; but with the batch in front it is not looked at.
    if (isBackward && layer.HasInput(Aux) && !hasAuxWeights &&
        layer.template GetDescriptor<BidirectionalSequenceRnnDescriptor>().m_TimeMajor)
    {
        slots.m_Data = Aux;
    }
    return slots;
}

template <typename Layer>
size_t GetOutput(const Layer& layer, bool isBackward)
{
    return isBackward && !layer.template GetDescriptor<BidirectionalSequenceRnnDescriptor>().m_MergeOutputs ? 3 : 2;
}

SupportResult Check(const LayerView& layer)
{
    const uint32_t activation = layer.GetDescriptor<BidirectionalSequenceRnnDescriptor>().m_ActivationFunc;
    for (const bool isBackward : {false, true})
    {
        SupportResult result =
            CheckRnn(layer, GetSlots(layer, isBackward), activation, isBackward ? 1 : 0, GetOutput(layer, isBackward));
        if (!result)
        {
            return result;
        }
    }
    return SupportResult::Yes();
}

RnnCell MakeCell(const ReshapeArgs& args, bool isBackward, backends::Scratch& scratch)
{
    const auto& descriptor = args.GetDescriptor<BidirectionalSequenceRnnDescriptor>();
    RnnRun run;
    run.m_Activation = descriptor.m_ActivationFunc;
    run.m_IsAsymmetric = descriptor.m_AsymmetricQuantizeInputs;
    run.m_Sequence = SequenceShape(args.GetInput(0).GetShape(), descriptor.m_TimeMajor);
    run.m_IsBackward = isBackward;
    run.m_StateOutput = isBackward ? 1 : 0;
    run.m_Output = GetOutput(args, isBackward);
    const size_t forwardUnits = args.GetInput(1).GetShape()[0];
    run.m_Offset = isBackward && descriptor.m_MergeOutputs ? forwardUnits : 0;
    return {args, GetSlots(args, isBackward), run, scratch};
}

/// More passes than this are run only if the states turn in a cycle.
constexpr size_t MostPasses = size_t{1} << 16;

/// Runs the sequence `passes` times, each time from the states that the one before left. A pass depends on its first
/// states alone: as soon as states come back, the passes from there on repeat, and whole turns of them are left out.
/// `kept` has room for states, to compare with; as in Brent's search for cycles they are renewed after 1, 2, 4, ...
/// passes.
void RunPasses(const RnnCell& cell, const ExecuteArgs& run, size_t passes, float* kept)
{
    cell.Run(run);
    const size_t size = cell.GetStateSize();
    size_t keptAt = 0;
    size_t distance = 1;
    for (size_t pass = 1; pass < passes && size != 0; ++pass)
    {
        if (pass - keptAt == distance)
        {
            std::copy_n(cell.GetState(run), size, kept);
            keptAt = pass;
            distance *= 2;
        }
        cell.Continue(run);
        if (std::memcmp(cell.GetState(run), kept, size * sizeof(float)) == 0)
        {
            const size_t turn = pass + 1 - keptAt;
            for (size_t left = (passes - pass - 1) % turn; left > 0; --left)
            {
                cell.Continue(run);
            }
            return;
        }
        if (pass >= MostPasses)
        {
            throw RuntimeException("the states of " + std::to_string(passes) + " steps do not settle within " +
                                   std::to_string(MostPasses) +
                                   " passes over them; run shorter sequences, or put the batch in front");
        }
    }
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    backends::Scratch scratch;
    const RnnCell forward = MakeCell(args, false, scratch);
    const RnnCell backward = MakeCell(args, true, scratch);
    // With 8-bit weights and time in front the sequence is run as often as it has steps, from the states that the time
    // before left, as in TFLite.
    const bool isTimeMajor = args.GetDescriptor<BidirectionalSequenceRnnDescriptor>().m_TimeMajor;
    const size_t repeats = isTimeMajor && forward.IsHybrid() ? args.GetInput(0).GetShape()[0] : 1;
    const size_t kept = scratch.Add<float>(std::max(forward.GetStateSize(), backward.GetStateSize()));
    return Prepared(
        [forward, backward, repeats, kept](const ExecuteArgs& run)
        {
            RunPasses(forward, run, repeats, backends::Scratch::At<float>(run.m_Scratch, kept));
            RunPasses(backward, run, repeats, backends::Scratch::At<float>(run.m_Scratch, kept));
        },
        scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefBidirectionalSequenceRnnKernel = {"RefBidirectionalSequenceRnn", BidirectionalTypes,
                                                                   Prepare, Check};

} // namespace tenon::ref
