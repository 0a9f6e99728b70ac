// SPDX-License-Identifier: Apache-2.0
// PlanDraft: a plan while it is made. Its steps are shaped; fusions (fusions/Fusion.hpp) add to it, then PlanBuilder
// places its values in memory.
#pragma once

#include "runtime/KnownValues.hpp"
#include "runtime/Plan.hpp"
#include "runtime/StepShapes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

/// The reason why a fusion is not applied, as a string literal in plain words; null if it is applied.
using WhyNot = const char*;

/// The steps on which a fusion was tried, and the outcome, for reports.
struct FusionAttempt
{
    FusionKind m_Fusion = FusionKind::Attention;
    uint32_t m_First = 0; ///< the steps
    uint32_t m_Last = 0;
    WhyNot m_WhyNot = nullptr;
};

/// Options of a plan.
struct PlanOptions
{
    unsigned int m_MaxThreads = 1;                    ///< number of threads for which layers get scratch memory
    uint32_t m_DisabledFusions = 0;                   ///< bit i: the fusion of FusionKind i is left out
    std::vector<FusionAttempt>* m_Attempts = nullptr; ///< list of attempts; null: they are not noted
};

/// A value that ConcatInPlace wants to store among the channels of the output of a Concat, and the workload that would
/// write it there.
struct PitchCandidate
{
    PitchedValue m_Pitched;
    std::unique_ptr<IShapedWorkload> m_Workload;
};

struct PlanDraft
{
    PlanDraft(const Program& program, const PlanOptions& options)
        : m_Program(program), m_Options(options), m_Known(program)
    {
    }

    const Program& m_Program;
    const PlanOptions& m_Options;
    KnownValues m_Known;
    Plan::Contents m_Plan;
    std::vector<PitchCandidate> m_Pitches; ///< in the order of their Concats
    std::vector<bool> m_InPlace;           ///< by step: its aliases and pitched values lie in place
    size_t m_LargestBytes = 0;             ///< bytes of the largest tensor that a step writes

    uint32_t NumSteps() const { return static_cast<uint32_t>(m_Plan.m_Steps.size()); }
    const Step& GetStep(uint32_t index) const { return m_Program.Steps()[index]; }
    PlannedStep& Planned(uint32_t index) { return m_Plan.m_Steps[index]; }
    const PlannedStep& Planned(uint32_t index) const { return m_Plan.m_Steps[index]; }
    const Value& GetValue(ValueId value) const { return m_Program.Values()[value]; }
    const TensorInfo& InfoOf(ValueId value) const { return m_Plan.m_Infos[value]; }
    /// The info of output 0 of a step.
    const TensorInfo& OutputOf(uint32_t index) const { return InfoOf(GetStep(index).m_FirstOutput); }
    /// The hooks of a step's workload; null if the runtime runs the step.
    const FusionHooks* HooksOf(uint32_t index) const
    {
        const IShapedWorkload* const workload = Planned(index).m_Workload.get();
        return workload != nullptr ? &workload->GetFusion() : nullptr;
    }

    /// Whether one of the steps [first, end) writes the value. Each of them must have one output.
    bool IsMadeBy(uint32_t first, uint32_t end, ValueId value) const;
    /// The step that writes the value; the number of steps of the program for a value that no step writes.
    uint32_t FindWriter(ValueId value) const;
    /// The fused run that a step belongs to; null: none.
    const FusedRun* FindRun(uint32_t step) const;
    /// The steps that run together with a step: the steps of its fused run, the addition that it waits for, or itself.
    /// `step` may be the number of steps.
    std::pair<uint32_t, uint32_t> RunsWith(uint32_t step) const;
    /// Adds fused runs in the order of their steps. The steps must be in no other fused run.
    void AddRuns(std::vector<std::unique_ptr<FusedRun>> runs);

    /// Notes the outcome of a fusion on steps, if PlanOptions asks for attempts.
    void Note(FusionKind fusion, uint32_t first, uint32_t last, WhyNot whyNot)
    {
        if (m_Options.m_Attempts != nullptr)
        {
            m_Options.m_Attempts->push_back({fusion, first, last, whyNot});
        }
    }
    /// Changes an earlier note, for a fusion that was dropped later.
    void NoteDropped(FusionKind fusion, uint32_t first, WhyNot whyNot);
};

/// Whether the step is an ElementwiseBinary that adds two tensors of the host.
bool IsAddition(const Step& step);

} // namespace tenon
