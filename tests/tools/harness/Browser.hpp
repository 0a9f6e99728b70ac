// SPDX-License-Identifier: Apache-2.0
// Pages in Chromium, where that is installed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tenon::tools::test
{

/// Nothing where there is no Chromium.
std::optional<std::string> FindBrowser();

struct PageView
{
    std::string m_Html;
    int m_Width = 1600;
};

/// The documents after their scripts have run, in one start of the browser. Throws std::runtime_error with the
/// browser's messages if it fails.
std::vector<std::string> ShowPages(const std::string& browser, const std::vector<PageView>& pages);

} // namespace tenon::tools::test
