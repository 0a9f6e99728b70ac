// SPDX-License-Identifier: Apache-2.0
// Code that the arithmetics of LstmCell share: parameters, sizes and the check of types.
#include "backends/reference/kernels/LstmCell.hpp"

#include "backends/common/QuantizationCheck.hpp"
#include "backends/reference/kernels/LstmInteger.hpp"

#include <tenon/Exceptions.hpp>

#include <cmath>
#include <string>

namespace tenon::ref
{

namespace
{

SupportResult Refuse(std::string reason)
{
    return SupportResult::No(SupportCode::UnsupportedParameters, std::move(reason));
}

/// The allowed types of a cell's operands.
struct LstmTypes
{
    bool m_IsInteger; ///< int8 data
    bool m_IsHybrid;  ///< float data, 8-bit weights

    bool IsWeights(DataType type) const
    {
        return m_IsInteger || m_IsHybrid ? IsInt8Weights(type) : type == DataType::Float32;
    }
    bool IsPeephole(DataType type) const { return m_IsInteger ? type == DataType::QSymmS16 : IsWeights(type); }
    bool IsBias(DataType type) const { return type == (m_IsInteger ? DataType::Signed32 : DataType::Float32); }
    bool IsLayerNorm(DataType type) const { return type == (m_IsInteger ? DataType::QSymmS16 : DataType::Float32); }
    bool IsData(DataType type) const { return type == (m_IsInteger ? DataType::QAsymmS8 : DataType::Float32); }
    /// The output state of int8 data may be declared with 16 bits, as in some models: its first bytes still hold int8
    /// values, as in TFLite.
    bool IsOutputState(DataType type) const { return IsData(type) || (m_IsInteger && type == DataType::QSymmS16); }
    bool IsCellState(DataType type) const { return type == (m_IsInteger ? DataType::QSymmS16 : DataType::Float32); }
    /// A diagonal of recurrent weights stays float.
    bool IsRecurrent(const TensorInfo& info) const
    {
        const TensorShape& shape = info.GetShape();
        const bool isDiagonal = shape.GetDimensionality() == Dimensionality::Specified && shape.GetNumDimensions() == 1;
        return isDiagonal ? !m_IsInteger && info.GetDataType() == DataType::Float32 : IsWeights(info.GetDataType());
    }
};

class TypeCheck
{
public:
    TypeCheck(const LayerView& layer, const LstmTypes& types) : m_Layer(layer), m_Types(types) {}

    void Input(size_t slot, const char* what, bool (LstmTypes::*fits)(DataType) const)
    {
        if (slot != LstmSlots::None && m_Layer.HasInput(slot) && !(m_Types.*fits)(m_Layer.GetInput(slot).GetDataType()))
        {
            Fail("input " + std::to_string(slot), what, m_Layer.GetInput(slot).GetDataType());
        }
    }
    void Recurrent(size_t slot)
    {
        if (m_Layer.HasInput(slot) && !m_Types.IsRecurrent(m_Layer.GetInput(slot)))
        {
            Fail("input " + std::to_string(slot), "recurrent weights", m_Layer.GetInput(slot).GetDataType());
        }
    }
    void Output(size_t i, const char* what, bool (LstmTypes::*fits)(DataType) const)
    {
        if (i < m_Layer.GetNumOutputs() && !(m_Types.*fits)(m_Layer.GetOutput(i).GetDataType()))
        {
            Fail("output " + std::to_string(i), what, m_Layer.GetOutput(i).GetDataType());
        }
    }
    const SupportResult& Get() const { return m_Result; }

private:
    void Fail(const std::string& place, const char* what, DataType type)
    {
        if (m_Result)
        {
            m_Result = SupportResult::No(SupportCode::UnsupportedType, place + ", the " + what + ", has type " +
                                                                           GetDataTypeName(type) +
                                                                           ", which does not go with the data's");
        }
    }

