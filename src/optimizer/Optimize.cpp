// SPDX-License-Identifier: Apache-2.0
// Optimize(): from the network that a user built to one that a runtime can load.
#include "common/ErrorContext.hpp"
#include "common/Log.hpp"
#include "common/Profiler.hpp"
#include "graph/InferTensors.hpp"
#include "graph/Nested.hpp"
#include "graph/Network.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/Stages.hpp"
#include "optimizer/assignment/Assignment.hpp"
#include "optimizer/partition/PartitionGraph.hpp"
#include "optimizer/widths/FitFloatWidths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

namespace tenon
{

namespace
{

/// The type that Float32 is to be reduced to, if to any.
Optional<DataType> GetReducedType(const OptimizerOptionsOpaque& options)
{
    if (options.GetReduceFp32ToFp16() && options.GetReduceFp32ToBf16())
    {
        throw InvalidArgumentException(
            "optimizer options ReduceFp32ToFp16 and ReduceFp32ToBf16 exclude each other; set "
            "one of them");
    }
    if (options.GetReduceFp32ToFp16())
    {
        return DataType::Float16;
    }
    return options.GetReduceFp32ToBf16() ? Optional<DataType>(DataType::BFloat16) : EmptyOptional();
}

/// Debugging shows the outputs of each layer: fused layers would be missing.
bool WantsAllResults(const OptimizerOptionsOpaque& options)
{
    return options.GetDebugEnabled() || options.GetDebugToFileEnabled();
}

/// Whether the graph is checked after each pass: in debug builds, and where TENON_CHECK_PASSES is set, as for tests.
bool ChecksPasses()
{
#ifdef NDEBUG
    static const bool checks = std::getenv("TENON_CHECK_PASSES") != nullptr;
    return checks;
#else
    return true;
#endif
}

void RunPasses(Graph& graph, std::span<const Pass> passes, PassContext& context, Profiler& profiler)
{
    const bool wantsAllResults = WantsAllResults(context.m_Options);
    std::map<std::string_view, uint64_t> editsAfter; // by pass that has run: the graph's number of edits then
    for (const Pass& pass : passes)
    {
        const auto before = editsAfter.find(pass.m_Name);
        const bool isPointless =
            (pass.m_Kind == Pass::Kind::Hiding && wantsAllResults) ||
            (pass.m_Kind == Pass::Kind::Again && before != editsAfter.end() && before->second == graph.NumEdits()) ||
            !pass.m_Seeds.IsAnyIn(graph);
        if (isPointless)
        {
            continue;
        }
        const auto event = profiler.Scope(ProfilingCategory::Optimize, pass.m_Name);
        try
        {
            pass.Run(graph, context);
            if (ChecksPasses())
            {
                ValidateGraph(graph);
            }
        }
        catch (...)
        {
            RethrowWithContext(fmt::format("optimizer pass {}", pass.m_Name));
        }
        editsAfter[pass.m_Name] = graph.NumEdits();
    }
}

/// Infers tensors and runs the passes; in nested networks first, whose outputs give types, and which it validates.
void Simplify(Graph& graph, std::span<const Pass> passes, PassContext& context, Profiler& profiler,
              std::vector<std::string>& messages)
{
    for (size_t i = 0; i < graph.Size() && graph.HasBodies(); ++i)
    {
        const LayerPtr& layer = graph.Layers()[i];
        for (const auto& body : layer->Bodies())
        {
            try
            {
                ValidateGraph(*body);
                Simplify(*body, passes, context, profiler, messages);
            }
            catch (Exception& error)
            {
                error.AddContext(fmt::format("in a nested network of {}", layer->Describe()));
                throw;
            }
        }
    }
    {
        const auto event = profiler.Scope(ProfilingCategory::Optimize, "InferTensors");
        InferTensors(graph, context.m_Options, messages);
    }
    CheckBodies(graph);
    CheckStates(graph);
    RunPasses(graph, passes, context, profiler);
}

/// Bound on the bytes of folded constants: 64 MiB and eight times the constants of the network, as Float32 takes that
/// of 4 bits. A small file must not ask for much memory.
uint64_t GetFoldingBytes(const Graph& graph, const Limits& limits)
{
    constexpr uint64_t base = uint64_t{64} << 20;
    constexpr uint64_t copies = 8;
    const uint64_t bytes = CountConstantBytes(graph);
    const uint64_t maxBytes = limits.m_MaxTotalBytes;
    return bytes > maxBytes / copies ? maxBytes : std::min(maxBytes, base + copies * bytes);
}

/// The last stages: reshapes for broadcasts, copies between memories, subgraphs.
void Distribute(Graph& graph, SupportCache& supports)
{
    for (size_t i = 0; i < graph.Size() && graph.HasBodies(); ++i)
    {
        for (const auto& body : graph.Layers()[i]->Bodies())
        {
            Distribute(*body, supports);
        }
    }
    AddBroadcastReshapes(graph, supports);
    InsertCopies(graph, supports.GetRegistry());
    PartitionGraph(graph);
}

void Report(const std::vector<std::string>& messages, Optional<std::vector<std::string>&>& wanted)
{
    if (wanted.has_value())
    {
        wanted.value().insert(wanted.value().end(), messages.begin(), messages.end());
        return;
    }
    constexpr std::string_view Prefix = "WARNING: "; // of all of them: the log writes the severity itself
    for (const std::string_view message : messages)
    {
        Log(LogSeverity::Warning, message.substr(message.starts_with(Prefix) ? Prefix.size() : 0));
    }
}

/// Only inside of a catch block. A caller that wants messages gets the text of the exception behind them; else the
/// exception alone has it.
[[noreturn]] void ReportAndRethrow(std::vector<std::string>& messages, Optional<std::vector<std::string>&>& wanted)
{
    try
    {
        RethrowWithContext("optimizing the network");
    }
    catch (const Exception& error)
    {
        if (wanted.has_value())
        {
            messages.push_back(std::string("ERROR: ") + error.what());
        }
        Report(messages, wanted);
        throw;
    }
}

} // namespace

IOptimizedNetworkPtr OptimizeWithPasses(const INetwork& network, const std::vector<BackendId>& backendPreferences,
                                        const IDeviceSpec& deviceSpec, const OptimizerOptionsOpaque& options,
                                        Optional<std::vector<std::string>&> messages, std::span<const Pass> passes)
{
    const BackendRegistry& registry = deviceSpec.GetBackendRegistry();
    // Network is the only implementation of INetwork.
    const auto& source = static_cast<const Network&>(network);

    std::vector<std::string> collected;
    auto profiler = std::make_shared<Profiler>();
    profiler->EnableProfiling(options.GetProfilingEnabled());
    std::unique_ptr<Graph> graph;
    try
    {
        const auto whole = profiler->Scope(ProfilingCategory::Optimize);
        CheckSize(source.GetGraph(), options.GetLimits());
        const Optional<DataType> reducedType = GetReducedType(options);
        SupportCache supports(registry, options.GetModelOptions());
        const auto candidates = MakeCandidates(backendPreferences, supports, collected);
        {
            const auto event = profiler->Scope(ProfilingCategory::Optimize, "Copy");
            graph = source.GetGraph().CloneValid();
        }
        const DeclaredOutputs declared(*graph);
        const BackendChooser chooser(candidates, supports);
        PassContext context{registry, options, chooser, GetFoldingBytes(*graph, options.GetLimits())};
        Simplify(*graph, passes, context, *profiler, collected);
        if (graph->IsSparse())
        {
            const auto event = profiler->Scope(ProfilingCategory::Optimize, "Compact");
            graph = graph->Compact();
        }
        {
            const auto event = profiler->Scope(ProfilingCategory::Optimize, "FitFloatWidths");
            FitFloatWidths(*graph, reducedType, chooser, collected);
        }
        {
            const auto event = profiler->Scope(ProfilingCategory::Optimize, "AssignBackends");
            AssignBackends(*graph, chooser, collected);
        }
        {
            const auto event = profiler->Scope(ProfilingCategory::Optimize, "OptimizeSubgraphs");
            OptimizeSubgraphs(*graph, candidates, registry, options, collected);
        }
        if (!WantsAllResults(options))
        {
            const auto event = profiler->Scope(ProfilingCategory::Optimize, "FuseActivations");
            FuseActivations(*graph, supports);
        }
        const auto event = profiler->Scope(ProfilingCategory::Optimize, "Partition");
        Distribute(*graph, supports);
        declared.Fill(*graph, options.GetLimits());
    }
    catch (...)
    {
        ReportAndRethrow(collected, messages);
    }
    Report(collected, messages);
    return IOptimizedNetworkPtr(new OptimizedNetwork(std::move(graph), options, std::move(profiler), registry),
                                &IOptimizedNetwork::Destroy);
}

IOptimizedNetworkPtr Optimize(const INetwork& network, const std::vector<BackendId>& backendPreferences,
                              const IDeviceSpec& deviceSpec, const OptimizerOptionsOpaque& options,
                              Optional<std::vector<std::string>&> messages)
{
    return OptimizeWithPasses(network, backendPreferences, deviceSpec, options, std::move(messages), GetPasses());
}

} // namespace tenon
