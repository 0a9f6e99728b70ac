// SPDX-License-Identifier: Apache-2.0
// FuseActivations (Stages.hpp): activations that backends apply to the outputs of other layers. Runs when backends are
// assigned, because each backend knows which activations it fuses.
#include "graph/MakeLayerView.hpp"
#include "optimizer/Stages.hpp"
#include "optimizer/assignment/Assignment.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <vector>

namespace tenon
{

namespace
{

class ActivationFuser
{
public:
    explicit ActivationFuser(SupportCache& supports) : m_Supports(supports) {}

    void Run(Graph& graph)
    {
        std::vector<const Layer*> fused;
        for (size_t i = 0; i < graph.Size(); ++i)
        {
            const LayerType type = graph.Types()[i];
            if (type != LayerType::Activation && type != LayerType::If && type != LayerType::While)
            {
                continue;
            }
            const LayerPtr& layer = graph.Layers()[i];
            for (const auto& body : layer->Bodies())
            {
                Run(*body);
            }
            if (type == LayerType::Activation && Fuse(*layer))
            {
                fused.push_back(layer.get());
            }
        }
        RemoveUnused(graph, fused);
    }

private:
    bool Fuse(Layer& activation)
    {
        Layer* producer = IsPlainInput(activation, 0) ? activation.Input(0).GetProducer() : nullptr;
        if (producer == nullptr || IsBoundByRuntime(producer->GetType()) || IsRunByRuntime(producer->GetType()) ||
            activation.Input(0).GetConnectedOutputSlot() != &producer->Output(0) ||
            producer->Output(0).GetNumConnections() != 1 || producer->GetFusedActivation() != nullptr ||
            activation.GetFusedActivation() != nullptr || producer->GetSchema().Has(OpFlags::View))
        {
            return false;
        }
        const TensorInfo& info = producer->Output(0).GetTensorInfo();
        const bool wantsAnother =
            activation.GetBackendHint().has_value() && activation.GetBackendHint().value() != producer->GetBackendId();
        const auto& descriptor = activation.Descriptor<ActivationDescriptor>();
        if (wantsAnother || !info.IsTypeSpaceMatch(activation.Output(0).GetTensorInfo()) ||
            !m_Supports.Get(producer->GetBackendId())->IsActivationFusable(m_Maker.Make(*producer), descriptor))
        {
            return false;
        }
        producer->SetFusedActivation(descriptor);
        producer->Output(0).Disconnect(activation.Input(0));
        activation.Output(0).MoveAllConnections(producer->Output(0));
        for (const InputSlot* reader : producer->Output(0).GetConnections())
        {
            if (reader->GetOwningLayer().GetType() == LayerType::Output) // shown where its producer is
            {
                reader->GetOwningLayer().SetBackendId(producer->GetBackendId());
            }
        }
        return true;
    }

    SupportCache& m_Supports;
    LayerViewMaker m_Maker;
};

} // namespace

void FuseActivations(Graph& graph, SupportCache& supports)
{
    ActivationFuser(supports).Run(graph);
}

} // namespace tenon
