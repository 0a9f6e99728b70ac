// SPDX-License-Identifier: Apache-2.0
// Graph: see Graph.hpp.
#include "graph/Graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>

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

/// Lets what RemoveLayers needs of a layer be on its way: of one that stays, only the index.
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
    // Those that stay move up, in their order.
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

LayerOrder Graph::TopologicalOrder() const
{
    enum class State : uint8_t
    {
        New,
        Open,
        Done
    };
    struct Visit
    {
        Layer* m_Layer;
        unsigned int m_NextInput;
    };
    PageVector<Layer*> order;
    order.reserve(m_Layers.size());
    if (m_IsInOrder)
    {
        for (const auto& layer : m_Layers)
        {
            order.push_back(layer.get());
        }
        return LayerOrder(std::move(order));
    }
    std::vector<State> states(m_Layers.size(), State::New);
    std::vector<Visit> stack; // an explicit stack: networks may be deeper than the thread's own
    for (const auto& root : m_Layers)
    {
        if (states[root->m_Index] != State::New)
        {
            continue;
        }
        stack.push_back({root.get(), 0});
        states[root->m_Index] = State::Open;
        while (!stack.empty())
        {
            Visit& visit = stack.back();
            if (visit.m_NextInput == visit.m_Layer->GetNumInputSlots())
            {
                states[visit.m_Layer->m_Index] = State::Done;
                order.push_back(visit.m_Layer);
                stack.pop_back();
                continue;
            }
            Layer* producer = visit.m_Layer->Input(visit.m_NextInput++).GetProducer();
            if (producer == nullptr || states[producer->m_Index] == State::Done)
            {
                continue;
            }
            if (states[producer->m_Index] == State::Open)
            {
                throw GraphValidationException(
                    fmt::format("the network has a cycle through {}; a layer cannot depend on its own output",
                                producer->Describe()));
            }
            states[producer->m_Index] = State::Open;
            stack.push_back({producer, 0});
        }
    }
    return LayerOrder(std::move(order));
}

LayerOrder Graph::TopologicalOrder(std::initializer_list<LayerType> types) const
{
    const auto isWanted = [&](LayerType type) { return std::find(types.begin(), types.end(), type) != types.end(); };
    PageVector<Layer*> order;
    if (m_IsInOrder)
    {
        for (size_t i = 0; i < m_Layers.size(); ++i)
        {
            if (isWanted(m_Types[i]))
            {
                order.push_back(m_Layers[i].get());
            }
        }
        return LayerOrder(std::move(order));
    }
    const LayerOrder all = TopologicalOrder();
    std::copy_if(all.begin(), all.end(), std::back_inserter(order),
                 [&](const Layer* layer) { return isWanted(layer->GetType()); });
    return LayerOrder(std::move(order));
}

LayerOrder Graph::LayersOf(LayerType type) const
{
    PageVector<Layer*> layers;
    layers.reserve(Count(type));
    for (size_t i = 0; i < m_Layers.size() && layers.size() < Count(type); ++i)
    {
        if (m_Types[i] == type)
        {
            layers.push_back(m_Layers[i].get());
        }
    }
    return LayerOrder(std::move(layers));
}

void Graph::Sort(const PageVector<Layer*>& order)
{
    const bool isSame = std::equal(order.begin(), order.end(), m_Layers.begin(), m_Layers.end(),
                                   [](const Layer* a, const LayerPtr& b) { return a == b.get(); });
    if (isSame && m_IsInOrder)
    {
        return;
    }
    PageVector<LayerPtr> sorted;
    sorted.reserve(order.size());
    for (const Layer* layer : order)
    {
        sorted.push_back(std::move(m_Layers[layer->m_Index]));
    }
    m_Layers = std::move(sorted);
    m_IsInOrder = true;
    for (size_t i = 0; i < m_Layers.size(); ++i)
    {
        Layer& layer = *m_Layers[i];
        layer.m_Index = static_cast<uint32_t>(i);
        m_Types[i] = layer.GetType();
    }
    for (const LayerPtr& layer : m_Layers)
    {
        m_IsInOrder = m_IsInOrder && std::all_of(layer->Inputs().begin(), layer->Inputs().end(),
                                                 [&](const InputSlot& input) {
                                                     return input.GetProducer() == nullptr ||
                                                            input.GetProducer()->m_Index < layer->m_Index;
                                                 });
    }
    NoteEdit();
}

Layer& Graph::AddCopy(const Layer& layer)
{
    Layer& made = Emplace(layer.m_Type, layer.m_Descriptor, m_Names.Keep(layer.GetNameStr()), layer.m_Guid);
    CopyTo(made, layer);
    return made;
}

void Graph::CopyTo(Layer& made, const Layer& layer)
{
    made.SetBindingId(layer.GetBindingId());
    if (layer.m_Rare != nullptr)
    {
        Layer::Rare& rare = made.EditRare();
        rare.m_Constant = layer.m_Rare->m_Constant;
        rare.m_Blob = layer.m_Rare->m_Blob;
        rare.m_Hint = layer.m_Rare->m_Hint;
        if (layer.m_Rare->m_FusedActivation != nullptr)
        {
            made.SetFusedActivation(*layer.m_Rare->m_FusedActivation);
        }
        for (const auto& body : layer.m_Rare->m_Bodies)
        {
            made.AddBody(body->Clone());
        }
    }
    made.SetBackendId(layer.GetBackendId());
    made.m_FirstOwnConstant = layer.m_FirstOwnConstant;
    for (unsigned int i = 0; i < layer.GetNumOutputSlots(); ++i)
    {
        if (layer.Output(i).IsTensorInfoSet())
        {
            made.Output(i).SetTensorInfo(layer.Output(i).GetTensorInfo());
        }
    }
}

