// SPDX-License-Identifier: Apache-2.0
// The name under which profiles show a step: that of the kernel that runs it.
#pragma once

#include <tenon/backend/IWorkload.hpp>

namespace tenon
{

/// A shaped workload that says which kernel runs it: shapes may rule out the one that its workload was made for. It is
/// an interface of its own, since IShapedWorkload is one that backends of others implement.
class INamesKernel
{
public:
    virtual ~INamesKernel() = default;
    virtual const char* GetKernelName() const = 0;
};

/// The name of what runs `shaped`, which `workload` was reshaped to; valid as long as both.
inline const char* GetKernelName(const IWorkload& workload, const IShapedWorkload& shaped)
{
    const auto* named = dynamic_cast<const INamesKernel*>(&shaped);
    return named != nullptr ? named->GetKernelName() : workload.GetName();
}

} // namespace tenon
