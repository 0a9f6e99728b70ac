// SPDX-License-Identifier: Apache-2.0
// Rows of the activation functions and softmaxes.
#include "parsers/tflite/operators/Rows.hpp"

namespace tenon::tflite
{

namespace
{

void AddActivation(const OperatorView& op, NetworkBuilder& builder, ActivationFunction function, float a = 0.0f,
                   float b = 0.0f)
{
    builder.Wire(op, builder.Network().AddActivationLayer(ActivationDescriptor(function, a, b), op.LayerName().c_str()),
                 {0});
}

void AddRelu(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::ReLu);
}

void AddRelu6(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::BoundedReLu, 6.0f, 0.0f);
}

void AddRelu0To1(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::BoundedReLu, 1.0f, 0.0f);
}

void AddReluN1To1(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::BoundedReLu, 1.0f, -1.0f);
}

void AddTanH(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::TanH, 1.0f, 1.0f);
}

void AddLogistic(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::Sigmoid);
}

void AddElu(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::Elu, 1.0f);
}

void AddHardSwish(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::HardSwish);
}

void AddLeakyRelu(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::LeakyReLu, op.Float("alpha", 0.0f));
}

void AddGelu(const OperatorView& op, NetworkBuilder& builder)
{
    AddActivation(op, builder, ActivationFunction::Gelu, op.Bool("approximate", false) ? 1.0f : 0.0f);
}

void AddPrelu(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddPreluLayer(op.LayerName().c_str()), {0, 1});
}

void AddSoftmax(const OperatorView& op, NetworkBuilder& builder)
{
    SoftmaxDescriptor descriptor;
    descriptor.m_Beta = op.Float("beta", 0.0f);
    descriptor.m_Axis = -1;
    builder.Wire(op, builder.Network().AddSoftmaxLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddLogSoftmax(const OperatorView& op, NetworkBuilder& builder)
{
    LogSoftmaxDescriptor descriptor;
    descriptor.m_Axis = -1;
    builder.Wire(op, builder.Network().AddLogSoftmaxLayer(descriptor, op.LayerName().c_str()), {0});
}

} // namespace

Span<const OperatorRow> GetActivationRows()
{
    static constexpr OperatorRow rows[] = {
        {"ELU", AddElu, 1, 1, 1, 1},
        {"GELU", AddGelu, 1, 1, 1, 1},
        {"HARD_SWISH", AddHardSwish, 1, 1, 1, 1},
        {"LEAKY_RELU", AddLeakyRelu, 1, 1, 1, 1},
        {"LOGISTIC", AddLogistic, 1, 1, 1, 1},
        {"LOG_SOFTMAX", AddLogSoftmax, 1, 1, 1, 1},
        {"PRELU", AddPrelu, 2, 2, 1, 1},
        {"RELU", AddRelu, 1, 1, 1, 1},
        {"RELU6", AddRelu6, 1, 1, 1, 1},
        {"RELU_0_TO_1", AddRelu0To1, 1, 1, 1, 1},
        {"RELU_N1_TO_1", AddReluN1To1, 1, 1, 1, 1},
        {"SOFTMAX", AddSoftmax, 1, 1, 1, 1},
        {"TANH", AddTanH, 1, 1, 1, 1},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
