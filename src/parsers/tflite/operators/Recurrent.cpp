// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that keep state.
#include "parsers/tflite/operators/Rows.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::tflite
{

namespace
{

constexpr unsigned int LastDimension = static_cast<unsigned int>(-1);

/// A size of an operand, divided.
struct OperandSize
{
    size_t m_Operand;
    unsigned int m_Dimension;
    unsigned int m_Divisor = 1;
};
/// A state has a row for each batch; the product of these sizes is its length.
using StateShape = std::vector<OperandSize>;

/// A state of the layer: the operator's input that holds it, and the layer's slots that take it and give the next one.
struct State
{
    size_t m_Operand;
    unsigned int m_Input;
    unsigned int m_Output;
    StateShape m_Shape;
};

/// The size if it is known.
std::optional<uint64_t> GetSize(const OperatorView& op, const OperandSize& size)
{
    const TensorShape& shape = op.Input(size.m_Operand).m_Info.GetShape();
    const bool hasRank = shape.GetDimensionality() == Dimensionality::Specified && shape.GetNumDimensions() != 0;
    const unsigned int dimension =
        hasRank && size.m_Dimension == LastDimension ? shape.GetNumDimensions() - 1 : size.m_Dimension;
    if (!hasRank || dimension >= shape.GetNumDimensions() || !shape.GetDimensionSpecificity(dimension))
    {
        return std::nullopt;
    }
    return shape[dimension] / size.m_Divisor;
}

/// The shape of a state whose tensor declares none; unknown if it does not follow from known sizes.
TensorShape GetStateShape(const OperatorView& op, const StateShape& sizes, unsigned int batchDimension)
{
    const std::optional<uint64_t> batch = GetSize(op, {0, batchDimension});
    uint64_t length = 1;
    for (const OperandSize& size : sizes)
    {
        const std::optional<uint64_t> factor = GetSize(op, size);
        // Both are below 2^32.
        length = factor.has_value() && length <= UINT32_MAX ? length * *factor : UINT64_MAX;
    }
    if (!batch.has_value() || length > UINT32_MAX)
    {
        return TensorShape();
    }
    return TensorShape({static_cast<unsigned int>(*batch), static_cast<unsigned int>(length)});
}

/// Wires a layer that keeps states. Its input slot k takes input operands[k] of the operator, if that is there; its
/// output slot outputs[k] becomes the operator's output k.
void WireLayer(const OperatorView& op, NetworkBuilder& builder, IConnectableLayer* layer,
               const std::vector<size_t>& operands, const std::vector<unsigned int>& outputs,
               const std::vector<State>& states, bool isTimeMajor)
{
    builder.CountLayer();
    for (unsigned int slot = 0; slot < operands.size(); ++slot)
    {
        const auto takesSlot = [&](const State& state) { return state.m_Input == slot; };
        if (std::none_of(states.begin(), states.end(), takesSlot))
        {
            builder.WireInput(op, operands[slot], layer, slot);
        }
    }
    for (const State& state : states)
    {
        const std::optional<uint32_t> dataRank = op.InputRank(0);
        const unsigned int batchDimension = isTimeMajor && dataRank == 3U ? 1 : 0;
        std::optional<NetworkBuilder::BatchOf> batch;
        if (dataRank.has_value() && op.InputRank(state.m_Operand).value_or(2) == 2)
        {
            batch = NetworkBuilder::BatchOf{0, batchDimension};
        }
        builder.WireState(op, state.m_Operand, layer, state.m_Input, state.m_Output, batch,
                          GetStateShape(op, state.m_Shape, batchDimension));
    }
    for (unsigned int i = 0; i < outputs.size(); ++i)
    {
        builder.WireSlot(op, layer, outputs[i], i);
    }
}

/// The codes are those that descriptors use.
uint32_t ToCode(FusedActivation activation)
{
    return static_cast<uint32_t>(activation);
}

std::vector<size_t> FirstOperands(size_t count)
{
    std::vector<size_t> operands(count);
    std::iota(operands.begin(), operands.end(), size_t{0});
    return operands;
}

// Inputs of LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM.
constexpr size_t InputToInputWeights = 1;
constexpr size_t InputToOutputWeights = 4;
constexpr size_t RecurrentToOutputWeights = 8;
constexpr size_t CellToOutputWeights = 11;
constexpr size_t ProjectionWeights = 16;
constexpr size_t OutputState = 18;
constexpr size_t CellState = 19;
constexpr size_t ForgetLayerNorm = 21;
constexpr size_t NumLstmInputs = 24;

/// The intermediate tensor's one scale. Those without a scale have none that matters.
float ScaleOf(const OperatorView& op, size_t i)
{
    return op.Intermediate(i).m_Info.GetQuantizationScale();
}

/// Of int8 data the intermediate tensors say how results inside the cell are quantized: 5 (gates and hidden state), or
/// 12 for gates whose products have 8 bits.
void SetIntermediates(const OperatorView& op, LstmDescriptor& descriptor)
{
    if (op.Input(0).m_Info.GetDataType() == DataType::Float32)
    {
        return;
    }
    constexpr size_t NumProducts = 12;
    if (op.NumIntermediates() == NumProducts)
    {
        for (size_t i = 0; i < NumProducts; ++i)
        {
            descriptor.m_ProductScales.push_back(ScaleOf(op, i));
            descriptor.m_ProductZeroPoints.push_back(op.Intermediate(i).m_Info.GetQuantizationOffset());
        }
        return;
    }
    constexpr size_t Hidden = 4;
    if (descriptor.m_LayerNormEnabled)
    {
        descriptor.m_InputIntermediateScale = descriptor.m_CifgEnabled ? 0.0f : ScaleOf(op, 0);
        descriptor.m_ForgetIntermediateScale = ScaleOf(op, 1);
        descriptor.m_CellIntermediateScale = ScaleOf(op, 2);
        descriptor.m_OutputIntermediateScale = ScaleOf(op, 3);
    }
    descriptor.m_HiddenStateScale = ScaleOf(op, Hidden);
    descriptor.m_HiddenStateZeroPoint = op.Intermediate(Hidden).m_Info.GetQuantizationOffset();
}

/// LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM are one layer.
UnidirectionalSequenceLstmDescriptor MakeFullLstm(const OperatorView& op)
{
    UnidirectionalSequenceLstmDescriptor descriptor;
    descriptor.m_ActivationFunc = ToCode(GetActivation(op));
    descriptor.m_ClippingThresCell = op.Float("cell_clip", 0.0f);
    descriptor.m_ClippingThresProj = op.Float("proj_clip", 0.0f);
    descriptor.m_AsymmetricQuantizeInputs = op.Bool("asymmetric_quantize_inputs", false);
    descriptor.m_CifgEnabled = !op.HasInput(InputToInputWeights);
    descriptor.m_PeepholeEnabled = op.HasInput(CellToOutputWeights);
    descriptor.m_ProjectionEnabled = op.HasInput(ProjectionWeights);
    descriptor.m_LayerNormEnabled = op.HasInput(ForgetLayerNorm);
    SetIntermediates(op, descriptor);
    return descriptor;
}

void WireFullLstm(const OperatorView& op, NetworkBuilder& builder,
                  const UnidirectionalSequenceLstmDescriptor& descriptor)
{
    // The layer has the states behind the data.
    std::vector<size_t> operands = {0, OutputState, CellState};
    for (size_t i = InputToInputWeights; i < NumLstmInputs; ++i)
    {
        if (i != OutputState && i != CellState)
        {
            operands.push_back(i);
        }
    }
    IConnectableLayer* layer = builder.Network().AddUnidirectionalSequenceLstmLayer(descriptor, op.LayerName().c_str());
    WireLayer(op, builder, layer, operands, {2},
              {{OutputState, 1, 0, {{RecurrentToOutputWeights, LastDimension}}},
               {CellState, 2, 1, {{InputToOutputWeights, 0}}}},
              descriptor.m_TimeMajor);
}

void AddBasicLstm(const OperatorView& op, NetworkBuilder& builder)
{
    op.CheckNumInputs("kernel_type", 5);
    const StateShape shape = {{2, 0, 4}};
    WireLayer(op, builder, builder.Network().AddBasicLstmLayer(op.LayerName().c_str()), FirstOperands(5), {0, 1, 2, 3},
              {{1, 1, 0, shape}, {4, 4, 1, shape}}, false);
}

void AddRnnLayer(const OperatorView& op, NetworkBuilder& builder, bool isTimeMajor)
{
    RnnDescriptor descriptor;
    descriptor.m_ActivationFunc = ToCode(GetActivation(op));
    descriptor.m_TimeMajor = isTimeMajor;
    descriptor.m_AsymmetricQuantizeInputs = op.Bool("asymmetric_quantize_inputs", false);
    WireLayer(op, builder, builder.Network().AddRnnLayer(descriptor, op.LayerName().c_str()), FirstOperands(5), {1},
              {{4, 4, 0, {{1, 0}}}}, descriptor.m_TimeMajor);
}

void AddLstm(const OperatorView& op, NetworkBuilder& builder)
{
    if (IsBasicLstm(op))
    {
        AddBasicLstm(op, builder);
        return;
    }
    op.CheckNumOutputs("kernel_type", 1);
    UnidirectionalSequenceLstmDescriptor descriptor = MakeFullLstm(op);
    descriptor.m_TimeMajor = true;
    descriptor.m_SparseRecurrentWeights = op.Input(RecurrentToOutputWeights).m_IsSparse;
    WireFullLstm(op, builder, descriptor);
}

void AddUnidirectionalSequenceLstm(const OperatorView& op, NetworkBuilder& builder)
{
    UnidirectionalSequenceLstmDescriptor descriptor = MakeFullLstm(op);
    descriptor.m_TimeMajor = op.Bool("time_major", false);
    WireFullLstm(op, builder, descriptor);
}

void AddBidirectionalSequenceLstm(const OperatorView& op, NetworkBuilder& builder)
{
    BidirectionalSequenceLstmDescriptor descriptor;
    descriptor.m_ActivationFunc = ToCode(GetActivation(op));
    descriptor.m_ClippingThresCell = op.Float("cell_clip", 0.0f);
    descriptor.m_ClippingThresProj = op.Float("proj_clip", 0.0f);
    descriptor.m_MergeOutputs = op.Bool("merge_outputs", false);
    op.CheckNumOutputs("merge_outputs", descriptor.m_MergeOutputs ? 1 : 2);
    descriptor.m_TimeMajor = op.HasOptions() && op.Bool("time_major", true);
    descriptor.m_AsymmetricQuantizeInputs = op.Bool("asymmetric_quantize_inputs", false);
    IConnectableLayer* layer = builder.Network().AddBidirectionalSequenceLstmLayer(descriptor, op.LayerName().c_str());
    const std::vector<unsigned int> outputs =
        descriptor.m_MergeOutputs ? std::vector<unsigned int>{4} : std::vector<unsigned int>{4, 5};
    // Forward output state and cell state, then those of the other direction.
    WireLayer(op, builder, layer, FirstOperands(48), outputs,
              {{35, 35, 0, {{8, LastDimension}}},
               {36, 36, 1, {{4, 0}}},
               {37, 37, 2, {{25, LastDimension}}},
               {38, 38, 3, {{21, 0}}}},
              descriptor.m_TimeMajor);
}

void AddRnn(const OperatorView& op, NetworkBuilder& builder)
{
    AddRnnLayer(op, builder, false);
}

void AddUnidirectionalSequenceRnn(const OperatorView& op, NetworkBuilder& builder)
{
    AddRnnLayer(op, builder, op.Bool("time_major", false));
}

void AddBidirectionalSequenceRnn(const OperatorView& op, NetworkBuilder& builder)
{
    BidirectionalSequenceRnnDescriptor descriptor;
    descriptor.m_ActivationFunc = ToCode(GetActivation(op));
    descriptor.m_MergeOutputs = op.Bool("merge_outputs", false);
    op.CheckNumOutputs("merge_outputs", descriptor.m_MergeOutputs ? 1 : 2);
    descriptor.m_TimeMajor = op.Bool("time_major", false);
    descriptor.m_AsymmetricQuantizeInputs = op.Bool("asymmetric_quantize_inputs", false);
    IConnectableLayer* layer = builder.Network().AddBidirectionalSequenceRnnLayer(descriptor, op.LayerName().c_str());
    const std::vector<unsigned int> outputs =
        descriptor.m_MergeOutputs ? std::vector<unsigned int>{2} : std::vector<unsigned int>{2, 3};
    WireLayer(op, builder, layer, FirstOperands(12), outputs, {{4, 4, 0, {{1, 0}}}, {8, 8, 1, {{5, 0}}}},
              descriptor.m_TimeMajor);
}

void AddSvdf(const OperatorView& op, NetworkBuilder& builder)
{
    SvdfDescriptor descriptor;
    descriptor.m_Rank = op.Unsigned("rank", 0, 1);
    descriptor.m_ActivationFunc = ToCode(GetActivation(op));
    descriptor.m_AsymmetricQuantizeInputs = op.Bool("asymmetric_quantize_inputs", false);
    WireLayer(op, builder, builder.Network().AddSvdfLayer(descriptor, op.LayerName().c_str()), FirstOperands(5), {1},
              {{4, 4, 0, {{1, 0}, {2, 1}}}}, false);
}

} // namespace

Span<const OperatorRow> GetRecurrentRows()
{
    static constexpr OperatorRow rows[] = {
        {"BIDIRECTIONAL_SEQUENCE_LSTM", AddBidirectionalSequenceLstm, 39, 48, 1, 2},
        {"BIDIRECTIONAL_SEQUENCE_RNN", AddBidirectionalSequenceRnn, 9, 12, 1, 2},
        {"LSTM", AddLstm, 5, 24, 1, 4},
        {"RNN", AddRnn, 5, 5, 1, 1},
        {"SVDF", AddSvdf, 5, 5, 1, 1},
        {"UNIDIRECTIONAL_SEQUENCE_LSTM", AddUnidirectionalSequenceLstm, 20, 24, 1, 1},
        {"UNIDIRECTIONAL_SEQUENCE_RNN", AddUnidirectionalSequenceRnn, 5, 5, 1, 1},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
