// SPDX-License-Identifier: Apache-2.0
// The number of threads that run at once in this process.
#pragma once

#include <string>

namespace tenon
{

/// The number of cores of this process, at least 1. Its affinity counts; a processor with fast and slow cores counts
/// with the fast ones; the CPU quota of its control groups, rounded up, is the upper bound. Found at the first
/// call.
unsigned int CountCores();

/// The same by the files of a Linux system below `root` ("" for "/"), for a process that may run on the cores
/// [0, `cores`). Sources: Documentation/admin-guide/cgroup-v2.rst (cpu.max) and cgroup-v1 (cpu.cfs_quota_us),
/// /proc/self/cgroup, cpu_capacity in Documentation/ABI/testing/sysfs-devices-system-cpu.
unsigned int CountCores(const std::string& root, unsigned int cores);

} // namespace tenon
