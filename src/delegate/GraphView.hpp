// SPDX-License-Identifier: Apache-2.0
// GraphView: the nodes of a TfLiteContext's execution plan, checked as they are read. Used by Delegate, NodeReader and
// Kernel.
#pragma once

#include "delegate/TfLiteInterface.hpp"

#include <tenon/Span.hpp>

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace tenon::delegate
{

/// The elements; none if the array is null.
inline Span<const int32_t> Elements(const TfLiteIntArray* array)
{
    return array != nullptr && array->size > 0 ? Span<const int32_t>(array->data, static_cast<size_t>(array->size))
                                               : Span<const int32_t>();
}

/// Elements in the form of TensorFlow Lite.
class IntArray
{
public:
    explicit IntArray(const std::vector<int32_t>& elements) : m_Memory{static_cast<int32_t>(elements.size())}
    {
        m_Memory.insert(m_Memory.end(), elements.begin(), elements.end());
    }
    const TfLiteIntArray* Get() const { return reinterpret_cast<const TfLiteIntArray*>(m_Memory.data()); }

private:
    std::vector<int32_t> m_Memory; ///< the number of elements first
};

struct Node
{
    int32_t m_Index = 0;
    const TfLiteNode* m_Node = nullptr; ///< the view's copy, like the registration, with the members that every release
                                        ///< has
    const TfLiteRegistration* m_Registration = nullptr;
};

/// A set of nodes that become one network.
struct Partition
{
    std::vector<int32_t> m_Nodes;   ///< in the order in which they run
    std::vector<int32_t> m_Inputs;  ///< tensors that they read and do not compute, constants among them
    std::vector<int32_t> m_Outputs; ///< tensors that are read outside

    Partition() = default;
    explicit Partition(const TfLiteDelegateParams& params);
};

/// It copies nodes, for two reasons. Runtimes give them while a delegate prepares, but not to a kernel that makes its
/// network again. They also move nodes when a kernel is added. Lists and options of a node do not move.
class GraphView
{
public:
    /// Throws InvalidArgumentException if the runtime does not give its plan.
    explicit GraphView(TfLiteContext& context);
    /// A view of the nodes of a partition alone.
    GraphView(TfLiteContext& context, const Partition& partition);

    GraphView(GraphView&&) = default;
    GraphView(const GraphView&) = delete;

    TfLiteContext& Context() const { return m_Context; }
    const std::vector<Node>& Nodes() const { return m_Nodes; }
    /// Throws InvalidArgumentException for a node that the view does not have.
    const Node& Find(int32_t index) const;
    /// Whether no node reads a tensor that it or a later node computes. A runtime may run a graph that is out of order,
    /// but fail or crash when it is asked for its partitions.
    bool IsInOrder() const;
    /// Null for a number that does not exist.
    const TfLiteTensor* FindTensor(int32_t tensor) const;

private:
    struct Copies
    {
        TfLiteNode m_Node{};
        TfLiteRegistration m_Registration{};
    };

    void Add(Span<const int32_t> nodes);
    Node Read(int32_t index);

    TfLiteContext& m_Context;
    std::deque<Copies> m_Copies;
    std::vector<Node> m_Nodes;
    std::unordered_map<int32_t, size_t> m_Places; ///< in m_Nodes, by index
};

} // namespace tenon::delegate
