// SPDX-License-Identifier: Apache-2.0
// See PageData.hpp.
#include "tools/common/PageData.hpp"

#include <cstddef>

namespace tenon::tools
{

std::string FillPage(std::string_view page,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> jsonByPlace)
{
    std::string filled;
    for (const auto& [place, json] : jsonByPlace)
    {
        const size_t at = page.find(place);
        filled += page.substr(0, at);
        page.remove_prefix(at + place.size());
        for (const char c : json)
        {
            filled += c == '<' ? std::string_view("\\u003c") : std::string_view(&c, 1); // it is within strings alone
        }
    }
    return filled.append(page);
}

} // namespace tenon::tools
