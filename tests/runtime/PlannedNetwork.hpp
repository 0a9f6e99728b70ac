// SPDX-License-Identifier: Apache-2.0
// Plans, as tests look at them.
#pragma once

#include "graph/OptimizedNetwork.hpp"
#include "runtime/PlanBuilder.hpp"
#include "runtime/PlanCache.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <tenon/Tenon.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::test
{

/// A network as it was optimized, and its plan for the shapes that it declares.
class Planned
{
public:
    static constexpr unsigned int Threads = 4; ///< that it is for

    Planned(const INetwork& network, const BackendId& backend, const OptimizerOptionsOpaque& options = {},
            const std::vector<std::string>& without = {})
        : Planned(network, std::vector<BackendId>{backend}, options, without)
    {
    }
    /// `without`: names of fusions.
    Planned(const INetwork& network, const std::vector<BackendId>& backends, const OptimizerOptionsOpaque& options = {},
            const std::vector<std::string>& without = {})
    {
        RegisterBuiltinBackends(m_Registry);
        const IRuntimePtr runtime = IRuntime::Create({});
        auto optimized = Optimize(network, backends, runtime->GetDeviceSpec(), options);
        m_Memories.emplace(m_Registry, IRuntime::CreationOptions());
        WorkloadFactories factories(m_Registry, options.GetModelOptions(), m_Pool, 1, m_Profiler);
        m_Program.emplace(static_cast<OptimizedNetwork&>(*optimized).TakeGraph(), *m_Memories, factories);
        std::vector<TensorShape> shapes;
        for (const Binding& input : m_Program->Inputs())
        {
            shapes.push_back(m_Program->Values()[input.m_Value].m_Slot->GetTensorInfo().GetShape());
        }
        PlanOptions planOptions;
        planOptions.m_MaxThreads = Threads;
        planOptions.m_DisabledFusions = GetFusionBits(without);
        planOptions.m_Attempts = &m_Attempts;
        m_Plan = BuildPlan(*m_Program, shapes, Limits(), planOptions);
    }
    /// The reason why the fusion is not applied to steps that begin with one; empty: it is. Fails where it was not
    /// tried.
    std::string WhyNot(const std::string& fusion, size_t first) const
    {
        for (size_t i = 0; i < m_Attempts.size(); ++i)
        {
            if (Names()[i] == fusion && m_Attempts[i].m_First == first)
            {
                return m_Attempts[i].m_WhyNot != nullptr ? m_Attempts[i].m_WhyNot : "";
            }
        }
        ADD_FAILURE() << fusion << " was not tried at step " << first;
        return "not tried";
    }
    /// Of the fusions that were tried, in the order of trial.
    std::vector<std::string> Names() const
    {
        std::vector<std::string> names;
        for (const FusionAttempt& attempt : m_Attempts)
        {
            names.emplace_back(GetFusions()[static_cast<size_t>(attempt.m_Fusion)].m_Name);
        }
        return names;
    }

    size_t FindStep(LayerType type, size_t which = 0) const
    {
        for (size_t s = 0; s < m_Program->Steps().size(); ++s)
        {
            if (m_Program->Steps()[s].m_Type == type && which-- == 0)
            {
                return s;
            }
        }
        ADD_FAILURE() << "no such step";
        return 0;
    }
    const Step& StepOf(LayerType type, size_t which = 0) const { return m_Program->Steps()[FindStep(type, which)]; }
    /// Whether the layer has nothing to copy, as profiles show it.
    bool IsInPlace(LayerType type, size_t which = 0) const
    {
        const std::string name = m_Plan->Steps()[FindStep(type, which)].m_KernelName;
        return name.find("+InPlace") != std::string::npos;
    }
    const Location& InputOf(LayerType type, size_t input, size_t which = 0) const
    {
        return m_Plan->Locations()[StepOf(type, which).m_Inputs[input]];
    }
    const Location& OutputOf(LayerType type, size_t output = 0, size_t which = 0) const
    {
        return m_Plan->Locations()[StepOf(type, which).m_FirstOutput + output];
    }
    const Plan& Get() const { return *m_Plan; }
    const Program& GetProgram() const { return *m_Program; }

private:
    BackendRegistry m_Registry;
    ThreadPool m_Pool;
    Profiler m_Profiler;
    std::optional<MemorySpaces> m_Memories;
    std::optional<Program> m_Program;
    std::vector<FusionAttempt> m_Attempts;
    std::shared_ptr<const Plan> m_Plan;
};

} // namespace tenon::test
