// SPDX-License-Identifier: Apache-2.0
// Variables: see Variables.hpp.
#include "parsers/tflite/Variables.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

namespace tenon::tflite
{

VariableId Variables::Find(std::string name)
{
    const auto [found, isNew] = m_Ids.emplace(std::move(name), m_Entries.size());
    if (isNew)
    {
        m_Entries.push_back({found->first, std::nullopt, false});
    }
    return found->second;
}

VariableId Variables::Resource(const std::string& container, const std::string& name)
{
    return Find(fmt::format("{}{}{}", container, container.empty() ? "" : "/", name));
}

VariableId Variables::Tensor(size_t subgraph, const TensorView& tensor)
{
    // The index makes it unique: tensors may share a name.
    const VariableId id = Find(fmt::format("{}:{}:{}", tensor.m_Name, subgraph, tensor.m_Index));
    m_Entries[id].m_IsTensor = true;
    Describe(id, tensor.m_Info);
    return id;
}

VariableId Variables::Own(size_t subgraph, const std::string& layerName)
{
    return Find(fmt::format("{}:{}", layerName, subgraph));
}

void Variables::Describe(VariableId id, const TensorInfo& info)
{
    Entry& entry = m_Entries[id];
    if (!entry.m_Info.has_value() || entry.m_Info->GetShape().GetDimensionality() == Dimensionality::NotSpecified)
    {
        entry.m_Info = info;
        entry.m_Info->SetConstant(false);
    }
}

const TensorInfo& Variables::Info(VariableId id) const
{
    if (!m_Entries[id].m_Info.has_value())
    {
        throw UnimplementedException(
            fmt::format("nothing in the model tells the type of variable '{}'", m_Entries[id].m_Name));
    }
    return *m_Entries[id].m_Info;
}

} // namespace tenon::tflite
