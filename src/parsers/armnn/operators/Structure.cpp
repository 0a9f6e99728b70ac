// SPDX-License-Identifier: Apache-2.0
// Rows of Input, Output, Constant, the layers of control flow (Merge, Switch), StandIn, Rank and Shape.
#include "parsers/armnn/operators/Rows.hpp"

namespace tenon::arm_nn
{

namespace
{

IConnectableLayer* AddInput(const LayerView& op, NetworkBuilder& network)
{
    return network->AddInputLayer(op.BindingId(), op.LayerName());
}

IConnectableLayer* AddOutput(const LayerView& op, NetworkBuilder& network)
{
    return network->AddOutputLayer(op.BindingId(), op.LayerName());
}

IConnectableLayer* AddConstant(const LayerView& op, NetworkBuilder& network)
{
    const parsers::TensorView& tensor = op.Constant("input");
    return network->AddConstantLayer(
        network.Keep(op.HasOldDepthwiseWeights() ? network.TransposeDepthwiseWeights(tensor) : tensor), op.LayerName());
}

IConnectableLayer* AddStandIn(const LayerView& op, NetworkBuilder& network)
{
    const StandInDescriptor descriptor(op.Number("numInputs"), op.Number("numOutputs"));
    op.CheckNumInputs("numInputs", descriptor.m_NumInputs);
    op.CheckNumOutputs("numOutputs", descriptor.m_NumOutputs);
    return network->AddStandInLayer(descriptor, op.LayerName());
}

constexpr LayerRow StructureRows[] = {
    {"Constant", AddConstant},
    {"Input", AddInput},
    {"Merge", AddPlain<&INetwork::AddMergeLayer>},
    {"Output", AddOutput},
    {"Rank", AddPlain<&INetwork::AddRankLayer>},
    {"Shape", AddPlain<&INetwork::AddShapeLayer>},
    {"StandIn", AddStandIn},
    {"Switch", AddPlain<&INetwork::AddSwitchLayer>},
};

} // namespace

Span<const LayerRow> GetStructureRows()
{
    return {StructureRows, std::size(StructureRows)};
}

} // namespace tenon::arm_nn
