// SPDX-License-Identifier: Apache-2.0
// The part of NetworkBuilder that finds the variables that a subgraph, or one called from there, reads or assigns.
#include "parsers/tflite/CalledSubgraphs.hpp"
#include "parsers/tflite/NetworkBuilder.hpp"

namespace tenon::tflite
{

NetworkBuilder::Handles NetworkBuilder::PassHandles(const OperatorView& op, size_t firstOperand, const Handles& handles,
                                                    ISubgraph& called)
{
    Handles passed;
    const std::vector<const TensorView*> inputs = called.Inputs();
    for (size_t i = 0; i < inputs.size() && op.HasInput(firstOperand + i); ++i)
    {
        const auto found = handles.find(op.Input(firstOperand + i).m_Index);
        if (inputs[i] != nullptr && found != handles.end())
        {
            passed[inputs[i]->m_Index] = found->second;
        }
    }
    return passed;
}

void NetworkBuilder::CollectVariables(ISubgraph& subgraph, Handles handles, std::set<VariableId>& touched)
{
    const NetworkSize::Level level(m_Construction.m_Size);
    m_Construction.m_Size.CountVisit(subgraph.Cost());
    std::set<size_t> fed;
    for (const TensorView* input : subgraph.Inputs())
    {
        if (input != nullptr)
        {
            fed.insert(input->m_Index);
        }
    }
    auto call = [&](const OperatorView& op, int64_t index, size_t firstOperand)
    {
        ISubgraph& called = Subgraphs(m_Construction).Open(index);
        CollectVariables(called, PassHandles(op, firstOperand, handles, called), touched);
    };
    subgraph.ForEachOperator(
        [&](const OperatorView& op)
        {
            Variables& variables = m_Construction.m_Variables;
            auto touch = [&](const TensorInfo& info)
            {
                const auto found = handles.find(op.Input(0).m_Index);
                if (found != handles.end())
                {
                    variables.Describe(found->second, info);
                    touched.insert(found->second);
                }
            };
            if (op.Name() == "VAR_HANDLE")
            {
                handles[op.Output(0).m_Index] = variables.Resource(op.Text("container"), op.Text("shared_name"));
            }
            else if (op.Name() == "READ_VARIABLE")
            {
                touch(op.Output(0).m_Info);
            }
            else if (op.Name() == "ASSIGN_VARIABLE")
            {
                touch(op.Input(1).m_Info);
            }
            else if (op.Name() == "IF")
            {
                call(op, op.Int("then_subgraph_index", 0), 1);
                call(op, op.Int("else_subgraph_index", 0), 1);
            }
            else if (op.Name() == "WHILE")
            {
                call(op, op.Int("cond_subgraph_index", 0), 0);
                call(op, op.Int("body_subgraph_index", 0), 0);
            }
            else if (op.Name() == "CALL")
            {
                call(op, op.Int("subgraph", 0), 0);
            }
            for (size_t i = 0; i < op.NumInputs(); ++i)
            {
                if (op.HasInput(i) && op.Input(i).m_IsVariable && fed.count(op.Input(i).m_Index) == 0)
                {
                    touched.insert(variables.Tensor(subgraph.Index(), op.Input(i)));
                }
            }
        });
}

} // namespace tenon::tflite
