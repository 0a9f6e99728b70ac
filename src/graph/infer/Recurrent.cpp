// SPDX-License-Identifier: Apache-2.0
// Shape inference of the LSTM layers. LstmSlots has the meaning of each input.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/backend/LstmSlots.hpp>
#include <tenon/descriptors/Recurrent.hpp>

namespace tenon::infer
{

namespace
{

constexpr const char* GateNames[LstmSlots::NumGates] = {"input", "forget", "cell", "output"};

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
    bool m_HasDiagonal = false; ///< recurrent weights may be [units]: a diagonal matrix
};

/// The parts of a cell in addition to its three other gates.
struct LstmParts
{
    bool m_InputGate;
    bool m_Peephole;
    bool m_Projection;
    bool m_LayerNorm;
};

/// The descriptors of Lstm, QLstm and UnidirectionalSequenceLstm name their switches alike.
template <typename D>
LstmParts GetParts(const D& descriptor)
{
    return {!descriptor.m_CifgEnabled, descriptor.m_PeepholeEnabled, descriptor.m_ProjectionEnabled,
            descriptor.m_LayerNormEnabled};
}

/// The parts of a bidirectional layer's cell follow from its inputs.
LstmParts GetParts(const InferContext& context, const LstmSlots& slots)
{
    return {context.HasInput(slots.m_InputWeights[LstmSlots::Input]),
            context.HasInput(slots.m_Peephole[LstmSlots::Output]), context.HasInput(slots.m_Projection), false};
}

void CheckWeights(const InferContext& context, size_t slot, const std::string& name, bool isRequired,
                  const TensorShape& wanted)
{
    if (context.HasInput(slot))
    {
        context.Check(context.InputShape(slot) == wanted, "input {}, the {}, has shape {}, but it must have {}", slot,
                      name, context.InputShape(slot), wanted);
        return;
    }
    context.Check(!isRequired, "input {}, the {}, is not connected, but the cell uses it", slot, name);
}

/// Units and outputs, from the weights of the output gate, which every LSTM has.
LstmSizes GetSizes(const InferContext& context, const LstmSlots& slots, unsigned int batch, unsigned int inputs,
                   bool mayBeDiagonal)
{
    const size_t input = slots.m_InputWeights[LstmSlots::Output];
    const size_t recurrent = slots.m_RecurrentWeights[LstmSlots::Output];
    context.Check(context.HasInput(input), "input {}, the input-to-output weights, is not connected", input);
    context.Check(context.HasInput(recurrent), "input {}, the recurrent-to-output weights, is not connected",
                  recurrent);
    CheckRank(context, input, 2);
    const bool isDiagonal = mayBeDiagonal && context.InputShape(recurrent).GetNumDimensions() == 1;
    if (!isDiagonal)
    {
        CheckRank(context, recurrent, 2);
    }
    return {batch, inputs, context.InputShape(input)[0], context.InputShape(recurrent)[isDiagonal ? 0 : 1],
            mayBeDiagonal};
}

void CheckRecurrent(const InferContext& context, size_t slot, const std::string& name, bool isRequired,
                    const LstmSizes& sizes)
{
    const bool isDiagonal =
        sizes.m_HasDiagonal && context.HasInput(slot) && context.InputShape(slot).GetNumDimensions() == 1;
    if (isDiagonal)
    {
        const DataType type = context.Input(slot).GetDataType();
        context.Check(type == DataType::Float32 && context.Input(0).GetDataType() == DataType::Float32,
                      "input {}, the {}, is a diagonal of type {}; diagonals and their data are Float32", slot, name,
                      GetDataTypeName(type));
    }
    context.Check(!isDiagonal || sizes.m_Outputs == sizes.m_Units,
                  "input {}, the {}, is a diagonal of {} units, but the cell has {} outputs", slot, name, sizes.m_Units,
                  sizes.m_Outputs);
    CheckWeights(context, slot, name, isRequired,
                 isDiagonal ? TensorShape({sizes.m_Units}) : TensorShape({sizes.m_Units, sizes.m_Outputs}));
}

void CheckLstm(const InferContext& context, const LstmSlots& slots, const LstmParts& parts, const LstmSizes& sizes)
{
    const TensorShape perUnit = {sizes.m_Units};
    for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
    {
        const std::string name = GateNames[gate];
        const bool hasGate = gate != LstmSlots::Input || parts.m_InputGate;
        CheckWeights(context, slots.m_InputWeights[gate], "input-to-" + name + " weights", hasGate,
                     {sizes.m_Units, sizes.m_Inputs});
        CheckRecurrent(context, slots.m_RecurrentWeights[gate], "recurrent-to-" + name + " weights", hasGate, sizes);
        if (slots.m_Peephole[gate] != LstmSlots::None)
        {
            CheckWeights(context, slots.m_Peephole[gate], "cell-to-" + name + " weights", hasGate && parts.m_Peephole,
                         perUnit);
        }
        CheckWeights(context, slots.m_Bias[gate], gate == LstmSlots::Cell ? "cell bias" : name + " gate bias", hasGate,
                     perUnit);
        if (slots.m_LayerNorm[gate] != LstmSlots::None)
        {
            CheckWeights(context, slots.m_LayerNorm[gate], name + " layer normalization weights",
                         hasGate && parts.m_LayerNorm, perUnit);
        }
    }
    CheckWeights(context, slots.m_Projection, "projection weights", parts.m_Projection,
                 {sizes.m_Outputs, sizes.m_Units});
    CheckWeights(context, slots.m_ProjectionBias, "projection bias", false, {sizes.m_Outputs});
    context.Check(parts.m_Projection || sizes.m_Outputs == sizes.m_Units,
                  "the recurrent weights take {} outputs of {} units: without a projection both must be equal",
                  sizes.m_Outputs, sizes.m_Units);
    for (const size_t slot : {slots.m_OutputState, slots.m_CellState})
    {
        const bool isCell = slot == slots.m_CellState;
        const char* const name = isCell ? "cell state" : "output state";
        context.Check(context.HasInput(slot), "input {}, the {}, is not connected", slot, name);
        CheckElements(context, slot, name, Multiply(context, sizes.m_Batch, isCell ? sizes.m_Units : sizes.m_Outputs));
    }
}

/// The auxiliary data of a bidirectional layer: as many rows as the data; with or without weights.
void CheckAux(const InferContext& context, const LstmSlots& slots, const LstmParts& parts, const LstmSizes& sizes)
{
    const TensorShape& aux = context.InputShape(slots.m_Aux);
    for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
    {
        CheckWeights(context, slots.m_AuxWeights[gate],
                     std::string("auxiliary input-to-") + GateNames[gate] + " weights",
                     gate != LstmSlots::Input || parts.m_InputGate, {sizes.m_Units, aux[2]});
    }
}

} // namespace

