// SPDX-License-Identifier: Apache-2.0
// The composition root: the only place that knows which backends are built in.
#include "backends/cpu/CpuAccBackend.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/backend/BackendRegistry.hpp>

namespace tenon
{

void RegisterBuiltinBackends(BackendRegistry& registry)
{
    registry.Register(ref::MakeCpuRefBackend());
    registry.Register(cpu::MakeCpuAccBackend());
}

} // namespace tenon
