// SPDX-License-Identifier: Apache-2.0
// See WidthChanger.hpp.
#include "optimizer/widths/WidthChanger.hpp"

#include "optimizer/Pass.hpp"

#include <fmt/format.h>

namespace tenon
{

DataType WidthChanger::Mapped(DataType type, Width width) const
{
    if (width == Width::Narrow && type == DataType::Float32)
    {
        return m_ReduceTo.value();
    }
    return width == Width::Widen && Is16BitFloat(type) ? DataType::Float32 : type;
}

void WidthChanger::Apply(Graph& graph, const std::vector<Width>& widths)
{
    m_Converted.clear();
    for (size_t i = 0; i < widths.size(); ++i)
    {
        for (InputSlot& input : graph.Layers()[i]->Inputs())
        {
            if (input.GetConnectedOutputSlot() != nullptr)
            {
                FitInput(graph, input, widths[i], widths[input.GetProducer()->m_Index]);
            }
        }
    }
    // Last: until here the infos tell what each value was.
    for (size_t i = 0; i < widths.size(); ++i)
    {
        for (OutputSlot& output : graph.Layers()[i]->Outputs())
        {
            TensorInfo& info = output.EditTensorInfo();
            info.SetDataType(Mapped(info.GetDataType(), widths[i]));
        }
    }
    passes::OptimizeInverseConversions(graph);
    passes::RemoveDeadLayers(graph);
}

void WidthChanger::FitInput(Graph& graph, InputSlot& input, Width reader, Width writer)
{
    OutputSlot& value = *input.GetConnectedOutputSlot();
    const DataType type = value.GetTensorInfo().GetDataType();
    const DataType wanted = Mapped(type, reader);
    if (input.IsTensorInfoOverridden() && wanted != type)
    {
        TensorInfo info = input.GetTensorInfo();
        info.SetDataType(wanted);
        input.SetTensorInfo(info);
    }
    if (wanted == Mapped(type, writer))
    {
        return;
    }
    OutputSlot*& converted = m_Converted[{&value, wanted}];
    if (converted == nullptr)
    {
        converted = &Convert(graph, value, Mapped(type, writer), wanted);
    }
    value.Disconnect(input);
    converted->Connect(input);
}

OutputSlot& WidthChanger::Convert(Graph& graph, OutputSlot& value, DataType from, DataType to)
{
    TensorInfo info = value.GetTensorInfo();
    info.SetDataType(to);
    const Layer& producer = value.GetOwningLayer();
    if (producer.GetType() == LayerType::Constant)
    {
        const auto& bytes = m_Constants.Use(producer, to);
        return graph.AddConstant(ConstTensor(info, bytes->data()), bytes, producer.GetNameStr()).Output(0);
    }
    LayerType type = LayerType::Cast; // there is no other layer for BFloat16
    if (from == DataType::Float16 || to == DataType::Float16)
    {
        type = from == DataType::Float16 ? LayerType::ConvertFp16ToFp32 : LayerType::ConvertFp32ToFp16;
    }
    Layer& layer = graph.AddLayer(type, nullptr, fmt::format("{}:{}", producer.GetNameStr(), GetDataTypeName(to)));
    value.Connect(layer.Input(0));
    layer.Output(0).SetTensorInfo(info);
    return layer.Output(0);
}

} // namespace tenon
