// SPDX-License-Identifier: Apache-2.0
// SubgraphReader: see SubgraphReader.hpp.
#include "parsers/tflite/SubgraphReader.hpp"

#include "parsers/tflite/OperatorOrder.hpp"
#include "parsers/tflite/OperatorReader.hpp"
#include "parsers/tflite/Operators.hpp"

#include <tflite_generated.h>

namespace tenon::tflite
{

SubgraphReader::SubgraphReader(Model& model, size_t index, bool inferShapes, Use use)
    : m_Model(model), m_Index(index), m_Subgraph(model.Subgraph(index)), m_Tensors(model, m_Subgraph, inferShapes),
      m_Use(use)
{
}

template <typename Function>
auto SubgraphReader::Measured(Function read)
{
    const uint64_t before = m_Model.Charged();
    auto result = read();
    m_BytesRead += m_Model.Charged() - before;
    return result;
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
        WithModelContext([&] { return fmt::format("{}: input {}", Describe(), i); },
                         [&] {
                             views.push_back(inputs->Get(i) == -1
                                                 ? nullptr
                                                 : Measured([&] { return &m_Tensors.Get(inputs->Get(i)); }));
                         });
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
                         [&] { views.push_back(Measured([&] { return &m_Tensors.Get(outputs->Get(i)); })); });
    }
    return views;
}

size_t SubgraphReader::NumOperators() const
{
    return m_Subgraph.operators() != nullptr ? m_Subgraph.operators()->size() : 0;
}

uint64_t SubgraphReader::Cost() const
{
    return NumOperators() + NumTensors() + 1 + m_BytesRead / BytesPerVisit;
}

SubgraphReader::Entry SubgraphReader::Read(unsigned int index, std::string& name)
{
    const schema::Operator& raw = *m_Subgraph.operators()->Get(index);
    const OperatorCode code = ReadOperatorCode(m_Model, raw);
    name = code.m_Name;
    const OperatorRow* row = FindRow(code.m_Name, code.IsCustom());
    const OptionsAs options = row != nullptr && !row->m_HasRawOptions ? OptionsAs::Attributes : OptionsAs::Raw;
    return {ReadOperator(m_Model, m_Tensors, raw, code, index, options), row};
}

template <typename Visit>
void SubgraphReader::VisitOperators(Visit visit)
{
    if (!m_Order.has_value())
    {
        m_Order = OrderOperators(m_Model, m_Subgraph);
    }
    for (unsigned int place = 0; place < NumOperators(); ++place)
    {
        const unsigned int i = m_Order->empty() ? place : (*m_Order)[place];
        std::string name;
        WithModelContext([&] { return fmt::format("operator {} {}", i, name); },
                         [&]
                         {
                             auto read = [&] { return Measured([&] { return Read(i, name); }); };
                             if (m_Use == Use::Once)
                             {
                                 const Entry entry = read();
                                 visit(entry.m_Operator, entry.m_Row);
                                 return;
                             }
                             if (place == m_Kept.size())
                             {
                                 m_Kept.push_back(read());
                             }
                             const Entry& entry = m_Kept[place];
                             name = entry.m_Operator.Name();
                             visit(entry.m_Operator, entry.m_Row);
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
                                 parsers::AddOperator(*row, op, builder);
                             });
                     });
}

ISubgraph& ModelSubgraphs::Open(int64_t index)
{
    if (index < 0)
    {
        throw ParseException(fmt::format("subgraph {} does not exist", index));
    }
    const auto number = static_cast<size_t>(index);
    return m_Opened.try_emplace(number, m_Model, number, m_InferShapes, SubgraphReader::Use::Often).first->second;
}

} // namespace tenon::tflite
