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

/// The elements; none where the array is null.
inline Span<const int32_t> Elements(const TfLiteIntArray* array)
{
    return array != nullptr && array->size > 0 ? Span<const int32_t>(array->data, static_cast<size_t>(array->size))
                                               : Span<const int32_t>();
}

/// Elements as TensorFlow Lite takes them.
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
    const TfLiteNode* m_Node = nullptr; ///< the view's, with the members that every release has, as the registration
    const TfLiteRegistration* m_Registration = nullptr;
};

/// Nodes that become one network.
struct Partition
{
    std::vector<int32_t> m_Nodes;   ///< in the order in which they run
    std::vector<int32_t> m_Inputs;  ///< tensors that they read and do not compute, constants among them
    std::vector<int32_t> m_Outputs; ///< tensors that are read outside

    Partition() = default;
    explicit Partition(const TfLiteDelegateParams& params);
};

/// It copies nodes: runtimes tell them while a delegate prepares, and not to a kernel that makes its network anew, and
/// move them when a kernel is added. Lists and options of a node stay where they are.
class GraphView
{
public:
    /// Throws InvalidArgumentException where the runtime does not give its plan.
    explicit GraphView(TfLiteContext& context);
    /// The nodes of a partition alone.
    GraphView(TfLiteContext& context, const Partition& partition);

    GraphView(GraphView&&) = default;
    GraphView(const GraphView&) = delete;

    TfLiteContext& Context() const { return m_Context; }
    const std::vector<Node>& Nodes() const { return m_Nodes; }
    /// Throws InvalidArgumentException for a node that is not among them.
    const Node& Find(int32_t index) const;
    /// Whether no node reads a tensor that it or a later one computes. A runtime may run such a graph, and end with an
    /// error or crash when it is asked for its partitions.
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
