// SPDX-License-Identifier: Apache-2.0
// The constants that feed a Layer.
#include "graph/Layer.hpp"

#include <tenon/IStrategy.hpp>
#include <tenon/TensorHandle.hpp>

#include <mutex>

namespace tenon
{

const void* Layer::GetConstantInput(unsigned int i) const
{
    const Layer* producer = Input(i).GetProducer();
    return producer != nullptr && producer->GetConstant() != nullptr ? producer->GetConstant()->m_Tensor.GetMemoryArea()
                                                                     : nullptr;
}

template <typename F>
void Layer::ForEachConstant(F f) const
{
    if (GetConstant() != nullptr)
    {
        f(*GetConstant());
    }
    for (unsigned int i = m_FirstOwnConstant; i < m_NumInputs; ++i)
    {
        const Layer* producer = Input(i).GetProducer();
        if (producer != nullptr && producer->GetConstant() != nullptr)
        {
            f(*producer->GetConstant());
        }
    }
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

IConnectableLayer::ImmutableConstantTensors Layer::GetConstantTensorsByRef() const
{
    ImmutableConstantTensors tensors;
    ForEachConstant(
        [&](const ConstantPayload& constant)
        {
            static std::mutex mutex; // payloads are shared by networks, and threads may ask at once
            const std::lock_guard lock(mutex);
            if (constant.m_Handle == nullptr)
            {
                constant.m_Handle = std::make_shared<ConstPassthroughTensorHandle>(constant.m_Tensor.GetInfo(),
                                                                                   constant.m_Tensor.GetMemoryArea());
            }
            tensors.emplace_back(constant.m_Handle);
        });
    return tensors;
}

void Layer::ExecuteStrategy(IStrategy& strategy) const
{
    std::vector<ConstTensor> constants;
    ForEachConstant([&](const ConstantPayload& constant) { constants.push_back(constant.m_Tensor); });
    strategy.ExecuteStrategy(this, GetParameters(), constants, GetName(), m_BindingId);
}

} // namespace tenon
