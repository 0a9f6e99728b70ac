// SPDX-License-Identifier: Apache-2.0
// Rows of elementwise layers. Old files have a kind of layer for each operation (Addition, Abs, Greater); later files
// have one kind with the operation as a field.
#include "parsers/armnn/operators/Rows.hpp"

namespace tenon::arm_nn
{

namespace
{

IConnectableLayer* AddActivation(const LayerView& op, NetworkBuilder& network)
{
    const ActivationDescriptor descriptor(op.Enumerator("activationFunction", ActivationFunction::Sigmoid),
                                          op.Float("a", 0.0f), op.Float("b", 0.0f));
    return network->AddActivationLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddElementwiseBinary(const LayerView& op, NetworkBuilder& network)
{
    return network->AddElementwiseBinaryLayer(op.Enumerator("operation", BinaryOperation::Add), op.LayerName());
}

IConnectableLayer* AddElementwiseUnary(const LayerView& op, NetworkBuilder& network)
{
    return network->AddElementwiseUnaryLayer(op.Enumerator("operation", UnaryOperation::Abs), op.LayerName());
}

IConnectableLayer* AddComparison(const LayerView& op, NetworkBuilder& network)
{
    return network->AddComparisonLayer(op.Enumerator("operation", ComparisonOperation::Equal), op.LayerName());
}

IConnectableLayer* AddLogicalBinary(const LayerView& op, NetworkBuilder& network)
{
    return network->AddLogicalBinaryLayer(op.Enumerator("operation", LogicalBinaryOperation::LogicalAnd),
                                          op.LayerName());
}

template <BinaryOperation Operation>
IConnectableLayer* AddBinary(const LayerView& op, NetworkBuilder& network)
{
    return network->AddElementwiseBinaryLayer(Operation, op.LayerName());
}

template <UnaryOperation Operation>
IConnectableLayer* AddUnary(const LayerView& op, NetworkBuilder& network)
{
    return network->AddElementwiseUnaryLayer(Operation, op.LayerName());
}

template <ComparisonOperation Operation>
IConnectableLayer* AddCompared(const LayerView& op, NetworkBuilder& network)
{
    return network->AddComparisonLayer(Operation, op.LayerName());
}

constexpr LayerRow ElementwiseRows[] = {
    {"Abs", AddUnary<UnaryOperation::Abs>},
    {"Activation", AddActivation},
    {"Addition", AddBinary<BinaryOperation::Add>},
    {"Cast", AddPlain<&INetwork::AddCastLayer>},
    {"Comparison", AddComparison},
    {"Dequantize", AddPlain<&INetwork::AddDequantizeLayer>},
    {"Division", AddBinary<BinaryOperation::Div>},
    {"ElementwiseBinary", AddElementwiseBinary},
    {"ElementwiseUnary", AddElementwiseUnary},
    {"Equal", AddCompared<ComparisonOperation::Equal>},
    {"Floor", AddPlain<&INetwork::AddFloorLayer>},
    {"Greater", AddCompared<ComparisonOperation::Greater>},
    {"LogicalBinary", AddLogicalBinary},
    {"Maximum", AddBinary<BinaryOperation::Maximum>},
    {"Minimum", AddBinary<BinaryOperation::Minimum>},
    {"Multiplication", AddBinary<BinaryOperation::Mul>},
    {"Prelu", AddPlain<&INetwork::AddPreluLayer>},
    {"Quantize", AddPlain<&INetwork::AddQuantizeLayer>},
    {"Rsqrt", AddUnary<UnaryOperation::Rsqrt>},
    {"Subtraction", AddBinary<BinaryOperation::Sub>},
};

} // namespace

Span<const LayerRow> GetElementwiseRows()
{
    return {ElementwiseRows, std::size(ElementwiseRows)};
}

} // namespace tenon::arm_nn
