// SPDX-License-Identifier: Apache-2.0
// OrderOperators: see OperatorOrder.hpp.
#include "parsers/tflite/OperatorOrder.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <tflite_generated.h>

namespace tenon::tflite
{

namespace
{

using schema::BuiltinOperator;

constexpr uint32_t NoOperator = UINT32_MAX;

/// What an operator code says, whether or not it is a good one.
BuiltinOperator CodeOf(const Model& model, const schema::Operator& op)
{
    const auto* codes = model.Root().operator_codes();
    if (codes == nullptr || op.opcode_index() >= codes->size())
    {
        return BuiltinOperator::CUSTOM;
    }
    const schema::OperatorCode& code = *codes->Get(op.opcode_index());
    return std::max(code.builtin_code(), static_cast<BuiltinOperator>(code.deprecated_builtin_code()));
}

/// Whether the operator runs another subgraph, which may read and write variables. The bodies of reductions, sorts and
/// scatters, which are functions of numbers, are none of them.
bool IsCall(BuiltinOperator code)
{
    return code == BuiltinOperator::IF || code == BuiltinOperator::WHILE || code == BuiltinOperator::CALL ||
           code == BuiltinOperator::STABLEHLO_COMPOSITE;
}

const schema::Tensor* FindTensor(const schema::SubGraph& subgraph, int32_t index)
{
    const auto* tensors = subgraph.tensors();
    const bool exists = tensors != nullptr && index >= 0 && static_cast<uint32_t>(index) < tensors->size();
    return exists ? tensors->Get(static_cast<uint32_t>(index)) : nullptr;
}

/// Calls `visit` with each index in a list that may be absent.
template <typename Visit>
void ForEach(const flatbuffers::Vector<int32_t>* list, Visit visit)
{
    for (uint32_t i = 0; list != nullptr && i < list->size(); ++i)
    {
        visit(list->Get(i));
    }
}

/// Several operators may share one list, so that walking all lists takes far longer than the file is long: each walk is
/// charged.
void ChargeList(Model& model, const flatbuffers::Vector<int32_t>* list)
{
    model.Charge(list != nullptr ? list->size() * sizeof(int32_t) : 0);
}

/// Whether the operator itself reads or writes variables, which keep their values between runs.
bool UsesVariables(Model& model, const schema::SubGraph& subgraph, const schema::Operator& op)
{
    ChargeList(model, op.inputs());
    const BuiltinOperator code = CodeOf(model, op);
    bool uses = code == BuiltinOperator::READ_VARIABLE || code == BuiltinOperator::ASSIGN_VARIABLE ||
                code == BuiltinOperator::CALL_ONCE;
    ForEach(op.inputs(),
            [&](int32_t index)
            {
                const schema::Tensor* tensor = FindTensor(subgraph, index);
                uses = uses || (tensor != nullptr && tensor->is_variable());
            });
    return uses;
}

class Orderer
{
public:
    Orderer(Model& model, const schema::SubGraph& subgraph)
        : m_Model(model), m_Subgraph(subgraph),
          m_NumOperators(subgraph.operators() != nullptr ? subgraph.operators()->size() : 0)
    {
        FindProducers();
    }

    bool IsListInOrder() const
    {
        bool isInOrder = true;
        for (uint32_t i = 0; isInOrder && i < m_NumOperators; ++i)
        {
            ForEachProducer(i, [&](uint32_t producer) { isInOrder = isInOrder && producer < i; });
        }
        return isInOrder;
    }

    std::vector<uint32_t> Order()
    {
        FindEdges();
        std::vector<uint32_t> order;
        std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
        std::vector<uint32_t> missing = m_NumBefore;
        for (uint32_t i = 0; i < m_NumOperators; ++i)
        {
            if (missing[i] == 0)
            {
                ready.push(i);
            }
        }
        while (!ready.empty())
        {
            const uint32_t next = ready.top();
            ready.pop();
            order.push_back(next);
            for (const uint32_t reader : m_Successors[next])
            {
                if (--missing[reader] == 0)
                {
                    ready.push(reader);
                }
            }
        }
        if (order.size() != m_NumOperators)
        {
            FailCycle(missing);
        }
        return order;
    }

private:
    const schema::Operator& Op(uint32_t index) const { return *m_Subgraph.operators()->Get(index); }

    /// Which operator computes each tensor. Constants and inputs have no producer.
    void FindProducers()
    {
        const auto* tensors = m_Subgraph.tensors();
        m_Producers.assign(tensors != nullptr ? tensors->size() : 0, NoOperator);
        for (uint32_t i = m_NumOperators; i-- > 0;)
        {
            ChargeList(m_Model, Op(i).inputs()); // for IsListInOrder
            ChargeList(m_Model, Op(i).outputs());
            ForEach(Op(i).outputs(),
                    [&](int32_t index)
                    {
                        const schema::Tensor* tensor = FindTensor(m_Subgraph, index);
                        if (tensor != nullptr && !tensor->is_variable())
                        {
                            m_Producers[static_cast<size_t>(index)] = i;
                        }
                    });
        }
        ForEach(m_Subgraph.inputs(),
                [&](int32_t index)
                {
                    if (FindTensor(m_Subgraph, index) != nullptr)
                    {
                        m_Producers[static_cast<size_t>(index)] = NoOperator;
                    }
                });
    }

