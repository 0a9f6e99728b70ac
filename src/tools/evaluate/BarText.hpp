// SPDX-License-Identifier: Apache-2.0
// Bars of text.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace tenon::tools::evaluate
{

/// "########" for a share of 0 to 1.
inline std::string FormatBar(double share)
{
    constexpr double width = 30.0;
    return std::string(static_cast<size_t>(std::lround(width * std::clamp(share, 0.0, 1.0))), '#');
}

} // namespace tenon::tools::evaluate
