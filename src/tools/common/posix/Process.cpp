// SPDX-License-Identifier: Apache-2.0
// See Process.hpp. All of it is a service: where the system has no such figure, nothing happens.
#include "tools/common/Process.hpp"

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <sys/resource.h>

namespace tenon::tools
{
namespace
{

constexpr uint64_t Kilobyte = 1024;
/// Beyond what is available: memory that is reserved and never touched, such as stacks of threads and BLAS's buffers.
constexpr uint64_t ReservedBytes = uint64_t{256} << 20;

// Sanitizers map far more memory than they use.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool UsesSanitizer = true;
#else
constexpr bool UsesSanitizer = false;
#endif

/// The figure of the line "<name>  <number> kB" in one of the kernel's tables.
std::optional<uint64_t> ReadKilobytes(const char* path, const char* name)
{
    std::FILE* file = std::fopen(path, "r");
    if (file == nullptr)
    {
        return {};
    }
    std::optional<uint64_t> bytes;
    char line[256];
    const size_t nameLength = std::strlen(name);
    while (!bytes && std::fgets(line, sizeof line, file) != nullptr)
    {
        uint64_t kilobytes = 0;
        if (std::strncmp(line, name, nameLength) == 0 && std::sscanf(line + nameLength, "%" SCNu64, &kilobytes) == 1)
        {
            bytes = kilobytes * Kilobyte;
        }
    }
    std::fclose(file);
    return bytes;
}

/// A file that holds one number; a container without a bound says "max" in its place.
std::optional<uint64_t> ReadNumber(const char* path)
{
    std::FILE* file = std::fopen(path, "r");
    if (file == nullptr)
    {
        return {};
    }
    uint64_t number = 0;
    const bool isNumber = std::fscanf(file, "%" SCNu64, &number) == 1;
    std::fclose(file);
    return isNumber ? std::optional<uint64_t>(number) : std::nullopt;
}

/// What a container (control group, version 2 or 1) may use. How much of it is in use cannot be told from the outside:
/// the figure for that counts cached files, which give way.
uint64_t GetContainerMemory()
{
    for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    {
        if (const auto limit = ReadNumber(file))
        {
            return *limit;
        }
    }
    return std::numeric_limits<uint64_t>::max();
}

} // namespace

void LimitMemory()
{
    const auto available = ReadKilobytes("/proc/meminfo", "MemAvailable:");
    if (!available || UsesSanitizer)
    {
        return;
    }
    const uint64_t swap = ReadKilobytes("/proc/meminfo", "SwapFree:").value_or(0);
    const rlim_t bytes = std::min(*available + swap, GetContainerMemory()) + ReservedBytes;
    rlimit limit{};
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && bytes < limit.rlim_cur)
    {
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_DATA, &limit);
    }
}

void IgnoreWriteSignals()
{
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

uint64_t GetPeakRssBytes()
{
    // getrusage's figure counts the process that started us, too, for the time between fork and exec.
    if (const auto peak = ReadKilobytes("/proc/self/status", "VmHWM:"))
    {
        return *peak;
    }
#if defined(__APPLE__)
    constexpr uint64_t Unit = 1;
#else
    constexpr uint64_t Unit = Kilobyte;
#endif
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * Unit : 0;
}

} // namespace tenon::tools
