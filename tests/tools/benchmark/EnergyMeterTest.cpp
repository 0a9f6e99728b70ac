// SPDX-License-Identifier: Apache-2.0
// Energy by counters in files as Linux has them.
#include "tools/benchmark/EnergyMeter.hpp"

#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace tenon::tools
{
namespace
{

class Energy : public testing::Test
{
protected:
    void Write(const std::string& name, const std::string& zone, const std::string& microjoules)
    {
        std::filesystem::create_directories(m_Folder.Path(name));
        m_Folder.Write(name + "/name", zone + "\n");
        m_Folder.Write(name + "/energy_uj", microjoules);
        m_Folder.Write(name + "/max_energy_range_uj", "10000000\n");
    }

    test::TempFolder m_Folder;
};

TEST_F(Energy, IsTheSumOfProcessors)
{
    Write("intel-rapl:0", "package-0", "1000000\n");
    Write("intel-rapl:1", "package-1", "5\n");
    Write("intel-rapl:0:0", "core", "0\n");
    Write("intel-rapl:2", "psys", "0\n");
    Write("intel-rapl-mmio:0", "package-0", "0\n");
    Write("dtpm", "package-9", "0\n");
    const EnergyMeter meter(m_Folder.Path(""));
    EXPECT_EQ(meter.WhyNot(), "");
    EXPECT_EQ(meter.Joules(), 0.0);
    Write("intel-rapl:0", "package-0", "3500000\n");
    Write("intel-rapl:1", "package-1", "500005\n");
    Write("intel-rapl:0:0", "core", "900000\n");
    Write("intel-rapl:2", "psys", "9000000\n");
    ASSERT_TRUE(meter.Joules().has_value());
    EXPECT_DOUBLE_EQ(*meter.Joules(), 3.0);
}

TEST_F(Energy, GoesOnWhereACounterBeginsAnew)
{
    Write("intel-rapl:0", "package-0", "9000000\n");
    const EnergyMeter meter(m_Folder.Path(""));
    Write("intel-rapl:0", "package-0", "500000\n");
    ASSERT_TRUE(meter.Joules().has_value());
    EXPECT_DOUBLE_EQ(*meter.Joules(), 1.5);
}

TEST_F(Energy, SaysWhyThereIsNone)
{
    const EnergyMeter none(m_Folder.Path("none"));
    EXPECT_FALSE(none.Joules().has_value());
    EXPECT_EQ(none.WhyNot(), "this system has no counters '" + m_Folder.Path("none") + "/intel-rapl:*'");
    Write("intel-rapl:0", "package-0", "what\n");
    const EnergyMeter damaged(m_Folder.Path(""));
    EXPECT_FALSE(damaged.Joules().has_value());
    EXPECT_NE(damaged.WhyNot().find("intel-rapl:0/energy_uj' cannot be read"), std::string::npos) << damaged.WhyNot();
}

TEST_F(Energy, ACounterThatGoesAwayGivesNone)
{
    Write("intel-rapl:0", "package-0", "1\n");
    const EnergyMeter meter(m_Folder.Path(""));
    std::filesystem::remove_all(m_Folder.Path("intel-rapl:0"));
    EXPECT_FALSE(meter.Joules().has_value());
}

} // namespace
} // namespace tenon::tools
