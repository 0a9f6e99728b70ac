// SPDX-License-Identifier: Apache-2.0
// See Nearest.hpp.
#include "text/Nearest.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <tuple>
#include <utility>

namespace tenon::text
{
namespace
{

/// Words are compared up to this length: the time grows with the product of both.
constexpr size_t MaxCompared = 64;
/// A part of a word says something from this length on.
constexpr size_t MinPart = 3;
/// One edit for as many characters of a word is a slip; more make another word.
constexpr size_t EditShare = 3;

std::string ToLower(std::string_view text)
{
    std::string lower(text.substr(0, MaxCompared));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return lower;
}

/// The fewest edits between `word` and some neighbouring parts of `candidate`, which hyphens separate.
size_t EditsToParts(std::string_view word, std::string_view candidate)
{
    size_t fewest = std::string_view::npos;
    for (size_t start = 0; start < candidate.size();)
    {
        for (size_t end = start; end < candidate.size();)
        {
            end = std::min(candidate.find('-', end + 1), candidate.size());
            fewest = std::min(fewest, EditDistance(word, candidate.substr(start, end - start)));
        }
        start = std::min(candidate.find('-', start), candidate.size() - 1) + 1;
    }
    return fewest;
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

std::optional<std::string> FindNearest(std::string_view word, const std::vector<std::string>& known)
{
    const std::string wanted = ToLower(word);
    std::optional<std::string> nearest;
    std::tuple<size_t, bool> fewest;
    for (const std::string& candidate : known)
    {
        const std::string other = ToLower(candidate);
        size_t edits = EditDistance(wanted, other);
        size_t cost = edits; // a part says less than the whole word by one edit
        if (wanted.size() >= MinPart)
        {
            const bool isPart = other.find(wanted) != std::string::npos;
            const size_t ofParts = isPart ? 0 : EditsToParts(wanted, other);
            edits = std::min(edits, ofParts);
            cost = std::min(cost, ofParts + 1);
        }
        const std::tuple distance(cost, candidate != word);
        if (edits <= wanted.size() / EditShare && (!nearest || distance < fewest))
        {
            nearest = candidate;
            fewest = distance;
        }
    }
    return nearest;
}

} // namespace tenon::text