    const LayerView& m_Layer;
    const LstmTypes& m_Types;
    SupportResult m_Result = SupportResult::Yes();
};

/// Checks that all weights that multiply int8 data have one scale; missing weights are skipped.
SupportResult CheckWeightsScales(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters)
{
    SupportResult result = SupportResult::Yes();
    const auto check = [&](size_t slot)
    {
        if (result && slot != LstmSlots::None && layer.HasInput(slot))
        {
            result = backends::CheckOneScale(layer.GetInput(slot), "input " + std::to_string(slot));
        }
    };
    for (size_t gate = parameters.m_HasInputGate ? 0 : 1; gate < LstmSlots::NumGates; ++gate)
    {
        check(slots.m_InputWeights[gate]);
        check(slots.m_RecurrentWeights[gate]);
        check(parameters.m_HasPeephole ? slots.m_Peephole[gate] : LstmSlots::None);
        check(parameters.m_HasLayerNorm ? slots.m_LayerNorm[gate] : LstmSlots::None);
    }
    check(parameters.m_HasProjection ? slots.m_Projection : LstmSlots::None);
    return result;
}

/// Checks the quantization of int8 data, states and weights, and related parameters.
SupportResult CheckIntegers(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters,
                            const LstmOutputs& outputs)
{
    SupportResult result =
        backends::CheckPerTensor(layer, {slots.m_Data, slots.m_OutputState, slots.m_CellState}, {outputs.m_Output});
    if (result)
    {
        result = CheckZeroPointInt8(layer.GetInput(slots.m_OutputState).GetQuantizationOffset(), "output state's");
    }
    if (result)
    {
        result = CheckWeightsScales(layer, slots, parameters);
    }
    if (!result)
    {
        return result;
    }
    return parameters.m_ProductScales.empty() ? CheckIntegerLstm(layer, slots, parameters)
                                              : CheckInteger8Lstm(layer, slots, parameters);
}

/// Checks 8-bit weights of float data.
SupportResult CheckHybridWeights(const LayerView& layer, const LstmSlots& slots)
{
    for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
    {
        SupportResult result = CheckGateWeights(layer, {slots.m_InputWeights[gate], slots.m_RecurrentWeights[gate],
                                                        slots.m_Peephole[gate], slots.m_AuxWeights[gate]});
        if (!result)
        {
            return result;
        }
    }
    return CheckGateWeights(layer, {slots.m_Projection});
}

} // namespace

LstmParameters::LstmParameters(const LstmDescriptor& d)
    : m_HasInputGate(!d.m_CifgEnabled), m_HasPeephole(d.m_PeepholeEnabled), m_HasProjection(d.m_ProjectionEnabled),
      m_HasLayerNorm(d.m_LayerNormEnabled), m_Activation(d.m_ActivationFunc), m_CellClip(d.m_ClippingThresCell),
      m_ProjectionClip(d.m_ClippingThresProj), m_TimeMajor(d.m_TimeMajor), m_Asymmetric(d.m_AsymmetricQuantizeInputs),
      m_HasSparseRecurrent(d.m_SparseRecurrentWeights), m_IntermediateScales{d.m_InputIntermediateScale,
                                                                             d.m_ForgetIntermediateScale,
                                                                             d.m_CellIntermediateScale,
                                                                             d.m_OutputIntermediateScale},
      m_HiddenScale(d.m_HiddenStateScale), m_HiddenZeroPoint(d.m_HiddenStateZeroPoint),
      m_ProductScales(d.m_ProductScales), m_ProductZeroPoints(d.m_ProductZeroPoints)
{
}

LstmParameters::LstmParameters(const QLstmDescriptor& d)
    : m_HasInputGate(!d.m_CifgEnabled), m_HasPeephole(d.m_PeepholeEnabled), m_HasProjection(d.m_ProjectionEnabled),
      m_HasLayerNorm(d.m_LayerNormEnabled), m_CellClip(d.m_CellClip),
      m_ProjectionClip(d.m_ProjectionClip), m_IntermediateScales{d.m_InputIntermediateScale,
                                                                 d.m_ForgetIntermediateScale, d.m_CellIntermediateScale,
                                                                 d.m_OutputIntermediateScale},
      m_HiddenScale(d.m_HiddenStateScale), m_HiddenZeroPoint(d.m_HiddenStateZeroPoint)
{
}

LstmGeometry::LstmGeometry(const ReshapeArgs& args, const LstmSlots& slots, const LstmParameters& parameters,
                           const LstmOutputs& outputs, bool isBackward)
    : m_Slots(slots), m_OutputSlots(outputs), m_IsBackward(isBackward)
{
    const auto keep = [&](size_t& slot, bool isUsed) { slot = isUsed && args.HasInput(slot) ? slot : LstmSlots::None; };
    for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
    {
        const bool hasGate = gate != LstmSlots::Input || parameters.m_HasInputGate;
        keep(m_Slots.m_InputWeights[gate], hasGate);
        keep(m_Slots.m_RecurrentWeights[gate], hasGate);
        keep(m_Slots.m_Peephole[gate], hasGate && parameters.m_HasPeephole);
        keep(m_Slots.m_Bias[gate], hasGate);
        keep(m_Slots.m_LayerNorm[gate], hasGate && parameters.m_HasLayerNorm);
        keep(m_Slots.m_AuxWeights[gate], hasGate);
    }
    keep(m_Slots.m_Projection, parameters.m_HasProjection);
    keep(m_Slots.m_ProjectionBias, parameters.m_HasProjection);
    keep(m_Slots.m_Aux, m_Slots.m_AuxWeights[LstmSlots::Forget] != LstmSlots::None);

    const TensorShape& data = args.GetInput(slots.m_Data).GetShape();
    m_Sequence = SequenceShape(data, parameters.m_TimeMajor);
    m_Inputs = data[data.GetNumDimensions() - 1];
    m_AuxInputs = m_Slots.m_Aux == LstmSlots::None ? 0 : args.GetInput(m_Slots.m_Aux).GetShape()[2];
    m_Units = args.GetInput(slots.m_InputWeights[LstmSlots::Output]).GetShape()[0];
    const TensorShape& recurrent = args.GetInput(slots.m_RecurrentWeights[LstmSlots::Output]).GetShape();
    m_Outputs = recurrent[recurrent.GetNumDimensions() - 1];
    m_StateBytes = args.GetInput(slots.m_OutputState).GetNumBytes();
    const TensorShape& output = args.GetOutput(outputs.m_Output).GetShape();
    m_OutputStride = output[output.GetNumDimensions() - 1];
}

std::shared_ptr<const LstmCell> MakeLstmCell(const ReshapeArgs& args, const LstmSlots& slots,
                                             const LstmParameters& parameters, const LstmOutputs& outputs,
                                             bool isBackward, backends::Scratch& scratch)
{
    const LstmGeometry geometry(args, slots, parameters, outputs, isBackward);
    if (args.GetInput(slots.m_Data).GetDataType() == DataType::Float32)
    {
        return MakeFloatLstmCell(args, geometry, parameters, scratch);
    }
    return parameters.m_ProductScales.empty() ? MakeIntegerLstmCell(args, geometry, parameters, scratch)
                                              : MakeInteger8LstmCell(args, geometry, parameters, scratch);
}

SupportResult CheckLstm(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters,
                        const LstmOutputs& outputs)
{
    for (const size_t slot : {slots.m_Data, slots.m_InputWeights[LstmSlots::Output],
                              slots.m_RecurrentWeights[LstmSlots::Output], slots.m_OutputState, slots.m_CellState})
    {
        if (!layer.HasInput(slot))
        {
            return Refuse("input " + std::to_string(slot) + " is not connected");
        }
    }
    if (!(parameters.m_CellClip >= 0.0f) || !(parameters.m_ProjectionClip >= 0.0f))
    {
        return Refuse("a clipping threshold is negative or no number");
    }
    if (SupportResult activation = CheckRecurrentActivation(parameters.m_Activation); !activation)
    {
        return activation;
    }
    LstmTypes types{};
    types.m_IsInteger = layer.GetInput(slots.m_Data).GetDataType() != DataType::Float32;
    types.m_IsHybrid = !types.m_IsInteger &&
                       layer.GetInput(slots.m_InputWeights[LstmSlots::Output]).GetDataType() != DataType::Float32;
    TypeCheck check(layer, types);
    check.Input(slots.m_Data, "data", &LstmTypes::IsData);
    check.Input(slots.m_Aux, "auxiliary data", &LstmTypes::IsData);
    check.Input(slots.m_OutputState, "output state", &LstmTypes::IsOutputState);
    check.Input(slots.m_CellState, "cell state", &LstmTypes::IsCellState);
    for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
    {
        check.Input(slots.m_InputWeights[gate], "weights", &LstmTypes::IsWeights);
        check.Recurrent(slots.m_RecurrentWeights[gate]);
        check.Input(slots.m_Peephole[gate], "peephole weights", &LstmTypes::IsPeephole);
        check.Input(slots.m_Bias[gate], "bias", &LstmTypes::IsBias);
        check.Input(slots.m_LayerNorm[gate], "layer normalization weights", &LstmTypes::IsLayerNorm);
        check.Input(slots.m_AuxWeights[gate], "auxiliary weights", &LstmTypes::IsWeights);
    }
    check.Input(slots.m_Projection, "projection weights", &LstmTypes::IsWeights);
    check.Input(slots.m_ProjectionBias, "projection bias", &LstmTypes::IsBias);
    check.Output(outputs.m_OutputState, "output state", &LstmTypes::IsOutputState);
    check.Output(outputs.m_CellState, "cell state", &LstmTypes::IsCellState);
    check.Output(outputs.m_Output, "output", &LstmTypes::IsData);
    if (!check.Get())
    {
        return check.Get();
    }
    if (layer.GetOutput(outputs.m_OutputState).GetDataType() != layer.GetInput(slots.m_OutputState).GetDataType())
    {
        return SupportResult::No(SupportCode::UnsupportedType, "the output state has another type as an output");
    }
    return types.m_IsInteger ? CheckIntegers(layer, slots, parameters, outputs) : CheckHybridWeights(layer, slots);
}

} // namespace tenon::ref
