// SPDX-License-Identifier: Apache-2.0
// SubgraphReader: see SubgraphReader.hpp.
#include "parsers/tflite/SubgraphReader.hpp"

#include "parsers/tflite/OperatorReader.hpp"
#include "parsers/tflite/Operators.hpp"

#include <tflite_generated.h>

namespace tenon::tflite
{

SubgraphReader::SubgraphReader(Model& model, size_t index, bool inferShapes)
    : m_Model(model), m_Index(index), m_Subgraph(model.Subgraph(index)), m_Tensors(model, m_Subgraph, inferShapes)
{
}

std::string SubgraphReader::Describe() const
{
    const auto* name = m_Subgraph.name();
    return fmt::format("subgraph {} '{}'", m_Index, name != nullptr ? name->string_view() : "");
}

std::vector<const TensorView*> SubgraphReader::Inputs()
{
    std::vector<const TensorView*> views;
    const auto* inputs = m_Subgraph.inputs();
    for (unsigned int i = 0; inputs != nullptr && i < inputs->size(); ++i)
    {
        WithModelContext([&] { return fmt::format("{}: input {}", Describe(), i); }, [&]
                         { views.push_back(inputs->Get(i) == -1 ? nullptr : &m_Tensors.GetInput(inputs->Get(i))); });
    }
    return views;
}

std::vector<const TensorView*> SubgraphReader::Outputs()
{
    std::vector<const TensorView*> views;
    const auto* outputs = m_Subgraph.outputs();
    for (unsigned int i = 0; outputs != nullptr && i < outputs->size(); ++i)
    {
        WithModelContext([&] { return fmt::format("{}: output {}", Describe(), i); },
                         [&] { views.push_back(&m_Tensors.Get(outputs->Get(i))); });
    }
    return views;
}

size_t SubgraphReader::NumOperators() const
{
    return m_Subgraph.operators() != nullptr ? m_Subgraph.operators()->size() : 0;
}

template <typename Visit>
void SubgraphReader::VisitOperators(Visit visit)
{
    for (unsigned int i = 0; i < NumOperators(); ++i)
    {
        OperatorCode code;
        WithModelContext([&] { return fmt::format("operator {} {}", i, code.m_Name); },
                         [&]
                         {
                             const schema::Operator& raw = *m_Subgraph.operators()->Get(i);
                             code = ReadOperatorCode(m_Model, raw);
                             const OperatorRow* row = FindRow(code.m_Name, code.IsCustom());
                             const OptionsAs options = row != nullptr ? OptionsAs::Attributes : OptionsAs::Raw;
                             visit(ReadOperator(m_Model, m_Tensors, raw, code, i, options), row);
                         });
    }
}

void SubgraphReader::ForEachOperator(const std::function<void(const OperatorView& op)>& visit)
{
    WithModelContext([&] { return Describe(); },
                     [&] { VisitOperators([&](const OperatorView& op, const OperatorRow*) { visit(op); }); });
}

void SubgraphReader::AddOperators(NetworkBuilder& builder)
{
    WithModelContext([&] { return Describe(); },
                     [&]
                     {
                         VisitOperators(
                             [&](const OperatorView& op, const OperatorRow* row)
                             {
                                 if (row == nullptr)
                                 {
                                     builder.AddUnsupported(op);
                                     return;
                                 }
                                 AddOperator(*row, op, builder);
                             });
                     });
}

std::unique_ptr<ISubgraph> ModelSubgraphs::Open(int64_t index)
{
    if (index < 0)
    {
        throw ParseException(fmt::format("subgraph {} does not exist", index));
    }
    return std::make_unique<SubgraphReader>(m_Model, static_cast<size_t>(index), m_InferShapes);
}

} // namespace tenon::tflite
