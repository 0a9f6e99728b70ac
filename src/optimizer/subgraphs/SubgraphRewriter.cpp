// SPDX-License-Identifier: Apache-2.0
// SubgraphRewriter: see SubgraphRewriter.hpp. Checks first, then substitutions and deleted layers.
#include "optimizer/subgraphs/SubgraphRewriter.hpp"

#include "graph/InferTensors.hpp"
#include "graph/Network.hpp"
#include "optimizer/Pass.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

/// The constants that a subgraph's layers read.
template <typename Constants>
Constants CollectConstants(const SubgraphViewMaker& subgraph)
{
    Constants constants;
    for (SubgraphTensor tensor = 0; tensor < subgraph.NumTensors(); ++tensor)
    {
        const auto& payload = subgraph.GetSlot(tensor).GetOwningLayer().ShareConstant();
        if (payload != nullptr)
        {
            constants.emplace(static_cast<const uint8_t*>(payload->m_Tensor.GetMemoryArea()), payload);
        }
    }
    return constants;
}

/// A constant without an owner may point into one of the subgraph's, which then has to live on.
template <typename Constants>
void AdoptConstant(Layer& layer, const Constants& constants)
{
    const ConstTensor& tensor = layer.GetConstant()->m_Tensor;
    const auto* memory = static_cast<const uint8_t*>(tensor.GetMemoryArea());
    auto found = constants.upper_bound(memory);
    if (layer.GetConstant()->m_Owner != nullptr || found == constants.begin())
    {
        return;
    }
    --found;
    const size_t bytes = found->second->m_Tensor.GetNumBytes();
    if (static_cast<size_t>(memory - found->first) < bytes)
    {
        layer.SetConstant(std::make_shared<const ConstantPayload>(ConstantPayload{tensor, found->second}));
    }
}

} // namespace

SubgraphRewriter::SubgraphRewriter(const LocatedGraph& graph, const IBackend& backend, const ModelOptions& options,
                                   const Limits& limits)
    : m_Graph(graph), m_Backend(backend), m_Support(backend.GetLayerSupport(options)), m_Limits(limits),
      m_IsReplaced(graph.m_Graph->Size(), false)
{
}

void SubgraphRewriter::Rewrite(std::vector<SubgraphAnswer> answers, BackendFallback& fallback)
{
    for (const SubgraphAnswer& answer : answers)
    {
        Check(answer);
    }
    for (const Replacement& replacement : m_Replacements)
    {
        Substitute(replacement);
    }
    for (const SubgraphAnswer& answer : answers)
    {
        for (const SubgraphLayers& layers : answer.m_Views.m_DeletedSubgraphs)
        {
            for (const size_t place : layers)
            {
                Delete(answer.m_Subgraph->GetLayer(place));
            }
        }
        const std::string& reason = answer.m_Views.m_FailureReason;
        for (const SubgraphLayers& layers : answer.m_Views.m_FailedSubgraphs)
        {
            for (const size_t place : layers)
            {
                fallback.Move(answer.m_Subgraph->GetLayer(place), m_Graph.m_Where, SupportCode::OptimizationFailed,
                              reason.empty() ? "its subgraph optimization failed" : reason);
            }
        }
    }
    if (!m_Substituted.empty())
    {
        RemoveReplaced();
    }
}

void SubgraphRewriter::Check(const SubgraphAnswer& answer)
{
    CheckNames(answer);
    for (const SubgraphLayers& layers : answer.m_Views.m_DeletedSubgraphs)
    {
        for (const size_t place : layers)
        {
            CheckDeleted(answer.m_Subgraph->GetLayer(place));
        }
    }
    if (answer.m_Views.m_Substitutions.empty())
    {
        return;
    }
    const auto constants = CollectConstants<Constants>(*answer.m_Subgraph);
    for (const Substitution& substitution : answer.m_Views.m_Substitutions)
    {
        CheckTensors(*answer.m_Subgraph, substitution);
        m_Replacements.push_back(
            {MakeReplacement(*answer.m_Subgraph, substitution, constants), answer.m_Subgraph.get(), &substitution});
    }
}

