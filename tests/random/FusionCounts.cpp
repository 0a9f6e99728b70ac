// SPDX-License-Identifier: Apache-2.0
// See FusionCounts.hpp.
#include "random/FusionCounts.hpp"

#include "runtime/ElementChain.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <algorithm>

namespace tenon::test
{

namespace
{

bool AreInputsKnown(const Graph& graph)
{
    const auto isKnown = [](const Layer* layer)
    {
        const TensorShape& shape = layer->Output(0).GetTensorInfo().GetShape();
        return shape.GetDimensionality() != Dimensionality::NotSpecified && shape.AreAllDimensionsSpecified();
    };
    const LayerOrder inputs = graph.LayersOf(LayerType::Input);
    return std::all_of(inputs.begin(), inputs.end(), isKnown);
}

std::string NameOf(const Strips& strips)
{
    if (strips.m_Whole.m_Workload == nullptr)
    {
        return "strips";
    }
    const bool isChain = dynamic_cast<const ElementChain*>(strips.m_Whole.m_Workload.get()) != nullptr;
    return isChain ? "chain" : "attention";
}

void CountStrips(const Planned& planned, FusionCounts& counts)
{
    const auto& steps = planned.GetProgram().Steps();
    const auto& infos = planned.Get().Infos();
    for (const auto& strips : planned.Get().GetStrips())
    {
        bool hasView = false;
        bool hasQuantized = false;
        for (uint32_t s = strips->m_First; s <= strips->Last(); ++s)
        {
            hasView = hasView || GetSchema(steps[s].m_Type).Has(OpFlags::View);
            hasQuantized = hasQuantized || IsQuantizedType(infos[steps[s].m_FirstOutput].GetDataType());
        }
        const std::string name = NameOf(*strips);
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
    for (const PlannedSum& sum : planned.Get().GetSums())
    {
        ++counts["sum"];
        counts["sum with an activation"] += steps[sum.m_Sum].m_Layer->GetFusedActivation() != nullptr ? 1 : 0;
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
            "strips",
            "strips with a view",
            "activation",
            "parts in place",
            "pixels in place",
            "sum",
            "sum with an activation",
            "normalization",
            "function of bytes"};
}

FusionCounts CountFusions(const INetwork& network, unsigned int layerThreads)
{
    FusionCounts counts;
    const Graph& graph = static_cast<const Network&>(network).GetGraph();
    if (!AreInputsKnown(graph))
    {
        return counts;
    }
    OptimizerOptionsOpaque options;
    if (layerThreads != 0)
    {
        options.AddModelOption(BackendOptions("CpuAcc", {{"NumberOfThreads", layerThreads}}));
    }
    const Planned planned(network, {"CpuAcc", "CpuRef"}, options);
    CountStrips(planned, counts);
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
