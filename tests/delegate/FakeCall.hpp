// SPDX-License-Identifier: Apache-2.0
// FakeGraph::Call: a call of a delegate or of a kernel: its data for the context's functions, and checks of its
// effects. Used by FakeGraph.cpp and FakeContext.cpp.
#pragma once

#include "delegate/FakeGraph.hpp"

#include <vector>

namespace tenon::test
{

class FakeGraph::Call
{
public:
    /// `node`: -1 for a delegate's Prepare.
    Call(FakeGraph& graph, Phase phase, int32_t node);
    /// The graph continues in the enclosing call.
    ~Call();

    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// Ends the call. It gets the status of the call and returns it.
    TfLiteStatus Finish(TfLiteStatus status);

private:
    FakeGraph& m_Graph;
    Phase m_PhaseAround;
    int32_t m_NodeAround;
    size_t m_NumTexts;
    std::vector<TensorState> m_States;
};

} // namespace tenon::test
