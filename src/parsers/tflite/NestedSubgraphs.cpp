// SPDX-License-Identifier: Apache-2.0
// The part of NetworkBuilder that knows branches and loops: their subgraphs become networks of their own. Variables
// that a nested subgraph touches go into its network as further inputs and come out as further outputs, so that no
// network has side effects. What these outputs give is kept of resource variables only.
#include "parsers/tflite/CalledSubgraphs.hpp"
#include "parsers/tflite/NetworkBuilder.hpp"

#include <tenon/Exceptions.hpp>

namespace tenon::tflite
{

/// A subgraph as a network of its own.
class NetworkBuilder::Nested
{
public:
    Nested(NetworkBuilder& outer, ISubgraph& subgraph)
        : m_Outer(outer), m_Subgraph(subgraph),
          m_Builder(outer.m_Construction, m_State, subgraph.Index(), subgraph.NumTensors())
    {
        m_State.m_IsNested = true;
    }

    /// `op`'s operands from `firstOperand` on are the subgraph's inputs, and `variables` its further ones.
    void Build(const OperatorView& op, size_t firstOperand, const std::set<VariableId>& variables)
    {
        const std::vector<const TensorView*> inputs = m_Subgraph.Inputs();
        CheckCount("operands", op.NumInputs() - firstOperand, m_Subgraph.Index(), inputs.size());
        LayerBindingId id = 0;
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            const TensorView& operand = op.Input(firstOperand + i);
            if (operand.m_IsResource)
            {
                if (inputs[i] != nullptr)
                {
                    m_Builder.m_Handles[inputs[i]->m_Index] = m_Outer.HandleOf(operand);
                }
                continue;
            }
            if (inputs[i] != nullptr && !inputs[i]->m_IsConstant)
            {
                m_Builder.AddInput(*inputs[i], id, inputs[i]->m_Name);
            }
            ++id;
        }
        for (const VariableId variable : variables)
        {
            IConnectableLayer* layer = m_Builder.Network().AddInputLayer(id++, CountName(variable));
            layer->GetOutputSlot(0).SetTensorInfo(m_Outer.m_Construction.m_Variables.Info(variable));
            m_State.m_Slots[variable].m_Current = &layer->GetOutputSlot(0);
        }
        m_Subgraph.AddOperators(m_Builder);
    }

    /// `variables` become the outputs after those of the subgraph.
    void AddOutputs(const std::set<VariableId>& variables)
    {
        LayerBindingId id = 0;
        for (const TensorView* output : m_Subgraph.Outputs())
        {
            if (!output->m_IsResource)
            {
                m_Builder.AddOutput(*output, id++, output->m_Name);
            }
        }
        for (const VariableId variable : variables)
        {
            IConnectableLayer* layer = m_Builder.Network().AddOutputLayer(id++, CountName(variable));
            m_State.m_Slots.at(variable).m_Current->Connect(layer->GetInputSlot(0));
        }
    }

    const INetwork& Get() const { return *m_State.m_Network; }

    void AddWritten(std::set<VariableId>& written) const
    {
        for (const auto& [variable, slot] : m_State.m_Slots)
        {
            if (slot.m_IsWritten)
            {
                written.insert(variable);
            }
        }
    }

private:
    /// The name of a variable for a layer that is about to be added.
    const char* CountName(VariableId variable)
    {
        const std::string& name = m_Outer.m_Construction.m_Variables.Name(variable);
        m_Builder.CountLayer();
        m_Outer.m_Construction.m_Size.CountVisit(name.size() / BytesPerVisit);
        return name.c_str();
    }

    NetworkBuilder& m_Outer;
    ISubgraph& m_Subgraph;
    NetworkState m_State;
    NetworkBuilder m_Builder;
};

