// SPDX-License-Identifier: Apache-2.0
// Pass FoldReshapes: chains of layers that only give bytes another shape become one, and those that change nothing go.
// What a run refuses must stay refused: a layer is left out only where the one that stays checks as much.
#include "common/CheckedMath.hpp"
#include "graph/FixedShapes.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/DeadLayers.hpp"

#include <tenon/descriptors/Arrangement.hpp>

namespace tenon::passes
{

namespace
{

/// A layer that gives the bytes of its input another shape and leaves their meaning: type, quantization.
bool IsPlainView(const Layer* layer)
{
    if (layer == nullptr || (layer->GetType() != LayerType::Reshape && layer->GetType() != LayerType::Squeeze &&
                             layer->GetType() != LayerType::ExpandDims))
    {
        return false;
    }
    const InputSlot& input = layer->Input(0);
    return input.GetConnectedOutputSlot() != nullptr && !input.IsTensorInfoOverridden() &&
           layer->Output(0).GetTensorInfo().IsTypeSpaceMatch(input.GetTensorInfo()) &&
           !input.GetTensorInfo().HasPerAxisQuantization();
}

/// The product of the sizes that the target of a Reshape names; 0 where they are more than can be counted, which no
/// input has: the run will say so.
uint64_t NamedElements(const TensorShape& target)
{
    uint64_t product = 1;
    for (unsigned int i = 0; i < target.GetNumDimensions(); ++i)
    {
        product =
            CheckedMul<uint64_t>(product, target.GetDimensionSpecificity(i) ? uint64_t{target[i]} : 1).value_or(0);
    }
    return product;
}

/// Whether `first` takes whatever has as many elements as `target`, so that nothing is lost without it.
bool TakesAllOf(const Layer& first, const TensorShape& target)
{
    if (first.GetType() == LayerType::Squeeze)
    {
        return first.Descriptor<SqueezeDescriptor>().m_Axis.empty();
    }
    if (first.GetType() != LayerType::Reshape || first.Descriptor<ReshapeDescriptor>().m_ParametersAsInputs)
    {
        return false;
    }
    const TensorShape& middle = first.Descriptor<ReshapeDescriptor>().m_TargetShape;
    if (middle.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return false;
    }
    const uint64_t elements = NamedElements(target);
    const uint64_t named = NamedElements(middle);
    if (middle.AreAllDimensionsSpecified())
    {
        return named != 0 && named == elements;
    }
    return elements != 0 && named != 0 && named <= elements && elements % named == 0;
}

/// Whether `second` takes away the dimension that `first` adds.
bool Cancel(const Layer& first, const Layer& second)
{
    if (first.GetType() != LayerType::ExpandDims || second.GetType() != LayerType::Squeeze ||
        first.Descriptor<ExpandDimsDescriptor>().m_ParametersAsInputs)
    {
        return false;
    }
    const std::vector<int32_t>& dropped = second.Descriptor<SqueezeDescriptor>().m_Axis;
    return dropped.size() == 1 && dropped.front() == first.Descriptor<ExpandDimsDescriptor>().m_Axis;
}

/// Lets a Reshape take its input from before another view.
void SkipProducer(Layer& reshape, const FixedShapes& fixed, DeadLayers& deadLayers)
{
    Layer* producer = reshape.Input(0).GetProducer();
    if (reshape.GetType() != LayerType::Reshape || reshape.Descriptor<ReshapeDescriptor>().m_ParametersAsInputs ||
        !IsPlainView(producer))
    {
        return;
    }
    // What follows from fixed shapes may as well be said: an open size then needs no input to be computed from.
    const bool isFixed = fixed.IsFixed(reshape.Output(0));
    const TensorShape target =
        isFixed ? reshape.Output(0).GetTensorInfo().GetShape() : reshape.Descriptor<ReshapeDescriptor>().m_TargetShape;
    // One of fixed shapes has been found to fit; one that gets its shape from a tensor may not.
    const bool isProducerFixed = fixed.IsFixed(producer->Input(0)) && fixed.IsFixed(producer->Output(0));
    if (!target.AreAllDimensionsSpecified() || !(isProducerFixed || TakesAllOf(*producer, target)))
    {
        return;
    }
    reshape.SetDescriptor(std::make_unique<ReshapeDescriptor>(target));
    OutputSlot& source = *reshape.Input(0).GetConnectedOutputSlot();
    OutputSlot& origin = *producer->Input(0).GetConnectedOutputSlot();
    source.Disconnect(reshape.Input(0));
    origin.Connect(reshape.Input(0));
    deadLayers.CutOffIfDead(*producer);
}

} // namespace

void FoldReshapes(Graph& graph)
{
    const FixedShapes fixed(graph);
    DeadLayers deadLayers(graph);
    // In order of data flow each layer sees a producer that is folded already.
    const LayerOrder order = graph.TopologicalOrder({LayerType::Reshape, LayerType::Squeeze, LayerType::ExpandDims});
    for (Layer* layer : order.WithProducers())
    {
        if (!IsPlainView(layer))
        {
            continue;
        }
        SkipProducer(*layer, fixed, deadLayers);
        OutputSlot& source = *layer->Input(0).GetConnectedOutputSlot();
        const Layer& producer = source.GetOwningLayer();
        const bool changesNothing = fixed.IsFixed(source) && fixed.IsFixed(layer->Output(0)) &&
                                    source.GetTensorInfo().GetShape() == layer->Output(0).GetTensorInfo().GetShape();
        if (changesNothing)
        {
            layer->Output(0).MoveAllConnections(source);
        }
        else if (IsPlainView(&producer) && Cancel(producer, *layer))
        {
            layer->Output(0).MoveAllConnections(*producer.Input(0).GetConnectedOutputSlot());
        }
        deadLayers.CutOffIfDead(*layer);
    }
    deadLayers.Remove();
}

} // namespace tenon::passes
