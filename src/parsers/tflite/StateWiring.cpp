// SPDX-License-Identifier: Apache-2.0
// The part of NetworkBuilder that knows what is kept between runs: variable tensors, resource variables and the state
// of operators, which become ReadState and WriteState layers of the main network.
#include "parsers/tflite/NetworkBuilder.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

namespace tenon::tflite
{

VariableId NetworkBuilder::HandleOf(const TensorView& tensor) const
{
    const auto found = m_Handles.find(tensor.m_Index);
    if (found == m_Handles.end())
    {
        throw UnimplementedException(fmt::format(
            "tensor {} is a resource that no VAR_HANDLE gives; only variables are supported", tensor.Label()));
    }
    return found->second;
}

void NetworkBuilder::BindHandle(const OperatorView& op, const std::string& container, const std::string& name)
{
    m_Handles[op.Output(0).m_Index] = m_Construction.m_Variables.Resource(container, name);
}

IOutputSlot& NetworkBuilder::VariableSlot(VariableId id, IOutputSlot* batch, uint32_t batchDimension)
{
    NetworkState::Slot& slot = m_State.m_Slots[id];
    if (slot.m_Current == nullptr)
    {
        const Variables& variables = m_Construction.m_Variables;
        if (m_State.m_IsNested)
        {
            throw ParseException(fmt::format("variable '{}' does not reach this subgraph", variables.Name(id)));
        }
        CountLayer();
        TensorInfo info = variables.Info(id);
        IConnectableLayer* layer = m_State.m_Network->AddReadStateLayer(
            StateDescriptor(variables.Name(id), batchDimension), variables.Name(id).c_str());
        const auto initial = m_State.m_Initials.find(id);
        if (initial != m_State.m_Initials.end())
        {
            initial->second->Connect(layer->GetInputSlot(0));
        }
        else if (batch != nullptr && info.GetShape().GetDimensionality() == Dimensionality::Specified)
        {
            batch->Connect(layer->GetInputSlot(1));
            TensorShape shape = info.GetShape();
            shape.SetDimensionUnknown(0);
            info.SetShape(shape);
        }
        layer->GetOutputSlot(0).SetTensorInfo(info);
        slot.m_Current = &layer->GetOutputSlot(0);
    }
    return *slot.m_Current;
}

IOutputSlot& NetworkBuilder::InitialValue(VariableId id) const
{
    const auto found = m_State.m_Initials.find(id);
    if (found == m_State.m_Initials.end())
    {
        throw UnimplementedException(fmt::format("variable '{}' is read by an initializer before it is assigned",
                                                 m_Construction.m_Variables.Name(id)));
    }
    return *found->second;
}

void NetworkBuilder::ReadVariable(const OperatorView& op)
{
    const VariableId id = HandleOf(op.Input(0));
    const TensorView& output = op.Output(0);
    m_Construction.m_Variables.Describe(id, output.m_Info);
    IOutputSlot& value = m_State.m_IsInitializing ? InitialValue(id) : VariableSlot(id);
    // What was assigned before becomes the output without a layer, so that nothing else compares the types.
    const DataType held = value.GetTensorInfo().GetDataType();
    if (held != output.m_Info.GetDataType())
    {
        op.Fail(fmt::format("reads variable '{}' as {} into tensor {}, but it holds {}",
                            m_Construction.m_Variables.Name(id), GetDataTypeName(output.m_Info.GetDataType()),
                            output.Label(), GetDataTypeName(held)));
    }
    SetSource(output, value, "computed here");
}

void NetworkBuilder::AssignVariable(const OperatorView& op)
{
    const VariableId id = HandleOf(op.Input(0));
    m_Construction.m_Variables.Describe(id, op.Input(1).m_Info);
    IOutputSlot& value = Source(op.Input(1));
    if (!m_State.m_IsInitializing)
    {
        m_State.m_Slots[id] = {&value, true};
        return;
    }
    if (m_State.m_Slots.count(id) != 0)
    {
        throw UnimplementedException(
            fmt::format("variable '{}' is used before its initializer is called", m_Construction.m_Variables.Name(id)));
    }
    m_State.m_Initials[id] = &value;
}

void NetworkBuilder::WriteStates()
{
    for (const auto& [id, slot] : m_State.m_Slots)
    {
        if (slot.m_IsWritten)
        {
            CountLayer();
            const std::string& name = m_Construction.m_Variables.Name(id);
            slot.m_Current->Connect(
                m_State.m_Network->AddWriteStateLayer(StateDescriptor(name), name.c_str())->GetInputSlot(0));
        }
    }
}

void NetworkBuilder::WireState(const OperatorView& op, size_t operand, IConnectableLayer* layer, unsigned int inputSlot,
                               unsigned int outputSlot, std::optional<BatchOf> batch, const TensorShape& shape)
{
    const TensorView& tensor = op.Input(operand);
    IOutputSlot& result = layer->GetOutputSlot(outputSlot);
    TensorInfo info = tensor.m_Info;
    info.SetConstant(false);
    info.SetShape(TensorShape());
    result.SetTensorInfo(info);
    IOutputSlot*& fed = m_Sources.at(tensor.m_Index);
    if (fed != nullptr || !tensor.m_IsVariable)
    {
        // The caller feeds the state, or it is a constant: there is nothing to keep.
        Source(tensor).Connect(layer->GetInputSlot(inputSlot));
        fed = &result;
        return;
    }
    const VariableId id = m_Construction.m_Variables.Tensor(m_Subgraph, tensor);
    if (tensor.m_Info.GetShape().GetDimensionality() == Dimensionality::NotSpecified)
    {
        info.SetShape(shape);
        m_Construction.m_Variables.Describe(id, info);
    }
    IOutputSlot* reference = batch.has_value() ? &Source(op.Input(batch->m_Operand)) : nullptr;
    VariableSlot(id, reference, batch.has_value() ? batch->m_Dimension : 0).Connect(layer->GetInputSlot(inputSlot));
    m_State.m_Slots[id] = {&result, true};
}

void NetworkBuilder::WireOwnState(const OperatorView& op, const char* what, const TensorInfo& info, IInputSlot& input,
                                  IOutputSlot& output)
{
    if (m_State.m_IsNested || m_State.m_IsInitializing)
    {
        throw UnimplementedException(fmt::format("keeps its {} from run to run, which is not supported within "
                                                 "branches, loops and initializers",
                                                 what));
    }
    m_Construction.m_Size.CountBytes(info.GetShape().GetNumElements64() * GetDataTypeSize(info.GetDataType()));
    const VariableId id = m_Construction.m_Variables.Own(m_Subgraph, op.LayerName(what));
    m_Construction.m_Variables.Describe(id, info);
    output.SetTensorInfo(info);
    VariableSlot(id).Connect(input);
    m_State.m_Slots[id] = {&output, true};
}

} // namespace tenon::tflite
