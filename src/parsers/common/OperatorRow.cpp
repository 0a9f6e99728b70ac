// SPDX-License-Identifier: Apache-2.0
// OperatorRow: see OperatorRow.hpp.
#include "parsers/common/OperatorRow.hpp"

#include <fmt/format.h>

namespace tenon::parsers
{

void OperandCounts::Check(const char* kind, size_t count) const
{
    const bool isOpen = m_Max == AnyNumber;
    if (count >= m_Min && (isOpen || count <= m_Max))
    {
        return;
    }
    throw ParseException(isOpen           ? fmt::format("has {} {}, needs at least {}", count, kind, m_Min)
                         : m_Min == m_Max ? fmt::format("has {} {}, needs {}", count, kind, m_Min)
                                          : fmt::format("has {} {}, needs {} to {}", count, kind, m_Min, m_Max));
}

} // namespace tenon::parsers
