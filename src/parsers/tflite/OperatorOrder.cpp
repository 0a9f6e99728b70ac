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

constexpr uint32_t Nobody = UINT32_MAX;

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

bool IsCall(BuiltinOperator code)
{
    return code == BuiltinOperator::IF || code == BuiltinOperator::WHILE || code == BuiltinOperator::CALL;
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

/// Whether the operator itself reads or writes what lives on between runs.
bool UsesVariables(const Model& model, const schema::SubGraph& subgraph, const schema::Operator& op)
{
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
        FindMakers();
    }

    bool IsListInOrder() const
    {
        bool isInOrder = true;
        for (uint32_t i = 0; isInOrder && i < m_NumOperators; ++i)
        {
            ForEachMaker(i, [&](uint32_t maker) { isInOrder = isInOrder && maker < i; });
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
            for (const uint32_t reader : m_Behind[next])
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

    /// Which operator computes each tensor. What the file or the caller gives is nobody's result.
    void FindMakers()
    {
        const auto* tensors = m_Subgraph.tensors();
        m_Makers.assign(tensors != nullptr ? tensors->size() : 0, Nobody);
        for (uint32_t i = m_NumOperators; i-- > 0;)
        {
            ForEach(Op(i).outputs(),
                    [&](int32_t index)
                    {
                        const schema::Tensor* tensor = FindTensor(m_Subgraph, index);
                        if (tensor != nullptr && !tensor->is_variable())
                        {
                            m_Makers[static_cast<size_t>(index)] = i;
                        }
                    });
        }
        ForEach(m_Subgraph.inputs(),
                [&](int32_t index)
                {
                    if (FindTensor(m_Subgraph, index) != nullptr)
                    {
                        m_Makers[static_cast<size_t>(index)] = Nobody;
                    }
                });
    }

    template <typename Visit>
    void ForEachMaker(uint32_t op, Visit visit) const
    {
        ForEach(Op(op).inputs(),
                [&](int32_t index)
                {
                    if (FindTensor(m_Subgraph, index) != nullptr && m_Makers[static_cast<size_t>(index)] != Nobody)
                    {
                        visit(m_Makers[static_cast<size_t>(index)]);
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
            m_Model.Charge(count);
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
        m_Behind[before].push_back(behind);
        ++m_NumBefore[behind];
    }

    void FindEdges()
    {
        m_Model.Charge(m_NumOperators * (sizeof(m_Behind.front()) + 4 * sizeof(uint32_t)));
        m_Behind.resize(m_NumOperators);
        m_NumBefore.resize(m_NumOperators);
        m_Users.assign(m_NumOperators, Nobody);
        const bool doCallsUseVariables = DoCallsUseVariables();
        uint32_t lastUser = Nobody;
        for (uint32_t i = 0; i < m_NumOperators; ++i)
        {
            ForEachMaker(i, [&](uint32_t maker) { AddEdge(maker, i); });
            if (UsesVariables(m_Model, m_Subgraph, Op(i)) || (doCallsUseVariables && IsCall(CodeOf(m_Model, Op(i)))))
            {
                if (lastUser != Nobody)
                {
                    AddEdge(lastUser, i);
                }
                m_Users[i] = lastUser;
                lastUser = i;
            }
        }
    }

    std::string Label(uint32_t op) const
    {
        return fmt::format("{} {}", op, EnumNameBuiltinOperator(CodeOf(m_Model, Op(op))));
    }

    /// One of those that an operator waits for and that never came.
    uint32_t AnyBefore(uint32_t op, const std::vector<uint32_t>& missing) const
    {
        uint32_t found = Nobody;
        ForEachMaker(op, [&](uint32_t maker) { found = missing[maker] != 0 ? maker : found; });
        return found != Nobody ? found : m_Users[op];
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
        constexpr size_t mostNamed = 8;
        const uint32_t first = op;
        std::string text = Label(first);
        size_t named = 1;
        bool isOfVariables = false;
        do
        {
            const uint32_t before = AnyBefore(op, missing);
            isOfVariables = isOfVariables || before == m_Users[op];
            op = before;
            text += ++named <= mostNamed + 1 ? fmt::format(" behind {}", Label(op)) : std::string();
        } while (op != first);
        throw ParseException(
            fmt::format("the operators have no order in which each has its inputs: {}{} ({} in the circle){}", text,
                        named > mostNamed + 1 ? " ..." : "", named - 1,
                        isOfVariables ? "; those that use variables must run in the order of the list" : ""));
    }

    Model& m_Model;
    const schema::SubGraph& m_Subgraph;
    uint32_t m_NumOperators;
    std::vector<uint32_t> m_Makers; ///< by tensor
    std::vector<std::vector<uint32_t>> m_Behind;
    std::vector<uint32_t> m_NumBefore;
    std::vector<uint32_t> m_Users; ///< the user of variables before each one in the list
};

} // namespace

std::vector<uint32_t> OrderOperators(Model& model, const schema::SubGraph& subgraph)
{
    Orderer orderer(model, subgraph);
    return orderer.IsListInOrder() ? std::vector<uint32_t>() : orderer.Order();
}

} // namespace tenon::tflite
