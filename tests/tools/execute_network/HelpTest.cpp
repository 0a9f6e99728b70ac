// SPDX-License-Identifier: Apache-2.0
// --help of ExecuteNetwork: a screen for the overview and for each group, and each option in one group.
#include "Program.hpp"
#include "tools/common/Errors.hpp"
#include "tools/execute_network/OptionGroups.hpp"
#include "tools/execute_network/OptionList.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/PseudoTerminal.hpp"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace tenon::tools
{
namespace
{

const Words Groups = {groups::General,   groups::Model,   groups::Backends, groups::Inputs, groups::Outputs,
                      groups::Benchmark, groups::Profile, groups::Compare,  groups::Files};

std::string Help(Words words, size_t width = 80)
{
    std::vector<const char*> argv = {"ExecuteNetwork"};
    for (const std::string& word : words)
    {
        argv.push_back(word.c_str());
    }
    return ParseCommandLine(static_cast<int>(argv.size()), argv.data(), width).m_Text.value_or("none");
}

Words LinesOf(const std::string& text)
{
    Words lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
    {
        lines.push_back(line);
    }
    return lines;
}

size_t LongestLine(const std::string& text)
{
    size_t longest = 0;
    for (const std::string& line : LinesOf(text))
    {
        longest = std::max(longest, line.size());
    }
    return longest;
}

bool HasLineOf(const std::string& help, const std::string& option)
{
    return Has(help, "\n  " + option + " ") || Has(help, "\n  " + option + "\n");
}

TEST(OptionHelp, IsAScreenForEachGroup)
{
    const std::string overview = Help({"--help"});
    EXPECT_EQ(Help({"-h"}), overview);
    EXPECT_GE(LinesOf(overview).size(), 24U);
    EXPECT_LE(LinesOf(overview).size(), 40U) << overview;
    EXPECT_LE(LongestLine(overview), 80U) << overview;
    for (const std::string& group : Groups)
    {
        const std::string help = Help({"--help", group});
        const bool isShort = group == groups::Benchmark || group == groups::Profile;
        EXPECT_LE(LinesOf(help).size(), isShort ? 24U : 40U) << help;
        EXPECT_LE(LongestLine(help), 80U) << help;
        std::string lower = group;
        lower[0] = static_cast<char>(lower[0] - 'A' + 'a');
        EXPECT_EQ(Help({"--help=" + lower}), help);
        EXPECT_TRUE(Has(overview, "\n  " + lower + " ")) << overview;
    }
    EXPECT_GT(LinesOf(Help({"-h", "all"})).size(), 150U);
}

TEST(OptionHelp, HasEachOptionInOneGroup)
{
    CLI::App app;
    Options options;
    RawOptions raw;
    ArmNNOptions armNN;
    DeclareOptions(app, options, raw, armNN);
    std::map<std::string, std::string> helps;
    for (const std::string& group : Groups)
    {
        helps[group] = Help({"--help", group}, 1000);
    }
    const std::string all = Help({"--help", "all"}, 1000);
    ASSERT_GE(app.get_options().size(), 80U);
    for (const CLI::Option* option : app.get_options())
    {
        const std::string name = option->get_name(false, true);
        if (option->get_group().empty()) // for processes that the program starts itself
        {
            EXPECT_EQ(option->get_lnames(), Words{"serve-turns"});
            EXPECT_FALSE(Has(all, "--serve-turns"));
            continue;
        }
        EXPECT_EQ(std::count(Groups.begin(), Groups.end(), option->get_group()), 1) << name;
        EXPECT_NE(option->get_description(), "") << name;
        for (const auto& [group, help] : helps)
        {
            // Options without effect are listed in a line.
            const bool isThere = HasLineOf(help, name) || Has(help, " " + name + " -") || Has(help, " " + name + "\n");
            EXPECT_EQ(isThere, group == option->get_group()) << name << " in the help of " << group;
        }
        EXPECT_TRUE(HasLineOf(all, name)) << name;
    }
}

TEST(OptionHelp, OtherGroupsAreRefused)
{
    EXPECT_THROW_WITH(Help({"--help", "benchmarks"}), UsageError,
                      "--help: there is no group of options 'benchmarks'; there are general, model, backends, inputs, "
                      "outputs, benchmark, profile, compare, files, and all");
    EXPECT_EQ(Help({"--help", "-m", "model"}), Help({"--help"})) << "the next option is no group";
    EXPECT_EQ(Help({"-help"}), Help({"--help"}));
}

TEST(OptionHelp, LinesAreAsWideAsTheTerminal)
{
    for (const size_t width : {60, 100, 200})
    {
        EXPECT_LE(LongestLine(Help({"--help", "profile"}, width)), width);
    }
    EXPECT_LT(LinesOf(Help({"--help", "inputs"}, 120)).size(), LinesOf(Help({"--help", "inputs"}, 80)).size());

    test::PseudoTerminal terminal(100);
    test::RunProgram({ProgramPath(), "--help", "inputs"}, terminal.Path());
    EXPECT_EQ(terminal.Finish(), Help({"--help", "inputs"}, 100));
    EXPECT_EQ(Execute({"--help", "inputs"}).m_Out, Help({"--help", "inputs"}, 80));
}

} // namespace
} // namespace tenon::tools
