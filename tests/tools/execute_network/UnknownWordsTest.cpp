// SPDX-License-Identifier: Apache-2.0
// Arguments that belong to no option.
#include "tools/common/UnknownWords.hpp"

#include "Program.hpp"

namespace tenon::tools
{
namespace
{

TEST(UnknownWords, AreNamedInOrderAndWithoutValues)
{
    const Words options = {"--labels", "--report-json", "--iterations", "-I", "-m", "--model-path", "-N"};
    const auto describe = [&](const Words& unknown, const Words& given)
    { return DescribeUnknownWords(unknown, given, options); };
    EXPECT_EQ(describe({"--labls", "a.txt"}, {"-m", "x", "--labls", "a.txt"}),
              "there is no option '--labls'; the nearest is --labels");
    EXPECT_EQ(describe({"--labls", "a", "b", "--itterations=5"}, {"--labls", "a", "b", "--itterations=5"}),
              "there is no option '--labls'; the nearest is --labels; 'b' belongs to no option; there is no option "
              "'--itterations'; the nearest is --iterations");
    EXPECT_EQ(describe({"--labls", "a"}, {"--labls", "-N", "a"}),
              "there is no option '--labls'; the nearest is --labels; 'a' belongs to no option");
    EXPECT_EQ(describe({"--labls=a", "b"}, {"--labls=a", "b"}),
              "there is no option '--labls'; the nearest is --labels; 'b' belongs to no option");
    EXPECT_EQ(describe({"-i"}, {"-i"}), "there is no option '-i'; the nearest is -I");
    EXPECT_EQ(describe({"-x"}, {"-x"}), "there is no option '-x'");
    EXPECT_EQ(describe({"-lables"}, {"-lables"}), "there is no option '-lables'; the nearest is --labels");
    EXPECT_EQ(describe({"--m"}, {"--m"}), "there is no option '--m'") << "-m is a single letter";
    EXPECT_EQ(describe({"--n"}, {"--n"}), "there is no option '--n'");
    EXPECT_EQ(describe({"--bogus", "-5"}, {"--bogus", "-5"}), "there is no option '--bogus'");
    EXPECT_EQ(describe({"--bogus", "-.5"}, {"--bogus", "-.5"}), "there is no option '--bogus'");
    EXPECT_EQ(describe({"-5"}, {"-5"}), "'-5' belongs to no option");
    EXPECT_EQ(describe({"a\x1b"}, {"a\x1b"}), "'a\\x1B' belongs to no option");
}

TEST(UnknownWords, LongOptionsNeedTwoDashes)
{
    const Words options = {"--labels", "--iterations", "-i", "-m", "--model-path", "-N"};
    const auto describe = [&](const Words& given) {
        return DescribeOneDash(given, options, {"--labels", "--iterations", "-i", "-m", "--model-path"});
    };
    EXPECT_EQ(describe({"-m", "x", "-iterations", "4"}), "there is no option '-iterations'; did you mean "
                                                         "'--iterations'?");
    EXPECT_EQ(describe({"-iterations=4", "-labels", "x"}),
              "there is no option '-iterations'; did you mean '--iterations'? there is no option '-labels'; did you "
              "mean '--labels'?");
    EXPECT_EQ(describe({"-m", "-labels", "--model-path", "-iterations"}), "") << "these are values";
    EXPECT_EQ(describe({"--iterations", "4", "-N", "-mx", "-i", "labels", "-"}), "");
    EXPECT_EQ(describe({"-N", "--", "-labels"}), "");
}

class UnknownOptions : public Program
{
};

TEST_F(UnknownOptions, AreToldBeforeAllElse)
{
    const Outcome outcome = Execute({"--modl-path", FloatModel, "-I", "x", "--report-jsn=r.json"});
    ExpectFailure(outcome, 2,
                  "error: there is no option '--modl-path'; the nearest is --model-path; there is no option "
                  "'--report-jsn'; the nearest is --report-json (see --help)");
    EXPECT_FALSE(Has(outcome.m_Error, "digits_float")) << outcome.m_Error;
    ExpectFailure(Execute({"-m", FloatModel, "--threads", "2"}), 2, "the nearest is --number-of-threads");
    ExpectFailure(Execute({"-m", FloatModel, "stray"}), 2, "'stray' belongs to no option");
    ExpectFailure(Execute({"-m", FloatModel, "-X"}), 2, "there is no option '-X'");
    EXPECT_EQ(Execute({"--nonsense", "--help"}).m_Status, 0);
}

TEST_F(UnknownOptions, OnlyNearOnesAreNamed)
{
    for (const std::string word : {"--zzz", "--bogus", "--quiet", "--x"})
    {
        ExpectFailure(Execute({"-m", FloatModel, word, "-5"}), 2,
                      "error: there is no option '" + word + "' (see --help)");
    }
    ExpectFailure(Execute({"-m", FloatModel, "--treads", "2"}), 2, "the nearest is --number-of-threads (see");
    ExpectFailure(Execute({"-m", FloatModel, "-iterations", "4"}), 2,
                  "error: there is no option '-iterations'; did you mean '--iterations'? (see --help)");
    ExpectFailure(Execute({"-model-path", FloatModel}), 2, "did you mean '--model-path'? (see --help)");
    ExpectFailure(Execute({"-m", FloatModel, "-input-name=x"}), 2, "did you mean '--input-name'? (see --help)");
}

} // namespace
} // namespace tenon::tools
