// SPDX-License-Identifier: Apache-2.0
// NetworkBuilder: see NetworkBuilder.hpp.
#include "parsers/tflite/NetworkBuilder.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/ICustomOperator.hpp>

#include <fmt/format.h>

namespace tenon::tflite
{

namespace
{

bool IsEmpty(const TensorInfo& info)
{
    return info.GetShape().AreAllDimensionsSpecified() && info.GetShape().GetNumElements64() == 0;
}

/// The same elements without scale and zero point; what is not quantized stays as it is.
TensorInfo ToIntegers(const TensorInfo& info)
{
    switch (info.GetDataType())
    {
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return {info.GetShape(), DataType::Signed8};
    case DataType::QAsymmU8: return {info.GetShape(), DataType::Unsigned8};
    case DataType::QSymmS16: return {info.GetShape(), DataType::Signed16};
    default: return {info.GetShape(), info.GetDataType()};
    }
}

ActivationDescriptor ToDescriptor(const OperatorView& op, FusedActivation activation)
{
    switch (activation)
    {
    case FusedActivation::Relu: return ActivationDescriptor(ActivationFunction::ReLu);
    case FusedActivation::Relu6: return ActivationDescriptor(ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    case FusedActivation::ReluN1To1: return ActivationDescriptor(ActivationFunction::BoundedReLu, 1.0f, -1.0f);
    case FusedActivation::Tanh: return ActivationDescriptor(ActivationFunction::TanH, 1.0f, 1.0f);
    case FusedActivation::SignBit: throw UnimplementedException("the fused activation SIGN_BIT is not supported");
    case FusedActivation::None: break;
    }
    op.Fail("the fused activation has no layer");
}

const char* Name(FusedActivation activation)
{
    switch (activation)
    {
    case FusedActivation::None: return "NONE";
    case FusedActivation::Relu: return "RELU";
    case FusedActivation::ReluN1To1: return "RELU_N1_TO_1";
    case FusedActivation::Relu6: return "RELU6";
    case FusedActivation::Tanh: return "TANH";
    case FusedActivation::SignBit: return "SIGN_BIT";
    }
    return "?";
}

} // namespace

NetworkBuilder::NetworkBuilder(Construction& construction, NetworkState& state, size_t subgraph, size_t numTensors)
    : m_Construction(construction), m_State(state), m_Subgraph(subgraph), m_Sources(numTensors)
{
}

void NetworkBuilder::AddInput(const TensorView& tensor, LayerBindingId id, const std::string& name)
{
    if (tensor.m_IsResource)
    {
        throw UnimplementedException(fmt::format("tensor {} is of type RESOURCE and cannot be fed", tensor.Label()));
    }
    CountLayer();
    IConnectableLayer* layer = Network().AddInputLayer(id, name.c_str());
    layer->GetOutputSlot(0).SetTensorInfo(tensor.m_Info);
    Feed(tensor, layer->GetOutputSlot(0));
}

const IOutputSlot& NetworkBuilder::AddOutput(const TensorView& tensor, LayerBindingId id, const std::string& name)
{
    CountLayer();
    IOutputSlot& source = Source(tensor);
    source.Connect(Network().AddOutputLayer(id, name.c_str())->GetInputSlot(0));
    return source;
}

bool NetworkBuilder::IsAvailable(const TensorView& tensor) const
{
    // A tensor without elements needs nobody to compute it.
    return m_Sources.at(tensor.m_Index) != nullptr || tensor.m_IsConstant || IsEmpty(tensor.m_Info);
}

IOutputSlot& NetworkBuilder::Source(const TensorView& tensor)
{
    IOutputSlot*& slot = m_Sources.at(tensor.m_Index);
    if (slot == nullptr)
    {
        if (tensor.m_IsResource)
        {
            throw UnimplementedException(
                fmt::format("tensor {} is a resource, which only operators of variables can take", tensor.Label()));
        }
        if (tensor.m_IsVariable)
        {
            return VariableSlot(m_Construction.m_Variables.Tensor(m_Subgraph, tensor));
        }
        if (!IsAvailable(tensor))
        {
            throw ParseException(fmt::format(
                "tensor {} is read, but it is neither an input, nor constant, nor computed before", tensor.Label()));
        }
        slot = &AddConstant(tensor).GetOutputSlot(0);
    }
    return *slot;
}

void NetworkBuilder::SetSource(const TensorView& tensor, IOutputSlot& slot, const std::string& name)
{
    IOutputSlot*& source = m_Sources.at(tensor.m_Index);
    if (source != nullptr || tensor.m_IsConstant)
    {
        throw ParseException(
            fmt::format("tensor {} is {}, but it {}", tensor.Label(), name,
                        tensor.m_IsConstant ? "is constant" : "has its values from elsewhere already"));
    }
    source = &slot;
}

void NetworkBuilder::Feed(const TensorView& tensor, IOutputSlot& slot)
{
    m_Sources.at(tensor.m_Index) = &slot;
}

IConnectableLayer& NetworkBuilder::AddConstant(const TensorView& tensor)
{
    CountLayer();
    TensorInfo info = tensor.m_Info;
    info.SetConstant();
    std::shared_ptr<const void> owner = tensor.m_Owner != nullptr ? tensor.m_Owner : m_Construction.m_Owner;
    const std::string name = tensor.m_Name.empty() ? fmt::format("tensor_{}", tensor.m_Index) : tensor.m_Name;
    return *Network().AddConstantLayer(ConstTensor(info, tensor.m_Data.data()), std::move(owner), name.c_str());
}

void NetworkBuilder::ConnectInputs(const OperatorView& op, IConnectableLayer& layer,
                                   const std::vector<size_t>& operands)
{
    for (unsigned int slot = 0; slot < operands.size(); ++slot)
    {
        if (operands[slot] != NoOperand)
        {
            Source(op.Input(operands[slot])).Connect(layer.GetInputSlot(slot));
        }
    }
}

void NetworkBuilder::WireInput(const OperatorView& op, size_t operand, IConnectableLayer* layer, unsigned int inputSlot)
{
    if (op.HasInput(operand))
    {
        Source(op.Input(operand)).Connect(layer->GetInputSlot(inputSlot));
    }
}

void NetworkBuilder::WireSlot(const OperatorView& op, IConnectableLayer* layer, unsigned int outputSlot,
                              unsigned int output, FusedActivation activation)
{
    IOutputSlot& slot = layer->GetOutputSlot(outputSlot);
    slot.SetTensorInfo(op.Output(output).m_Info);
    SetOutput(op, output, slot, activation);
}

void NetworkBuilder::Wire(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands,
                          FusedActivation activation)
{
    CountLayer();
    ConnectInputs(op, *layer, operands);
    WireOutputs(op, layer, activation);
}

void NetworkBuilder::WireStored(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands,
                                FusedActivation activation)
{
    CountLayer();
    const TensorInfo& output = op.Output(0).m_Info;
    for (unsigned int slot = 0; slot < operands.size(); ++slot)
    {
        const size_t operand = operands[slot];
        const TensorInfo& input = op.Input(operand).m_Info;
        IOutputSlot* source = &Source(op.Input(operand));
        const bool isAsWide = GetDataTypeBits(input.GetDataType()) == GetDataTypeBits(output.GetDataType());
        if ((input.IsQuantized() || output.IsQuantized()) && isAsWide && !input.IsTypeSpaceMatch(output))
        {
            TensorInfo info = output;
            info.SetShape(input.GetShape());
            source = &Relabel(op, *source, info, fmt::format("input {} as stored", operand));
        }
        source->Connect(layer->GetInputSlot(slot));
    }
    WireOutputs(op, layer, activation);
}

void NetworkBuilder::WireIntegers(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands)
{
    CountLayer();
    for (unsigned int slot = 0; slot < operands.size(); ++slot)
    {
        const TensorView& operand = op.Input(operands[slot]);
        IOutputSlot& source = Source(operand);
        IOutputSlot& integers =
            operand.m_Info.IsQuantized()
                ? Relabel(op, source, ToIntegers(operand.m_Info), fmt::format("input {} as integers", operands[slot]))
                : source;
        integers.Connect(layer->GetInputSlot(slot));
    }
    const TensorInfo& output = op.Output(0).m_Info;
    layer->GetOutputSlot(0).SetTensorInfo(ToIntegers(output));
    IOutputSlot& integers = layer->GetOutputSlot(0);
    SetOutput(op, 0, output.IsQuantized() ? Relabel(op, integers, output, "output") : integers, FusedActivation::None);
}

void NetworkBuilder::WireScaled(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands,
                                float factor, FusedActivation activation)
{
    CountLayer();
    const auto scale = [factor](TensorInfo info)
    {
        info.SetQuantizationScale(info.GetQuantizationScale() * factor);
        return info;
    };
    for (unsigned int slot = 0; slot < operands.size(); ++slot)
    {
        const TensorView& operand = op.Input(operands[slot]);
        Relabel(op, Source(operand), scale(operand.m_Info), fmt::format("input {} scaled", operands[slot]))
            .Connect(layer->GetInputSlot(slot));
    }
    const TensorInfo& output = op.Output(0).m_Info;
    layer->GetOutputSlot(0).SetTensorInfo(scale(output));
    SetOutput(op, 0, Relabel(op, layer->GetOutputSlot(0), output, "output"), activation);
}

IOutputSlot& NetworkBuilder::Relabel(const OperatorView& op, IOutputSlot& source, const TensorInfo& info,
                                     const std::string& what)
{
    CountLayer();
    IConnectableLayer* layer = Network().AddBitcastLayer(op.LayerName(what).c_str());
    source.Connect(layer->GetInputSlot(0));
    TensorInfo computed = info;
    computed.SetConstant(false);
    layer->GetOutputSlot(0).SetTensorInfo(computed);
    return layer->GetOutputSlot(0);
}

void NetworkBuilder::WireOutputs(const OperatorView& op, IConnectableLayer* layer, FusedActivation activation)
{
    for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
    {
        if (layer->GetNumOutputSlots() > 1 && !op.HasOutput(i))
        {
            continue; // one of several that nobody asks for
        }
        WireSlot(op, layer, i, i, activation);
    }
}

void NetworkBuilder::SetOutput(const OperatorView& op, unsigned int i, IOutputSlot& slot, FusedActivation activation)
{
    const TensorView& tensor = op.Output(i);
    IOutputSlot* last = &slot;
    if (activation != FusedActivation::None)
    {
        IConnectableLayer& fused = AddFusedActivation(op, activation);
        slot.Connect(fused.GetInputSlot(0));
        last = &fused.GetOutputSlot(0);
        last->SetTensorInfo(tensor.m_Info);
    }
    SetSource(tensor, *last, "computed here");
}

void NetworkBuilder::WireAs(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands,
                            DataType type)
{
    Wire(op, layer, operands);
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(op.Output(0).m_Info.GetShape(), type));
}

void NetworkBuilder::WireOutput(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands,
                                unsigned int output)
{
    CountLayer();
    ConnectInputs(op, *layer, operands);
    WireSlot(op, layer, 0, output);
}

void NetworkBuilder::Alias(const OperatorView& op)
{
    SetSource(op.Output(0), Source(op.Input(0)), "computed here");
}

IConnectableLayer& NetworkBuilder::AddFusedActivation(const OperatorView& op, FusedActivation activation)
{
    CountLayer();
    const ActivationDescriptor descriptor = ToDescriptor(op, activation);
    return *Network().AddActivationLayer(descriptor, op.LayerName(Name(activation)).c_str());
}

void NetworkBuilder::AddUnsupported(const OperatorView& op)
{
    CountLayer();
    const auto numInputs = static_cast<uint32_t>(op.NumInputs());
    const auto numOutputs = static_cast<uint32_t>(op.NumOutputs());
    IConnectableLayer* layer = nullptr;
    if (m_Construction.m_StandInForUnsupported)
    {
        layer = Network().AddStandInLayer(StandInDescriptor(numInputs, numOutputs), op.LayerName().c_str());
    }
    else
    {
        CustomDescriptor descriptor;
        descriptor.m_Name = op.Name();
        descriptor.m_Options = op.RawOptions();
        descriptor.m_NumInputs = numInputs;
        descriptor.m_NumOutputs = numOutputs;
        for (const auto& custom : m_Construction.m_CustomOperators)
        {
            if (custom != nullptr && custom->GetName() == op.Name())
            {
                descriptor.m_Operator = custom;
            }
        }
        layer = Network().AddCustomLayer(descriptor, op.LayerName().c_str());
    }
    for (unsigned int i = 0; i < numInputs; ++i)
    {
        // An absent operand has no connection, nor has state that the layer itself keeps from run to run.
        if (op.HasInput(i) && (!op.Input(i).m_IsVariable || IsAvailable(op.Input(i))))
        {
            Source(op.Input(i)).Connect(layer->GetInputSlot(i));
        }
    }
    for (unsigned int i = 0; i < numOutputs; ++i)
    {
        if (op.HasOutput(i))
        {
            layer->GetOutputSlot(i).SetTensorInfo(op.Output(i).m_Info);
            SetSource(op.Output(i), layer->GetOutputSlot(i), "computed here");
        }
    }
}

void NetworkBuilder::CountLayer()
{
    m_Construction.m_Size.CountLayer();
}

} // namespace tenon::tflite
