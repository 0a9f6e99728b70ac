// SPDX-License-Identifier: Apache-2.0
// What CpuRef and CpuAcc say of themselves when they are asked for capabilities.
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