void InferLstm(InferContext& context)
{
    const auto& descriptor = context.Descriptor<LstmDescriptor>();
    constexpr LstmSlots slots = GetLstmSlots();
    CheckRank(context, slots.m_Data, 2);
    const TensorShape& data = context.InputShape(slots.m_Data);
    const LstmSizes sizes = GetSizes(context, slots, data[0], data[1], false);
    CheckLstm(context, slots, GetParts(descriptor), sizes);
    const int64_t gates = descriptor.m_CifgEnabled ? 3 : 4;
    context.SetOutputShape(0, TensorShape({sizes.m_Batch, ToSize(context, gates * sizes.m_Units)}));
    context.SetOutputShape(1, TensorShape({sizes.m_Batch, sizes.m_Outputs}));
    context.SetOutputShape(2, TensorShape({sizes.m_Batch, sizes.m_Units}));
    context.SetOutputShape(3, TensorShape({sizes.m_Batch, sizes.m_Outputs}));
}

void InferQLstm(InferContext& context)
{
    constexpr LstmSlots slots = GetLstmSlots();
    CheckRank(context, slots.m_Data, 2);
    const TensorShape& data = context.InputShape(slots.m_Data);
    const LstmSizes sizes = GetSizes(context, slots, data[0], data[1], false);
    CheckLstm(context, slots, GetParts(context.Descriptor<QLstmDescriptor>()), sizes);
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
    constexpr LstmSlots slots = GetLstmSlots();
    TensorShape output = context.InputShape(slots.m_Data);
    const unsigned int rank = output.GetNumDimensions();
    context.Check(rank == 2 || rank == 3, "input 0, the data, has shape {}; it must have 2 dimensions (one step) or 3",
                  output);
    const unsigned int batch = output[rank == 3 && descriptor.m_TimeMajor ? 1 : 0];
    const LstmSizes sizes = GetSizes(context, slots, batch, output[rank - 1], true);
    CheckLstm(context, slots, GetParts(descriptor), sizes);
    output.SetDimensionSize(rank - 1, sizes.m_Outputs);
    context.SetOutputShape(0, context.InputShape(slots.m_OutputState));
    context.SetOutputShape(1, context.InputShape(slots.m_CellState));
    context.SetOutputShape(2, output);
}

