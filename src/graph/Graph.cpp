// SPDX-License-Identifier: Apache-2.0
// Graph: see Graph.hpp. How layers come, change and go; their order is in GraphOrder.cpp, copies are in
// GraphCopies.cpp.
#include "graph/Graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace tenon
{

namespace
{

std::atomic<uint64_t> nextGuid{1};

} // namespace

LayerGuid NewGuid()
{
    return LayerGuid(nextGuid.fetch_add(1, std::memory_order_relaxed));
}

void KeepGuidsAbove(LayerGuid guid)
{
    uint64_t next = nextGuid.load(std::memory_order_relaxed);
    while (next <= guid && !nextGuid.compare_exchange_weak(next, uint64_t{guid} + 1, std::memory_order_relaxed))
    {
    }
}

const std::string& LayerNames::Keep(std::string name)
{
    if (m_Own->empty() || m_Own->back() != name)
    {
        m_Own->push_back(std::move(name));
    }
    return m_Own->back();
}

void LayerNames::Share(const LayerNames& other)
{
    m_Others.push_back(other.m_Own);
    m_Others.insert(m_Others.end(), other.m_Others.begin(), other.m_Others.end());
}

Layer& Graph::AddLayer(LayerType type, const std::unique_ptr<BaseDescriptor>& descriptor, std::string name,
                       LayerGuid guid)
{
    return Emplace(type, descriptor.get(), m_Names.Keep(std::move(name)), guid);
}

Layer& Graph::Emplace(LayerType type, const BaseDescriptor* descriptor, const std::string& name, LayerGuid guid)
{
    LayerPtr layer(&Layer::Make(*this, type, descriptor, name, guid == LayerGuid() ? NewGuid() : guid));
    layer->m_Index = static_cast<uint32_t>(m_Layers.size());
    ++m_NumMade;
    m_Types.resize(m_Layers.size() + 1);
    m_Types.back() = type;
    m_Layers.push_back(std::move(layer));
    ++m_NumOfType[static_cast<size_t>(type)];
    NoteEdit();
    return *m_Layers.back();
}

Layer& Graph::AddConstant(const ConstTensor& tensor, std::shared_ptr<const void> owner, std::string name)
{
    if (tensor.GetMemoryArea() == nullptr && tensor.GetInfo().GetNumBytes() != 0)
    {
        throw InvalidArgumentException(fmt::format("constant '{}' has no memory", name));
    }
    Layer& layer = AddLayer(LayerType::Constant, nullptr, std::move(name));
    layer.SetConstant(std::make_shared<ConstantPayload>(ConstantPayload{tensor, std::move(owner)}));
    layer.Output(0).SetTensorInfo(tensor.GetInfo());
    layer.Output(0).EditTensorInfo().SetConstant(true);
    return layer;
}

Layer& Graph::InsertBefore(InputSlot& input, LayerType type, const std::unique_ptr<BaseDescriptor>& descriptor,
                           std::string name)
{
    OutputSlot& source = *input.GetConnectedOutputSlot();
    Layer& layer = AddLayer(type, descriptor, std::move(name));
    TensorInfo info = input.GetTensorInfo();
    info.SetConstant(false);
    layer.Output(0).SetTensorInfo(info);
    input.MoveOverride(layer.Input(0));
    source.Disconnect(input);
    source.Connect(layer.Input(0));
    layer.Output(0).Connect(input);
    return layer;
}

void Graph::ChangeType(Layer& layer, LayerType type, const std::unique_ptr<BaseDescriptor>& descriptor)
{
    --m_NumOfType[static_cast<size_t>(layer.m_Type)];
    ++m_NumOfType[static_cast<size_t>(type)];
    m_Types[layer.m_Index] = type;
    layer.ChangeType(type, descriptor.get());
}

namespace
{

/// Prefetches the parts of a layer that RemoveLayers needs: only the index of a layer that stays.
TENON_FETCHES void FetchToRemove(const Layer& layer, bool isDead)
{
    if (isDead)
    {
        FetchWhole::Fetch(&layer);
    }
    else
    {
        FetchLines<0, sizeof(layer.m_Index)>(&layer.m_Index);
    }
}

} // namespace

void Graph::RemoveLayers(const std::vector<bool>& dead)
{
    size_t end = static_cast<size_t>(std::find(dead.begin(), dead.end(), true) - dead.begin());
    if (end >= m_Layers.size())
    {
        return;
    }
    // Layers that stay move up, in their order.
    const auto isDead = [&](size_t i) { return i < dead.size() && dead[i]; };
    constexpr size_t ahead = LayersAhead;
    for (size_t i = end; i < m_Layers.size(); ++i)
    {
        if (i + ahead < m_Layers.size())
        {
            FetchToRemove(*m_Layers[i + ahead], isDead(i + ahead));
        }
        if (isDead(i))
        {
            --m_NumOfType[static_cast<size_t>(m_Types[i])];
            m_Layers[i]->Detach();
            m_Layers[i].reset();
            continue;
        }
        m_Layers[end] = std::move(m_Layers[i]);
        m_Layers[end]->m_Index = static_cast<uint32_t>(end);
        m_Types[end] = m_Types[i];
        ++end;
    }
    m_Layers.resize(end);
    m_Types.resize(end);
    NoteEdit();
}

void Graph::RemoveLast()
{
    --m_NumOfType[static_cast<size_t>(m_Types.back())];
    m_Layers.back()->Detach();
    m_Layers.resize(m_Layers.size() - 1);
    m_Types.resize(m_Layers.size());
    NoteEdit();
}

} // namespace tenon
