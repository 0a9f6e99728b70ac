// SPDX-License-Identifier: Apache-2.0
// See Cores.hpp. Files that are not there, or say something else, limit nothing.
#include "common/Cores.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace tenon
{

namespace
{

std::optional<std::string> ReadLine(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    return std::getline(file, line) ? std::optional(line) : std::nullopt;
}

/// The cores of a quota of microseconds in each period.
double ToCores(double quota, double period)
{
    return quota > 0 && period > 0 ? quota / period : HUGE_VAL;
}

/// Version 2: "max 100000" or "150000 100000".
double ReadQuota2(const std::string& folder)
{
    std::istringstream words(ReadLine(folder + "/cpu.max").value_or(""));
    double quota = 0;
    double period = 0;
    return words >> quota >> period ? ToCores(quota, period) : HUGE_VAL;
}

/// Version 1: a quota of -1 is none.
double ReadQuota1(const std::string& folder)
{
    std::istringstream words(ReadLine(folder + "/cpu.cfs_quota_us").value_or("") + " " +
                             ReadLine(folder + "/cpu.cfs_period_us").value_or(""));
    double quota = 0;
    double period = 0;
    return words >> quota >> period ? ToCores(quota, period) : HUGE_VAL;
}

/// The smallest quota of a group and of those around it. In a container the path may be that of the host, of which only
/// the last part, or nothing, is mounted: the root of the mount counts in any case.
double FindQuota(const std::string& mount, std::string path, double (*read)(const std::string&))
{
    double cores = read(mount);
    while (path.size() > 1)
    {
        cores = std::min(cores, read(mount + path));
        path.erase(path.rfind('/'));
    }
    return cores;
}

/// Lines of /proc/self/cgroup: "0::/user.slice/x" of version 2, "4:cpu,cpuacct:/x" of version 1.
double FindQuota(const std::string& root)
{
    double cores = HUGE_VAL;
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);)
    {
        const size_t first = line.find(':');
        const size_t second = first != std::string::npos ? line.find(':', first + 1) : first;
        if (second == std::string::npos || line.substr(second + 1, 1) != "/" || line.find("/..", second) < line.size())
        {
            continue;
        }
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const std::string path = line.substr(second + 1);
        if (controllers == ",,")
        {
            cores = std::min(cores, FindQuota(root + "/sys/fs/cgroup", path, ReadQuota2));
        }
        else if (controllers.find(",cpu,") != std::string::npos)
        {
            cores = std::min(cores, FindQuota(root + "/sys/fs/cgroup/cpu", path, ReadQuota1));
        }
    }
    return cores;
}

/// "0-7,16" as the numbers below `count`.
std::vector<unsigned int> ReadList(const std::string& text, unsigned int count)
{
    std::vector<unsigned int> numbers;
    std::istringstream ranges(text);
    for (std::string range; std::getline(ranges, range, ',');)
    {
        std::istringstream words(range);
        unsigned int first = 0;
        unsigned int last = 0;
        char dash = 0;
        if (words >> first)
        {
            last = words >> dash >> last && dash == '-' ? last : first;
            for (; first <= last && first < count; ++first)
            {
                numbers.push_back(first);
            }
        }
    }
    return numbers;
}

/// The number of fast cores among `cores`: those of the kind "core" on x86, else those that have at least this share of
/// the capacity of the fastest; all where the system tells no difference.
unsigned int CountFastCores(const std::string& root, const std::vector<unsigned int>& cores)
{
    constexpr double MinShare = 0.6; // cores of the middle kind of three count
    const std::string devices = root + "/sys/devices";
    if (const std::optional<std::string> list = ReadLine(devices + "/cpu_core/cpus");
        list && ReadLine(devices + "/cpu_atom/cpus"))
    {
        const std::vector<unsigned int> fast = ReadList(*list, cores.empty() ? 0 : cores.back() + 1);
        const auto isFast = [&](unsigned int core) { return std::find(fast.begin(), fast.end(), core) != fast.end(); };
        return static_cast<unsigned int>(std::count_if(cores.begin(), cores.end(), isFast));
    }
    std::vector<double> capacities;
    for (const unsigned int core : cores)
    {
        std::istringstream words(
            ReadLine(devices + "/system/cpu/cpu" + std::to_string(core) + "/cpu_capacity").value_or(""));
        double capacity = 0;
        if (!(words >> capacity))
        {
            return 0;
        }
        capacities.push_back(capacity);
    }
    const double max = capacities.empty() ? 0 : *std::max_element(capacities.begin(), capacities.end());
    return static_cast<unsigned int>(std::count_if(capacities.begin(), capacities.end(),
                                                   [&](double capacity) { return capacity >= MinShare * max; }));
}

unsigned int Count(const std::string& root, const std::vector<unsigned int>& cores)
{
    const unsigned int fast = CountFastCores(root, cores);
    const double usable = fast != 0 ? fast : static_cast<double>(cores.size());
    return static_cast<unsigned int>(std::max(1.0, std::min(usable, std::ceil(FindQuota(root)))));
}

/// The numbers of the cores that this process may run on.
std::vector<unsigned int> FindCores()
{
    std::vector<unsigned int> cores;
#ifdef __linux__
    constexpr size_t maxCores = 8192; // the most that the kernel is built for
    cpu_set_t* const set = CPU_ALLOC(maxCores);
    const size_t bytes = CPU_ALLOC_SIZE(maxCores);
    if (set != nullptr)
    {
        CPU_ZERO_S(bytes, set);
        const bool isKnown = sched_getaffinity(0, bytes, set) == 0;
        for (unsigned int core = 0; isKnown && core < maxCores; ++core)
        {
            if (CPU_ISSET_S(core, bytes, set))
            {
                cores.push_back(core);
            }
        }
        CPU_FREE(set);
    }
#endif
    if (cores.empty())
    {
        for (unsigned int core = 0; core < std::max(1U, std::thread::hardware_concurrency()); ++core)
        {
            cores.push_back(core);
        }
    }
    return cores;
}

} // namespace

unsigned int CountCores(const std::string& root, unsigned int cores)
{
    std::vector<unsigned int> numbers(cores);
    for (unsigned int core = 0; core < cores; ++core)
    {
        numbers[core] = core;
    }
    return Count(root, numbers);
}

unsigned int CountCores()
{
    static const unsigned int cores = Count("", FindCores());
    return cores;
}

} // namespace tenon
