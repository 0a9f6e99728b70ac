// SPDX-License-Identifier: Apache-2.0
// IRunsInStrips: which workloads a plan may shape once more, for a part of a layer.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <climits>

namespace tenon
{

/// A shaped workload whose layer may run part by part, in workloads that are shaped for less along leading dimensions:
/// several layers after each other for one part, then for the next. Each lets itself be run by several threads at once,
/// with scratch memory of their own. Memory of its tensors is then aligned to their elements.
class IRunsInStrips
{
public:
    virtual ~IRunsInStrips() = default;
    /// How many threads may run parts at once; 0: the layer does not run in strips.
    virtual unsigned int GetMostStripThreads() const { return UINT_MAX; }
};

inline unsigned int GetMostStripThreads(const IShapedWorkload& shaped)
{
    const auto* const strips = dynamic_cast<const IRunsInStrips*>(&shaped);
    return strips != nullptr ? strips->GetMostStripThreads() : 0;
}

} // namespace tenon
