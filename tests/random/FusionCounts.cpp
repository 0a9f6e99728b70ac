// SPDX-License-Identifier: Apache-2.0
// See FusionCounts.hpp.
#include "random/FusionCounts.hpp"

#include "runtime/PlannedNetwork.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <algorithm>

namespace tenon::test
{

namespace
{

bool HasKnownInputs(const Graph& graph)
{
    const auto isKnown = [](const Layer* layer)
    {
        const TensorShape& shape = layer->Output(0).GetTensorInfo().GetShape();
        return shape.GetDimensionality() != Dimensionality::NotSpecified && shape.AreAllDimensionsSpecified();
    };
    const LayerOrder inputs = graph.LayersOf(LayerType::Input);
    return std::all_of(inputs.begin(), inputs.end(), isKnown);
}

std::string NameOf(const FusedRun& run)
{
    return run.m_Kind == FusionKind::Attention          ? "attention"
           : run.m_Kind == FusionKind::ElementwiseChain ? "chain"
                                                        : "tiled run";
}

void CountRuns(const Planned& planned, FusionCounts& counts)
{
    const auto& steps = planned.GetProgram().Steps();
    const auto& infos = planned.Get().Infos();
    for (const auto& run : planned.Get().GetFusedRuns())
    {
        bool hasView = false;
        bool hasQuantized = false;
        for (uint32_t s = run->m_First; s <= run->Last(); ++s)
        {
            hasView = hasView || GetSchema(steps[s].m_Type).Has(OpFlags::View);
            hasQuantized = hasQuantized || IsQuantizedType(infos[steps[s].m_FirstOutput].GetDataType());
        }
        const std::string name = NameOf(*run);
        ++counts[name];
        counts[name + " with a view"] += hasView ? 1 : 0;
        if (name == "chain")
        {
            counts["chain of quantized layers"] += hasQuantized ? 1 : 0;
            counts["chain of quantized layers with a view"] += hasQuantized && hasView ? 1 : 0;
        }
    }
}

void CountSteps(const Planned& planned, FusionCounts& counts)
{
    const auto& steps = planned.GetProgram().Steps();
    for (size_t s = 0; s < planned.Get().Steps().size(); ++s) // those whose shapes are known before the run
    {
        const bool isFused = steps[s].m_Layer->GetFusedActivation() != nullptr;
        counts["activation"] += isFused ? 1 : 0;
        const char* const name = planned.Get().Steps()[s].m_KernelName;
        const bool isInPlace = name != nullptr && std::string(name).find("+InPlace") != std::string::npos;
        counts["parts in place"] += isInPlace ? 1 : 0;
        for (ValueId i = 0; i < steps[s].m_NumOutputs; ++i)
        {
            counts["pixels in place"] += planned.Get().FindPitch(steps[s].m_FirstOutput + i) != nullptr ? 1 : 0;
        }
    }
    for (const ResidualAdd& add : planned.Get().GetResidualAdds())
    {
        ++counts["residual add"];
        counts["residual add with an activation"] += steps[add.m_Add].m_Layer->GetFusedActivation() != nullptr ? 1 : 0;
    }
}

} // namespace

std::vector<std::string> AllFusions()
{
    return {"chain",
            "chain with a view",
            "chain of quantized layers",
            "chain of quantized layers with a view",
            "attention",
            "attention with a view",
            "tiled run",
            "tiled run with a view",
            "activation",
            "parts in place",
            "pixels in place",
            "residual add",
            "residual add with an activation",
            "normalization",
            "function of bytes"};
}

FusionCounts CountFusions(const INetwork& network, unsigned int layerThreads)
{
    FusionCounts counts;
    const Graph& graph = static_cast<const Network&>(network).GetGraph();
    if (!HasKnownInputs(graph))
    {
        return counts;
    }
    OptimizerOptionsOpaque options;
    if (layerThreads != 0)
    {
        options.AddModelOption(BackendOptions("CpuAcc", {{"NumberOfThreads", layerThreads}}));
    }
    const Planned planned(network, {"CpuAcc", "CpuRef"}, options);
    CountRuns(planned, counts);
    CountSteps(planned, counts);
    const auto& steps = planned.GetProgram().Steps();
    const auto count = [&](LayerType type)
    {
        return static_cast<size_t>(
            std::count_if(steps.begin(), steps.end(), [&](const Step& step) { return step.m_Type == type; }));
    };
    counts["normalization"] = count(LayerType::LayerNormalization) - graph.Count(LayerType::LayerNormalization);
    counts["function of bytes"] = count(LayerType::Table);
    return counts;
}

} // namespace tenon::test