void SubgraphRewriter::CheckNames(const SubgraphAnswer& answer) const
{
    const SubgraphViewMaker& subgraph = *answer.m_Subgraph;
    std::vector<bool> isNamed(subgraph.NumLayers(), false);
    const auto name = [&](const SubgraphLayers& layers)
    {
        for (const size_t place : layers)
        {
            if (place >= subgraph.NumLayers())
            {
                Refuse(subgraph.GetLayer(0),
                       fmt::format("it names layer {} of a subgraph that has {} layers", place, subgraph.NumLayers()));
            }
            if (isNamed[place])
            {
                Refuse(subgraph.GetLayer(place), "it names this layer twice");
            }
            isNamed[place] = true;
        }
    };
    for (const Substitution& substitution : answer.m_Views.m_Substitutions)
    {
        if (substitution.m_Layers.empty())
        {
            Refuse(subgraph.GetLayer(0), "it substitutes no layers by something");
        }
        name(substitution.m_Layers);
    }
    for (const auto* lists :
         {&answer.m_Views.m_FailedSubgraphs, &answer.m_Views.m_DeletedSubgraphs, &answer.m_Views.m_UntouchedSubgraphs})
    {
        std::for_each(lists->begin(), lists->end(), name);
    }
}

void SubgraphRewriter::CheckTensors(const SubgraphViewMaker& subgraph, const Substitution& substitution) const
{
    const Layer& named = subgraph.GetLayer(substitution.m_Layers.front());
    std::vector<bool> isMember(subgraph.NumLayers() + 1, false); // the last is for layers outside of the subgraph
    for (const size_t place : substitution.m_Layers)
    {
        isMember[place] = true;
    }
    const auto isMade = [&](SubgraphTensor tensor)
    { return isMember[subgraph.PlaceOf(subgraph.GetSlot(tensor).GetOwningLayer())]; };

    for (const SubgraphTensor tensor : substitution.m_Inputs)
    {
        if (tensor >= subgraph.NumTensors() || isMade(tensor))
        {
            Refuse(named, fmt::format("tensor {}, an input of a substitution, is {}", tensor,
                                      tensor >= subgraph.NumTensors() ? "not in the view"
                                                                      : "made by the layers that it replaces"));
        }
    }
    std::vector<bool> isOutput(subgraph.NumTensors(), false);
    for (const SubgraphTensor tensor : substitution.m_Outputs)
    {
        if (tensor >= subgraph.NumTensors() || !isMade(tensor) || isOutput[tensor])
        {
            Refuse(named, fmt::format("tensor {}, an output of a substitution, is {}", tensor,
                                      tensor >= subgraph.NumTensors() ? "not in the view"
                                      : !isMade(tensor)               ? "not made by the layers that it replaces"
                                                                      : "named twice"));
        }
        isOutput[tensor] = true;
    }
    for (const size_t place : substitution.m_Layers)
    {
        for (const SubgraphTensor tensor : subgraph.OutputsOf(place))
        {
            for (const InputSlot* reader : subgraph.GetSlot(tensor).GetConnections())
            {
                const Layer& layer = reader->GetOwningLayer();
                if (!isOutput[tensor] && !isMember[subgraph.PlaceOf(layer)])
                {
                    Refuse(subgraph.GetLayer(place),
                           fmt::format("tensor {}, which {} reads, is missing among the outputs of a substitution",
                                       tensor, layer.Describe()));
                }
            }
        }
    }
}

void SubgraphRewriter::CheckDeleted(const Layer& layer) const
{
    const InputSlot* only = nullptr;
    for (const InputSlot& input : layer.Inputs())
    {
        if (input.GetConnectedOutputSlot() != nullptr)
        {
            if (only != nullptr)
            {
                Refuse(layer, "it deletes this layer, which has more than one input");
            }
            only = &input;
        }
    }
    if (only == nullptr || only->GetProducer()->GetConstant() != nullptr || layer.GetNumOutputSlots() != 1)
    {
        Refuse(layer, "it deletes this layer, which has not one input that is no constant, and one output");
    }
    CheckInfo(layer, "its input, in place of its output,", layer.Output(0).GetTensorInfo(),
              only->GetConnectedOutputSlot()->GetTensorInfo());
}

void SubgraphRewriter::CheckInfo(const Layer& named, const std::string& what, const TensorInfo& wanted,
                                 const TensorInfo& given) const
{
    const bool isShapeKnown = given.GetShape().AreAllDimensionsSpecified();
    if (!given.IsTypeSpaceMatch(wanted) || (isShapeKnown && !Agrees(wanted.GetShape(), given.GetShape())))
    {
        Refuse(named, fmt::format("{} is {}, but must be {}", what, given.ToString(), wanted.ToString()));
    }
}

