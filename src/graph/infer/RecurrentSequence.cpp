// SPDX-License-Identifier: Apache-2.0
// Shape inference of RecurrentSequence: ONNX's RNN, GRU and LSTM.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Recurrent.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::infer
{

namespace
{

constexpr size_t Data = 0;
constexpr size_t Weights = 1;
constexpr size_t Recurrent = 2;
constexpr size_t Bias = 3;
constexpr size_t Lengths = 4;
constexpr size_t State = 5;
constexpr size_t CellState = 6;
constexpr size_t Peepholes = 7;

struct CellFacts
{
    const char* m_Name;
    int64_t m_Gates;
    size_t m_Functions; ///< of one direction
};

CellFacts GetFacts(const InferContext& context, RecurrentCell cell)
{
    switch (cell)
    {
    case RecurrentCell::Rnn: return {"an RNN", 1, 1};
    case RecurrentCell::Gru: return {"a GRU", 3, 2};
    case RecurrentCell::Lstm: return {"an LSTM", 4, 3};
    }
    context.Fail(fmt::format("there is no cell of number {}", static_cast<int>(cell)));
}

bool HasParameter(RecurrentActivation function)
{
    switch (function)
    {
    case RecurrentActivation::Affine:
    case RecurrentActivation::LeakyRelu:
    case RecurrentActivation::ThresholdedRelu:
    case RecurrentActivation::ScaledTanh:
    case RecurrentActivation::HardSigmoid:
    case RecurrentActivation::Elu: return true;
    default: return false;
    }
}

void CheckParameters(const InferContext& context, const std::vector<float>& values, const char* name)
{
    const auto& activations = context.Descriptor<RecurrentSequenceDescriptor>().m_Activations;
    const bool isNeeded = std::any_of(activations.begin(), activations.end(), HasParameter);
    context.Check(values.size() == activations.size() || (values.empty() && !isNeeded),
                  "{} has {} values for {} activations; it must have one for each", name, values.size(),
                  activations.size());
}

void CheckDescriptor(const InferContext& context, const CellFacts& cell)
{
    const auto& descriptor = context.Descriptor<RecurrentSequenceDescriptor>();
    const auto direction = static_cast<unsigned int>(descriptor.m_Direction);
    context.Check(direction <= static_cast<unsigned int>(SequenceDirection::Bidirectional),
                  "there is no direction of number {}", direction);
    const size_t wanted = cell.m_Functions * descriptor.GetNumDirections();
    context.Check(descriptor.m_Activations.empty() || descriptor.m_Activations.size() == wanted,
                  "Activations has {} functions, but {} in {} direction(s) needs {} of them, or none for the defaults",
                  descriptor.m_Activations.size(), cell.m_Name, descriptor.GetNumDirections(), wanted);
    for (const RecurrentActivation function : descriptor.m_Activations)
    {
        context.Check(static_cast<unsigned int>(function) <= static_cast<unsigned int>(RecurrentActivation::Softplus),
                      "there is no activation of number {}", static_cast<int>(function));
    }
    CheckParameters(context, descriptor.m_Alphas, "Alphas");
    CheckParameters(context, descriptor.m_Betas, "Betas");
    context.Check(std::isfinite(descriptor.m_Clip) && descriptor.m_Clip >= 0.0f,
                  "Clip is {}; it must be positive, or 0 for none", descriptor.m_Clip);
    context.Check(!descriptor.m_LinearBeforeReset || descriptor.m_Cell == RecurrentCell::Gru,
                  "LinearBeforeReset is set, but {} has no reset gate", cell.m_Name);
    context.Check(!descriptor.m_CoupledInputForget || descriptor.m_Cell == RecurrentCell::Lstm,
                  "CoupledInputForget is set, but {} has no input gate", cell.m_Name);
}

void CheckShape(const InferContext& context, size_t input, const char* what, const TensorShape& wanted)
{
    if (context.HasInput(input))
    {
        context.Check(context.InputShape(input) == wanted, "input {}, the {}, has shape {}, but it must have {}", input,
                      what, context.InputShape(input), wanted);
    }
}

} // namespace

void InferRecurrentSequence(InferContext& context)
{
    const auto& descriptor = context.Descriptor<RecurrentSequenceDescriptor>();
    const CellFacts cell = GetFacts(context, descriptor.m_Cell);
    CheckDescriptor(context, cell);
    CheckRank(context, Data, 3);
    CheckRank(context, Recurrent, 3);
    const TensorShape& data = context.InputShape(Data);
    const bool isBatchMajor = descriptor.m_BatchMajor;
    const unsigned int steps = data[isBatchMajor ? 1 : 0];
    const unsigned int batch = data[isBatchMajor ? 0 : 1];
    const unsigned int directions = descriptor.GetNumDirections();
    const unsigned int units = context.InputShape(Recurrent)[2];
    const unsigned int sums = ToSize(context, Multiply(context, cell.m_Gates, units));
    context.Check(units != 0, "input {}, the recurrent weights, has shape {}: no units", Recurrent,
                  context.InputShape(Recurrent));
    CheckShape(context, Weights, "weights", {directions, sums, data[2]});
    CheckShape(context, Recurrent, "recurrent weights", {directions, sums, units});
    CheckShape(context, Bias, "biases", {directions, ToSize(context, Multiply(context, 2, sums))});
    CheckShape(context, Lengths, "lengths of the sequences", {batch});
    const TensorShape state =
        isBatchMajor ? TensorShape({batch, directions, units}) : TensorShape({directions, batch, units});
    CheckShape(context, State, "state", state);
    for (const size_t input : {CellState, Peepholes})
    {
        context.Check(!context.HasInput(input) || descriptor.m_Cell == RecurrentCell::Lstm,
                      "input {} is connected, but {} has no {}", input, cell.m_Name,
                      input == CellState ? "cell state" : "peephole weights");
    }
    CheckShape(context, CellState, "cell state", state);
    CheckShape(context, Peepholes, "peephole weights", {directions, ToSize(context, Multiply(context, 3, units))});
    context.SetOutputShape(0, isBatchMajor ? TensorShape({batch, steps, directions, units})
                                           : TensorShape({steps, directions, batch, units}));
    for (size_t output = 1; output < descriptor.GetNumOutputs(); ++output)
    {
        context.SetOutputShape(output, state);
    }
}

} // namespace tenon::infer
