// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: a piece of a network.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/Deprecated.hpp>
#include <armnn/backends/OwnNames.hpp>
#include <iterator>
#include <list>
#include <memory>
#include <vector>

namespace tenon
{

class IConnectableLayer;
class IInputSlot;
class IOutputSlot;

/// Layers of a network, and the slots by which they are connected to others. It owns none of them.
class TENON_API SubgraphView final : public std::enable_shared_from_this<SubgraphView>
{
public:
    using SubgraphViewPtr = std::shared_ptr<SubgraphView>;
    using IInputSlots = std::vector<IInputSlot*>;
    using IOutputSlots = std::vector<IOutputSlot*>;
    using IConnectableLayers = std::list<IConnectableLayer*>;
    using IConnectableLayerIterator = IConnectableLayers::iterator;
    using ConstIConnectableIterator = IConnectableLayers::const_iterator;

    /// The layers are put in the order of execution. Throws NullPointerException where a layer or slot is null, and
    /// InvalidArgumentException where a slot is not of one of the layers or something is there twice.
    SubgraphView(IConnectableLayers&& layers, IInputSlots&& inputs, IOutputSlots&& outputs);
    /// A layer and all of its slots.
    SubgraphView(IConnectableLayer* layer); // NOLINT: implicit, as Arm NN's
    SubgraphView(const SubgraphView& subgraph);
    SubgraphView(SubgraphView&& subgraph) noexcept;
    SubgraphView& operator=(SubgraphView&& other) noexcept;
    ~SubgraphView();

    /// Calls func(layer) for each layer, which it may take out of the network.
    template <typename Func>
    void ForEachIConnectableLayer(Func func) const
    {
        for (auto it = m_Layers.begin(); it != m_Layers.end();)
        {
            const auto next = std::next(it);
            func(*it);
            it = next;
        }
    }

    const IInputSlots& GetIInputSlots() const { return m_Inputs; }
    const IOutputSlots& GetIOutputSlots() const { return m_Outputs; }
    const IConnectableLayers& GetIConnectableLayers() const { return m_Layers; }
    /// Each throws InvalidArgumentException past the last slot.
    const IInputSlot* GetIInputSlot(unsigned int index) const;
    IInputSlot* GetIInputSlot(unsigned int index);
    const IOutputSlot* GetIOutputSlot(unsigned int index) const;
    IOutputSlot* GetIOutputSlot(unsigned int index);
    unsigned int GetNumInputSlots() const { return static_cast<unsigned int>(m_Inputs.size()); }
    unsigned int GetNumOutputSlots() const { return static_cast<unsigned int>(m_Outputs.size()); }

    IConnectableLayerIterator begin() { return m_Layers.begin(); }
    IConnectableLayerIterator end() { return m_Layers.end(); }
    ConstIConnectableIterator begin() const { return m_Layers.begin(); }
    ConstIConnectableIterator end() const { return m_Layers.end(); }
    ConstIConnectableIterator cbegin() const { return m_Layers.cbegin(); }
    ConstIConnectableIterator cend() const { return m_Layers.cend(); }
    IConnectableLayerIterator beginIConnectable() { return begin(); }
    IConnectableLayerIterator endIConnectable() { return end(); }
    ConstIConnectableIterator beginIConnectable() const { return begin(); }
    ConstIConnectableIterator endIConnectable() const { return end(); }
    ConstIConnectableIterator cbeginIConnectable() const { return cbegin(); }
    ConstIConnectableIterator cendIConnectable() const { return cend(); }

    /// Forgets all layers and slots.
    void Clear();

private:
    void Check() const;
    void Sort();

    IConnectableLayers m_Layers;
    IInputSlots m_Inputs;
    IOutputSlots m_Outputs;
};

} // namespace tenon
