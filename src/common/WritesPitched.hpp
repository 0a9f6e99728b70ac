// SPDX-License-Identifier: Apache-2.0
// IWritesPitched: which workloads a plan may let write among the channels of a larger tensor, as a Concat behind them
// would.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <memory>

namespace tenon
{

/// A workload whose output 0 may have gaps between its pixels, which all elements along the last dimension are. An
/// interface of its own, since IWorkload is one that backends of others implement.
class IWritesPitched
{
public:
    virtual ~IWritesPitched() = default;
    /// What IWorkload::Reshape gives, for an output whose pixels begin `outputPitch` elements after each other; between
    /// them nothing is written. Null where there is none. It gives the same bytes.
    virtual std::unique_ptr<IShapedWorkload> ReshapePitched(const ReshapeArgs& args, size_t outputPitch) const = 0;
};

} // namespace tenon
