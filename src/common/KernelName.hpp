// SPDX-License-Identifier: Apache-2.0
// The name under which profiles show a step: the name of the kernel that runs it.
#pragma once

#include <tenon/backend/IWorkload.hpp>

namespace tenon
{

/// The name of the kernel behind `shaped`, which `workload` was reshaped to; valid as long as both.
inline const char* GetKernelName(const IWorkload& workload, const IShapedWorkload& shaped)
{
    const char* const name = shaped.GetFusion().m_KernelName;
    return name != nullptr ? name : workload.GetName();
}

} // namespace tenon
