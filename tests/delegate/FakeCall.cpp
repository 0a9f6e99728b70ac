// SPDX-License-Identifier: Apache-2.0
#include "delegate/FakeCall.hpp"

#include "delegate/FakeRuntime.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::test
{

FakeGraph::Call::Call(FakeGraph& graph, Phase phase, int32_t node)
    : m_Graph(graph), m_PhaseAround(std::exchange(graph.m_Phase, phase)),
      m_NodeAround(std::exchange(graph.m_CurrentNode, node)), m_NumTexts(graph.m_NumTexts), m_States(graph.ReadStates())
{
}

FakeGraph::Call::~Call()
{
    m_Graph.m_Phase = m_PhaseAround;
    m_Graph.m_CurrentNode = m_NodeAround;
}

TfLiteStatus FakeGraph::Call::Finish(TfLiteStatus status)
{
    if (status != kTfLiteOk && status != kTfLiteCancelled && m_Graph.IsDelegateRunning() &&
        m_Graph.m_NumTexts == m_NumTexts)
    {
        m_Graph.Forbid(fmt::format("An error, status {}, came without a text.", static_cast<int32_t>(status)));
    }
    const std::vector<TensorState> states = m_Graph.ReadStates();
    for (size_t i = 0; i < m_States.size(); ++i)
    {
        const auto tensor = static_cast<int32_t>(i);
        const bool isOwn = m_Graph.BelongsTo(tensor, m_Graph.m_CurrentNode);
        if (states[i] != m_States[i] && !isOwn)
        {
            m_Graph.Forbid(fmt::format("Tensor {} was changed, which is no output of the node.", tensor));
        }
        if (states[i].m_Type != m_States[i].m_Type)
        {
            m_Graph.Forbid(fmt::format("Tensor {} got another type.", tensor));
        }
        const TensorMemory& memory = *m_Graph.m_TensorMemory[i];
        if (isOwn && states[i].m_Allocation == kTfLiteDynamic && states[i].m_Data != memory.m_Dynamic)
        {
            m_Graph.Forbid(fmt::format("Tensor {} is dynamic, and its memory is not the runtime's.", tensor));
        }
    }
    return status;
}

std::vector<FakeGraph::TensorState> FakeGraph::ReadStates() const
{
    std::vector<TensorState> states;
    for (const TfLiteTensor& tensor : m_Tensors)
    {
        states.push_back({tensor.data, tensor.dims, tensor.type, tensor.allocation_type});
    }
    return states;
}

bool FakeGraph::BelongsTo(int32_t tensor, int32_t node) const
{
    if (node < 0)
    {
        return false;
    }
    const TfLiteNode& owner = m_Nodes[static_cast<size_t>(node)].m_Node;
    const std::vector<int32_t> outputs = ToVector(owner.outputs);
    const std::vector<int32_t> temporaries = ToVector(owner.temporaries);
    return std::count(outputs.begin(), outputs.end(), tensor) != 0 ||
           std::count(temporaries.begin(), temporaries.end(), tensor) != 0;
}

bool FakeGraph::IsDelegateRunning() const
{
    return m_Phase == Phase::DelegatePrepare ||
           (m_CurrentNode >= 0 && m_Nodes[static_cast<size_t>(m_CurrentNode)].m_Node.delegate != nullptr);
}

} // namespace tenon::test
