// SPDX-License-Identifier: Apache-2.0
// See PlanBuilder.hpp.
#include "runtime/PlanBuilder.hpp"

#include "graph/FixedShapes.hpp"
#include "runtime/MemoryLayout.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace tenon
{

namespace
{

/// The infos and known values of a step's inputs. Nearly all steps have few inputs: then nothing is allocated.
class StepInputs
{
public:
    StepInputs(const PlanDraft& draft, const Step& step) : m_NumInputs(step.m_Inputs.size())
    {
        if (m_NumInputs > MaxInlineInputs)
        {
            m_HeapInfos.resize(m_NumInputs);
            m_ManyConstants.resize(m_NumInputs);
            m_ManyValues.resize(m_NumInputs);
        }
        m_Overrides.resize(step.m_Overrides.size());
        const TensorInfo** const infos = m_NumInputs > MaxInlineInputs ? m_HeapInfos.data() : m_InlineInfos.data();
        const void** const constants = m_NumInputs > MaxInlineInputs ? m_ManyConstants.data() : m_FewConstants.data();
        const void** const values = m_NumInputs > MaxInlineInputs ? m_ManyValues.data() : m_FewValues.data();
        for (size_t i = 0; i < m_NumInputs; ++i)
        {
            const ValueId value = step.m_Inputs[i];
            infos[i] = value == NoValue ? nullptr : &draft.InfoOf(value);
            constants[i] = value == NoValue ? nullptr : draft.GetValue(value).m_Constant;
            values[i] = draft.m_Known.HasComputed() ? draft.m_Known.Find(value) : constants[i];
            if (!m_Overrides.empty() && step.m_Overrides[i] != nullptr)
            {
                m_Overrides[i] = OverriddenInfo(draft.m_Program, step, i, draft.InfoOf(value));
                infos[i] = &m_Overrides[i];
            }
        }
        m_Infos = {infos, m_NumInputs};
        m_Constants = {constants, m_NumInputs};
        m_Values = {values, m_NumInputs};
    }
    StepInputs(const StepInputs&) = delete;
    StepInputs& operator=(const StepInputs&) = delete;

    Span<const TensorInfo* const> Infos() const { return m_Infos; }
    Span<const void* const> Constants() const { return m_Constants; }
    /// Values of constants and computed values (KnownValues); null if unknown.
    Span<const void* const> Values() const { return m_Values; }
    bool HasOverrides() const { return !m_Overrides.empty(); }

private:
    static constexpr size_t MaxInlineInputs = 4;

    size_t m_NumInputs;
    std::array<const TensorInfo*, MaxInlineInputs> m_InlineInfos{};
    std::array<const void*, MaxInlineInputs> m_FewConstants{};
    std::array<const void*, MaxInlineInputs> m_FewValues{};
    std::vector<const TensorInfo*> m_HeapInfos;
    std::vector<const void*> m_ManyConstants;
    std::vector<const void*> m_ManyValues;
    std::vector<TensorInfo> m_Overrides;
    Span<const TensorInfo* const> m_Infos;
    Span<const void* const> m_Constants;
    Span<const void* const> m_Values;
};

/// Throws InvalidArgumentException if an input of fixed sizes gets other sizes: the optimizer relied on them.
void CheckFixedSizes(const Layer& input, const TensorShape& given)
{
    const TensorShape& wanted = input.Output(0).GetTensorInfo().GetShape();
    if (!HasFixedSizes(input) || wanted.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return;
    }
    constexpr const char* Promise = "the network was built for this alone; read the model again with the other shape "
                                    "(InputDescriptor::m_HasFixedSizes)";
    if (given.GetNumDimensions() != wanted.GetNumDimensions())
    {
        throw InvalidArgumentException(fmt::format("input {} '{}' has {} dimensions in every run, not {} as in {}: {}",
                                                   input.GetBindingId(), input.GetNameStr(), wanted.GetNumDimensions(),
                                                   given.GetNumDimensions(), given.ToString(), Promise));
    }
    for (unsigned int i = 0; i < wanted.GetNumDimensions(); ++i)
    {
        if (wanted.GetDimensionSpecificity(i) && wanted[i] != given[i])
        {
            throw InvalidArgumentException(
                fmt::format("input {} '{}': dimension {} is {} in every run, not {} as in {}: {}", input.GetBindingId(),
                            input.GetNameStr(), i, wanted[i], given[i], given.ToString(), Promise));
        }
    }
}

class PlanBuilder
{
public:
    PlanBuilder(const Program& program, const std::vector<TensorShape>& inputShapes, const Limits& limits,
                const PlanOptions& options)
        : m_Program(program), m_Limits(limits), m_Draft(program, options)
    {
        m_Draft.m_Plan.m_InputShapes = inputShapes;
        m_Draft.m_Plan.m_MaxThreads = options.m_MaxThreads;
    }

    std::shared_ptr<const Plan> Build()
    {
        ShapeSteps();
        m_Draft.m_InPlace.assign(m_Draft.NumSteps(), false);
        for (const Fusion& fusion : GetFusions())
        {
            if (IsEnabled(m_Draft.m_Options, fusion.m_Kind))
            {
                fusion.m_Run(m_Draft);
            }
        }
        PlaceValues(m_Draft, m_Limits);
        return std::make_shared<const Plan>(std::move(m_Draft.m_Plan));
    }

private:
    void ShapeSteps();
    bool ShapeStep(const Step& step);
    bool TryShapeStep(const Step& step);

    const Program& m_Program;
    const Limits& m_Limits;
    PlanDraft m_Draft;
    bool m_FollowsValues = false; ///< shaping a step has needed computed values
};

void PlanBuilder::ShapeSteps()
{
    Plan::Contents& plan = m_Draft.m_Plan;
    plan.m_Infos.reserve(m_Program.Values().size());
    for (const Value& value : m_Program.Values())
    {
        plan.m_Infos.push_back(value.m_Slot->GetTensorInfo());
    }
    for (size_t i = 0; i < m_Program.Inputs().size(); ++i)
    {
        CheckFixedSizes(*m_Program.Inputs()[i].m_Layer, plan.m_InputShapes[i]);
        plan.m_Infos[m_Program.Inputs()[i].m_Value].SetShape(plan.m_InputShapes[i]);
    }
    plan.m_Steps.reserve(m_Program.Steps().size());
    for (const Step& step : m_Program.Steps())
    {
        if (!(m_Draft.m_Known.HasComputed() ? TryShapeStep(step) : ShapeStep(step)))
        {
            break;
        }
    }
    plan.m_IsComplete = plan.m_Steps.size() == m_Program.Steps().size();
}

/// Shapes a step whose sizes may follow from computed values. These values hold for the plan's shapes, and a network
/// may run with other shapes than it was loaded with. If they do not fit, the plan ends before the step, and a run that
/// reaches the step reports the error.
bool PlanBuilder::TryShapeStep(const Step& step)
{
    Plan::Contents& plan = m_Draft.m_Plan;
    const size_t numSteps = plan.m_Steps.size();
    try
    {
        return ShapeStep(step);
    }
    catch (const Exception&)
    {
        if (!m_FollowsValues)
        {
            throw;
        }
        plan.m_Steps.erase(plan.m_Steps.begin() + static_cast<std::ptrdiff_t>(numSteps), plan.m_Steps.end());
        for (ValueId value = step.m_FirstOutput; value < step.m_FirstOutput + step.m_NumOutputs; ++value)
        {
            plan.m_Infos[value] = m_Draft.GetValue(value).m_Slot->GetTensorInfo();
        }
        return false;
    }
}

/// Shapes a step; false if it can be shaped only during the run.
bool PlanBuilder::ShapeStep(const Step& step)
{
    const StepInputs inputs(m_Draft, step);
    if (step.m_Layer->HasDataDependentShapes() || !CanInferShapes(*step.m_Layer, inputs.Infos(), inputs.Values()))
    {
        return false;
    }
    m_FollowsValues = m_FollowsValues || (m_Draft.m_Known.HasComputed() &&
                                          !CanInferShapes(*step.m_Layer, inputs.Infos(), inputs.Constants()));
    std::array<TensorShape, 1> oneShape;
    std::vector<TensorShape> manyShapes;
    Span<TensorShape> shapes(oneShape.data(), 1);
    std::array<const TensorInfo*, 1> oneOutput{};
    std::vector<const TensorInfo*> manyOutputs;
    Span<const TensorInfo*> outputs(oneOutput.data(), 1);
    if (step.m_NumOutputs != 1)
    {
        manyShapes.resize(step.m_NumOutputs);
        shapes = manyShapes;
        manyOutputs.resize(step.m_NumOutputs);
        outputs = manyOutputs;
    }
    const auto resolved = InferShapes(*step.m_Layer, inputs.Infos(), inputs.Values(), shapes);
    bool isShapeRelevant = false;
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        if (!shapes[k].AreAllDimensionsSpecified())
        {
            return false;
        }
        isShapeRelevant = isShapeRelevant || m_Draft.GetValue(step.m_FirstOutput + k).m_IsShapeRelevant;
        TensorInfo& info = m_Draft.m_Plan.m_Infos[step.m_FirstOutput + k];
        info.SetShape(shapes[k]);
        m_Draft.m_LargestBytes = std::max(m_Draft.m_LargestBytes, CheckTensorBytes(step, info, m_Limits));
        outputs[k] = &info;
    }
    PlannedStep& planned = m_Draft.m_Plan.m_Steps.emplace_back();
    if (step.m_Workload == nullptr)
    {
        return true;
    }
    planned.m_Workload =
        ReshapeStep(step, resolved.get(), inputs.Infos(), outputs, inputs.Constants(), m_Draft.m_Options.m_MaxThreads);
    const FusionHooks& hooks = planned.m_Workload->GetFusion();
    planned.m_ScratchBytes = planned.m_Workload->GetScratchBytes();
    planned.m_IsCopy = planned.m_Workload->IsCopy();
    const bool mayShare = !inputs.HasOverrides() && GetSchema(step.m_Type).Has(OpFlags::Moves);
    planned.m_Aliases = mayShare ? hooks.m_Aliases : nullptr;
    planned.m_KernelName = hooks.m_KernelName != nullptr ? hooks.m_KernelName : step.m_Workload->GetName();
    if (isShapeRelevant)
    {
        m_Draft.m_Known.Compute(step, *planned.m_Workload, outputs);
    }
    return true;
}

} // namespace

std::shared_ptr<const Plan> BuildPlan(const Program& program, const std::vector<TensorShape>& inputShapes,
                                      const Limits& limits, const PlanOptions& options)
{
    return PlanBuilder(program, inputShapes, limits, options).Build();
}

} // namespace tenon
