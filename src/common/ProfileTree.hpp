// SPDX-License-Identifier: Apache-2.0
// The form of a profile: the tree of its events, and the formats in which Profiler writes them.
#pragma once

#include "common/Profiler.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace tenon
{

/// All events of one label below the same parent.
struct ProfileNode
{
    const ProfileLabel* m_Label = nullptr;     ///< null for a root that nothing was recorded of
    std::vector<const ProfileEvent*> m_Events; ///< in the order in which they ended
    std::vector<size_t> m_Children;            ///< in the order in which they started first
};

/// By index, parents before their children: first the roots, one for each ProfilingCategory. The nodes refer to
/// `record`. An event whose parent is not in the record belongs to the root of its category.
std::vector<ProfileNode> BuildProfileTree(const ProfileRecord& record);

/// A line for each label: name, total, least, greatest and mean time, count. Below it, if kernels declined the layer's
/// shapes, a line that names them and says why.
void WriteTable(const ProfileRecord& record, std::ostream& stream);
/// The tree as JSON, {"Tenon": {"optimize_measurements_#1": ...}}. `record` may be null: no events then. `details` is a
/// JSON object, or empty.
void WriteProfile(const ProfileRecord* record, const std::string& details, std::ostream& stream);
/// The format of chrome://tracing and Perfetto.
void WriteChromeTrace(const ProfileRecord& record, std::ostream& stream);

} // namespace tenon
