// SPDX-License-Identifier: Apache-2.0
// See Cases.hpp.
#include "CaseParts.hpp"

#include <cstring>

namespace tenon::test
{

namespace
{

template <typename T>
void Store(std::vector<uint8_t>& bytes, const std::vector<double>& values)
{
    bytes.resize(values.size() * sizeof(T));
    for (size_t i = 0; i < values.size(); ++i)
    {
        const auto value = static_cast<T>(values[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
}

} // namespace

std::vector<double> Pattern(size_t count, DataType type)
{
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i)
    {
        const double value = static_cast<double>(i * 7 % 11) - 5;
        values.push_back(type == DataType::Float32 ? value / 8 : type == DataType::QAsymmU8 ? value + 128 : value);
    }
    return values;
}

ConstTensor CaseMaker::Const(TensorInfo info, const std::vector<double>& values)
{
    info.SetConstant();
    const DataType type = info.GetDataType();
    const std::vector<double> used = values.empty() ? Pattern(info.GetNumElements(), type) : values;
    std::vector<uint8_t>& bytes = m_Memory.emplace_back();
    switch (type)
    {
    case DataType::Float32: Store<float>(bytes, used); break;
    case DataType::Signed32: Store<int32_t>(bytes, used); break;
    case DataType::Signed64: Store<int64_t>(bytes, used); break;
    case DataType::QAsymmU8: Store<uint8_t>(bytes, used); break;
    default: Store<int8_t>(bytes, used); break;
    }
    return {info, bytes};
}

IConnectableLayer* CaseMaker::Constant(const ConstTensor& tensor, const char* name)
{
    return m_Network.AddConstantLayer(tensor, name);
}

IConnectableLayer* CaseMaker::Reshape(IConnectableLayer* layer, const TensorInfo& given, const TensorShape& declared)
{
    IConnectableLayer* const reshape = m_Network.AddReshapeLayer(ReshapeDescriptor(declared), "");
    layer->GetOutputSlot(0).SetTensorInfo(given);
    layer->GetOutputSlot(0).Connect(reshape->GetInputSlot(0));
    TensorInfo info = given;
    info.SetShape(declared);
    reshape->GetOutputSlot(0).SetTensorInfo(info);
    return reshape;
}

TensorInfo ArmnnCase::Override()
{
    return Typed({2, 3}, DataType::QAsymmU8, 0.5f, 1);
}

std::vector<ArmnnCase> ArmnnCases()
{
    std::vector<ArmnnCase> cases;
    for (void (*const add)(Cases&) : {AddElementwise, AddArrangement, AddConvolution, AddNormalization, AddPooling,
                                      AddReduction, AddSlicing, AddStructure, AddVision, AddRecurrent, AddVersions})
    {
        add(cases);
    }
    return cases;
}

CaseNetwork::CaseNetwork(const ArmnnCase& tested) : m_Network(INetwork::Create())
{
    constexpr LayerBindingId firstInput = 10;
    constexpr LayerBindingId firstOutput = 20;
    std::vector<Added> inputs(tested.m_Inputs.size());
    for (size_t k = 0; k < inputs.size(); ++k)
    {
        const size_t i = tested.m_IsTurned ? inputs.size() - 1 - k : k;
        inputs[i] =
            m_Network->AddInputLayer(firstInput + static_cast<LayerBindingId>(i), ("in" + std::to_string(i)).c_str());
        inputs[i]->GetOutputSlot(0).SetTensorInfo(tested.m_Inputs[i]);
    }
    CaseMaker make(*m_Network, m_Memory);
    const Added layer = tested.m_Add(make);
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        inputs[i]->GetOutputSlot(0).Connect((make.First() != nullptr ? make.First() : layer)->GetInputSlot(i));
    }
    if (tested.m_IsOverridden)
    {
        layer->GetInputSlot(0).SetTensorInfo(ArmnnCase::Override());
    }
    for (unsigned int i = 0; i < tested.m_FirstOutput; ++i) // states
    {
        layer->GetOutputSlot(i).SetTensorInfo(tested.m_Inputs[i + 1]);
    }
    for (unsigned int i = 0; i < tested.m_Outputs.size(); ++i)
    {
        IOutputSlot& slot = layer->GetOutputSlot(tested.m_FirstOutput + i);
        slot.SetTensorInfo(tested.m_Outputs[i]);
        const Added output = m_Network->AddOutputLayer(firstOutput + static_cast<LayerBindingId>(i),
                                                       ("out" + std::to_string(i)).c_str());
        slot.Connect(output->GetInputSlot(0));
    }
}

} // namespace tenon::test
