// SPDX-License-Identifier: Apache-2.0
// Plan: see Plan.hpp.
#include "runtime/Plan.hpp"

#include <algorithm>
#include <utility>

namespace tenon
{

Plan::Plan(Contents contents) : m_Contents(std::move(contents)), m_TotalBytes(CountArenaBytes(m_Contents.m_Arenas)) {}

const PitchedValue* Plan::FindPitch(ValueId value) const
{
    const auto& values = m_Contents.m_PitchedValues;
    const auto found =
        std::lower_bound(values.begin(), values.end(), value,
                         [](const PitchedValue& pitched, ValueId wanted) { return pitched.m_Value < wanted; });
    return found != values.end() && found->m_Value == value ? &*found : nullptr;
}

uint64_t CountArenaBytes(const std::vector<PlannedArena>& arenas)
{
    uint64_t sum = 0;
    for (const PlannedArena& arena : arenas)
    {
        sum += std::min(uint64_t{arena.m_Bytes}, UINT64_MAX - sum);
    }
    return sum;
}

} // namespace tenon