    template <typename Visit>
    void ForEachProducer(uint32_t op, Visit visit) const
    {
        ForEach(Op(op).inputs(),
                [&](int32_t index)
                {
                    if (FindTensor(m_Subgraph, index) != nullptr &&
                        m_Producers[static_cast<size_t>(index)] != NoOperator)
                    {
                        visit(m_Producers[static_cast<size_t>(index)]);
                    }
                });
    }

    /// Whether any other subgraph of the model uses variables, so that calls may.
    bool DoCallsUseVariables()
    {
        bool uses = false;
        for (const schema::SubGraph* subgraph : *m_Model.Root().subgraphs())
        {
            const uint32_t count = subgraph->operators() != nullptr ? subgraph->operators()->size() : 0;
            m_Model.Charge(sizeof(uint32_t) + size_t{count});
            for (uint32_t i = 0; subgraph != &m_Subgraph && !uses && i < count; ++i)
            {
                uses = UsesVariables(m_Model, *subgraph, *subgraph->operators()->Get(i));
            }
        }
        return uses;
    }

    void AddEdge(uint32_t before, uint32_t behind)
    {
        m_Model.Charge(sizeof(uint32_t));
        m_Successors[before].push_back(behind);
        ++m_NumBefore[behind];
    }

    void FindEdges()
    {
        m_Model.Charge(m_NumOperators * (sizeof(m_Successors.front()) + 4 * sizeof(uint32_t)));
        m_Successors.resize(m_NumOperators);
        m_NumBefore.resize(m_NumOperators);
        m_PreviousUser.assign(m_NumOperators, NoOperator);
        const bool doCallsUseVariables = DoCallsUseVariables();
        uint32_t lastUser = NoOperator;
        for (uint32_t i = 0; i < m_NumOperators; ++i)
        {
            ForEachProducer(i, [&](uint32_t producer) { AddEdge(producer, i); });
            if (UsesVariables(m_Model, m_Subgraph, Op(i)) || (doCallsUseVariables && IsCall(CodeOf(m_Model, Op(i)))))
            {
                if (lastUser != NoOperator)
                {
                    AddEdge(lastUser, i);
                }
                m_PreviousUser[i] = lastUser;
                lastUser = i;
            }
        }
    }

    std::string Label(uint32_t op) const
    {
        return fmt::format("{} {}", op, EnumNameBuiltinOperator(CodeOf(m_Model, Op(op))));
    }

    /// An operator that this one waits for and that has not been placed.
    uint32_t AnyBefore(uint32_t op, const std::vector<uint32_t>& missing) const
    {
        uint32_t found = NoOperator;
        ForEachProducer(op, [&](uint32_t producer) { found = missing[producer] != 0 ? producer : found; });
        return found != NoOperator ? found : m_PreviousUser[op];
    }

    [[noreturn]] void FailCycle(const std::vector<uint32_t>& missing) const
    {
        // Each operator that waits does so for another one that waits: going back ends in a cycle.
        uint32_t op = 0;
        while (missing[op] == 0)
        {
            ++op;
        }
        std::vector<bool> seen(m_NumOperators);
        while (!seen[op])
        {
            seen[op] = true;
            op = AnyBefore(op, missing);
        }
        constexpr size_t maxNamed = 8;
        const uint32_t first = op;
        std::string text = Label(first);
        size_t named = 1;
        bool isOfVariables = false;
        do
        {
            const uint32_t before = AnyBefore(op, missing);
            isOfVariables = isOfVariables || before == m_PreviousUser[op];
            op = before;
            text += ++named <= maxNamed + 1 ? fmt::format(" needs {}", Label(op)) : std::string();
        } while (op != first);
        throw ParseException(
            fmt::format("the operators form a cycle of {}: {}{}{}; the file is invalid, convert the model again",
                        named - 1, text, named > maxNamed + 1 ? " ..." : "",
                        isOfVariables ? " (operators that use variables run in the order of the list)" : ""));
    }

    Model& m_Model;
    const schema::SubGraph& m_Subgraph;
    uint32_t m_NumOperators;
    std::vector<uint32_t> m_Producers; ///< by tensor
    std::vector<std::vector<uint32_t>> m_Successors;
    std::vector<uint32_t> m_NumBefore;
    std::vector<uint32_t> m_PreviousUser; ///< by operator that uses variables: the one before it in the list
};

} // namespace

std::vector<uint32_t> OrderOperators(Model& model, const schema::SubGraph& subgraph)
{
    Orderer orderer(model, subgraph);
    return orderer.IsListInOrder() ? std::vector<uint32_t>() : orderer.Order();
}

} // namespace tenon::tflite
