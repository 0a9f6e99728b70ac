// SPDX-License-Identifier: Apache-2.0
// OperatorRow: see OperatorRow.hpp.
#include "parsers/common/OperatorRow.hpp"

#include <fmt/format.h>

namespace tenon::parsers
{

void OperandCounts::Check(const char* kind, size_t count) const
{
    const bool isOpen = m_Most == AnyNumber;
    if (count >= m_Least && (isOpen || count <= m_Most))
    {
        return;
    }
    throw ParseException(isOpen              ? fmt::format("has {} {}, needs at least {}", count, kind, m_Least)
                         : m_Least == m_Most ? fmt::format("has {} {}, needs {}", count, kind, m_Least)
                                             : fmt::format("has {} {}, needs {} to {}", count, kind, m_Least, m_Most));
}

} // namespace tenon::parsers
