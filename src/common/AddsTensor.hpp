// SPDX-License-Identifier: Apache-2.0
// IAddsTensor: which workloads a plan may have a tensor added to the output of.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <memory>

namespace tenon
{

/// A shaped workload that may do what the sum after its layer does: a residual is then added while sums of products are
/// still in registers. An interface of its own, since IShapedWorkload is one that backends of others implement.
class IAddsTensor
{
public:
    virtual ~IAddsTensor() = default;
    /// Whether AddTensor gives one.
    virtual bool CanAddTensor() const = 0;
    /// A workload with one more input behind the layer's own, a tensor of the info of output 0, which is added to that
    /// output; then `activation`, if not null, applies. The output may lie where that input does. It gives the same
    /// bytes as the layers one after the other. Null where there is none.
    virtual std::unique_ptr<IShapedWorkload> AddTensor(const ActivationDescriptor* activation) const = 0;
};

} // namespace tenon
