// SPDX-License-Identifier: Apache-2.0
// The capabilities of CpuRef and CpuAcc.
#pragma once

#include <tenon/backend/IBackend.hpp>

namespace tenon::backends
{

inline BackendCapabilities GetHostCapabilities(const BackendId& id)
{
    return BackendCapabilities(id, {{"NonConstWeights", true},
                                    {"PreImportIOTensors", true},
                                    {"ExternallyManagedMemory", true},
                                    {"SingleAxisPacking", true},
                                    {"MultiAxisPacking", false},
                                    {"ProtectedContentAllocation", false}});
}

} // namespace tenon::backends
