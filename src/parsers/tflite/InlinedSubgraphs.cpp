// SPDX-License-Identifier: Apache-2.0
// The part of NetworkBuilder that knows calls: the layers of a subgraph stand in place of the operator that calls it.
#include "parsers/tflite/CalledSubgraphs.hpp"
#include "parsers/tflite/NetworkBuilder.hpp"

#include <tenon/Exceptions.hpp>

namespace tenon::tflite
{

void NetworkBuilder::Inline(const OperatorView& op, int64_t subgraph)
{
    const NetworkSize::Level level(m_Construction.m_Size);
    ISubgraph& called = Subgraphs(m_Construction).Open(subgraph);
    m_Construction.m_Size.CountVisit(called.Cost());
    const std::vector<const TensorView*> inputs = called.Inputs();
    const std::vector<const TensorView*> outputs = called.Outputs();
    CheckCount("operands", op.NumInputs(), called.Index(), inputs.size());
    CheckCount("results", op.NumOutputs(), called.Index(), outputs.size());
    NetworkBuilder builder(m_Construction, m_State, called.Index(), called.NumTensors());
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        if (inputs[i] == nullptr)
        {
            continue;
        }
        if (op.Input(i).m_IsResource)
        {
            builder.m_Handles[inputs[i]->m_Index] = HandleOf(op.Input(i));
        }
        else if (!inputs[i]->m_IsConstant)
        {
            builder.Feed(*inputs[i], Source(op.Input(i)));
        }
    }
    called.AddOperators(builder);
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        if (outputs[i]->m_IsResource)
        {
            m_Handles[op.Output(i).m_Index] = builder.HandleOf(*outputs[i]);
        }
        else
        {
            SetSource(op.Output(i), builder.Source(*outputs[i]), "computed here");
        }
    }
}

std::vector<std::string> NetworkBuilder::NamesOfOperators(int64_t subgraph)
{
    ISubgraph& opened = Subgraphs(m_Construction).Open(subgraph);
    m_Construction.m_Size.CountVisit(opened.Cost());
    std::vector<std::string> names;
    opened.ForEachOperator([&](const OperatorView& op) { names.push_back(op.Name()); });
    return names;
}

void NetworkBuilder::InlineOnce(int64_t subgraph)
{
    if (m_State.m_IsNested)
    {
        throw UnimplementedException("initializers can be called from the main subgraph only");
    }
    const NetworkSize::Level level(m_Construction.m_Size);
    ISubgraph& called = Subgraphs(m_Construction).Open(subgraph);
    m_Construction.m_Size.CountVisit(called.Cost());
    CheckCount("operands", 0, called.Index(), called.Inputs().size());
    NetworkBuilder builder(m_Construction, m_State, called.Index(), called.NumTensors());
    m_State.m_IsInitializing = true;
    called.AddOperators(builder);
    m_State.m_IsInitializing = false;
}

} // namespace tenon::tflite