void InferBidirectionalSequenceLstm(InferContext& context)
{
    const auto& descriptor = context.Descriptor<BidirectionalSequenceLstmDescriptor>();
    CheckRank(context, 0, 3);
    const TensorShape data = context.InputShape(0);
    unsigned int outputs[2] = {};
    for (unsigned int direction = 0; direction < 2; ++direction)
    {
        const LstmSlots slots = GetBidirectionalLstmSlots(direction == 1);
        unsigned int inputs = data[2];
        const bool hasAux = context.HasInput(slots.m_Aux);
        const bool hasAuxWeights = context.HasInput(GetBidirectionalLstmSlots(false).m_AuxWeights[LstmSlots::Forget]);
        if (hasAux)
        {
            CheckRank(context, slots.m_Aux, 3);
            const TensorShape& aux = context.InputShape(slots.m_Aux);
            context.Check(aux[0] == data[0] && aux[1] == data[1],
                          "the auxiliary data {} has other steps or batches than the data {}", aux, data);
            inputs = !hasAuxWeights && direction == 1 ? aux[2] : inputs;
        }
        const LstmSizes sizes = GetSizes(context, slots, data[descriptor.m_TimeMajor ? 1 : 0], inputs, false);
        const LstmParts parts = GetParts(context, slots);
        CheckLstm(context, slots, parts, sizes);
        context.Check(hasAux || !hasAuxWeights, "there are auxiliary weights, but no auxiliary data");
        if (hasAuxWeights)
        {
            CheckAux(context, slots, parts, sizes);
        }
        for (const size_t slot : slots.m_AuxWeights)
        {
            context.Check(hasAuxWeights || !context.HasInput(slot),
                          "input {}, auxiliary weights, is connected, but the forward forget gate has none", slot);
        }
        outputs[direction] = sizes.m_Outputs;
        context.SetOutputShape(2 * direction, context.InputShape(slots.m_OutputState));
        context.SetOutputShape(2 * direction + 1, context.InputShape(slots.m_CellState));
    }
    const int64_t merged = int64_t{outputs[0]} + (descriptor.m_MergeOutputs ? outputs[1] : 0);
    context.SetOutputShape(4, TensorShape({data[0], data[1], ToSize(context, merged)}));
    if (!descriptor.m_MergeOutputs)
    {
        context.SetOutputShape(5, TensorShape({data[0], data[1], outputs[1]}));
    }
}

void InferBasicLstm(InferContext& context)
{
    CheckAllConnected(context);
    CheckRank(context, 0, 2);
    CheckRank(context, 1, 2);
    const TensorShape& data = context.InputShape(0);
    const TensorShape& state = context.InputShape(1);
    const unsigned int sums = ToSize(context, 4 * int64_t{state[1]});
    const unsigned int inputs = ToSize(context, int64_t{data[1]} + state[1]);
    CheckWeights(context, 1, "output state", true, {data[0], state[1]});
    CheckWeights(context, 2, "weights", true, {sums, inputs});
    CheckWeights(context, 3, "bias", true, {sums});
    CheckWeights(context, 4, "cell state", true, {data[0], state[1]});
    context.SetOutputShape(0, state);
    context.SetOutputShape(1, state);
    context.SetOutputShape(2, TensorShape({data[0], inputs}));
    context.SetOutputShape(3, TensorShape({data[0], sums}));
}

} // namespace tenon::infer
