// SPDX-License-Identifier: Apache-2.0
// LoadedNetwork: see LoadedNetwork.hpp. Its runs are in NetworkRuns.cpp.
#include "runtime/LoadedNetwork.hpp"

#include "runtime/LayerDetails.hpp"
#include "runtime/PlanReport.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

/// Later options take precedence: backends use the last of several options with one name.
ModelOptions Join(ModelOptions first, const ModelOptions& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

void DisableFusions(const Program& program, uint32_t fusions)
{
    for (const Step& step : program.Steps())
    {
        for (const auto& body : step.m_Bodies)
        {
            body->m_Plans.DisableFusions(fusions);
            DisableFusions(*body->m_Program, fusions);
        }
    }
}

} // namespace

LoadedNetwork::LoadedNetwork(OptimizedNetwork& network, const Environment& environment,
                             const INetworkProperties& properties, NetworkId id)
    : m_DebugTarget(network.GetOptions()), m_Hooks(environment.m_Contexts, network.GetGraph(), id),
      m_Profiler(std::static_pointer_cast<Profiler>(network.GetProfiler())), m_Pool(environment.m_Pool),
      m_Limits(environment.m_Limits), m_NumberOfThreads(properties.m_NumberOfThreads)
{
    if (properties.m_ProfilingEnabled)
    {
        m_Profiler->EnableProfiling(true);
    }
    if (properties.m_OutputNetworkDetailsMethod != ProfilingDetailsMethod::Undefined)
    {
        m_Profiler->EnableNetworkDetailsToStdOut(properties.m_OutputNetworkDetailsMethod);
    }
    const auto event = m_Profiler->Scope(ProfilingCategory::Load);
    const ModelOptions options = Join(network.GetModelOptions(), properties.m_ModelOptions);
    WorkloadFactories factories(environment.m_Registry, options, m_Pool, m_NumberOfThreads, *m_Profiler);
    m_Program = std::make_unique<Program>(network.TakeGraph(), environment.m_Memories, factories);
    if (const uint32_t fusions = GetFusionBits(properties.m_DisabledFusions); fusions != 0)
    {
        m_Plans.DisableFusions(fusions);
        DisableFusions(*m_Program, fusions);
    }
    m_Sessions.emplace(SessionId::Default, std::make_shared<Session>(m_Program->States().size()));
    std::vector<TensorShape> shapes;
    for (const Binding& input : m_Program->Inputs())
    {
        shapes.push_back(input.m_Layer->Output(0).GetTensorInfo().GetShape());
    }
    const bool known = std::all_of(shapes.begin(), shapes.end(),
                                   [](const TensorShape& shape) { return shape.AreAllDimensionsSpecified(); });
    for (const Binding& output : m_Program->Outputs())
    {
        m_OutputInfos.push_back(m_Program->Values()[output.m_Value].m_Slot->GetTensorInfo());
    }
    if (known)
    {
        // The first plan is made here, so that a network that cannot be planned is refused now, and the first run does
        // not wait for it.
        const auto plan =
            m_Plans.Get(*m_Program, shapes, m_Pool.Participants(m_NumberOfThreads), m_Limits, *m_Profiler);
        for (size_t i = 0; i < m_OutputInfos.size(); ++i)
        {
            // Sizes that a plan finds by shape arithmetic are not in the graph, whose shapes no run changes.
            m_OutputInfos[i].SetShape(plan->Infos()[m_Program->Outputs()[i].m_Value].GetShape());
        }
    }
    m_Profiler->SetDetails([this] { return DescribeLayers(*m_Program, m_Plans.Latest().get()); });
    m_Hooks.AfterLoad();
}

LoadedNetwork::~LoadedNetwork()
{
    m_Profiler->KeepDetails();
}

TensorInfo LoadedNetwork::GetInputInfo(LayerBindingId id) const
{
    return m_Program->Inputs()[m_Program->FindInput(id)].m_Layer->Output(0).GetTensorInfo();
}

TensorInfo LoadedNetwork::GetOutputInfo(LayerBindingId id) const
{
    return m_OutputInfos[m_Program->FindOutput(id)];
}

const std::shared_ptr<Session>& LoadedNetwork::FindSession(SessionId id) const
{
    const auto found = m_Sessions.find(id);
    if (found == m_Sessions.end())
    {
        throw InvalidArgumentException(
            fmt::format("the network has no session {}; CreateSession() makes one", static_cast<uint32_t>(id)));
    }
    return found->second;
}

SessionId LoadedNetwork::CreateSession()
{
    auto session = std::make_shared<Session>(m_Program->States().size());
    const std::lock_guard lock(m_Mutex);
    const auto id = static_cast<SessionId>(m_NextSession++);
    m_Sessions.emplace(id, std::move(session));
    return id;
}

void LoadedNetwork::DestroySession(SessionId id)
{
    if (id == SessionId::Default)
    {
        throw InvalidArgumentException("the default session lives as long as its network; reset its states instead");
    }
    const std::lock_guard lock(m_Mutex);
    FindSession(id); // throws for an unknown session
    m_Sessions.erase(id);
}

void LoadedNetwork::ResetStates(SessionId id)
{
    std::shared_ptr<Session> session;
    {
        const std::lock_guard lock(m_Mutex);
        session = FindSession(id);
    }
    const std::lock_guard lock(session->Mutex());
    for (StateMemory& state : session->States())
    {
        state.Reset();
    }
}

NetworkStatistics LoadedNetwork::GetStatistics() const
{
    const auto plan = m_Plans.Latest();
    const std::lock_guard lock(m_Mutex);
    NetworkStatistics statistics;
    const MemorySpaces& memories = m_Program->Memories();
    for (MemoryId id = 0; id < memories.Size(); ++id)
    {
        const PlannedArena arena = plan == nullptr ? PlannedArena() : plan->Arenas()[id];
        statistics.m_ArenaBytes += arena.m_Bytes;
        statistics.m_ArenaLowerBoundBytes += arena.m_LowerBoundBytes;
        statistics.m_Arenas.push_back(
            {memories[id].m_Name, arena.m_Bytes, arena.m_LowerBoundBytes, arena.m_IsSmallest});
    }
    statistics.m_NumWorkloads = m_Program->Steps().size();
    statistics.m_NumContexts = m_NumContexts;
    return statistics;
}

NetworkPlan LoadedNetwork::GetPlan() const
{
    return ReportPlan(*m_Program, m_Plans, m_Limits);
}

void LoadedNetwork::RegisterDebugCallback(const DebugCallbackFunction& function)
{
    auto callback = function ? std::make_shared<const DebugCallbackFunction>(function) : nullptr;
    const std::lock_guard lock(m_Mutex);
    m_DebugCallback = std::move(callback);
}

void LoadedNetwork::BeginRun()
{
    const std::lock_guard lock(m_Mutex);
    ++m_RunsUnderWay;
}

void LoadedNetwork::EndRun()
{
    // The lock is held to the end, because a waiting thread may destroy the network right afterwards.
    const std::lock_guard lock(m_Mutex);
    if (--m_RunsUnderWay == 0)
    {
        m_Idle.notify_all();
    }
}

void LoadedNetwork::WaitUntilIdle()
{
    std::unique_lock lock(m_Mutex);
    m_Idle.wait(lock, [&] { return m_RunsUnderWay == 0; });
}

} // namespace tenon
