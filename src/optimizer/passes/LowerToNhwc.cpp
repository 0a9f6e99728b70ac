// SPDX-License-Identifier: Apache-2.0
// Pass LowerToNhwc: kernels know channels-last alone. Each channels-first layer gets a Transpose before its data (and
// its weights, where their layout follows the data's) and one after its output.
#include "graph/ChannelsLast.hpp"
#include "graph/OpSchema.hpp"
#include "optimizer/Pass.hpp"

#include <tenon/descriptors/Arrangement.hpp>

namespace tenon::passes
{

namespace
{

void TransposeInput(Graph& graph, InputSlot& input, const PermutationVector& mappings, const std::string& name)
{
    const TensorInfo source = input.GetTensorInfo();
    Layer& transpose =
        graph.InsertBefore(input, LayerType::Transpose, std::make_unique<TransposeDescriptor>(mappings), name);
    transpose.Output(0).SetTensorInfo(Transposed(source, mappings));
}

} // namespace

void LowerToNhwc(Graph& graph)
{
    const size_t size = graph.Size();
    for (size_t i = 0; i < size; ++i)
    {
        if (!IsLowered(GetSchema(graph.Types()[i]).m_Layout))
        {
            continue;
        }
        Layer& layer = *graph.Layers()[i];
        if (!layer.Input(0).IsTensorInfoSet())
        {
            continue;
        }
        const ChannelsLast last =
            ToChannelsLast(layer.GetType(), layer.GetParameters(), layer.Input(0).GetTensorInfo().GetShape());
        // An unknown rank, or one that the operator does not take, stays as it is: assignment then refuses the layer. A
        // run of another rank than the declared one is refused, too, by the Transpose.
        if (last.m_Descriptor == nullptr)
        {
            continue;
        }
        layer.SetDescriptor(last.m_Descriptor);
        TransposeInput(graph, layer.Input(0), last.m_Data, layer.GetNameStr() + ":nhwc");
        if (last.m_HasWeights)
        {
            TransposeInput(graph, layer.Input(1), last.m_Weights, layer.GetNameStr() + ":ohwi");
        }

        OutputSlot& output = layer.Output(0);
        const TensorInfo outside = output.GetTensorInfo();
        Layer& back = graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(last.m_Data.Inverse()),
                                     layer.GetNameStr() + ":nchw");
        back.Output(0).SetTensorInfo(outside);
        output.MoveAllConnections(back.Output(0));
        output.Connect(back.Input(0));
        output.SetTensorInfo(Transposed(outside, last.m_Data));
    }
}

} // namespace tenon::passes
