// SPDX-License-Identifier: Apache-2.0
// See ClassNames.hpp.
#include "tools/evaluate/ClassNames.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Labels.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace tenon::tools::evaluate
{

ClassNames::ClassNames(const std::string& labelsFile, const Binding& output, size_t count) : m_Count(count)
{
    if (labelsFile.empty())
    {
        m_Labels = count == 0 || output.m_Labels.size() == count ? output.m_Labels : std::vector<std::string>();
        return;
    }
    m_Labels = ReadLabels(labelsFile);
    if (count != 0 && m_Labels.size() != count)
    {
        throw InputError(fmt::format("label file '{}': it has {} labels, but output '{}' has {} classes; line i names "
                                     "class i, counted from 0",
                                     OneLine(labelsFile), m_Labels.size(), OneLine(output.m_Name), count));
    }
}

std::string ClassNames::NameOf(size_t index) const
{
    return index < m_Labels.size() && !m_Labels[index].empty() ? m_Labels[index] : fmt::format("{}", index);
}

size_t ClassNames::Parse(const std::string& word, int offset) const
{
    const auto found = std::find(m_Labels.begin(), m_Labels.end(), word);
    if (found != m_Labels.end())
    {
        const auto index = static_cast<size_t>(found - m_Labels.begin());
        if (const auto second = std::find(std::next(found), m_Labels.end(), word); second != m_Labels.end())
        {
            throw InputError(fmt::format("the label '{}' is that of the classes {} and {}; give numbers in its place",
                                         OneLine(word), index, second - m_Labels.begin()));
        }
        return index;
    }
    int64_t number = 0;
    if (!ParseElement(DataType::Signed64, word, reinterpret_cast<std::byte*>(&number), 0))
    {
        throw InputError(
            HasLabels() ? fmt::format("'{}' is none of the {} labels, and no number", OneLine(word), m_Labels.size())
                        : fmt::format("'{}' is no number; the model's classes have no names, which --labels gives",
                                      OneLine(word)));
    }
    constexpr int64_t maxNumber = int64_t{1} << 40;
    const int64_t index = std::clamp(number, -maxNumber, maxNumber) + offset;
    if (index < 0 || (m_Count != 0 && index >= static_cast<int64_t>(m_Count)))
    {
        throw InputError(fmt::format("there is no class {}{}; the model has the classes 0..{}", number,
                                     offset == 0 ? "" : fmt::format(" + {} (--label-offset)", offset),
                                     static_cast<int64_t>(m_Count) - 1));
    }
    return static_cast<size_t>(index);
}

} // namespace tenon::tools::evaluate
