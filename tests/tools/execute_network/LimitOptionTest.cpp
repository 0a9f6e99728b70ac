// SPDX-License-Identifier: Apache-2.0
// --limit: names and values, and that whoever reads, optimizes and runs a model heeds them.
#include "tools/common/LimitOption.hpp"

#include "Program.hpp"
#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace tenon::tools
{
namespace
{

TEST(LimitOption, NamesAndValues)
{
    EXPECT_EQ(ParseLimits({}).m_MaxTensorBytes, Limits().m_MaxTensorBytes);
    const Limits limits = ParseLimits({"tensor-bytes=8G", "total-bytes=1T", "file-bytes = 3m", "layers=17", "rank=5",
                                       "nesting=2", "loop-iterations=4KiB"});
    EXPECT_EQ(limits.m_MaxTensorBytes, uint64_t{8} << 30);
    EXPECT_EQ(limits.m_MaxTotalBytes, uint64_t{1} << 40);
    EXPECT_EQ(limits.m_MaxFileBytes, uint64_t{3} << 20);
    EXPECT_EQ(limits.m_MaxLayers, 17U);
    EXPECT_EQ(limits.m_MaxRank, 5U);
    EXPECT_EQ(limits.m_MaxNesting, 2U);
    EXPECT_EQ(limits.m_MaxLoopIterations, 4096U);
    EXPECT_EQ(ParseLimits({"tensor-bytes=none"}).m_MaxTensorBytes, std::numeric_limits<uint64_t>::max());
    EXPECT_EQ(ParseLimits({"layers=0"}).m_MaxLayers, 0U);
}

TEST(LimitOption, WhatIsRefused)
{
    const std::pair<const char*, const char*> refused[] = {
        {"tensor-byte=8G", "there is no limit 'tensor-byte' (nearest: tensor-bytes); there are tensor-bytes, total-"},
        {"tensors=8G", "nearest: tensor-bytes"},
        {"=8G", "there is no limit ''; there are tensor-bytes, "},
        {"", "there is no limit ''; there are tensor-bytes, "},
        {"zzz=1", "there is no limit 'zzz'; there are tensor-bytes, "},
        {"tensor-bytes", "tensor-bytes has no value; give it as tensor-bytes=4294967296"},
        {"tensor-bytes=", "'' is no value for tensor-bytes"},
        {"tensor-bytes=-1", "'-1' is no value"},
        {"tensor-bytes=1.5G", "'1.5G' is no value"},
        {"tensor-bytes=8GB", "'8GB' is no value"},
        {"tensor-bytes=8P", "'8P' is no value"},
        {"tensor-bytes=G", "'G' is no value"},
        {"tensor-bytes=8G8", "'8G8' is no value"},
        {"tensor-bytes=16777216T", "below 2^64"},
        {"tensor-bytes=99999999999999999999", "below 2^64"},
        {"rank=9", "a whole number in 0..8"},
        {"rank=none", "a whole number in 0..8"},
        {"nesting=257", "a whole number in 0..256"},
    };
    for (const auto& [text, message] : refused)
    {
        EXPECT_THROW_WITH(ParseLimits({text}), UsageError, message);
    }
    EXPECT_EQ(ParseLimits({"tensor-bytes=16777215T"}).m_MaxTensorBytes, uint64_t{16777215} << 40);
    EXPECT_THROW_WITH(ParseLimits({"rank=3", "rank=4"}), UsageError, "rank is given twice");
}

TEST(LimitOption, MessagesNameTheOption)
{
    EXPECT_EQ(NameLimitOptions("raise Limits::m_MaxTensorBytes (Limits::m_MaxRank, Limits::m_MaxRank)"),
              "raise --limit tensor-bytes (--limit rank, --limit rank)");
    EXPECT_EQ(NameLimitOptions("no limit"), "no limit");
}

class LimitsOfPrograms : public Program
{
};

TEST_F(LimitsOfPrograms, AreHeededAndNamed)
{
    const std::string plain = m_Folder.Path("plain.tenon");
    const std::string optimized = m_Folder.Path("optimized.tenon");
    ASSERT_EQ(Execute({"-m", FloatModel, "-N", "--serialize", plain, "--serialize-optimized", optimized}).m_Status, 0);
    for (const std::string& model : {FloatModel, plain, optimized})
    {
        for (const char* limit : {"layers=3", "rank=1", "file-bytes=1K", "tensor-bytes=100", "total-bytes=300"})
        {
            const std::string name = std::string(limit).substr(0, std::string(limit).find('='));
            const Outcome outcome = Execute({"-m", model, "-N", "--limit", limit});
            ExpectFailure(outcome, 3, "--limit " + name);
            EXPECT_FALSE(Has(outcome.m_Error, "m_Max")) << outcome.m_Error;
        }
        EXPECT_EQ(Execute({"-m", model, "-N", "--limit", "layers=1K", "--limit", "tensor-bytes=none"}).m_Status, 0);
    }
    ExpectFailure(Execute({"-m", FloatModel, "--limit", "tensors=1"}), 2, "nearest: tensor-bytes");
    const std::string text = m_Folder.Write("a.txt", std::string(100000, ' '));
    ExpectFailure(Execute({"-m", FloatModel, "-d", text, "--limit", "file-bytes=64K"}), 3, "--limit file-bytes");
}

} // namespace
} // namespace tenon::tools
