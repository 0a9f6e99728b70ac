// SPDX-License-Identifier: Apache-2.0
// IRunsElements: which workloads a plan may have run piece by piece, in a chain of elementwise layers.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <functional>

namespace tenon
{

/// Makes `count` elements of an output from as many of each input, those at the same place. The output may lie where an
/// input of as many bytes does. Several threads may call it at once.
using ElementLoop = std::function<void(const void* const* inputs, void* output, size_t count)>;

/// A shaped workload whose layer makes each element of its output from one element of each input. An interface of its
/// own, since IShapedWorkload is one that backends of others implement.
class IRunsElements
{
public:
    virtual ~IRunsElements() = default;
    /// The loop of the layer, activation included, which gives the same bytes as the layer does. Inputs that the layer
    /// broadcasts are elements of their own in it. It refers to nothing of this workload. Empty where there is none.
    virtual ElementLoop MakeElementLoop() const = 0;
};

} // namespace tenon
