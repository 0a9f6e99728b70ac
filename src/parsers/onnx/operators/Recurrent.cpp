// SPDX-License-Identifier: Apache-2.0
// Rows of recurrent operators.
#include "parsers/onnx/Rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::onnx::rows
{

namespace
{

/// A function of gates, with the values that its parameters have where none are given.
struct Function
{
    const char* m_Name;
    RecurrentActivation m_Activation;
    bool m_HasAlpha;
    float m_Alpha;
    bool m_HasBeta;
    float m_Beta;
};

constexpr Function Functions[] = {
    {"relu", RecurrentActivation::Relu, false, 0.0f, false, 0.0f},
    {"tanh", RecurrentActivation::Tanh, false, 0.0f, false, 0.0f},
    {"sigmoid", RecurrentActivation::Sigmoid, false, 0.0f, false, 0.0f},
    {"affine", RecurrentActivation::Affine, true, 1.0f, true, 0.0f},
    {"leakyrelu", RecurrentActivation::LeakyRelu, true, 0.01f, false, 0.0f},
    {"thresholdedrelu", RecurrentActivation::ThresholdedRelu, true, 1.0f, false, 0.0f},
    {"scaledtanh", RecurrentActivation::ScaledTanh, true, 1.0f, true, 1.0f},
    {"hardsigmoid", RecurrentActivation::HardSigmoid, true, 0.2f, true, 0.5f},
    {"elu", RecurrentActivation::Elu, true, 1.0f, false, 0.0f},
    {"softsign", RecurrentActivation::Softsign, false, 0.0f, false, 0.0f},
    {"softplus", RecurrentActivation::Softplus, false, 0.0f, false, 0.0f},
};

/// The lists of parameters leave out functions that have none.
void ReadActivations(const Operator& op, RecurrentSequenceDescriptor& descriptor)
{
    std::vector<std::string> names = op.Texts("activations");
    const std::vector<float> alphas = op.Floats("activation_alpha");
    const std::vector<float> betas = op.Floats("activation_beta");
    const size_t perDirection = descriptor.m_Cell == RecurrentCell::Lstm  ? 3
                                : descriptor.m_Cell == RecurrentCell::Gru ? 2
                                                                          : 1;
    if (names.empty())
    {
        return;
    }
    if (names.size() != perDirection * descriptor.GetNumDirections())
    {
        op.Fail(fmt::format("{} activations are given; {} are needed", names.size(),
                            perDirection * descriptor.GetNumDirections()));
    }
    size_t nextAlpha = 0;
    size_t nextBeta = 0;
    for (std::string& name : names)
    {
        std::transform(name.begin(), name.end(), name.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        const auto* const function = std::find_if(std::begin(Functions), std::end(Functions),
                                                  [&](const Function& f) { return name == f.m_Name; });
        if (function == std::end(Functions))
        {
            op.Fail(fmt::format("activation '{}' is unknown", name));
        }
        descriptor.m_Activations.push_back(function->m_Activation);
        descriptor.m_Alphas.push_back(function->m_HasAlpha && nextAlpha < alphas.size() ? alphas[nextAlpha++]
                                                                                        : function->m_Alpha);
        descriptor.m_Betas.push_back(function->m_HasBeta && nextBeta < betas.size() ? betas[nextBeta++]
                                                                                    : function->m_Beta);
    }
}

void AddRecurrent(Operator& op, GraphBuilder& graph, RecurrentCell cell)
{
    RecurrentSequenceDescriptor descriptor;
    descriptor.m_Cell = cell;
    static constexpr std::pair<const char*, SequenceDirection> directions[] = {
        {"forward", SequenceDirection::Forward},
        {"reverse", SequenceDirection::Reverse},
        {"bidirectional", SequenceDirection::Bidirectional}};
    descriptor.m_Direction = op.Choose("direction", "forward", directions);
    ReadActivations(op, descriptor);
    descriptor.m_Clip = op.Float("clip", 0.0f);
    descriptor.m_LinearBeforeReset = op.Int64("linear_before_reset", 0) != 0;
    descriptor.m_CoupledInputForget = op.Int64("input_forget", 0) != 0;
    descriptor.m_BatchMajor = op.Int64("layout", 0) != 0;

    const Value& x = op.Input(0);
    const Value& recurrentWeights = op.Input(2);
    if (x.Rank() != 3 || recurrentWeights.Rank() != 3)
    {
        op.Fail(fmt::format("data of shape {} and weights of shape {} are not those of a recurrent operator",
                            x.Shape().ToString(), recurrentWeights.Shape().ToString()));
    }
    const int64_t units = recurrentWeights.Size(2);
    if (op.Has("hidden_size") && units != OpenSize && op.Int64("hidden_size", 0) != units)
    {
        op.Fail(fmt::format("attribute 'hidden_size' is {}, but the recurrent weights have shape {}",
                            op.Int64("hidden_size", 0), recurrentWeights.Shape().ToString()));
    }
    std::vector<Value> inputs;
    for (size_t i = 0; i < op.NumInputs(); ++i)
    {
        inputs.push_back(op.FindInput(i));
    }
    const int64_t directionsCount = descriptor.GetNumDirections();
    const int64_t steps = x.Size(descriptor.m_BatchMajor ? 1 : 0);
    const int64_t batch = x.Size(descriptor.m_BatchMajor ? 0 : 1);
    const TensorShape all = descriptor.m_BatchMajor ? ToShape({batch, steps, directionsCount, units})
                                                    : ToShape({steps, directionsCount, batch, units});
    const TensorShape last =
        descriptor.m_BatchMajor ? ToShape({batch, directionsCount, units}) : ToShape({directionsCount, batch, units});
    std::vector<GraphBuilder::Output> outputs = {{x.Type(), all}, {x.Type(), last}};
    if (cell == RecurrentCell::Lstm)
    {
        outputs.push_back({x.Type(), last});
    }
    op.SetOutputs(graph.AddLayers(LayerType::RecurrentSequence, descriptor, inputs, outputs));
}

} // namespace

void AddLstm(Operator& op, GraphBuilder& graph)
{
    AddRecurrent(op, graph, RecurrentCell::Lstm);
}

void AddGru(Operator& op, GraphBuilder& graph)
{
    AddRecurrent(op, graph, RecurrentCell::Gru);
}

void AddRnn(Operator& op, GraphBuilder& graph)
{
    AddRecurrent(op, graph, RecurrentCell::Rnn);
}

} // namespace tenon::onnx::rows
