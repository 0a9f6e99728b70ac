// SPDX-License-Identifier: Apache-2.0
// See Remarks.hpp.
#include "text/Remarks.hpp"

#include <algorithm>

namespace tenon::text
{

void Remarks::Add(const std::string& option, const std::string& text)
{
    const auto found =
        std::find_if(m_Remarks.begin(), m_Remarks.end(), [&](const auto& remark) { return remark.second == text; });
    if (found != m_Remarks.end())
    {
        found->first += ", " + option;
    }
    else
    {
        m_Remarks.emplace_back(option, text);
    }
}

std::vector<std::string> Remarks::Lines() const
{
    std::vector<std::string> lines;
    for (const auto& [names, text] : m_Remarks)
    {
        lines.push_back(names + ": " + text);
    }
    return lines;
}

} // namespace tenon::text