void NetworkBuilder::ConnectNested(const OperatorView& op, IConnectableLayer* layer, size_t firstOperand,
                                   unsigned int firstSlot, const std::set<VariableId>& variables,
                                   const std::set<VariableId>& written)
{
    CountLayer();
    unsigned int slot = firstSlot;
    auto connect = [&](IOutputSlot& source)
    {
        if (slot < layer->GetNumInputSlots()) // branches may ignore the last inputs
        {
            source.Connect(layer->GetInputSlot(slot));
        }
        ++slot;
    };
    for (size_t i = firstOperand; i < op.NumInputs(); ++i)
    {
        if (!op.Input(i).m_IsResource)
        {
            connect(Source(op.Input(i)));
        }
    }
    for (const VariableId variable : variables)
    {
        connect(VariableSlot(variable));
    }
    unsigned int output = 0;
    for (size_t i = 0; i < op.NumOutputs(); ++i)
    {
        const bool takesResource = op.HasInput(firstOperand + i) && op.Input(firstOperand + i).m_IsResource;
        if (!op.HasOutput(i))
        {
            output += takesResource ? 0 : 1; // nobody asks for it
            continue;
        }
        const TensorView& tensor = op.Output(i);
        if (tensor.m_IsResource)
        {
            if (takesResource)
            {
                m_Handles[tensor.m_Index] = HandleOf(op.Input(firstOperand + i));
            }
            continue;
        }
        layer->GetOutputSlot(output).SetTensorInfo(tensor.m_Info);
        SetSource(tensor, layer->GetOutputSlot(output++), "computed here");
    }
    for (const VariableId variable : variables)
    {
        IOutputSlot& result = layer->GetOutputSlot(output++);
        // As in TFLite, variable tensors of a subgraph start anew each time that a branch or a loop is entered.
        if (written.count(variable) != 0 && !m_Construction.m_Variables.IsTensor(variable))
        {
            TensorInfo info = m_Construction.m_Variables.Info(variable);
            info.SetShape(TensorShape());
            result.SetTensorInfo(info);
            m_State.m_Slots[variable] = {&result, true};
        }
    }
}

NetworkBuilder::Callees NetworkBuilder::OpenBoth(const OperatorView& op, int64_t first, int64_t second,
                                                 size_t firstOperand)
{
    ISubgraphs& subgraphs = Subgraphs(m_Construction);
    Callees callees{{&subgraphs.Open(first), &subgraphs.Open(second)}, {}};
    for (ISubgraph* subgraph : callees.m_Subgraphs)
    {
        CollectVariables(*subgraph, PassHandles(op, firstOperand, m_Handles, *subgraph), callees.m_Variables);
    }
    return callees;
}

void NetworkBuilder::AddIf(const OperatorView& op, int64_t thenSubgraph, int64_t elseSubgraph)
{
    const auto [subgraphs, variables] = OpenBoth(op, thenSubgraph, elseSubgraph, 1);
    const NetworkSize::Level level(m_Construction.m_Size);
    std::set<VariableId> written;
    std::unique_ptr<Nested> nested[2];
    for (size_t i = 0; i < 2; ++i)
    {
        CheckCount("results", op.NumOutputs(), subgraphs[i]->Index(), subgraphs[i]->Outputs().size());
        nested[i] = std::make_unique<Nested>(*this, *subgraphs[i]);
        nested[i]->Build(op, 1, variables);
        nested[i]->AddOutputs(variables);
        nested[i]->AddWritten(written);
    }
    IConnectableLayer* layer = Network().AddIfLayer(nested[0]->Get(), nested[1]->Get(), op.LayerName().c_str());
    Source(op.Input(0)).Connect(layer->GetInputSlot(0));
    ConnectNested(op, layer, 1, 1, variables, written);
}

void NetworkBuilder::AddWhile(const OperatorView& op, int64_t condition, int64_t body)
{
    const auto [subgraphs, variables] = OpenBoth(op, condition, body, 0);
    CheckCount("results", subgraphs[0]->Outputs().size(), subgraphs[0]->Index(), 1);
    CheckCount("loop variables", op.NumInputs(), subgraphs[1]->Index(), subgraphs[1]->Outputs().size());
    CheckCount("results", op.NumOutputs(), subgraphs[1]->Index(), subgraphs[1]->Outputs().size());
    const NetworkSize::Level level(m_Construction.m_Size);
    Nested conditionNetwork(*this, *subgraphs[0]);
    conditionNetwork.Build(op, 0, variables);
    conditionNetwork.AddOutputs({});
    Nested bodyNetwork(*this, *subgraphs[1]);
    bodyNetwork.Build(op, 0, variables);
    bodyNetwork.AddOutputs(variables);
    std::set<VariableId> written;
    conditionNetwork.AddWritten(written);
    if (!written.empty())
    {
        throw UnimplementedException("the condition of a loop assigns a variable, which is not supported");
    }
    bodyNetwork.AddWritten(written);
    IConnectableLayer* layer =
        Network().AddWhileLayer(conditionNetwork.Get(), bodyNetwork.Get(), op.LayerName().c_str());
    ConnectNested(op, layer, 0, 0, variables, written);
}

} // namespace tenon::tflite
