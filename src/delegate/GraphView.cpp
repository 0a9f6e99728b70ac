// SPDX-License-Identifier: Apache-2.0
// GraphView: see GraphView.hpp.
#include "delegate/GraphView.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace tenon::delegate
{

namespace
{

std::vector<int32_t> Copy(const TfLiteIntArray* array)
{
    const Span<const int32_t> elements = Elements(array);
    return {elements.begin(), elements.end()};
}

} // namespace

Partition::Partition(const TfLiteDelegateParams& params)
    : m_Nodes(Copy(params.nodes_to_replace)), m_Inputs(Copy(params.input_tensors)),
      m_Outputs(Copy(params.output_tensors))
{
}

GraphView::GraphView(TfLiteContext& context) : m_Context(context)
{
    TfLiteIntArray* plan = nullptr;
    if (context.GetExecutionPlan == nullptr || context.GetExecutionPlan(&context, &plan) != kTfLiteOk)
    {
        throw InvalidArgumentException("the runtime does not give its execution plan");
    }
    const std::vector<int32_t> copy = Copy(plan); // the next call invalidates it
    Add({copy.data(), copy.size()});
}

GraphView::GraphView(TfLiteContext& context, const Partition& partition) : m_Context(context)
{
    Add({partition.m_Nodes.data(), partition.m_Nodes.size()});
}

void GraphView::Add(Span<const int32_t> nodes)
{
    m_Nodes.reserve(nodes.size());
    for (const int32_t index : nodes)
    {
        m_Places.emplace(index, m_Nodes.size());
        m_Nodes.push_back(Read(index));
    }
}

Node GraphView::Read(int32_t index)
{
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (m_Context.GetNodeAndRegistration == nullptr ||
        m_Context.GetNodeAndRegistration(&m_Context, index, &node, &registration) != kTfLiteOk || node == nullptr ||
        registration == nullptr)
    {
        throw InvalidArgumentException(
            fmt::format("the runtime has no node {}, which its execution plan names", index));
    }
    Copies& copies = m_Copies.emplace_back();
    std::memcpy(&copies.m_Node, node, offsetof(TfLiteNode, might_have_side_effect));
    std::memcpy(&copies.m_Registration, registration, offsetof(TfLiteRegistration, registration_external));
    return {index, &copies.m_Node, &copies.m_Registration};
}

const Node& GraphView::Find(int32_t index) const
{
    const auto found = m_Places.find(index);
    if (found == m_Places.end())
    {
        throw InvalidArgumentException(fmt::format("node {} is not in the execution plan", index));
    }
    return m_Nodes[found->second];
}

bool GraphView::IsInOrder() const
{
    std::unordered_set<int32_t> read; // by the nodes so far
    for (const Node& node : m_Nodes)
    {
        const Span<const int32_t> inputs = Elements(node.m_Node->inputs);
        const Span<const int32_t> outputs = Elements(node.m_Node->outputs);
        read.insert(inputs.begin(), inputs.end());
        if (std::any_of(outputs.begin(), outputs.end(),
                        [&](int32_t output) { return output != AbsentTensor && read.count(output) != 0; }))
        {
            return false;
        }
    }
    return true;
}

const TfLiteTensor* GraphView::FindTensor(int32_t tensor) const
{
    return tensor >= 0 && static_cast<size_t>(tensor) < m_Context.tensors_size ? &m_Context.tensors[tensor] : nullptr;
}

} // namespace tenon::delegate
