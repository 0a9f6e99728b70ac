// SPDX-License-Identifier: Apache-2.0
// BindingTable: see BindingTable.hpp.
#include "parsers/common/BindingTable.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon::parsers
{

std::string Quote(const std::vector<std::string>& names)
{
    constexpr size_t maxNames = 32;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), maxNames); ++i)
    {
        text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
    }
    if (names.size() > maxNames)
    {
        text += fmt::format(" and {} more", names.size() - maxNames);
    }
    return text.empty() ? "none" : text;
}

std::string BindingTable::AddName(const std::string& base)
{
    std::string name = base;
    while (m_Infos.count(name) != 0)
    {
        name = fmt::format("{}_{}", base, ++m_LastSuffix[base]);
    }
    m_Names.push_back(name);
    return name;
}

void BindingTable::AddAlias(const std::string& alias)
{
    m_Aliases.emplace(alias, m_Names.back());
}

const BindingPointInfo& BindingTable::Find(const std::string& name, const char* kind) const
{
    auto found = m_Infos.find(name);
    const auto alias = m_Aliases.find(name);
    if (found == m_Infos.end() && alias != m_Aliases.end())
    {
        found = m_Infos.find(alias->second);
    }
    if (found == m_Infos.end())
    {
        throw ParseException(fmt::format("the model has no {} '{}'; it has {}", kind, name, Quote(m_Names)));
    }
    return found->second;
}

void BindingTable::CheckShapes(const std::map<std::string, TensorShape>& shapes) const
{
    for (const auto& [name, shape] : shapes)
    {
        if (m_Infos.count(name) == 0)
        {
            throw InvalidArgumentException(
                fmt::format("a shape is given for input '{}', which the model does not have; its inputs are {}", name,
                            Quote(m_Names)));
        }
    }
}

} // namespace tenon::parsers
