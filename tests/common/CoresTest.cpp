// SPDX-License-Identifier: Apache-2.0
// CountCores by the files of a Linux system: quotas of control groups, and cores of several kinds.
#include "common/Cores.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#ifndef _WIN32

namespace tenon::cores_test
{
namespace
{

/// A file system in a folder.
class Root
{
public:
    Root()
    {
        std::string pattern = testing::TempDir() + "tenon-cores-XXXXXX";
        m_Path = mkdtemp(pattern.data());
    }
    ~Root() { std::filesystem::remove_all(m_Path); }
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;

    Root& Write(const std::string& path, const std::string& text)
    {
        const std::filesystem::path file = m_Path + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << '\n';
        return *this;
    }
    unsigned int Count(unsigned int cores) const { return CountCores(m_Path, cores); }

private:
    std::string m_Path;
};

TEST(Cores, AllWhereNothingIsSaid)
{
    EXPECT_EQ(Root().Count(16), 16u);
    EXPECT_EQ(Root().Count(0), 1u);
    EXPECT_GE(CountCores(), 1u);
}

TEST(Cores, QuotasOfVersion2)
{
    const auto count = [](const std::string& quota)
    { return Root().Write("/proc/self/cgroup", "0::/").Write("/sys/fs/cgroup/cpu.max", quota).Count(16); };
    EXPECT_EQ(count("200000 100000"), 2u);
    EXPECT_EQ(count("150000 100000"), 2u) << "rounded up";
    EXPECT_EQ(count("1000 100000"), 1u);
    EXPECT_EQ(count("max 100000"), 16u);
    EXPECT_EQ(count("9999999 100000"), 16u);
    EXPECT_EQ(count(""), 16u);
    EXPECT_EQ(count("100000 0"), 16u);
    EXPECT_EQ(count("-5 x"), 16u);
}

TEST(Cores, TheSmallestQuotaOfAllGroupsAround)
{
    Root root;
    root.Write("/proc/self/cgroup", "0::/a/b")
        .Write("/sys/fs/cgroup/a/b/cpu.max", "max 100000")
        .Write("/sys/fs/cgroup/a/cpu.max", "300000 100000");
    EXPECT_EQ(root.Count(16), 3u);
    root.Write("/proc/self/cgroup", "0::/../../a");
    EXPECT_EQ(root.Count(16), 16u) << "a group outside of the container";
}

TEST(Cores, QuotasOfVersion1)
{
    Root root;
    root.Write("/proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x")
        .Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000") // the container's group is the root of the mount
        .Write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    EXPECT_EQ(root.Count(16), 4u);
    root.Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
    EXPECT_EQ(root.Count(16), 16u);
}

TEST(Cores, FastCoresOfArm)
{
    Root root;
    for (unsigned int core = 0; core < 8; ++core)
    {
        const char* const capacity = core < 4 ? "325" : core < 7 ? "871" : "1024";
        root.Write("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpu_capacity", capacity);
    }
    EXPECT_EQ(root.Count(8), 4u);
    EXPECT_EQ(root.Count(4), 4u) << "only slow cores may be used";
    root.Write("/sys/devices/system/cpu/cpu3/cpu_capacity", "unknown");
    EXPECT_EQ(root.Count(8), 8u);
}

TEST(Cores, FastCoresOfX86)
{
    Root root;
    root.Write("/sys/devices/cpu_core/cpus", "0-7").Write("/sys/devices/cpu_atom/cpus", "8-15");
    EXPECT_EQ(root.Count(16), 8u);
    EXPECT_EQ(root.Count(2), 2u);
    root.Write("/sys/devices/cpu_core/cpus", "0-3,6,x,9-4294967295");
    EXPECT_EQ(root.Count(8), 5u);
}

} // namespace
} // namespace tenon::cores_test

#endif
