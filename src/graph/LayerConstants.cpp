// SPDX-License-Identifier: Apache-2.0
// The constants that feed a Layer.
#include "graph/Layer.hpp"

#include <tenon/IStrategy.hpp>
#include <tenon/TensorHandle.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tenon
{

namespace
{

/// The members of an LstmParams by their place in GetInputs(), in the order in which visitors written for Arm NN expect
/// them: those of the forget, cell and output gates, of the input gate, peepholes, projection, layer normalization.
constexpr uint8_t CellOrder[] = {1, 2, 3, 5, 6, 7, 12, 13, 14, 0, 4, 11, 8, 9, 10, 15, 16, 17, 18, 19, 20};

bool IsCell(LayerType type)
{
    return type == LayerType::Lstm || type == LayerType::QLstm || type == LayerType::UnidirectionalSequenceLstm;
}

} // namespace

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

unsigned int Layer::GetNumInputSlots() const
{
    for (unsigned int i = m_FirstOwnConstant; i < m_NumInputs; ++i)
    {
        const Layer* const producer = Input(i).GetProducer();
        if (producer != nullptr && producer->GetConstant() == nullptr)
        {
            return m_NumInputs; // something else was put in place of a constant
        }
    }
    return std::min(m_NumInputs, m_FirstOwnConstant);
}

bool Layer::IsConstantOfReaders() const
{
    if (m_Type != LayerType::Constant || Output(0).GetNumConnections() == 0)
    {
        return false;
    }
    const auto& readers = Output(0).GetConnections();
    return std::all_of(readers.begin(), readers.end(),
                       [](const InputSlot* reader)
                       { return reader->GetSlotIndex() >= reader->GetOwningLayer().GetNumInputSlots(); });
}

void Layer::ExecuteStrategy(IStrategy& strategy) const
{
    std::vector<ConstTensor> constants;
    if (IsCell(m_Type) && m_FirstOwnConstant < m_NumInputs)
    {
        for (const uint8_t place : CellOrder)
        {
            const unsigned int i = m_FirstOwnConstant + place;
            const Layer* const producer = i < m_NumInputs ? Input(i).GetProducer() : nullptr;
            if (producer != nullptr && producer->GetConstant() != nullptr)
            {
                constants.push_back(producer->GetConstant()->m_Tensor);
            }
        }
    }
    else
    {
        ForEachConstant([&](const ConstantPayload& constant) { constants.push_back(constant.m_Tensor); });
    }
    strategy.ExecuteStrategy(this, GetParameters(), constants, GetName(), m_BindingId);
}

} // namespace tenon
