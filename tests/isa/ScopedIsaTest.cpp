// SPDX-License-Identifier: Apache-2.0
// What tests of several levels rely on: levels within a process choose the kernels that TENON_FORCE_ISA chooses, and
// features that code asks for are noted.
#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/IsaForTests.hpp"

#include <tenon/Exceptions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace tenon::cpu::scoped_isa_test
{

namespace
{

std::vector<std::string> GetLevelsThere()
{
    std::vector<std::string> names;
    for (const IsaLevel& level : GetIsaLevels())
    {
        if (level.m_IsThere)
        {
            names.push_back(level.m_Name);
        }
    }
    return names;
}

bool IsThere(const std::string& name)
{
    const std::vector<std::string> there = GetLevelsThere();
    return std::find(there.begin(), there.end(), name) != there.end();
}

} // namespace

TEST(ScopedIsa, LevelsAreInForceWhileItLives)
{
    const std::string best = GetIsaName();
    EXPECT_EQ(GetLevelsThere().front(), best);
    EXPECT_EQ(GetLevelsThere().back(), "scalar");
    for (const std::string& level : GetLevelsThere())
    {
        const uint32_t before = GetFeatureBits();
        {
            const ScopedIsa scoped(level);
            EXPECT_EQ(GetIsaName(), level);
            EXPECT_EQ(GetFeatureBits() & before, GetFeatureBits()) << "a level has more than the best one";
            if (level != "scalar")
            {
                const ScopedIsa inner("scalar");
                EXPECT_EQ(GetIsaName(), "scalar");
                EXPECT_EQ(GetFeatureBits(), 0U);
            }
            EXPECT_EQ(GetIsaName(), level);
        }
        EXPECT_EQ(GetIsaName(), best);
        EXPECT_EQ(GetFeatureBits(), before);
    }
}

TEST(ScopedIsa, ChoosesTheKernelsOfTheLevel)
{
    if (!GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "no kernels have vectors here";
    }
    struct Expected
    {
        const char* m_Level;
        size_t m_FloatLanes;
        WeightLayoutInt8 m_Layout; ///< of products of int8
    };
    const Expected table[] = {
        {"sse4", 4, WeightLayoutInt8::Int16x2},       {"avx2", 8, WeightLayoutInt8::Int16x2},
        {"avxvnni", 8, WeightLayoutInt8::Int8x4},     {"avx512", 16, WeightLayoutInt8::Int16x2},
        {"avx512vnni", 16, WeightLayoutInt8::Int8x4}, {"neon", 4, WeightLayoutInt8::Int16x2},
        {"dotprod", 4, WeightLayoutInt8::Int8x4},
    };
    const auto* const address = &GetMicrokernelsF32();
    const size_t best = GetMicrokernelsF32().m_Lanes;
    size_t tried = 0;
    for (const Expected& expected : table)
    {
        if (IsThere(expected.m_Level))
        {
            SCOPED_TRACE(expected.m_Level);
            const ScopedIsa scoped(expected.m_Level);
            EXPECT_EQ(GetMicrokernelsF32().m_Lanes, expected.m_FloatLanes);
            EXPECT_EQ(GetMicrokernelsInt8().GetPlain(true).m_Layout == WeightLayoutInt8::Int8x4,
                      expected.m_Layout == WeightLayoutInt8::Int8x4);
            EXPECT_EQ(&GetMicrokernelsF32(), address);
            ++tried;
        }
    }
    EXPECT_NE(tried, 0U);
    EXPECT_EQ(GetMicrokernelsF32().m_Lanes, best);
}

TEST(ScopedIsa, RefusesOtherNamesAndLevelsThatAreNotThere)
{
    const auto refusal = [](const std::string& level)
    {
        try
        {
            const ScopedIsa scoped(level);
        }
        catch (const InvalidArgumentException& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string before = GetIsaName();
    EXPECT_NE(refusal("foo").find("'foo'; on this processor it may be one of scalar"), std::string::npos);
    EXPECT_NE(refusal("").find("''"), std::string::npos);
    for (const IsaLevel& level : GetIsaLevels())
    {
        EXPECT_EQ(refusal(level.m_Name).empty(), level.m_IsThere) << level.m_Name;
    }
    EXPECT_EQ(GetIsaName(), before);
}

TEST(FeatureReads, NotesWhatIsAskedFor)
{
    const CpuFeatures& features = GetCpuFeatures();
    const FeatureReads outer;
    EXPECT_EQ(outer.Get(), 0U);
    uint32_t ofAll = 0;
    {
        const FeatureReads inner;
        if (features.m_Simd && features.m_Avx2)
        {
            EXPECT_EQ(inner.Get(), features.m_Simd.GetBits() | features.m_Avx2.GetBits());
        }
        GetIsaFeatures();
        ofAll = inner.Get();
        EXPECT_EQ(ofAll & GetFeatureBits(), GetFeatureBits()) << "the names of all features depend on all";
    }
    EXPECT_EQ(outer.Get(), ofAll) << "what was asked within counts around it";
    {
        const FeatureReads inner;
        EXPECT_EQ(inner.Get(), 0U);
        GetFeatureBits();
        GetIsaLevels();
        {
            const ScopedIsa scoped("scalar");
        }
        EXPECT_EQ(inner.Get(), 0U) << "tests themselves ask for none";
        NoteFeatureReads(4);
        EXPECT_EQ(inner.Get(), 4U);
    }
}

// A value that was made before depends on features as if it were made now.
TEST(FeatureReads, NotesWhatMadeValuesDependOn)
{
    if (!GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "no kernels have vectors here";
    }
    GetMicrokernelsInt8();
    uint32_t first = 0;
    {
        const FeatureReads reads;
        GetMicrokernelsInt8();
        first = reads.Get();
    }
    const FeatureReads reads;
    GetMicrokernelsInt8();
    EXPECT_EQ(reads.Get(), first);
    if (IsThere("avx512vnni"))
    {
        EXPECT_NE(first & GetCpuFeatures().m_Avx512Vnni.GetBits(), 0U);
    }
}

} // namespace tenon::cpu::scoped_isa_test
