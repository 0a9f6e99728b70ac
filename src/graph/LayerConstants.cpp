// SPDX-License-Identifier: Apache-2.0
// The constants that feed a Layer.
#include "graph/Layer.hpp"

#include <tenon/IStrategy.hpp>

namespace tenon
{

const void* Layer::GetConstantInput(unsigned int i) const
{
    const Layer* producer = Input(i).GetProducer();
    return producer != nullptr && producer->GetConstant() != nullptr ? producer->GetConstant()->m_Tensor.GetMemoryArea()
                                                                     : nullptr;
}

uint64_t Layer::CountConstantInputBytes() const
{
    uint64_t bytes = 0;
    for (const InputSlot& input : Inputs())
    {
        const Layer* const producer = input.GetProducer();
        if (producer != nullptr && producer->GetConstant() != nullptr)
        {
            bytes += producer->GetConstant()->m_Tensor.GetNumBytes();
        }
    }
    return bytes;
}

IConnectableLayer::ConstantTensors Layer::GetConstantTensorsByRef() const
{
    ConstantTensors tensors;
    if (GetConstant() != nullptr)
    {
        tensors.push_back(GetConstant()->m_Tensor);
    }
    for (unsigned int i = m_FirstOwnConstant; i < m_NumInputs; ++i)
    {
        const Layer* producer = Input(i).GetProducer();
        if (producer != nullptr && producer->GetConstant() != nullptr)
        {
            tensors.push_back(producer->GetConstant()->m_Tensor);
        }
    }
    return tensors;
}

void Layer::ExecuteStrategy(IStrategy& strategy) const
{
    std::vector<ConstTensor> constants;
    for (const ConstTensor& tensor : GetConstantTensorsByRef())
    {
        constants.push_back(tensor);
    }
    strategy.ExecuteStrategy(this, GetParameters(), constants, GetName(), m_BindingId);
}

} // namespace tenon