std::unique_ptr<Graph> SubgraphRewriter::MakeReplacement(const SubgraphViewMaker& subgraph,
                                                         const Substitution& substitution,
                                                         const Constants& constants) const
{
    const Layer& named = subgraph.GetLayer(substitution.m_Layers.front());
    if (substitution.m_Replacement == nullptr)
    {
        Refuse(named, "a substitution has no replacement");
    }
    // Network is the only implementation of INetwork.
    auto replacement = static_cast<const Network&>(*substitution.m_Replacement).GetGraph().Clone();
    BindReplacement(subgraph, substitution, *replacement);
    OptimizerOptionsOpaque options; // shapes are validated, not corrected
    options.SetLimits(m_Limits);
    std::vector<std::string> messages;
    try
    {
        ValidateGraph(*replacement);
        InferTensors(*replacement, options, messages);
    }
    catch (const Exception& error)
    {
        Refuse(named, fmt::format("its replacement is not valid: {}", error.what()));
    }
    for (const auto& layer : replacement->Layers())
    {
        if (layer->GetType() == LayerType::Output)
        {
            const SubgraphTensor tensor = substitution.m_Outputs[static_cast<size_t>(layer->GetBindingId())];
            CheckInfo(named, fmt::format("output {} of its replacement", layer->GetBindingId()),
                      subgraph.GetInfo(tensor), layer->Input(0).GetConnectedOutputSlot()->GetTensorInfo());
        }
        else if (layer->GetConstant() != nullptr)
        {
            AdoptConstant(*layer, constants);
        }
    }
    CheckReplacementLayers(*replacement, named);
    return replacement;
}

void SubgraphRewriter::BindReplacement(const SubgraphViewMaker& subgraph, const Substitution& substitution,
                                       Graph& replacement) const
{
    const Layer& named = subgraph.GetLayer(substitution.m_Layers.front());
    size_t numInputs = 0;
    size_t numOutputs = 0;
    for (const auto& layer : replacement.Layers())
    {
        const bool isInput = layer->GetType() == LayerType::Input;
        if (!isInput && layer->GetType() != LayerType::Output)
        {
            continue;
        }
        const std::vector<SubgraphTensor>& tensors = isInput ? substitution.m_Inputs : substitution.m_Outputs;
        const auto id = static_cast<size_t>(layer->GetBindingId());
        ++(isInput ? numInputs : numOutputs);
        OutputSlot* slot = isInput ? &layer->Output(0) : layer->Input(0).GetConnectedOutputSlot();
        if (layer->GetBindingId() < 0 || id >= tensors.size() || slot == nullptr)
        {
            Refuse(named, fmt::format("{} of its replacement has binding id {}, for which the substitution names no "
                                      "tensor, or is not connected",
                                      layer->Describe(), layer->GetBindingId()));
        }
        TensorInfo info = subgraph.GetInfo(tensors[id]);
        info.SetConstant(false);
        if (slot->IsTensorInfoSet())
        {
            CheckInfo(named,
                      fmt::format("{} {} of its replacement", isInput ? "input" : "output", layer->GetBindingId()),
                      info, slot->GetTensorInfo());
        }
        if (isInput || !slot->IsTensorInfoSet())
        {
            slot->SetTensorInfo(info);
        }
    }
    // Ids that are there twice are no matter of the counts: ValidateGraph sees them.
    if (numInputs != substitution.m_Inputs.size() || numOutputs != substitution.m_Outputs.size())
    {
        Refuse(named, fmt::format("a substitution names {} inputs and {} outputs, but its replacement has {} and {}",
                                  substitution.m_Inputs.size(), substitution.m_Outputs.size(), numInputs, numOutputs));
    }
}

void SubgraphRewriter::CheckReplacementLayers(const Graph& replacement, const Layer& named) const
{
    LayerViewMaker maker;
    for (const auto& layer : replacement.Layers())
    {
        if (IsBoundByRuntime(layer->GetType()))
        {
            continue;
        }
        if (IsRunByRuntime(layer->GetType()))
        {
            Refuse(named,
                   fmt::format("its replacement has {}, which the runtime runs and no backend", layer->Describe()));
        }
        const Optional<BackendId>& hint = layer->GetBackendHint();
        if (hint.has_value() && hint.value() != m_Backend.GetId())
        {
            Refuse(named, fmt::format("its replacement has {}, which is for backend {}", layer->Describe(),
                                      hint.value().Get()));
        }
        const SupportResult support = m_Support->IsLayerSupported(maker.Make(*layer));
        if (!support.IsSupported())
        {
            Refuse(named, fmt::format("its replacement has {}, which it does not support: {}", layer->Describe(),
                                      support.m_Reason));
        }
    }
}

