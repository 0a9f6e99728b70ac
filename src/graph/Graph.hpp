// SPDX-License-Identifier: Apache-2.0
// Graph: owns layers. Built by Network, copied and rewritten by the optimizer, kept by the loaded network.
#pragma once

#include "common/PageArena.hpp"
#include "common/Pages.hpp"
#include "graph/Layer.hpp"
#include "graph/LayerWalk.hpp"

#include <deque>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace tenon
{

/// Ends a layer's life; its memory is the graph's.
struct LayerEnd
{
    void operator()(Layer* layer) const noexcept { layer->~Layer(); }
};
using LayerPtr = std::unique_ptr<Layer, LayerEnd>;

/// Names of layers. Copies of a graph share those of the original: each keeps it for as long as it needs.
class LayerNames
{
public:
    /// Keeps a name, once for layers of the same name that come one after the other.
    const std::string& Keep(std::string name);
    /// Keeps all that `other` keeps now.
    void Share(const LayerNames& other);

private:
    using Names = std::deque<std::string>; // they stay where they are

    std::shared_ptr<Names> m_Own = std::make_shared<Names>();
    std::vector<std::shared_ptr<const Names>> m_Others;
};

class Graph
{
public:
    Graph() = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    /// Adds a layer at the end. A null descriptor stands for NullDescriptor. `guid` 0 makes a new one.
    Layer& AddLayer(LayerType type, const std::unique_ptr<BaseDescriptor>& descriptor, std::string name,
                    LayerGuid guid = LayerGuid());
    /// The same with a copy of a descriptor, which must be of the type's class.
    Layer& AddLayer(LayerType type, const BaseDescriptor& descriptor, std::string name)
    {
        return Emplace(type, &descriptor, m_Names.Keep(std::move(name)), LayerGuid());
    }
    Layer& AddConstant(const ConstTensor& tensor, std::shared_ptr<const void> owner, std::string name);
    /// Adds a copy of a layer of another graph, which shares its constant and blob; unconnected.
    Layer& AddCopy(const Layer& layer);

    LayerWalk<LayerPtr> Layers() const { return LayerWalk<LayerPtr>(m_Layers); }
    size_t Size() const { return m_Layers.size(); }
    /// The type of each layer, for walks that concern few layers, over much less memory than the layers have.
    const PageVector<LayerType>& Types() const { return m_Types; }
    /// The layers of one type, where they stand.
    LayerOrder LayersOf(LayerType type) const;
    /// How many layers are of a type.
    size_t Count(LayerType type) const { return m_NumOfType[static_cast<size_t>(type)]; }
    /// Whether a layer has networks nested in it.
    bool HasBodies() const { return Count(LayerType::If) + Count(LayerType::While) != 0; }
    /// Grows with every layer that comes or goes, every change of a connection and every new descriptor.
    uint64_t NumEdits() const { return m_NumEdits; }

    /// Adds a layer of `type`, with one input and one output, between `input` and its producer. The new layer's output
    /// has the info of the input; an override of it moves to the new layer.
    Layer& InsertBefore(InputSlot& input, LayerType type, const std::unique_ptr<BaseDescriptor>& descriptor,
                        std::string name);

    /// Changes a layer to another type, with as many inputs and outputs, where it stands.
    void ChangeType(Layer& layer, LayerType type, const std::unique_ptr<BaseDescriptor>& descriptor);

    /// Destroys the layers for which `dead[layer.m_Index]` is set, and renumbers the others. O(N).
    void RemoveLayers(const std::vector<bool>& dead);
    /// Destroys the layer that was added last. Precondition: nothing reads it.
    void RemoveLast();

    /// Whether every layer comes after those that feed it. Then no layer need be looked at to know an order.
    bool IsInOrder() const { return m_IsInOrder; }
    /// Layers with producers before consumers; the order of addition wherever that is possible already.
    /// Throws GraphValidationException naming a layer on a cycle. O(N + connections).
    LayerOrder TopologicalOrder() const;
    /// Layers of these types alone, in that order.
    LayerOrder TopologicalOrder(std::initializer_list<LayerType> types) const;
    /// Puts the layers themselves into that order, or any other one, and renumbers them.
    void Sort(const PageVector<Layer*>& order);

    /// Whether most of the memory belongs to layers that were destroyed: walks then read far more than they need.
    bool IsSparse() const { return m_NumMade / 2 > m_Layers.size(); }
    /// Moves the layers, in their order, into a graph of their own, side by side. This one is left without any.
    std::unique_ptr<Graph> Compact();

    /// A deep copy that shares constants; layers keep their guids and order.
    std::unique_ptr<Graph> Clone() const;
    /// The same, of a graph that ValidateGraph() would not refuse (else throws as that does): one walk in place of two.
    std::unique_ptr<Graph> CloneValid() const;

    /// The memory of layers, their slots and their descriptors alone.
    PageArena& Memory() { return m_Memory; }
    void NoteEdit() { ++m_NumEdits; }
    /// The number of outputs that nobody reads. While it is 0, no layer is without use.
    size_t NumUnread() const { return m_NumUnread; }
    /// The number of outputs that more than one input reads.
    size_t NumShared() const { return m_NumShared; }
    /// An output's number of readers changes. One that is not there counts as one with one reader.
    void NoteReaders(size_t before, size_t after)
    {
        m_NumUnread += static_cast<size_t>(after == 0) - static_cast<size_t>(before == 0);
        m_NumShared += static_cast<size_t>(after > 1) - static_cast<size_t>(before > 1);
    }
    void NoteConnection(const Layer& producer, const Layer& consumer)
    {
        ++m_NumEdits;
        m_IsInOrder = m_IsInOrder && producer.m_Index < consumer.m_Index;
    }
    /// One copy for all layers with this id or text.
    const BackendId& Keep(const BackendId& id) { return Keep(id, m_Backends, m_LastBackend); }
    const std::string& Keep(const std::string& text) { return Keep(text, m_Texts, m_LastText); }

private:
    /// `name` is kept, here or by a graph whose names this one shares.
    Layer& Emplace(LayerType type, const BaseDescriptor* descriptor, const std::string& name, LayerGuid guid);

    // GraphCopies.cpp
    /// Copies the members of the original other than its type, parameters, name and connections.
    static void CopyTo(Layer& made, const Layer& layer);
    void ConnectLike(const Layer& original);
    /// Moves the same members.
    static void MoveTo(Layer& made, Layer& layer);
    /// A graph of layers like these, connected as they are; fill(made, layer) sets the members that CopyTo() sets.
    template <typename Fill>
    std::unique_ptr<Graph> Copy(Fill fill) const;

    /// Most layers have the value of the layer before them: `last`.
    template <typename T>
    static const T& Keep(const T& value, std::set<T>& kept, const T*& last)
    {
        if (last == nullptr || *last != value)
        {
            last = &*kept.insert(value).first;
        }
        return *last;
    }

    PageArena m_Memory; ///< goes last
    LayerNames m_Names;
    std::set<BackendId> m_Backends;
    const BackendId* m_LastBackend = nullptr;
    std::set<std::string> m_Texts;
    const std::string* m_LastText = nullptr;
    PageVector<LayerPtr> m_Layers;
    PageVector<LayerType> m_Types;
    std::vector<size_t> m_NumOfType = std::vector<size_t>(NumLayerTypes);
    uint64_t m_NumEdits = 0;
    size_t m_NumUnread = 0;
    size_t m_NumShared = 0;
    size_t m_NumMade = 0; ///< layers that took memory
    bool m_IsInOrder = true;
};

/// Checks a graph as a whole: required inputs connected, infos of Input layers set, or it throws
/// LayerValidationException; binding ids unique, no cycle, or it throws GraphValidationException. Called at the start
/// of Optimize() and, in debug builds, after every pass.
void ValidateGraph(const Graph& graph);

/// A new process-wide unique guid.
LayerGuid NewGuid();
/// Lets new guids start above this one, which a layer from a file has.
void KeepGuidsAbove(LayerGuid guid);

/// Writers of IOptimizedNetwork and INetwork.
void WriteDot(const Graph& graph, const char* title, std::ostream& stream);
void WriteJson(const Graph& graph, std::ostream& stream);
void PrintGraph(const Graph& graph, std::ostream& stream);

} // namespace tenon
