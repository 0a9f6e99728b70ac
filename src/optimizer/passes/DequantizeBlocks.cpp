// SPDX-License-Identifier: Apache-2.0
// Pass DequantizeBlocks: few layers compute with weights that have a scale per block. A layer that gives floats, and
// that no backend takes with such a constant, reads it behind a Dequantize, which ConstantFolding computes.
#include "graph/MakeLayerView.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/assignment/Assignment.hpp"
#include "optimizer/assignment/Refusals.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace tenon::passes
{

namespace
{

bool GivesFloats(const Layer& layer)
{
    if (layer.GetNumOutputSlots() == 0)
    {
        return false;
    }
    const DataType type = layer.Output(0).GetTensorInfo().GetDataType();
    return type == DataType::Float32 || type == DataType::Float16;
}

/// Whether the layer cannot read the constant as it is, but may read it as floats.
bool NeedsFloats(const InputSlot& reader, const BackendChooser& chooser)
{
    const Layer& layer = reader.GetOwningLayer();
    if (reader.IsTensorInfoOverridden() || layer.GetType() == LayerType::Dequantize || !GivesFloats(layer))
    {
        return false;
    }
    Refusals refusals;
    LayerViewMaker maker;
    return chooser.Choose(layer, maker.Make(layer), refusals) == nullptr;
}

void DequantizeConstant(Graph& graph, Layer& constant, const BackendChooser& chooser)
{
    const Span<InputSlot* const> connections = constant.Output(0).GetConnections();
    const std::vector<InputSlot*> readers(connections.begin(), connections.end());
    std::map<DataType, Layer*> made;
    for (InputSlot* reader : readers)
    {
        if (!NeedsFloats(*reader, chooser))
        {
            continue;
        }
        const DataType type = reader->GetOwningLayer().Output(0).GetTensorInfo().GetDataType();
        Layer*& dequantize = made[type];
        if (dequantize == nullptr)
        {
            dequantize = &graph.AddLayer(LayerType::Dequantize, nullptr,
                                         fmt::format("{}:{}", constant.GetNameStr(), GetDataTypeName(type)));
            constant.Output(0).Connect(dequantize->Input(0));
            dequantize->Output(0).SetTensorInfo(TensorInfo(constant.Output(0).GetTensorInfo().GetShape(), type));
        }
        Rewire(*reader, dequantize->Output(0));
    }
}

} // namespace

void DequantizeBlocks(Graph& graph, PassContext& context)
{
    for (Layer* constant : graph.LayersOf(LayerType::Constant))
    {
        const TensorInfo& info = constant->Output(0).GetTensorInfo();
        if (info.IsQuantized() && info.HasBlockwiseQuantization())
        {
            DequantizeConstant(graph, *constant, context.m_Chooser);
        }
    }
}

} // namespace tenon::passes