void SubgraphRewriter::Substitute(const Replacement& replacement)
{
    const Substitution& substitution = *replacement.m_Substitution;
    const SubgraphViewMaker& subgraph = *replacement.m_Subgraph;
    std::unordered_map<const OutputSlot*, OutputSlot*> madeFrom;
    const LayerOrder order = replacement.m_Graph->TopologicalOrder();
    for (const Layer* layer : order)
    {
        if (layer->GetType() == LayerType::Output)
        {
            continue;
        }
        if (layer->GetType() == LayerType::Input)
        {
            const auto id = static_cast<size_t>(layer->GetBindingId());
            madeFrom.emplace(&layer->Output(0), &Resolve(subgraph.GetSlot(substitution.m_Inputs[id])));
            continue;
        }
        Layer& made = m_Graph.m_Graph->AddCopy(*layer);
        made.SetBackendId(m_Backend.GetId());
        made.SetAssignmentReason(layer->GetConstant() != nullptr
                                     ? "bound by the runtime"
                                     : fmt::format("made by {}'s subgraph optimization", m_Backend.GetId().Get()));
        for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
        {
            madeFrom.emplace(&layer->Output(i), &made.Output(i));
        }
        for (const InputSlot& input : layer->Inputs())
        {
            if (const OutputSlot* source = input.GetConnectedOutputSlot())
            {
                InputSlot& target = made.Input(input.GetSlotIndex());
                madeFrom.at(source)->Connect(target);
                if (input.IsTensorInfoOverridden())
                {
                    target.SetTensorInfo(input.GetTensorInfo());
                }
            }
        }
    }
    for (const size_t place : substitution.m_Layers)
    {
        m_IsReplaced[subgraph.GetLayer(place).m_Index] = true;
    }
    const Layer& named = subgraph.GetLayer(substitution.m_Layers.front());
    for (const Layer* layer : order)
    {
        if (layer->GetType() == LayerType::Output)
        {
            OutputSlot& old = subgraph.GetSlot(substitution.m_Outputs[static_cast<size_t>(layer->GetBindingId())]);
            // A tensor that the replacement passes through may have gone to another one since.
            MoveTensor(old, Resolve(*madeFrom.at(layer->Input(0).GetConnectedOutputSlot())), named);
        }
    }
}

void SubgraphRewriter::Delete(Layer& layer)
{
    m_IsReplaced[layer.m_Index] = true;
    for (InputSlot& input : layer.Inputs())
    {
        if (input.GetConnectedOutputSlot() != nullptr)
        {
            MoveTensor(layer.Output(0), *input.GetConnectedOutputSlot(), layer);
        }
    }
}

void SubgraphRewriter::MoveTensor(OutputSlot& from, OutputSlot& to, const Layer& named)
{
    if (&from == &to)
    {
        Refuse(named, "what it gives would depend on itself: a cycle");
    }
    from.MoveAllConnections(to);
    m_Substituted.emplace(&from, &to);
}

OutputSlot& SubgraphRewriter::Resolve(OutputSlot& slot) const
{
    OutputSlot* resolved = &slot;
    for (auto moved = m_Substituted.find(resolved); moved != m_Substituted.end(); moved = m_Substituted.find(resolved))
    {
        resolved = moved->second;
    }
    return *resolved;
}

void SubgraphRewriter::RemoveReplaced()
{
    Graph& graph = *m_Graph.m_Graph;
    graph.RemoveLayers(m_IsReplaced);
    try
    {
        graph.TopologicalOrder();
    }
    catch (const GraphValidationException& error)
    {
        throw BackendCapabilityException(fmt::format("{}the substitutions of backend {} do not fit together: {}",
                                                     m_Graph.m_Where, m_Backend.GetId().Get(), error.what()));
    }
    passes::RemoveDeadLayers(graph); // constants, and what only replaced layers read
}

void SubgraphRewriter::Refuse(const Layer& layer, const std::string& text) const
{
    throw BackendCapabilityException(fmt::format("backend {}, which optimized the subgraph of {}{}: {}",
                                                 m_Backend.GetId().Get(), m_Graph.m_Where, layer.Describe(), text));
}

} // namespace tenon
