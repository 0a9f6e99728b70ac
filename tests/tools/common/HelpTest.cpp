// SPDX-License-Identifier: Apache-2.0
// The help of a program with options in groups.
#include "tools/common/Help.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <string>

namespace tenon::tools
{
namespace
{

class HelpTest : public testing::Test
{
protected:
    HelpTest()
    {
        m_App.set_help_flag();
        m_App.add_option("-m,--model", m_Value, "The model, e.g. a.tflite. Its format follows from its content")
            ->group("Model")
            ->type_name("FILE");
        m_App.add_flag("-v,--very-long-name-of-a-flag", m_Flag, "A flag")->group("Model");
        m_App.add_flag("--old", m_Flag, "Done anyway")->group("Model");
        m_App.add_option("--time", m_Value, "How long to run")->group("Time")->type_name("SECONDS");
        m_Text.m_Description = "Does something.";
        m_Text.m_Usage = "program --model FILE";
        m_Text.m_CommonOptions = {"--model"};
        m_Text.m_Groups = {{"Model", "the file"}, {"Empty", "nothing"}, {"Time", "its length", "Notes on time."}};
        m_Text.m_BriefOptions = {"--old"};
        m_Text.m_BriefTitle = "Without effect:";
        m_Text.m_Examples = {"program --model a.tflite"};
        m_Text.m_End = "The end.";
    }

    std::string Format(const std::string& topic, size_t width = 80) const
    {
        return FormatHelp(m_App, m_Text, topic, width);
    }

    CLI::App m_App;
    HelpText m_Text;
    std::string m_Value;
    bool m_Flag = false;
};

TEST_F(HelpTest, AnOverview)
{
    EXPECT_EQ(Format(""), "Does something.\n"
                          "\n"
                          "Usage: program --model FILE\n"
                          "\n"
                          "  -m,--model FILE         The model, e.g. a.tflite\n"
                          "\n"
                          "More options, in groups: --help GROUP prints one, --help all all of them.\n"
                          "  model      the file\n"
                          "  time       its length\n"
                          "\n"
                          "Examples:\n"
                          "  program --model a.tflite\n"
                          "\n"
                          "The end.\n");
}

TEST_F(HelpTest, AGroup)
{
    const std::string model = "Model: the file\n"
                              "\n"
                              "  -m,--model FILE         The model, e.g. a.tflite. Its\n"
                              "                          format follows from its content\n"
                              "  -v,--very-long-name-of-a-flag\n"
                              "                          A flag\n"
                              "\n"
                              "Without effect:\n"
                              "  --old\n";
    EXPECT_EQ(Format("model", 60), model);
    EXPECT_EQ(Format("MODEL", 60), model);
    EXPECT_EQ(Format("time"), "Time: its length\n"
                              "\n"
                              "  --time SECONDS          How long to run\n"
                              "\n"
                              "Notes on time.\n");
}

TEST_F(HelpTest, AllGroups)
{
    const std::string all = Format("all");
    EXPECT_NE(all.find("Without effect:\n  --old                   Done anyway\n"), std::string::npos) << all;
    EXPECT_NE(all.find("\nTime: its length\n"), std::string::npos) << all;
    EXPECT_EQ(all.find("nothing"), std::string::npos) << all;
    EXPECT_EQ(all.substr(all.size() - 10), "\nThe end.\n");
}

TEST_F(HelpTest, OtherTopics)
{
    EXPECT_THROW_WITH(Format("tim"), UsageError,
                      "--help: there is no group of options 'tim'; there are model, time, and "
                      "all");
    EXPECT_THROW_WITH(Format("empty"), UsageError, "there is no group of options 'empty'");
}

TEST_F(HelpTest, NarrowTerminals)
{
    EXPECT_EQ(Format("model", 0), Format("model", 50));
    EXPECT_NE(Format("model", 50), Format("model", 60));
}

} // namespace
} // namespace tenon::tools