/// Connects the inputs of a copy, by index, to the copies of what feeds the original, at the same place among readers.
void Graph::ConnectLike(const Layer& original)
{
    Layer& copy = *m_Layers[original.m_Index];
    for (const InputSlot& input : original.Inputs())
    {
        const OutputSlot* const source = input.GetConnectedOutputSlot();
        if (source == nullptr)
        {
            continue;
        }
        InputSlot& target = copy.Input(input.GetSlotIndex());
        OutputSlot& output = m_Layers[source->GetOwningLayer().m_Index]->Output(source->CalculateIndexOnOwner());
        output.Reserve(source->GetNumConnections());
        NoteReaders(output.m_NumConnections, source->GetNumConnections());
        output.m_NumConnections = source->GetNumConnections();
        output.Connections()[input.m_Place] = &target;
        target.m_Connection = &output;
        target.m_Place = input.m_Place;
        if (input.IsTensorInfoOverridden())
        {
            target.SetTensorInfo(input.GetTensorInfo());
        }
    }
}

template <typename Fill>
std::unique_ptr<Graph> Graph::Copy(Fill fill) const
{
    auto copy = std::make_unique<Graph>();
    copy->m_Layers.reserve(m_Layers.size());
    copy->m_Types.reserve(m_Layers.size());
    copy->m_Names.Share(m_Names);
    for (const auto& layer : FetchingWalk<LayerPtr, FetchWhole>{Layers()})
    {
        fill(copy->Emplace(layer->m_Type, layer->m_Descriptor, *layer->m_Name, layer->m_Guid), *layer);
        if (m_IsInOrder) // what feeds it is copied already, and all is at hand
        {
            copy->ConnectLike(*layer);
        }
    }
    for (size_t i = 0; i < m_Layers.size() && !m_IsInOrder; ++i)
    {
        copy->ConnectLike(*m_Layers[i]);
    }
    copy->m_IsInOrder = m_IsInOrder;
    return copy;
}

void Graph::MoveTo(Layer& made, Layer& layer)
{
    made.m_AssignmentReason = &made.m_Graph->Keep(*layer.m_AssignmentReason);
    made.m_BindingId = layer.m_BindingId;
    made.m_AssignmentCode = layer.m_AssignmentCode;
    made.m_FirstOwnConstant = layer.m_FirstOwnConstant;
    made.m_Subgraph = layer.m_Subgraph;
    made.SetBackendId(layer.GetBackendId());
    made.m_Rare = std::move(layer.m_Rare);
    for (unsigned int i = 0; i < made.m_NumOutputs; ++i)
    {
        made.Output(i).m_Info = std::move(layer.Output(i).m_Info);
        made.Output(i).m_InfoSet = layer.Output(i).m_InfoSet;
    }
}

std::unique_ptr<Graph> Graph::Compact()
{
    auto compact = Copy(&Graph::MoveTo);
    m_Layers.clear();
    m_Types.clear();
    return compact;
}

namespace
{

/// Input layers must differ in their binding ids, and Output layers too.
void CheckBindingIds(std::vector<const Layer*> bound)
{
    std::sort(bound.begin(), bound.end(),
              [](const Layer* a, const Layer* b) { return a->GetBindingId() < b->GetBindingId(); });
    const auto twice =
        std::adjacent_find(bound.begin(), bound.end(),
                           [](const Layer* a, const Layer* b) { return a->GetBindingId() == b->GetBindingId(); });
    if (twice != bound.end())
    {
        throw GraphValidationException(fmt::format("{} and {} have the same binding id {}", (*twice)->Describe(),
                                                   twice[1]->Describe(), (*twice)->GetBindingId()));
    }
}

/// ValidateGraph() in two steps.
class Validator
{
public:
    /// Looks at one layer.
    void Visit(const Layer& layer)
    {
        if (layer.GetType() == LayerType::Input)
        {
            m_Inputs.push_back(&layer);
        }
        else if (layer.GetType() == LayerType::Output)
        {
            m_Outputs.push_back(&layer);
        }
        const unsigned int required = std::min<unsigned int>(layer.GetSchema().m_MinInputs, layer.GetNumInputSlots());
        for (unsigned int i = 0; i < required; ++i)
        {
            if (layer.Input(i).GetConnectedOutputSlot() == nullptr)
            {
                throw GraphValidationException(fmt::format("input {} of {} is not connected", i, layer.Describe()));
            }
        }
        if (layer.GetType() == LayerType::Input && !layer.Output(0).IsTensorInfoSet())
        {
            throw GraphValidationException(fmt::format(
                "{} has no tensor info; call GetOutputSlot(0).SetTensorInfo() to say what it holds", layer.Describe()));
        }
    }

    /// Looks at the whole.
    void Finish(const Graph& graph)
    {
        CheckBindingIds(std::move(m_Inputs));
        CheckBindingIds(std::move(m_Outputs));
        if (!graph.IsInOrder())
        {
            graph.TopologicalOrder(); // throws where there is a cycle
        }
    }

private:
    std::vector<const Layer*> m_Inputs;
    std::vector<const Layer*> m_Outputs;
};

} // namespace

std::unique_ptr<Graph> Graph::Clone() const
{
    return Copy(&Graph::CopyTo);
}

std::unique_ptr<Graph> Graph::CloneValid() const
{
    Validator validator;
    auto copy = Copy(
        [&](Layer& made, const Layer& layer)
        {
            validator.Visit(layer);
            CopyTo(made, layer);
        });
    validator.Finish(*this);
    return copy;
}

void ValidateGraph(const Graph& graph)
{
    Validator validator;
    for (const auto& layer : graph.Layers())
    {
        validator.Visit(*layer);
    }
    validator.Finish(graph);
}

} // namespace tenon
