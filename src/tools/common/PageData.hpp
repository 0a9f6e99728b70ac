// SPDX-License-Identifier: Apache-2.0
// Data in a page for browsers.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tenon::tools
{

/// The page with JSON in its places, which are given in their order on the page. No text within the JSON can end its
/// script element or be taken for a place.
std::string FillPage(std::string_view page,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> jsonByPlace);

} // namespace tenon::tools
