// SPDX-License-Identifier: Apache-2.0
// The two recurrent cells of a BidirectionalSequenceRnn layer: the inputs and outputs of each, and the number of passes
// over the sequence. Used by the kernels of CpuRef and of CpuAcc. Follows TFLite's kernel also in two places where one
// would expect something else; both are marked.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/RnnCell.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Recurrent.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace tenon::ref
{

struct BidirectionalRnnCell
{
    static constexpr size_t Aux = 9;

    /// Layer: LayerView or ReshapeArgs.
    template <typename Layer>
    BidirectionalRnnCell(const Layer& layer, bool isBackward)
        : m_IsBackward(isBackward),
          m_Slots(isBackward ? RnnSlots{0, 5, 6, 7, 8, Aux, Aux + 2} : RnnSlots{0, 1, 2, 3, 4, Aux, Aux + 1}),
          m_StateOutput(isBackward ? 1 : 0)
    {
        const auto& descriptor = layer.template GetDescriptor<BidirectionalSequenceRnnDescriptor>();
        m_Output = isBackward && !descriptor.m_MergeOutputs ? 3 : 2;
        // Auxiliary data without weights is the backward cell's data; but with the batch in front it is ignored.
        if (isBackward && layer.HasInput(Aux) && !layer.HasInput(Aux + 1) && descriptor.m_TimeMajor)
        {
            m_Slots.m_Data = Aux;
        }
    }

    /// If merged, the backward cell's outputs follow the forward cell's.
    RnnRun GetRun(const ReshapeArgs& args) const
    {
        const auto& descriptor = args.GetDescriptor<BidirectionalSequenceRnnDescriptor>();
        RnnRun run(descriptor, args.GetInput(0).GetShape());
        run.m_IsBackward = m_IsBackward;
        run.m_StateOutput = m_StateOutput;
        run.m_Output = m_Output;
        run.m_Offset = m_IsBackward && descriptor.m_MergeOutputs ? args.GetInput(1).GetShape()[0] : 0;
        return run;
    }

    bool m_IsBackward;
    RnnSlots m_Slots;
    size_t m_StateOutput;
    size_t m_Output;
};

/// Runs the sequence `passes` times, each time from the states that the previous pass left. A pass depends on its first
/// states alone: as soon as states recur, the passes from there on repeat, and whole cycles of them are left out.
/// `kept` has room for states, to compare with; as in Brent's search for cycles they are renewed after 1, 2, 4, ...
/// passes. Cell: RnnCell, or a class with the same interface.
template <typename Cell>
void RunPasses(const Cell& cell, const ExecuteArgs& run, size_t passes, float* kept)
{
    /// More passes than this are run only if the states recur in a cycle.
    constexpr size_t MaxPasses = size_t{1} << 16;
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
            const size_t cycle = pass + 1 - keptAt;
            for (size_t left = (passes - pass - 1) % cycle; left > 0; --left)
            {
                cell.Continue(run);
            }
            return;
        }
        if (pass >= MaxPasses)
        {
            throw RuntimeException("the states of " + std::to_string(passes) + " steps do not settle within " +
                                   std::to_string(MaxPasses) +
                                   " passes over them; run shorter sequences, or put the batch in front");
        }
    }
}

/// Both cells, one after the other; `scratch` is their scratch memory.
template <typename Cell>
backends::Prepared PrepareBidirectionalRnn(const ReshapeArgs& args, const Cell& forward, const Cell& backward,
                                           backends::Scratch& scratch)
{
    // With 8-bit weights and time in front, the number of passes over the sequence equals its number of steps. Each
    // pass begins with the states of the previous one, as in TFLite.
    const bool isTimeMajor = args.GetDescriptor<BidirectionalSequenceRnnDescriptor>().m_TimeMajor;
    const bool isHybrid = args.GetInput(1).GetDataType() != DataType::Float32;
    const size_t passes = isTimeMajor && isHybrid ? args.GetInput(0).GetShape()[0] : 1;
    const size_t kept = scratch.Add<float>(std::max(forward.GetStateSize(), backward.GetStateSize()));
    return {[forward, backward, passes, kept](const ExecuteArgs& run)
            {
                RunPasses(forward, run, passes, backends::Scratch::At<float>(run.m_Scratch, kept));
                RunPasses(backward, run, passes, backends::Scratch::At<float>(run.m_Scratch, kept));
            },
            scratch.GetBytes()};
}

} // namespace tenon::ref
