// SPDX-License-Identifier: Apache-2.0
// MemoryLayout: the place of each value of a draft: the values that share memory, and their arenas and offsets.
#pragma once

#include "runtime/PlanDraft.hpp"

#include <tenon/Limits.hpp>

#include <cstddef>
#include <vector>

namespace tenon
{

/// The largest number of bytes of the host's arena that are in use at once, if aliases and pitched values of the steps
/// `inPlace` lie in place; see MemoryLowerBound.
size_t CountHostBytes(const PlanDraft& draft, const std::vector<bool>& inPlace);

/// Places all values and scratch memory, decides which tensors of fused runs are kept, and drops the fused runs that
/// would overwrite a tensor which is still read. Throws LimitExceededException if a run needs more memory than allowed.
void PlaceValues(PlanDraft& draft, const Limits& limits);

} // namespace tenon
