// SPDX-License-Identifier: Apache-2.0
// Shape inference of the LSTM layers. Inputs are the data, the two states, then the weights in the order of the fields
// of LstmInputParams or QuantizedLstmInputParams.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

namespace tenon::infer
{

namespace
{

// Inputs of Lstm, QLstm and UnidirectionalSequenceLstm.
enum Slot : size_t
{
    Data,
    OutputStateIn,
    CellStateIn,
    InputToInput,
    InputToForget,
    InputToCell,
    InputToOutput,
    RecurrentToInput,
    RecurrentToForget,
    RecurrentToCell,
    RecurrentToOutput,
    CellToInput,
    CellToForget,
    CellToOutput,
    InputGateBias,
    ForgetGateBias,
    CellBias,
    OutputGateBias,
    ProjectionWeights,
    ProjectionBias,
    InputLayerNorm,
    ForgetLayerNorm,
    CellLayerNorm,
    OutputLayerNorm,
    NumSlots
};

const char* const SlotNames[NumSlots] = {"data",
                                         "output state",
                                         "cell state",
                                         "input-to-input weights",
                                         "input-to-forget weights",
                                         "input-to-cell weights",
                                         "input-to-output weights",
                                         "recurrent-to-input weights",
                                         "recurrent-to-forget weights",
                                         "recurrent-to-cell weights",
                                         "recurrent-to-output weights",
                                         "cell-to-input weights",
                                         "cell-to-forget weights",
                                         "cell-to-output weights",
                                         "input gate bias",
                                         "forget gate bias",
                                         "cell bias",
                                         "output gate bias",
                                         "projection weights",
                                         "projection bias",
                                         "input layer normalization weights",
                                         "forget layer normalization weights",
                                         "cell layer normalization weights",
                                         "output layer normalization weights"};

// Inputs of QuantizedLstm, all of which must be there.
enum QuantizedSlot : size_t
{
    QuantizedData,
    QuantizedCellState,
    QuantizedOutput,
    QuantizedInputWeights, ///< four: of input, forget, cell and output
    QuantizedRecurrentWeights = QuantizedInputWeights + 4,
    QuantizedBias = QuantizedRecurrentWeights + 4
};

struct LstmSizes
{
    unsigned int m_Batch;
    unsigned int m_Inputs;
    unsigned int m_Units;
    unsigned int m_Outputs;
};

void CheckWeights(const InferContext& context, size_t slot, const char* name, bool isRequired,
                  const TensorShape& wanted)
{
    if (context.HasInput(slot))
    {
        context.Check(context.InputShape(slot) == wanted, "input {}, the {}, has shape {}, but it must have {}", slot,
                      name, context.InputShape(slot), wanted);
        return;
    }
    context.Check(!isRequired, "input {}, the {}, is not connected, but the descriptor says that it is used", slot,
                  name);
}

// Units and outputs, from the weights of the output gate, which every LSTM has.
LstmSizes GetSizes(const InferContext& context, unsigned int batch, unsigned int inputs)
{
    for (const Slot slot : {InputToOutput, RecurrentToOutput})
    {
        context.Check(context.HasInput(slot), "input {}, the {}, is not connected", static_cast<size_t>(slot),
                      SlotNames[slot]);
        CheckRank(context, slot, 2);
    }
    return {batch, inputs, context.InputShape(InputToOutput)[0], context.InputShape(RecurrentToOutput)[1]};
}

// The descriptors of the three layers name their switches alike.
template <typename D>
void CheckLstm(const InferContext& context, const D& descriptor, const LstmSizes& sizes)
{
    const TensorShape inputWeights = {sizes.m_Units, sizes.m_Inputs};
    const TensorShape recurrentWeights = {sizes.m_Units, sizes.m_Outputs};
    const TensorShape perUnit = {sizes.m_Units};
    const auto check = [&](Slot first, Slot last, bool isRequired, const TensorShape& wanted)
    {
        for (size_t slot = first; slot <= last; ++slot)
        {
            CheckWeights(context, slot, SlotNames[slot], isRequired, wanted);
        }
    };
    const bool hasInputGate = !descriptor.m_CifgEnabled;
    const bool hasPeephole = descriptor.m_PeepholeEnabled;
    const bool hasProjection = descriptor.m_ProjectionEnabled;
    const bool hasLayerNorm = descriptor.m_LayerNormEnabled;
    check(InputToInput, InputToInput, hasInputGate, inputWeights);
    check(InputToForget, InputToOutput, true, inputWeights);
    check(RecurrentToInput, RecurrentToInput, hasInputGate, recurrentWeights);
    check(RecurrentToForget, RecurrentToOutput, true, recurrentWeights);
    check(CellToInput, CellToInput, hasPeephole && hasInputGate, perUnit);
    check(CellToForget, CellToOutput, hasPeephole, perUnit);
    check(InputGateBias, InputGateBias, hasInputGate, perUnit);
    check(ForgetGateBias, OutputGateBias, true, perUnit);
    check(ProjectionWeights, ProjectionWeights, hasProjection, {sizes.m_Outputs, sizes.m_Units});
    check(ProjectionBias, ProjectionBias, false, {sizes.m_Outputs});
    check(InputLayerNorm, InputLayerNorm, hasLayerNorm && hasInputGate, perUnit);
    check(ForgetLayerNorm, OutputLayerNorm, hasLayerNorm, perUnit);
    context.Check(hasProjection || sizes.m_Outputs == sizes.m_Units,
                  "the recurrent weights take {} outputs of {} units: without a projection both must be equal",
                  sizes.m_Outputs, sizes.m_Units);
    CheckElements(context, OutputStateIn, SlotNames[OutputStateIn], Multiply(context, sizes.m_Batch, sizes.m_Outputs));
    CheckElements(context, CellStateIn, SlotNames[CellStateIn], Multiply(context, sizes.m_Batch, sizes.m_Units));
}

} // namespace

void InferLstm(InferContext& context)
{
    const auto& descriptor = context.Descriptor<LstmDescriptor>();
    CheckRank(context, Data, 2);
    const TensorShape& data = context.InputShape(Data);
    const LstmSizes sizes = GetSizes(context, data[0], data[1]);
    CheckLstm(context, descriptor, sizes);
    const int64_t gates = descriptor.m_CifgEnabled ? 3 : 4;
    context.SetOutputShape(0, TensorShape({sizes.m_Batch, ToSize(context, gates * sizes.m_Units)}));
    context.SetOutputShape(1, TensorShape({sizes.m_Batch, sizes.m_Outputs}));
    context.SetOutputShape(2, TensorShape({sizes.m_Batch, sizes.m_Units}));
    context.SetOutputShape(3, TensorShape({sizes.m_Batch, sizes.m_Outputs}));
}

void InferQLstm(InferContext& context)
{
    CheckRank(context, Data, 2);
    const TensorShape& data = context.InputShape(Data);
    const LstmSizes sizes = GetSizes(context, data[0], data[1]);
    CheckLstm(context, context.Descriptor<QLstmDescriptor>(), sizes);
    context.SetOutputShape(0, TensorShape({sizes.m_Batch, sizes.m_Outputs}));
    context.SetOutputShape(1, TensorShape({sizes.m_Batch, sizes.m_Units}));
    context.SetOutputShape(2, TensorShape({sizes.m_Batch, sizes.m_Outputs}));
}

void InferQuantizedLstm(InferContext& context)
{
    CheckAllConnected(context);
    CheckRank(context, QuantizedData, 2);
    CheckRank(context, QuantizedInputWeights, 2);
    const TensorShape& data = context.InputShape(QuantizedData);
    const unsigned int units = context.InputShape(QuantizedInputWeights)[0];
    for (size_t gate = 0; gate < 4; ++gate)
    {
        CheckWeights(context, QuantizedInputWeights + gate, "input weights", true, {units, data[1]});
        CheckWeights(context, QuantizedRecurrentWeights + gate, "recurrent weights", true, {units, units});
        CheckWeights(context, QuantizedBias + gate, "bias", true, {units});
    }
    const TensorShape state = {data[0], units};
    CheckWeights(context, QuantizedCellState, "cell state", true, state);
    CheckWeights(context, QuantizedOutput, "output state", true, state);
    context.SetOutputShape(0, state);
    context.SetOutputShape(1, state);
}

void InferUnidirectionalSequenceLstm(InferContext& context)
{
    const auto& descriptor = context.Descriptor<UnidirectionalSequenceLstmDescriptor>();
    CheckRank(context, Data, 3);
    TensorShape output = context.InputShape(Data);
    const LstmSizes sizes = GetSizes(context, output[descriptor.m_TimeMajor ? 1 : 0], output[2]);
    CheckLstm(context, descriptor, sizes);
    output.SetDimensionSize(2, sizes.m_Outputs);
    context.SetOutputShape(0, TensorShape({sizes.m_Batch, sizes.m_Outputs}));
    context.SetOutputShape(1, TensorShape({sizes.m_Batch, sizes.m_Units}));
    context.SetOutputShape(2, output);
}

} // namespace tenon::infer
