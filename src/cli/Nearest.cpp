// SPDX-License-Identifier: Apache-2.0
// See Nearest.hpp.
#include "cli/Nearest.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace tenon::cli
{
namespace
{

/// Words are compared up to this length: the time grows with the product of both.
constexpr size_t MaxCompared = 64;
/// A part of a word says something from this length on.
constexpr size_t MinPart = 3;

std::string ToLower(std::string_view text)
{
    std::string lower(text.substr(0, MaxCompared));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return lower;
}

} // namespace

size_t EditDistance(std::string_view a, std::string_view b)
{
    std::vector<size_t> before(b.size() + 1);
    std::vector<size_t> above(b.size() + 1);
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); ++i)
    {
        before = std::exchange(above, row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j)
        {
            const bool isSame = a[i - 1] == b[j - 1];
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (isSame ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
    }
    return row[b.size()];
}

const std::string& FindNearest(std::string_view word, const std::vector<std::string>& known)
{
    const std::string wanted = ToLower(word);
    const auto distance = [&](const std::string& candidate)
    {
        const std::string other = ToLower(candidate);
        const bool isPart = wanted.size() >= MinPart && other.find(wanted) != std::string::npos;
        // Upper and lower case count where nothing else does.
        return std::pair(isPart ? size_t{1} : EditDistance(wanted, other), candidate != word);
    };
    return *std::min_element(known.begin(), known.end(),
                             [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
}

} // namespace tenon::cli
