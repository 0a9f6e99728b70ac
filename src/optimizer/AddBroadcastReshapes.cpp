// SPDX-License-Identifier: Apache-2.0
// AddBroadcastReshapes (Stages.hpp): for backends whose kernels broadcast only among tensors of one rank.
#include "graph/MakeLayerView.hpp"
#include "optimizer/Stages.hpp"
#include "optimizer/layout/FixedRanks.hpp"
#include "optimizer/layout/LayoutRules.hpp"

#include <tenon/BackendHelper.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tenon
{

namespace
{

/// Backends that say that they need operands of one rank.
std::set<std::string> FindBackends(const BackendRegistry& registry)
{
    std::set<std::string> names;
    for (const BackendId& id : registry.GetBackendIds())
    {
        if (HasMatchingCapability({"EqualRankBroadcast", true}, registry.Get(id).GetCapabilities()))
        {
            names.insert(id.Get());
        }
    }
    return names;
}

/// Rank that an operand has in every run; 0 where it is not known. Scalars have none to speak of.
unsigned int RankOf(const InputSlot& input, const FixedRanks& ranks)
{
    const OutputSlot* source = input.GetConnectedOutputSlot();
    return source == nullptr || input.IsTensorInfoOverridden() ? 0 : ranks.Get(*source);
}

void AddLeadingDimension(Graph& graph, InputSlot& input, const BackendId& backend, SupportCache& supports)
{
    const Layer& reader = input.GetOwningLayer();
    auto descriptor = std::make_unique<ExpandDimsDescriptor>(); // axis 0
    const TensorInfo before = input.GetTensorInfo();
    Layer& layer =
        graph.InsertBefore(input, LayerType::ExpandDims, std::move(descriptor), reader.GetNameStr() + ":rank");
    const TensorShape& shape = before.GetShape();
    const bool isKnown = shape.GetDimensionality() == Dimensionality::Specified;
    TensorShape longer = isKnown ? TensorShape(shape.GetNumDimensions() + 1, false) : TensorShape();
    for (unsigned int i = 0; i < longer.GetNumDimensions() && isKnown; ++i)
    {
        if (i == 0 || shape.GetDimensionSpecificity(i - 1))
        {
            longer.SetDimensionSize(i, i == 0 ? 1 : shape[i - 1]);
        }
    }
    layer.Output(0).EditTensorInfo().SetShape(longer);
    layer.SetBackendId(backend);
    layer.SetAssignmentReason(
        fmt::format("gives an operand of {} the rank that {} needs", reader.Describe(), backend.Get()));
    LayerViewMaker maker;
    const SupportResult result = supports.Get(backend)->IsLayerSupported(maker.Make(layer));
    if (!result)
    {
        throw UnimplementedException(
            fmt::format("backend {} broadcasts among equal ranks only, so it must run ExpandDims layers, but: {}",
                        backend.Get(), result.m_Reason));
    }
}

} // namespace

void AddBroadcastReshapes(Graph& graph, SupportCache& supports)
{
    const std::set<std::string> backends = FindBackends(supports.GetRegistry());
    if (backends.empty())
    {
        return;
    }
    const FixedRanks ranks(graph);
    const size_t size = graph.Size();
    for (size_t i = 0; i < size; ++i)
    {
        Layer& layer = *graph.Layers()[i];
        if (GetLayoutKind(layer.GetType()) != LayoutKind::Broadcast || backends.count(layer.GetBackendId().Get()) == 0)
        {
            continue;
        }
        unsigned int given[] = {RankOf(layer.Input(0), ranks), RankOf(layer.Input(1), ranks)};
        for (unsigned int k = 0; k < 2 && given[0] != 0 && given[1] != 0; ++k)
        {
            if (layer.Input(k).GetTensorInfo().HasPerAxisQuantization())
            {
                continue;
            }
            for (; given[k] < given[1 - k]; ++given[k])
            {
                AddLeadingDimension(graph, layer.Input(k), layer.GetBackendId(), supports);
            }
        }
    }
}

} // namespace tenon
