// SPDX-License-Identifier: Apache-2.0
// InputSlot, OutputSlot: see Layer.hpp.
#include "graph/Graph.hpp"
#include "graph/Layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace tenon
{

namespace
{

/// Makes a default-made shape one of unknown rank: layers throw where they need to know it, and don't count 0 elements.
void GiveUpDefaultShape(TensorInfo& info)
{
    if (info.GetShape().GetDimensionality() == Dimensionality::NotSpecified)
    {
        info.SetShape(TensorShape(Dimensionality::NotSpecified));
    }
}

} // namespace

Layer* InputSlot::GetProducer() const
{
    return m_Connection != nullptr ? &m_Connection->GetOwningLayer() : nullptr;
}

const IOutputSlot* InputSlot::GetConnection() const
{
    return m_Connection;
}

IOutputSlot* InputSlot::GetConnection()
{
    return m_Connection;
}

const IConnectableLayer& InputSlot::GetOwningIConnectableLayer() const
{
    return GetOwningLayer();
}

IConnectableLayer& InputSlot::GetOwningIConnectableLayer()
{
    return GetOwningLayer();
}

void InputSlot::SetTensorInfo(const TensorInfo& tensorInfo)
{
    m_Override = std::make_unique<TensorInfo>(tensorInfo);
    GiveUpDefaultShape(*m_Override);
}

const TensorInfo& InputSlot::GetTensorInfo() const
{
    if (m_Override != nullptr)
    {
        return *m_Override;
    }
    if (m_Connection == nullptr)
    {
        throw GraphValidationException(fmt::format("input {} of {} is not connected and has no tensor info", m_Index,
                                                   GetOwningLayer().Describe()));
    }
    return m_Connection->GetTensorInfo();
}

bool InputSlot::IsTensorInfoSet() const
{
    return m_Override != nullptr || (m_Connection != nullptr && m_Connection->IsTensorInfoSet());
}

void OutputSlot::Reserve(unsigned int count)
{
    if (count <= std::max(m_Capacity, 1U))
    {
        return;
    }
    // The former, smaller array stays in the graph's memory: doubling keeps all such arrays together below the one in
    // use.
    const unsigned int capacity = std::max(count, 2 * m_Capacity);
    auto* const grown = static_cast<InputSlot**>(
        GetOwningLayer().GetGraph().Memory().Allocate(capacity * sizeof(InputSlot*), alignof(InputSlot*)));
    std::copy_n(Connections(), m_NumConnections, grown);
    m_Connections = grown;
    m_Capacity = capacity;
}

void OutputSlot::Append(InputSlot& input)
{
    Reserve(m_NumConnections + 1);
    input.m_Connection = this;
    input.m_Place = m_NumConnections;
    Graph& graph = GetOwningLayer().GetGraph();
    graph.NoteReaders(m_NumConnections, m_NumConnections + 1);
    Connections()[m_NumConnections++] = &input;
    graph.NoteConnection(GetOwningLayer(), input.GetOwningLayer());
}

void OutputSlot::MoveAllConnections(OutputSlot& other)
{
    for (InputSlot* input : GetConnections())
    {
        other.Append(*input);
    }
    GetOwningLayer().GetGraph().NoteReaders(m_NumConnections, 0);
    m_NumConnections = 0;
}

const IInputSlot* OutputSlot::GetConnection(unsigned int index) const
{
    return index < m_NumConnections ? GetConnections()[index] : nullptr;
}

IInputSlot* OutputSlot::GetConnection(unsigned int index)
{
    return index < m_NumConnections ? GetConnections()[index] : nullptr;
}

void OutputSlot::SetTensorInfo(const TensorInfo& tensorInfo)
{
    m_Info = tensorInfo;
    GiveUpDefaultShape(m_Info);
    m_InfoSet = true;
}

int OutputSlot::Connect(IInputSlot& destination)
{
    // Slots of this library are the only implementations of the interface: its destructor is protected.
    auto& input = static_cast<InputSlot&>(destination);
    if (&input.GetOwningLayer().GetGraph() != &GetOwningLayer().GetGraph())
    {
        throw InvalidArgumentException(fmt::format("{} and {} belong to different networks and cannot be connected",
                                                   GetOwningLayer().Describe(), input.GetOwningLayer().Describe()));
    }
    if (input.m_Connection != nullptr)
    {
        throw InvalidArgumentException(fmt::format("input {} of {} is connected already, to {}; disconnect it first",
                                                   input.GetSlotIndex(), input.GetOwningLayer().Describe(),
                                                   input.m_Connection->GetOwningLayer().Describe()));
    }
    Append(input);
    return static_cast<int>(input.m_Place);
}

void OutputSlot::Disconnect(IInputSlot& slot)
{
    auto& input = static_cast<InputSlot&>(slot);
    if (input.m_Connection != this)
    {
        return;
    }
    InputSlot* last = Connections()[--m_NumConnections];
    Connections()[input.m_Place] = last;
    last->m_Place = input.m_Place;
    input.m_Connection = nullptr;
    GetOwningLayer().GetGraph().NoteReaders(m_NumConnections + 1, m_NumConnections);
    GetOwningLayer().GetGraph().NoteEdit();
}

unsigned int OutputSlot::CalculateIndexOnOwner() const
{
    return static_cast<unsigned int>(this - GetOwningLayer().Outputs().data());
}

LayerGuid OutputSlot::GetOwningLayerGuid() const
{
    return GetOwningLayer().GetGuid();
}

const IConnectableLayer& OutputSlot::GetOwningIConnectableLayer() const
{
    return GetOwningLayer();
}

IConnectableLayer& OutputSlot::GetOwningIConnectableLayer()
{
    return GetOwningLayer();
}

} // namespace tenon
